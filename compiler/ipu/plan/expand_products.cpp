#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/extents.hpp"
#include "compiler/ipu/plan/matrix_operands.hpp"
#include "compiler/ipu/plan/operation.hpp"

/// Matrix products and convolutions (section 2.6).
namespace poprt::ipu {
namespace {

constexpr std::uint64_t kFlopsPerMac = 2;

void SetProduct(Operation& operation, const PlannedProduct& planned, const Product& product) {
  operation.grid = planned.grid;
  operation.flops += kFlopsPerMac * product.macs();
  operation.SetOutput(0, planned.result);
}

void ExpandMatMul(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const PlannedProduct planned =
      AddMatMul(steps, operation.input(0), operation.input(1), operation.output_type(0));
  operation.PlaceConstant(0, planned.input);
  operation.PlaceConstant(1, planned.weights);
  const MatrixOperands operands =
      MatMulOperands(operation.input(0), operation.input(1), operation.output_type(0));
  SetProduct(operation, planned, operands.product);
}

void ExpandGemm(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Attributes& attributes = operation.node().attributes;
  const TensorType& type = operation.output_type(0);
  const bool trans_a = attributes.get_int("transA", 0) != 0;
  const bool trans_b = attributes.get_int("transB", 0) != 0;
  const Placed left = Multipliable(steps, operation.input(0));
  const Placed right = Multipliable(steps, operation.input(1));
  const auto rows = static_cast<std::uint64_t>(type.shape[0]);
  const auto columns = static_cast<std::uint64_t>(type.shape[1]);
  const auto inner = static_cast<std::uint64_t>(left.type.shape[trans_a ? 0 : 1]);
  const Product product =
      MatrixProduct(FormatOf(left.type), FormatOf(type), 1, rows, inner, columns);
  PlannedProduct planned = AddProduct(steps, product, {left, trans_a ? rows : 1, inner},
                                      {right, trans_b ? 1 : columns, inner}, {type, 1, columns});
  operation.PlaceConstant(0, planned.input);
  operation.PlaceConstant(1, planned.weights);
  if (attributes.get_float("alpha", 1.0F) != 1.0F && !right.constant) {
    planned.result = AddScalar(steps, "alpha", ElementwiseOp::kMultiply, planned.result, type);
  }
  if (operation.has_input(2)) {
    planned.result =
        AddBinary(steps, "add bias", ElementwiseOp::kAdd, planned.result, operation.input(2), type);
  }
  SetProduct(operation, planned, product);
}

std::uint64_t At(const Ints& values, std::size_t i) {
  return i < values.size() ? static_cast<std::uint64_t>(std::max<std::int64_t>(values[i], 1)) : 1;
}

/// A convolution of NC... data with MC... weights. All spatial axes but the last count as height.
Product ConvProduct(const Operation& operation, const TensorType& data, const TensorType& weights,
                    const TensorType& result) {
  const Attributes& attributes = operation.node().attributes;
  const std::size_t rank = data.shape.size();
  const std::size_t spatial = rank - 2;
  const Ints strides = attributes.get_ints("strides");
  const Ints dilations = attributes.get_ints("dilations");
  Product product;
  product.input = FormatOf(data);
  product.output = FormatOf(result);
  product.groups =
      static_cast<std::uint64_t>(std::max<std::int64_t>(attributes.get_int("group", 1), 1));
  product.batch = static_cast<std::uint64_t>(data.shape[0]);
  product.in_channels = static_cast<std::uint64_t>(weights.shape[1]);
  product.out_channels =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(weights.shape[0]) / product.groups, 1);
  product.height = Volume(result.shape, 2, rank - 1);
  product.width = static_cast<std::uint64_t>(result.shape[rank - 1]);
  product.input_height = Volume(data.shape, 2, rank - 1);
  product.input_width = static_cast<std::uint64_t>(data.shape[rank - 1]);
  product.kernel_height = Volume(weights.shape, 2, rank - 1);
  product.kernel_width = static_cast<std::uint64_t>(weights.shape[rank - 1]);
  product.stride_width = At(strides, spatial - 1);
  product.dilation_width = At(dilations, spatial - 1);
  if (spatial == 2) {
    product.stride_height = At(strides, 0);
    product.dilation_height = At(dilations, 0);
  }
  return product;
}

PlannedProduct AddConv(Operation& operation, const Product& product, const Placed& data,
                       const Placed& weights, const TensorType& result) {
  const std::uint64_t in_field = Volume(data.type.shape, 2, data.type.shape.size());
  const std::uint64_t out_field = Volume(result.shape, 2, result.shape.size());
  const std::uint64_t kernel = Volume(weights.type.shape, 2, weights.type.shape.size());
  return AddProduct(operation.steps(), product,
                    {data, in_field, product.groups * product.in_channels},
                    {weights, kernel, product.in_channels},
                    {result, out_field, product.groups * product.out_channels});
}

/// The bias as poplin adds it: a vector of channels to the elements of each.
Placed AddChannelBias(StepBuilder& steps, const Placed& y, const Placed& bias) {
  return AddBinary(steps, "add bias", ElementwiseOp::kAdd, y, bias, y.type);
}

void ExpandConv(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed data = Multipliable(steps, operation.input(0));
  const Placed weights = Multipliable(steps, operation.input(1));
  const TensorType& type = operation.output_type(0);
  const Product product = ConvProduct(operation, data.type, weights.type, type);
  PlannedProduct planned = AddConv(operation, product, data, weights, type);
  operation.PlaceConstant(1, planned.weights);
  if (operation.has_input(2)) {
    planned.result = AddChannelBias(steps, planned.result, operation.input(2));
  }
  SetProduct(operation, planned, product);
}

/// A convolution whose input has zeros between its elements; poplin skips them, so that every
/// output position sees about one kernel position in `stride`. Weights are [in, out / groups, ...].
void ExpandConvTranspose(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed data = Multipliable(steps, operation.input(0));
  const Placed weights = Multipliable(steps, operation.input(1));
  const TensorType& type = operation.output_type(0);
  Product product = ConvProduct(operation, data.type, weights.type, type);
  product.in_channels = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(weights.type.shape[0]) / product.groups, 1);
  product.out_channels = static_cast<std::uint64_t>(weights.type.shape[1]);
  product.kernel_height = CeilDivide(product.kernel_height, product.stride_height);
  product.kernel_width = CeilDivide(product.kernel_width, product.stride_width);
  product.stride_height = product.stride_width = 1;
  product.input_height = product.input_width = 0;
  PlannedProduct planned = AddConv(operation, product, data, weights, type);
  operation.PlaceConstant(1, planned.weights);
  if (operation.has_input(2)) {
    planned.result = AddChannelBias(steps, planned.result, operation.input(2));
  }
  SetProduct(operation, planned, product);
}

/// The axes of an Einsum of two operands as those of a matrix product.
Product EinsumProduct(const Operation& operation) {
  const Placed& a = operation.input(0);
  const Placed& b = operation.input(1);
  const std::uint64_t result = std::max<std::uint64_t>(Elements(operation.output_type(0)), 1);
  const std::string equation = operation.node().attributes.get_string("equation", "");
  std::string letters;
  for (const char c : equation) {
    if (c != ' ') letters += c;
  }
  const std::size_t comma = letters.find(',');
  const std::size_t arrow = letters.find("->");
  const std::string first = letters.substr(0, comma);
  const std::string second =
      comma == std::string::npos ? "" : letters.substr(comma + 1, arrow - comma - 1);
  const std::string target = arrow == std::string::npos ? "" : letters.substr(arrow + 2);
  std::uint64_t groups = 1;
  std::uint64_t columns = 1;
  std::uint64_t inner = 1;
  for (std::size_t i = 0; i < second.size() && i < b.type.shape.size(); ++i) {
    const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(b.type.shape[i], 1));
    const bool in_first = first.find(second[i]) != std::string::npos;
    const bool in_target = target.find(second[i]) != std::string::npos;
    if (in_first && in_target) {
      groups *= extent;
    } else if (in_target) {
      columns *= extent;
    } else {
      inner *= extent;
    }
  }
  return MatrixProduct(FormatOf(a.type), FormatOf(operation.output_type(0)), groups,
                       std::max<std::uint64_t>(result / (groups * columns), 1), inner, columns);
}

void ExpandEinsum(Operation& operation) {
  if (operation.input_count() != 2) {
    ExpandGeneric(operation);
    return;
  }
  StepBuilder& steps = operation.steps();
  const Placed left = Multipliable(steps, operation.input(0));
  const Placed right = Multipliable(steps, operation.input(1));
  Product product = EinsumProduct(operation);
  product.input = FormatOf(left.type);
  const TensorType& type = operation.output_type(0);
  const PlannedProduct planned = AddProduct(steps, product, {left, 1, product.in_channels},
                                            {right, product.out_channels, product.in_channels},
                                            {type, 1, product.out_channels});
  operation.PlaceConstant(1, planned.weights);
  SetProduct(operation, planned, product);
}

constexpr ExpandRow kRows[] = {
    {"MatMul", ExpandMatMul}, {"Gemm", ExpandGemm},
    {"Conv", ExpandConv},     {"ConvTranspose", ExpandConvTranspose},
    {"Einsum", ExpandEinsum},
};

}  // namespace

std::span<const ExpandRow> ProductRules() { return kRows; }

}  // namespace poprt::ipu
