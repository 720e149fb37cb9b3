#pragma once

#include <cstdint>

#include "runtime/kernels/packed/tile_kernels.hpp"

/// The transforms of Winograd convolution, once for every kind of processor. As tile_kernels.hpp
/// this header must stay free of inline functions.
namespace poprt::kernels {

/// 16 channels of one input tile of (m + 2)^2 pixels, and where its transform goes.
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

/// 16 channels of one output tile of m^2 pixels, and the products it is made of.
struct WinogradOutputTile {
  const float* products;  ///< 16 floats for every element
  std::int64_t element_stride;
  const float* bias;      ///< 16 floats
  const float* residual;  ///< laid out as `out`, or null
  float* out;             ///< the tile's first pixel
  std::int64_t row_stride;
  std::int64_t column_stride;
  // The part of the tile that lies inside the image, at most m each.
  std::int64_t rows;
  std::int64_t columns;
};

/// Of one tile size m. Elements are numbered row by row.
struct WinogradTransforms {
  void (*input)(const WinogradInputTile& tile);
  /// Adds bias and residual and applies the activation of `epilogue`, of which nothing else is
  /// read.
  void (*output)(const Epilogue& epilogue, const WinogradOutputTile& tile);
};

/// For m = 2 and m = 4 and each instruction set, see inner_loops.hpp.
extern const WinogradTransforms kPortableWinograd2;
extern const WinogradTransforms kPortableWinograd4;
extern const WinogradTransforms kAvx2Winograd2;
extern const WinogradTransforms kAvx2Winograd4;
extern const WinogradTransforms kAvx512Winograd2;
extern const WinogradTransforms kAvx512Winograd4;

}  // namespace poprt::kernels
