#include "compiler/ipu/plan/product_variant.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/conv_units.hpp"

namespace poprt::ipu {
namespace {

/// One axis of a field.
struct Axis {
  std::uint64_t Product::*output;
  std::uint64_t Product::*input;
  std::uint64_t Product::*kernel;
  std::uint64_t Product::*stride;
  std::uint64_t Product::*dilation;
};
constexpr Axis kHeight{&Product::height, &Product::input_height, &Product::kernel_height,
                       &Product::stride_height, &Product::dilation_height};
constexpr Axis kWidth{&Product::width, &Product::input_width, &Product::kernel_width,
                      &Product::stride_width, &Product::dilation_width};

std::uint64_t InputOf(const Product& product, const Axis& axis) {
  if (product.*axis.input > 0) return product.*axis.input;
  return InputExtent(product.*axis.output, product.*axis.kernel, product.*axis.stride,
                     product.*axis.dilation);
}

/// Every position of the input makes one of the output.
bool IsPlain(const Product& product, const Axis& axis) {
  return product.*axis.kernel == 1 && product.*axis.stride == 1 &&
         InputOf(product, axis) == product.*axis.output;
}

void MakePlain(Product& product, const Axis& axis) {
  product.*axis.kernel = product.*axis.stride = product.*axis.dilation = 1;
  product.*axis.input = product.*axis.output;
}

/// Batch and plain axes as one: nothing of it is read twice.
void Flatten(Product& product) {
  const bool height = IsPlain(product, kHeight);
  const bool width = IsPlain(product, kWidth);
  if (!height && !width) return;
  std::uint64_t Product::*const inner = width ? kWidth.output : kHeight.output;
  std::uint64_t flat = product.batch * product.*inner;
  product.batch = 1;
  if (height && width) {
    flat *= product.height;
    product.height = 1;
  }
  product.*inner = flat;
  if (height) MakePlain(product, kHeight);
  if (width) MakePlain(product, kWidth);
}

/// The weights as input, of as many images as there are output channels, and the input as weights.
void Swap(Product& product) {
  for (const Axis& axis : {kHeight, kWidth}) {
    const std::uint64_t input = InputOf(product, axis);
    product.*axis.input = product.*axis.kernel;
    product.*axis.kernel = input;
  }
  std::swap(product.batch, product.out_channels);
}

/// Kernel positions of the axis as input channels.
void Expand(Product& product, const Axis& axis) {
  product.in_channels *= product.*axis.kernel;
  MakePlain(product, axis);
}

/// Positions of the axis as output channels: the weights hold a window for each.
void FlattenOut(Product& product, const Axis& axis) {
  product.in_channels *= InputOf(product, axis);
  product.out_channels *= product.*axis.output;
  product.*axis.output = 1;
  MakePlain(product, axis);
}

/// poplin leaves an axis whose kernel is longer than its input, or shorter when swapped.
bool MayExpand(const Product& product, const Axis& axis) {
  return !IsPlain(product, axis) && InputOf(product, axis) >= product.*axis.kernel;
}
bool MayFlattenOut(const Product& product, const Axis& axis) {
  return product.*axis.output > 1 && InputOf(product, axis) <= product.*axis.kernel;
}

using Axes = std::vector<Axis>;

/// Applies `change` to the axes; false when one of them may not be changed.
template <typename Allowed, typename Change>
bool Apply(Product& product, const Axes& axes, Allowed allowed, Change change) {
  for (const Axis& axis : axes) {
    if (!allowed(product, axis)) return false;
    change(product, axis);
  }
  return true;
}

/// Numbers of groups that may become one: as many as are loaded at once, up to a grain.
std::vector<std::uint64_t> CombinableGroups(const Target& target, const Product& product) {
  std::vector<std::uint64_t> factors = {1};
  const bool single = product.input == NumberFormat::kFloat32;
  const std::uint64_t channels = product.in_channels;
  if (product.groups == 1 || channels > (single ? 1U : 2U)) return factors;
  const std::uint64_t loaded =
      single ? target.conv_load_elements_fp32 : target.conv_load_elements_fp16;
  const std::uint64_t grain = ConvInputGroup(target, {product.input, true});
  const std::uint64_t fewest = std::max<std::uint64_t>(loaded / channels, 2);
  for (std::uint64_t factor = fewest; factor * channels <= grain; factor *= 2) {
    factors.push_back(factor);
  }
  return factors;
}

void AddCombined(const Target& target, const ProductVariant& base,
                 std::vector<ProductVariant>& variants) {
  for (const std::uint64_t factor : CombinableGroups(target, base.product)) {
    ProductVariant variant = base;
    variant.product.groups = CeilDivide(base.product.groups, factor);
    variant.product.in_channels *= factor;
    variant.product.out_channels *= factor;
    variant.combined_groups = factor;
    variants.push_back(variant);
  }
}

/// A matrix product, or a convolution that is one. Of plans that are as good poplin takes the one
/// it looks at first.
void AddPlain(const Target& target, const Product& product, std::vector<ProductVariant>& variants) {
  ProductVariant flat{product};
  Flatten(flat.product);
  ProductVariant swapped = flat;
  swapped.swapped = true;
  std::swap(swapped.product.width, swapped.product.out_channels);
  swapped.product.input_width = swapped.product.width;
  for (const ProductVariant& variant :
       product.matrix ? std::array{swapped, flat} : std::array{flat, swapped}) {
    AddCombined(target, variant, variants);
  }
}

void AddExpanded(const Target& target, const Product& product, const Axes& axes,
                 std::vector<ProductVariant>& variants) {
  ProductVariant variant{product};
  variant.expanded = !axes.empty();
  if (!Apply(variant.product, axes, MayExpand, Expand)) return;
  Flatten(variant.product);
  AddCombined(target, variant, variants);
}

void AddSwapped(const Target& target, const Product& product, const Axes& axes,
                std::vector<ProductVariant>& variants) {
  ProductVariant variant{product};
  variant.swapped = true;
  variant.flattened_out = !axes.empty();
  Swap(variant.product);
  if (!Apply(variant.product, axes, MayFlattenOut, FlattenOut)) return;
  Flatten(variant.product);
  AddCombined(target, variant, variants);
}

}  // namespace

std::uint64_t ProductVariant::ExpandedElements() const {
  const std::uint64_t kernel = product.kernel_height * product.kernel_width;
  const std::uint64_t channels = product.groups * product.in_channels;
  if (swapped && flattened_out) return channels * product.out_channels * kernel;
  if (!expanded) return 0;
  return channels * product.batch * InputRows(product, product.height, product.kernel_height) *
         InputColumns(product, product.width);
}

std::vector<ProductVariant> ProductVariants(const Target& target, const Product& product) {
  std::vector<ProductVariant> variants;
  if (IsPlain(product, kHeight) && IsPlain(product, kWidth)) {
    AddPlain(target, product, variants);
    return variants;
  }
  const Axes subsets[] = {{}, {kHeight}, {kWidth}, {kHeight, kWidth}};
  for (const Axes& axes : subsets) AddExpanded(target, product, axes, variants);
  if (product.dilation_height * product.dilation_width > 1) return variants;
  for (const Axes& axes : subsets) AddSwapped(target, product, axes, variants);
  return variants;
}

}  // namespace poprt::ipu
