#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"

/// The transforms of Winograd convolution, once for every kind of processor. As
/// gemm_micro_kernels.hpp this header must stay free of inline functions.
namespace poprt::kernels {

/// 16 channels of one input tile, and where its transform goes.
struct WinogradInputTile {
  const float* image;          ///< of the 16 channels, [height][width][16]
  std::int64_t row_stride;     ///< elements from one row of the tile to the next,
  std::int64_t column_stride;  ///< and from one column
  std::int64_t offset;         ///< of the tile's first pixel from `image`, may lie outside
  // The part of the tile that lies inside the image; pixels elsewhere are zero.
  std::int64_t first_row;
  std::int64_t last_row;  ///< one past
  std::int64_t first_column;
  std::int64_t last_column;  ///< one past
  float* target;             ///< 16 floats for every element
  std::int64_t element_stride;
};

/// 16 channels of one output tile, and the products it is made of.
struct WinogradOutputTile {
  const float* products;  ///< 16 floats for every element
  std::int64_t element_stride;
  const float* bias;      ///< 16 floats
  const float* residual;  ///< laid out as `out`, or null
  float* out;             ///< the tile's first pixel
  std::int64_t row_stride;
  std::int64_t column_stride;
  // The part of the tile that lies inside the image.
  std::int64_t rows;
  std::int64_t columns;
};

/// Of one size of tiles. Elements are numbered row by row.
struct WinogradTransforms {
  void (*input)(const WinogradInputTile& tile);
  /// Adds bias and residual and applies the activation of `epilogue`, of which nothing else is
  /// read.
  void (*output)(const Epilogue& epilogue, const WinogradOutputTile& tile);
};

/// By tiles of outputs. Along an axis m outputs are made of m + 2 inputs, or one of one.
struct WinogradKernels {
  WinogradTransforms of_2x2;
  WinogradTransforms of_4x4;
  WinogradTransforms of_1x4;
  WinogradTransforms of_4x1;
};

/// For each instruction set, see inner_loops.hpp.
extern const WinogradKernels kPortableWinograd;
extern const WinogradKernels kAvx2Winograd;
extern const WinogradKernels kAvx512Winograd;

}  // namespace poprt::kernels
