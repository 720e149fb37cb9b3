#include "compiler/ipu/plan/product_variant.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

/// Batch and field as one axis: nothing of the field is read twice.
Product Flatten(Product product) {
  product.width = product.rows();
  product.batch = product.height = 1;
  product.stride_height = product.stride_width = 1;
  product.dilation_height = product.dilation_width = 1;
  return product;
}

ProductVariant Swap(const Product& flat) {
  ProductVariant variant{flat};
  std::swap(variant.product.width, variant.product.out_channels);
  variant.swapped = true;
  return variant;
}

/// Kernel columns, and rows where `whole`, as input channels.
ProductVariant Expand(const Product& product, bool whole) {
  ProductVariant variant{product};
  Product& expanded = variant.product;
  expanded.in_channels *= product.kernel_width;
  expanded.kernel_width = expanded.stride_width = expanded.dilation_width = 1;
  std::uint64_t field = product.width * InputExtent(product.height, product.kernel_height,
                                                    product.stride_height, product.dilation_height);
  if (whole) {
    expanded.in_channels *= product.kernel_height;
    expanded.kernel_height = 1;
    field = product.width * product.height;
    expanded = Flatten(expanded);
  }
  variant.expanded_elements = product.groups * product.batch * field * expanded.in_channels;
  return variant;
}

ProductVariant Combine(const Product& product, std::uint64_t groups) {
  ProductVariant variant{product};
  variant.product.groups = CeilDivide(product.groups, groups);
  variant.product.in_channels *= groups;
  variant.product.out_channels *= groups;
  variant.combined_groups = groups;
  return variant;
}

}  // namespace

std::vector<ProductVariant> ProductVariants(const Product& product, std::uint64_t in_group) {
  std::vector<ProductVariant> variants;
  if (!product.spatial()) {
    const Product flat = Flatten(product);
    variants.push_back({flat});
    variants.push_back(Swap(flat));
  } else {
    variants.push_back({product});
    if (product.in_channels < in_group && product.groups == 1) {
      if (product.kernel_width > 1) variants.push_back(Expand(product, false));
      if (product.kernel_height > 1) variants.push_back(Expand(product, true));
    }
  }
  if (product.groups > 1 && product.in_channels * 2 <= in_group) {
    const std::uint64_t most = std::min(product.groups, in_group / product.in_channels);
    const Product base = product.spatial() ? product : Flatten(product);
    for (std::uint64_t groups = 2; groups <= most; groups *= 2) {
      variants.push_back(Combine(base, groups));
    }
  }
  return variants;
}

}  // namespace poprt::ipu
