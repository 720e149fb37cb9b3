#pragma once

#include <cstdint>

#include "runtime/kernels/blocked/winograd_points.hpp"
#include "runtime/kernels/blocked/winograd_transforms.hpp"
#include "runtime/kernels/packed/activations_impl.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// WinogradTransforms written once over a vector type V, see vector_type.hpp.
//
// In the notation of A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, CVPR
// 2016: Y = A^T [(G g G^T) (B^T d B)] A, the products in brackets element by element. A transform
// of a tile is that of a line, first of its columns, then of its rows. `Line<V, m>` has both of
// F(m, 3), where m = 1 stands for none:
//   Input: B^T d, of the m + 2 inputs of a line
//   Output: A^T x, the m outputs of the products at the m + 2 points
// G is applied by the compiler (pack_winograd.hpp). For m = 2 the first rows of B^T and G, the
// last row of B^T and the last column of A^T have the opposite sign of theirs.
namespace poprt::kernels::winograd {

using tile::kColumns;

template <class V, int kTile>
struct Line;

/// Inputs of a line of a tile.
template <int kTile>
inline constexpr int kSide = kTile == 1 ? 1 : kTile + 2;

template <class V>
struct Line<V, 1> {
  using Register = typename V::Register;

  [[gnu::always_inline]] static void Input(const Register (&d)[1], Register (&v)[1]) {
    v[0] = d[0];
  }
  [[gnu::always_inline]] static void Output(const Register (&m)[1], Register (&y)[1]) {
    y[0] = m[0];
  }
};

/// Points 0, 1, -1, infinity.
template <class V>
struct Line<V, 2> {
  using Register = typename V::Register;

  [[gnu::always_inline]] static void Input(const Register (&d)[4], Register (&v)[4]) {
    v[0] = V::Sub(d[2], d[0]);
    v[1] = V::Add(d[2], d[1]);
    v[2] = V::Sub(d[2], d[1]);
    v[3] = V::Sub(d[3], d[1]);
  }

  [[gnu::always_inline]] static void Output(const Register (&m)[4], Register (&y)[2]) {
    y[0] = V::Add(m[0], V::Add(m[1], m[2]));
    y[1] = V::Add(m[3], V::Sub(m[1], m[2]));
  }
};

/// Points 0, a, -a, b, -b, infinity.
template <class V>
struct Line<V, 4> {
  using Register = typename V::Register;
  static constexpr float kA = static_cast<float>(kWinogradPoint4Near);
  static constexpr float kB = static_cast<float>(kWinogradPoint4Far);
  static constexpr float kA2 = kA * kA;
  static constexpr float kB2 = kB * kB;

  [[gnu::always_inline]] static void Input(const Register (&d)[6], Register (&v)[6]) {
    const auto sum = V::Set(-(kA2 + kB2));
    const auto product = V::Set(kA2 * kB2);
    v[0] = V::MulAdd(product, d[0], V::MulAdd(sum, d[2], d[4]));
    v[5] = V::MulAdd(product, d[1], V::MulAdd(sum, d[3], d[5]));
    const auto even_a = V::MulAdd(V::Set(-kB2), d[2], d[4]);
    const auto odd_a = V::MulAdd(V::Set(-kB2), d[1], d[3]);
    v[1] = V::MulAdd(V::Set(kA), odd_a, even_a);
    v[2] = V::MulAdd(V::Set(-kA), odd_a, even_a);
    const auto even_b = V::MulAdd(V::Set(-kA2), d[2], d[4]);
    const auto odd_b = V::MulAdd(V::Set(-kA2), d[1], d[3]);
    v[3] = V::MulAdd(V::Set(kB), odd_b, even_b);
    v[4] = V::MulAdd(V::Set(-kB), odd_b, even_b);
  }

  [[gnu::always_inline]] static void Output(const Register (&m)[6], Register (&y)[4]) {
    const auto even_a = V::Add(m[1], m[2]);
    const auto odd_a = V::Mul(V::Set(kA), V::Sub(m[1], m[2]));
    const auto even_b = V::Add(m[3], m[4]);
    const auto odd_b = V::Mul(V::Set(kB), V::Sub(m[3], m[4]));
    y[0] = V::Add(m[0], V::Add(even_a, even_b));
    y[1] = V::Add(odd_a, odd_b);
    y[2] = V::MulAdd(V::Set(kA2), even_a, V::Mul(V::Set(kB2), even_b));
    y[3] = V::MulAdd(V::Set(kA2), odd_a, V::MulAdd(V::Set(kB2), odd_b, m[5]));
  }
};

// ---- Input -----------------------------------------------------------------------------------

/// A register of channels of a tile whose pixels are all there.
template <class V, int kRows, int kCols>
[[gnu::always_inline]] inline void TransformInput(const float* pixels, std::int64_t row_stride,
                                                  std::int64_t column_stride, float* target,
                                                  std::int64_t element_stride) {
  typename V::Register rows[kSide<kRows>][kSide<kCols>];
  for (int column = 0; column < kSide<kCols>; ++column) {
    typename V::Register d[kSide<kRows>];
    typename V::Register v[kSide<kRows>];
    tile::Unroll<kSide<kRows>>([&](auto i) __attribute__((always_inline)) {
      d[decltype(i)::value] =
          V::Load(pixels + decltype(i)::value * row_stride + column * column_stride);
    });
    Line<V, kRows>::Input(d, v);
    tile::Unroll<kSide<kRows>>([&](auto i) __attribute__((always_inline)) {
      rows[decltype(i)::value][column] = v[decltype(i)::value];
    });
  }
  for (int row = 0; row < kSide<kRows>; ++row) {
    typename V::Register d[kSide<kCols>];
    typename V::Register v[kSide<kCols>];
    tile::Unroll<kSide<kCols>>([&](auto i) __attribute__((always_inline)) {
      d[decltype(i)::value] = rows[row][decltype(i)::value];
    });
    Line<V, kCols>::Input(d, v);
    tile::Unroll<kSide<kCols>>([&](auto i) __attribute__((always_inline)) {
      V::Store(v[decltype(i)::value], target + decltype(i)::value * element_stride);
    });
    target += kSide<kCols> * element_stride;
  }
}

/// Copies the part of a tile that lies inside the image and puts zeros around it.
template <class V, int kRows, int kCols>
void PadInput(const WinogradInputTile& tile, float* padded) {
  constexpr float kZeros[kColumns] = {};
  for (std::int64_t row = 0; row < kSide<kRows>; ++row) {
    const bool has_row = row >= tile.first_row && row < tile.last_row;
    for (std::int64_t column = 0; column < kSide<kCols>; ++column, padded += kColumns) {
      const bool inside = has_row && column >= tile.first_column && column < tile.last_column;
      const float* pixel =
          inside ? tile.image + (tile.offset + row * tile.row_stride + column * tile.column_stride)
                 : kZeros;
      for (int c = 0; c < kColumns; c += V::kLanes) V::Store(V::Load(pixel + c), padded + c);
    }
  }
}

template <class V, int kRows, int kCols>
void Input(const WinogradInputTile& tile) {
  const bool complete = tile.first_row == 0 && tile.first_column == 0 &&
                        tile.last_row == kSide<kRows> && tile.last_column == kSide<kCols>;
  alignas(64) float padded[kSide<kRows> * kSide<kCols> * kColumns];
  const float* pixels = padded;
  std::int64_t row_stride = kSide<kCols> * kColumns;
  std::int64_t column_stride = kColumns;
  if (complete) {
    pixels = tile.image + tile.offset;
    row_stride = tile.row_stride;
    column_stride = tile.column_stride;
  } else {
    PadInput<V, kRows, kCols>(tile, padded);
  }
  const auto transform = [&](std::int64_t step) __attribute__((always_inline)) {
    for (int lane = 0; lane < kColumns; lane += V::kLanes) {
      TransformInput<V, kRows, kCols>(pixels + lane, row_stride, step, tile.target + lane,
                                      tile.element_stride);
    }
  };
  // Addresses are constants where pixels are neighbours.
  column_stride == kColumns ? transform(kColumns) : transform(column_stride);
}

// ---- Output ----------------------------------------------------------------------------------

/// A register of channels, counted from `lane`.
template <class V, int kRows, int kCols, Activation kActivation>
[[gnu::always_inline]] inline void TransformOutput(const Epilogue& epilogue,
                                                   const WinogradOutputTile& tile,
                                                   std::int64_t column_stride, int lane) {
  typename V::Register rows[kRows][kSide<kCols>];
  for (int column = 0; column < kSide<kCols>; ++column) {
    typename V::Register m[kSide<kRows>];
    typename V::Register y[kRows];
    tile::Unroll<kSide<kRows>>([&](auto i) __attribute__((always_inline)) {
      m[decltype(i)::value] =
          V::Load(tile.products +
                  (decltype(i)::value * kSide<kCols> + column) * tile.element_stride + lane);
    });
    Line<V, kRows>::Output(m, y);
    tile::Unroll<kRows>([&](auto i) __attribute__((always_inline)) {
      rows[decltype(i)::value][column] = y[decltype(i)::value];
    });
  }
  const auto bias = V::Load(tile.bias + lane);
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    typename V::Register m[kSide<kCols>];
    typename V::Register y[kCols];
    tile::Unroll<kSide<kCols>>([&](auto i) __attribute__((always_inline)) {
      m[decltype(i)::value] = rows[row][decltype(i)::value];
    });
    Line<V, kCols>::Output(m, y);
    const std::int64_t start = row * tile.row_stride + lane;
    for (std::int64_t column = 0; column < tile.columns; ++column) {
      const std::int64_t at = start + column * column_stride;
      auto value = V::Add(y[column], bias);
      if (tile.residual != nullptr) value = V::Add(value, V::Load(tile.residual + at));
      V::Store(tile::Activate<V, kActivation>(value, epilogue), tile.out + at);
    }
  }
}

template <class V, int kRows, int kCols, Activation kActivation>
void OutputAs(const Epilogue& epilogue, const WinogradOutputTile& tile) {
  const auto transform = [&](std::int64_t step) __attribute__((always_inline)) {
    for (int lane = 0; lane < kColumns; lane += V::kLanes) {
      TransformOutput<V, kRows, kCols, kActivation>(epilogue, tile, step, lane);
    }
  };
  // As in Input.
  tile.column_stride == kColumns ? transform(kColumns) : transform(tile.column_stride);
}

template <class V, int kRows, int kCols>
void Output(const Epilogue& epilogue, const WinogradOutputTile& tile) {
  tile::WithActivation(
      epilogue.activation, [&](auto activation) __attribute__((always_inline)) {
        OutputAs<V, kRows, kCols, decltype(activation)::value>(epilogue, tile);
      });
}

template <class V, int kRows, int kCols>
inline constexpr WinogradTransforms kTransforms{.input = Input<V, kRows, kCols>,
                                                .output = Output<V, kRows, kCols>};

template <class V>
inline constexpr WinogradKernels kKernels{.of_2x2 = kTransforms<V, 2, 2>,
                                          .of_4x4 = kTransforms<V, 4, 4>,
                                          .of_1x4 = kTransforms<V, 1, 4>,
                                          .of_4x1 = kTransforms<V, 4, 1>};

}  // namespace poprt::kernels::winograd
