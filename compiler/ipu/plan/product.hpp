#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string_view>

#include "compiler/ipu/cost/conv_units.hpp"

namespace poprt::ipu {

/// A convolution, or a matrix product as one (section 2.6): rows are the width of the field, the
/// inner extent the input channels, a batch of products the convolution groups.
struct Product {
  NumberFormat input = NumberFormat::kFloat16;  ///< a format the AMP units multiply
  NumberFormat output = NumberFormat::kFloat16;
  std::uint64_t groups = 1;
  std::uint64_t batch = 1;
  std::uint64_t height = 1;  ///< of the output field; more than two spatial axes count as height
  std::uint64_t width = 1;
  std::uint64_t in_channels = 1;   ///< of a group
  std::uint64_t out_channels = 1;  ///< of a group
  std::uint64_t kernel_height = 1;
  std::uint64_t kernel_width = 1;
  std::uint64_t stride_height = 1;
  std::uint64_t stride_width = 1;
  std::uint64_t dilation_height = 1;
  std::uint64_t dilation_width = 1;
  std::uint64_t input_height = 0;  ///< without padding; 0 when nothing is padded
  std::uint64_t input_width = 0;
  bool matrix = false;  ///< a matrix product, not a convolution

  auto operator<=>(const Product&) const = default;

  bool spatial() const { return kernel_height * kernel_width > 1; }
  /// The field is one row of neighbours.
  bool is_flat() const { return batch * height * stride_width == 1; }
  std::uint64_t rows() const { return batch * height * width; }
  std::uint64_t macs() const {
    return groups * rows() * in_channels * out_channels * kernel_height * kernel_width;
  }
};

/// [groups, rows, inner] x [groups, inner, columns].
inline Product MatrixProduct(NumberFormat input, NumberFormat output, std::uint64_t groups,
                             std::uint64_t rows, std::uint64_t inner, std::uint64_t columns) {
  Product product;
  product.matrix = true;
  product.input = input;
  product.output = output;
  product.groups = groups;
  product.width = rows;
  product.in_channels = inner;
  product.out_channels = columns;
  return product;
}

/// Extent of the input that `outputs` positions of an output axis read.
inline std::uint64_t InputExtent(std::uint64_t outputs, std::uint64_t kernel, std::uint64_t stride,
                                 std::uint64_t dilation) {
  return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
}

/// Rows of the input that `outputs` rows of the output read with `kernel` rows of the kernel, but
/// for padding.
inline std::uint64_t InputRows(const Product& product, std::uint64_t outputs,
                               std::uint64_t kernel) {
  const std::uint64_t rows =
      InputExtent(outputs, kernel, product.stride_height, product.dilation_height);
  return product.input_height == 0 ? rows : std::min(rows, product.input_height);
}

/// Columns of the input that `outputs` columns of the output read, but for padding.
inline std::uint64_t InputColumns(const Product& product, std::uint64_t outputs) {
  const std::uint64_t columns =
      InputExtent(outputs, product.kernel_width, product.stride_width, product.dilation_width);
  return product.input_width == 0 ? columns : std::min(columns, product.input_width);
}

}  // namespace poprt::ipu
