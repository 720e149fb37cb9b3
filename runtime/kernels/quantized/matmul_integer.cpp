#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/matmul/batch_offsets.hpp"
#include "runtime/kernels/quantized/float_product.hpp"
#include "runtime/kernels/quantized/gather_scales.hpp"
#include "runtime/kernels/quantized/integer_product.hpp"
#include "runtime/kernels/quantized/pack_quads.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/quantized/requantizer.hpp"

namespace poprt::kernels {
namespace {

constexpr TypeSet kScaleTypes = kHalfTypes | Types({ElementType::kFloat32});

/// Scales or zero points of an operand: one, one per row (column), or one per row of every matrix.
struct Parameters {
  std::vector<std::int64_t> offsets;  // of every product; empty means 0 for all
  std::int64_t stride = 0;            // from one row to the next

  std::int64_t Index(std::int64_t product, std::int64_t line) const {
    return (offsets.empty() ? 0 : offsets[static_cast<std::size_t>(product)]) + line * stride;
  }
};

struct MatMulPlan {
  ProductShape shape;
  std::vector<std::int64_t> a_offsets;  // of every product, elements
  std::vector<std::int64_t> b_offsets;
  Shape batch;
};

MatMulPlan PlanMatMul(const KernelCall& call, const TensorType& b, ElementType result) {
  const TensorType& a = call.inputs[0];
  RequireCount(a.shape, "the left operand");
  RequireCount(b.shape, "the right operand");
  Require(!a.shape.empty() && !b.shape.empty(), "the operands must have rank 1 or more");
  Shape left = a.shape;
  Shape right = b.shape;
  if (a.shape.size() == 1) left.insert(left.begin(), 1);
  if (b.shape.size() == 1) right.push_back(1);
  MatMulPlan plan;
  plan.shape.rows = left[left.size() - 2];
  plan.shape.depth = left.back();
  plan.shape.columns = right.back();
  const Shape left_batch(left.begin(), left.end() - 2);
  const Shape right_batch(right.begin(), right.end() - 2);
  const auto batch = Broadcast(left_batch, right_batch);
  Require(batch && right[right.size() - 2] == plan.shape.depth,
          "operands " + ToString(a) + " and " + ToString(b) + " cannot be multiplied");
  Shape wanted = *batch;
  if (a.shape.size() > 1) wanted.push_back(plan.shape.rows);
  if (b.shape.size() > 1) wanted.push_back(plan.shape.columns);
  RequireType(call.outputs[0], {result, wanted}, "output 0");
  if (RequireCount(wanted, "the output") == 0) return plan;
  plan.batch = *batch;
  plan.a_offsets = BatchOffsets(left_batch, *batch, plan.shape.rows * plan.shape.depth);
  plan.b_offsets = BatchOffsets(right_batch, *batch, plan.shape.depth * plan.shape.columns);
  plan.shape.products = static_cast<std::int64_t>(plan.a_offsets.size());
  return plan;
}

/// `lines` rows of the left operand, or columns of the right one: `axis_from_end` is 1 or 0.
Parameters ResolveParameters(const MatMulPlan& plan, const TensorType& type, std::int64_t lines,
                             std::size_t axis_from_end, const std::string& what) {
  const std::int64_t count = RequireCount(type.shape, what);
  const std::size_t rank = type.shape.size();
  if (count == 1) return {};
  const std::string message = what + " is " + ToString(type) +
                              ", which is neither one number nor " + std::to_string(lines) +
                              " for the rows or columns of its operand";
  if (rank == 1) {
    Require(count == lines, message);
    return {.offsets = {}, .stride = 1};
  }
  Require(rank >= 2, message);
  const std::int64_t own = type.shape[rank - 1 - axis_from_end];
  const Shape batch(type.shape.begin(), type.shape.end() - 2);
  Require(type.shape[rank - 2 + axis_from_end] == 1 && (own == lines || own == 1) &&
              batch.size() <= plan.batch.size() && Broadcast(batch, plan.batch) == plan.batch,
          message);
  return {.offsets = BatchOffsets(batch, plan.batch, own), .stride = own == 1 ? 0 : 1};
}

/// What a MatMul multiplies.
struct MatMulOperands {
  const MatMulPlan& plan;
  const Parameters& a_parameters;
  const Parameters& b_parameters;
  const std::byte* a;
  const std::byte* b;
  const std::byte* a_points;
  const std::byte* b_points;

  const std::byte* A(std::int64_t product) const {
    return a + plan.a_offsets[static_cast<std::size_t>(product)];
  }
  const std::byte* B(std::int64_t product) const {
    return b + plan.b_offsets[static_cast<std::size_t>(product)];
  }
  std::int64_t APoint(std::int64_t product, std::int64_t row) const {
    return a_parameters.Index(product, row);
  }
  std::int64_t BPoint(std::int64_t product, std::int64_t column) const {
    return b_parameters.Index(product, column);
  }
};

/// How operands of two types are read as floats.
struct FloatLoads {
  FloatLoads(ElementType a_type, ElementType b_type)
      : a(FindLoadDifferences(a_type)),
        b(FindLoadPanel(b_type)),
        b_point(FindLoadDifferences(b_type)) {}

  LoadDifferences a;
  LoadPanel b;
  LoadDifferences b_point;
};

/// The operands as RunProducts wants them.
struct FloatSource {
  MatMulOperands operands;
  FloatLoads load;

  void LoadRow(std::int64_t product, std::int64_t row, std::int64_t first, std::int64_t n,
               float* to) const {
    load.a(operands.A(product) + row * operands.plan.shape.depth + first, n,
           ReadPoint(load.a, operands.a_points, operands.APoint(product, row)), to);
  }

  void LoadColumns(std::int64_t product, std::int64_t column, std::int64_t count,
                   std::int64_t first, std::int64_t n, float* to) const {
    const std::int64_t columns = operands.plan.shape.columns;
    const std::byte* from = operands.B(product) + first * columns + column;
    float points[kProductColumns] = {};
    for (std::int64_t c = 0; c < count; ++c) {
      points[c] = ReadPoint(load.b_point, operands.b_points, operands.BPoint(product, column + c));
    }
    for (std::int64_t c = 0; c < count; c += kPanel) {
      load.b(from + c, columns, n, std::min(count - c, kPanel), points + c, to + c * kProductDepth);
    }
  }
};

}  // namespace

BoundKernel BindMatMulInteger(const KernelCall& call) {
  RequireArity(call, 2, 4);
  RequireElement(call.inputs[0], kByteTypes, "input 0");
  RequireElement(call.inputs[1], kByteTypes, "input 1");
  const MatMulPlan plan = PlanMatMul(call, call.inputs[1], ElementType::kInt32);
  if (plan.shape.products == 0) return NothingToRun();
  Parameters parameters[2];
  for (const std::size_t i : {0, 1}) {
    const TensorType& points = InputOrAbsent(call, 2 + i);
    if (!points.defined()) continue;
    const std::string what = "input " + std::to_string(2 + i);
    RequireElement(points, Types({call.inputs[i].element}), what);
    parameters[i] =
        ResolveParameters(plan, points, i == 0 ? plan.shape.rows : plan.shape.columns, 1 - i, what);
  }
  const IntegerProduct integer(plan.shape, call.inputs[0].element, call.inputs[1].element);
  const auto run = [plan, integer, a_parameters = parameters[0],
                    b_parameters = parameters[1]](const KernelArguments& args) {
    const MatMulOperands operands{
        plan,           a_parameters,         b_parameters,        args.inputs[0],
        args.inputs[1], InputOrNull(args, 2), InputOrNull(args, 3)};
    std::int32_t* out = args.out<std::int32_t>(0);
    const std::int64_t rows = plan.shape.rows;
    const std::int64_t columns = plan.shape.columns;
    integer.Run(args, operands,
                [=](std::int64_t product, std::int64_t row, std::int64_t column, std::int64_t count,
                    const std::int32_t* sums) {
                  std::copy_n(sums, count, out + (product * rows + row) * columns + column);
                });
  };
  return {.run = run, .scratch_bytes = integer.ScratchBytes()};
}

namespace {

/// Positions of QLinearMatMul's inputs.
enum Input : std::size_t { kA, kAScale, kAPoint, kB, kBScale, kBPoint, kYScale, kYPoint };

struct QLinearPlan {
  MatMulPlan matmul;
  Parameters a_parameters;
  Parameters b_parameters;
  ElementType scales = ElementType::kFloat32;
  GatherScales<float> read_scale = nullptr;
  GatherScales<float> read_point = nullptr;
  Requantizer requantize;
};

/// Checks scale and zero point of one operand, which have the same shape.
Parameters PairedParameters(const KernelCall& call, const MatMulPlan& plan, std::size_t operand,
                            std::int64_t lines, std::size_t axis_from_end) {
  const TensorType& scale = call.inputs[operand + 1];
  const TensorType& point = call.inputs[operand + 2];
  const std::string scale_name = "input " + std::to_string(operand + 1);
  const std::string point_name = "input " + std::to_string(operand + 2);
  RequirePoint(point, call.inputs[operand].element, scale, point_name);
  return ResolveParameters(plan, scale, lines, axis_from_end, scale_name);
}

/// Writes parts of rows of sums.
class QLinearStore {
 public:
  QLinearStore(const QLinearPlan& plan, const KernelArguments& args)
      : plan_(plan), args_(args), y_scale_(ScaleAt(kYScale, 0)) {
    const std::int64_t zero = 0;
    float point = 0;
    plan.read_point(args.inputs[kYPoint], &zero, 1, &point);
    y_point_ = static_cast<double>(point);
  }

  template <typename Sum>
  void operator()(std::int64_t product, std::int64_t row, std::int64_t column, std::int64_t count,
                  const Sum* sums) const {
    const float a_scale = ScaleAt(kAScale, plan_.a_parameters.Index(product, row));
    const auto factor_at = [&](std::int64_t c) {
      const float b_scale = ScaleAt(kBScale, plan_.b_parameters.Index(product, c));
      return ProductFactor(plan_.scales, a_scale, b_scale, y_scale_);
    };
    const ProductShape& shape = plan_.matmul.shape;
    std::byte* to = args_.outputs[0] + (product * shape.rows + row) * shape.columns + column;
    if (plan_.b_parameters.stride == 0) {
      return plan_.requantize(sums, factor_at(column), y_point_, count, to);
    }
    double factors[Requantizer::kMost] = {};
    for (std::int64_t c = 0; c < count; ++c) factors[c] = factor_at(column + c);
    plan_.requantize(sums, static_cast<const double*>(factors), y_point_, count, to);
  }

 private:
  float ScaleAt(Input input, std::int64_t index) const {
    float scale = 0;
    plan_.read_scale(args_.inputs[input], &index, 1, &scale);
    return scale;
  }

  const QLinearPlan& plan_;
  const KernelArguments& args_;
  float y_scale_;
  double y_point_ = 0;
};

/// The right operand as it was before it was packed.
TensorType RightOperand(const KernelCall& call) {
  const TensorType& b = call.inputs[kB];
  if (!call.attributes.has("n")) return b;
  const Shape& left = call.inputs[kA].shape;
  Require(!left.empty(), "the operands must have rank 1 or more");
  RequireElement(call.inputs[kA], kByteTypes, "input 0");
  RequireElement(b, kByteTypes, "input 3");
  const std::int64_t n = IntAttribute(call, "n", 0);
  RequireType(b, PackedQuadsType(left.back(), n, b.element), "input 3");
  return {b.element, {left.back(), n}};
}

MatMulOperands OperandsOf(const QLinearPlan& plan, const KernelArguments& args) {
  return {plan.matmul,     plan.a_parameters,    plan.b_parameters,   args.inputs[kA],
          args.inputs[kB], args.inputs[kAPoint], args.inputs[kBPoint]};
}

}  // namespace

BoundKernel BindQLinearMatMul(const KernelCall& call) {
  RequireArity(call, 8, 8);
  RequireElement(call.inputs[kA], kFactorTypes, "input 0");
  RequireElement(call.inputs[kB], kFactorTypes, "input 3");
  RequireElement(call.outputs[0], kFactorTypes, "output 0");
  const ElementType scales = call.inputs[kAScale].element;
  RequireElement(call.inputs[kAScale], kScaleTypes, "input 1");
  RequireElement(call.inputs[kBScale], Types({scales}), "input 4");
  RequireElement(call.inputs[kYScale], Types({scales}), "input 6");
  const TensorType& y_point = call.inputs[kYPoint];
  RequirePoint(y_point, call.outputs[0].element, call.inputs[kYScale], "input 7");
  Require(RequireCount(y_point.shape, "input 7") == 1,
          "input 6 is " + ToString(call.inputs[kYScale]) + ", the result has one scale");
  const TensorType right = RightOperand(call);
  const MatMulPlan matmul = PlanMatMul(call, right, call.outputs[0].element);
  if (matmul.shape.products == 0) return NothingToRun();
  const QLinearPlan plan{
      .matmul = matmul,
      .a_parameters = PairedParameters(call, matmul, kA, matmul.shape.rows, 1),
      .b_parameters = PairedParameters(call, matmul, kB, matmul.shape.columns, 0),
      .scales = scales,
      .read_scale = FindGatherScales<float, kScaleTypes>(scales),
      .read_point = FindGatherScales<float, kFactorTypes>(y_point.element),
      .requantize = Requantizer(call.outputs[0].element)};
  const ElementType a = call.inputs[kA].element;
  const ElementType b = call.inputs[kB].element;
  if (Contains(kByteTypes, a) && Contains(kByteTypes, b)) {
    const bool is_packed = call.attributes.has("n");
    const IntegerProduct integer(
        matmul.shape, a, b,
        is_packed ? IntegerProduct::Right::kPacked : IntegerProduct::Right::kPlain);
    return {.run =
                [plan, integer](const KernelArguments& args) {
                  integer.Run(args, OperandsOf(plan, args), QLinearStore(plan, args));
                },
            .scratch_bytes = integer.ScratchBytes()};
  }
  return {.run =
              [plan, load = FloatLoads(a, b)](const KernelArguments& args) {
                RunProducts(args, plan.matmul.shape, FloatSource{OperandsOf(plan, args), load},
                            QLinearStore(plan, args));
              },
          .scratch_bytes = kProductScratch};
}

}  // namespace poprt::kernels
