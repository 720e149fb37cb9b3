#include <cmath>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/matmul/matmul.hpp"
#include "runtime/kernels/matmul/matmul_block.hpp"

namespace poprt::kernels {
namespace {

struct GemmPlan {
  GemmShape gemm;
  MatrixLayout c;
  float alpha = 1;
  float beta = 1;
};

template <typename T>
void RunGemm(const GemmPlan& plan, const KernelArguments& args) {
  using Acc = Accumulator<T>;
  const GemmShape& gemm = plan.gemm;
  const T* c = args.inputs.size() > 2 ? args.in<T>(2) : nullptr;
  T* out = args.out<T>(0);
  // Through int64, so that a negative whole factor wraps like the sums.
  const auto factor = [](float value) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Acc>(static_cast<std::int64_t>(value));
    } else {
      return static_cast<Acc>(value);
    }
  };
  const Acc alpha = factor(plan.alpha);
  const Acc beta = factor(plan.beta);
  const std::int64_t row_blocks = (gemm.rows - 1) / kGemmRows + 1;
  const std::int64_t column_blocks = (gemm.columns - 1) / kGemmColumns + 1;
  const auto store = [&](std::int64_t row, std::int64_t column, Acc sum) {
    Acc result = alpha * sum;
    if (c != nullptr) {
      result += beta * static_cast<Acc>(c[row * plan.c.row_stride + column * plan.c.column_stride]);
    }
    out[row * gemm.columns + column] = static_cast<T>(result);
  };
  ForWideRanges<Acc>(
      args.pool, row_blocks * column_blocks, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          GemmBlock<T>::Run(gemm, args.in<T>(0), args.in<T>(1), i / column_blocks * kGemmRows,
                            i % column_blocks * kGemmColumns, store);
        }
      });
}

/// C as a matrix of the output's extents, which it broadcasts to.
MatrixLayout LayOutC(const TensorType& c, const Shape& output) {
  if (c.shape.size() > 2 || Broadcast(c.shape, output) != output) {
    throw KernelError("input 2 is " + ToString(c) + ", which does not broadcast to " +
                      ToString(output));
  }
  MatrixLayout layout;
  const std::size_t rank = c.shape.size();
  if (rank >= 1 && c.shape[rank - 1] != 1) layout.column_stride = 1;
  if (rank == 2 && c.shape[0] != 1) layout.row_stride = c.shape[1];
  return layout;
}

float WholeForIntegers(const KernelCall& call, std::string_view name) {
  const float value = FloatAttribute(call, name, 1.0F);
  constexpr float kLimit = 0x1p62F;
  if (IsInteger(call.inputs[0].element) &&
      !(std::fabs(value) < kLimit && value == std::floor(value))) {
    throw KernelError("attribute '" + std::string(name) + "' is " + std::to_string(value) +
                      ", which has to be a whole number for integer operands");
  }
  return value;
}

}  // namespace

BoundKernel BindGemm(const KernelCall& call) {
  RequireArity(call, 2, 3);
  const TensorType& a = call.inputs[0];
  const TensorType& b = call.inputs[1];
  const TensorType& c = InputOrAbsent(call, 2);
  RequireElement(a, kNumericTypes, "input 0");
  for (const TensorType* type : {&b, &c}) {
    if (type->defined()) RequireType({type->element, {}}, {a.element, {}}, "an input's element");
  }
  Require(a.shape.size() == 2 && b.shape.size() == 2,
          "inputs " + ToString(a) + " and " + ToString(b) + " must have rank 2");
  RequireCount(a.shape, "input 0");
  RequireCount(b.shape, "input 1");
  const bool trans_a = IntAttribute(call, "transA", 0) != 0;
  const bool trans_b = IntAttribute(call, "transB", 0) != 0;
  GemmPlan plan;
  plan.alpha = WholeForIntegers(call, "alpha");
  plan.beta = WholeForIntegers(call, "beta");
  GemmShape& gemm = plan.gemm;
  gemm.rows = a.shape[trans_a ? 1 : 0];
  gemm.depth = a.shape[trans_a ? 0 : 1];
  gemm.columns = b.shape[trans_b ? 0 : 1];
  gemm.a = trans_a ? MatrixLayout{1, a.shape[1]} : MatrixLayout{a.shape[1], 1};
  gemm.b = trans_b ? MatrixLayout{1, b.shape[1]} : MatrixLayout{b.shape[1], 1};
  if (b.shape[trans_b ? 1 : 0] != gemm.depth) {
    throw KernelError("inputs " + ToString(a) + " and " + ToString(b) + " cannot be multiplied");
  }
  const Shape output{gemm.rows, gemm.columns};
  RequireType(call.outputs[0], {a.element, output}, "output 0");
  if (c.defined()) plan.c = LayOutC(c, output);
  if (RequireCount(output, "the output") == 0) return NothingToRun();
  return VisitElement<BoundKernel, kNumericTypes>(
      a.element, [&]<typename T>(std::type_identity<T>) {
        return BoundKernel{.run = [plan](const KernelArguments& args) { RunGemm<T>(plan, args); }};
      });
}

}  // namespace poprt::kernels
