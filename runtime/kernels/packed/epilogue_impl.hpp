#pragma once

#include <cstdint>

#include "runtime/kernels/packed/activations_impl.hpp"
#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// What is done to the sums of a tile before they are stored: scale, biases, residual, activation.
namespace poprt::kernels::tile {

/// Rows of a whole panel's width: what all of them need stays in registers.
template <class V, Activation kActivation, bool kHasResidual, class T>
void FinishWide(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
                std::int64_t row, std::int64_t col) {
  const auto scale = V::Set(e.scale);
  typename V::Register bias[kVectors<V>];
  Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
    constexpr int kV = decltype(v)::value;
    bias[kV] = e.column_bias == nullptr ? V::Zero() : V::Load(e.column_bias + col + kV * V::kLanes);
  });
  const std::int64_t start = row * e.row_stride + col;
  T* out = static_cast<T*>(e.out) + start;
  const T* residual = kHasResidual ? static_cast<const T*>(e.residual) + start : nullptr;
  const float* const row_bias = e.row_bias;
  const std::int64_t stride = e.row_stride;
  for (std::int64_t r = 0; r < rows; ++r, tile += tile_stride, out += stride) {
    const auto bias_of_row = row_bias == nullptr ? V::Zero() : V::Set(row_bias[row + r]);
    Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
      constexpr int kV = decltype(v)::value;
      const auto sums = V::Mul(V::Load(tile + kV * V::kLanes), scale);
      auto value = V::Add(V::Add(sums, bias_of_row), bias[kV]);
      if constexpr (kHasResidual) value = V::Add(value, V::Load(residual + kV * V::kLanes));
      V::Store(Activate<V, kActivation>(value, e), out + kV * V::kLanes);
    });
    if constexpr (kHasResidual) residual += stride;
  }
}

/// Rows of any width.
template <class V, Activation kActivation, class T>
void FinishNarrow(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
                  std::int64_t cols, std::int64_t row, std::int64_t col) {
  const auto scale = V::Set(e.scale);
  const std::int64_t start = row * e.row_stride + col;
  const std::int64_t stride = e.row_stride;
  const float* const column_bias = e.column_bias;
  T* const out = static_cast<T*>(e.out) + start;
  const T* const residual =
      e.residual == nullptr ? nullptr : static_cast<const T*>(e.residual) + start;
  const auto row_bias_of = [&](std::int64_t r) POPRT_INLINED {
    return e.row_bias == nullptr ? V::Zero() : V::Set(e.row_bias[row + r]);
  };
  const auto bias_of = [&](std::int64_t c, std::int64_t count) POPRT_INLINED {
    return column_bias == nullptr ? V::Zero() : LoadFirst<V>(column_bias + col + c, count);
  };
  const auto finish = [&](std::int64_t r, std::int64_t c, std::int64_t count, auto row_bias,
                          auto bias) POPRT_INLINED {
    const auto sums = V::Mul(LoadFirst<V>(tile + r * tile_stride + c, count), scale);
    auto value = V::Add(V::Add(sums, row_bias), bias);
    if (residual != nullptr) value = V::Add(value, LoadFirst<V>(residual + r * stride + c, count));
    StoreFirst<V>(Activate<V, kActivation>(value, e), out + r * stride + c, count);
  };
  if (cols < V::kLanes) {
    const auto bias = bias_of(0, cols);
    for (std::int64_t r = 0; r < rows; ++r) finish(r, 0, cols, row_bias_of(r), bias);
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row_bias = row_bias_of(r);
    std::int64_t c = 0;
    for (; c + V::kLanes <= cols; c += V::kLanes) {
      finish(r, c, V::kLanes, row_bias, bias_of(c, V::kLanes));
    }
    if (c < cols) finish(r, c, cols - c, row_bias, bias_of(c, cols - c));
  }
}

template <class V, Activation kActivation, class T>
void FinishAs(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
              std::int64_t cols, std::int64_t row, std::int64_t col) {
  if (cols != kColumns) {
    FinishNarrow<V, kActivation, T>(e, tile, tile_stride, rows, cols, row, col);
  } else if (e.residual == nullptr) {
    FinishWide<V, kActivation, false, T>(e, tile, tile_stride, rows, row, col);
  } else {
    FinishWide<V, kActivation, true, T>(e, tile, tile_stride, rows, row, col);
  }
}

template <class V, class T>
void FinishWith(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
                std::int64_t cols, std::int64_t row, std::int64_t col) {
  WithActivation(e.activation, [&](auto activation) POPRT_INLINED {
    FinishAs<V, decltype(activation)::value, T>(e, tile, tile_stride, rows, cols, row, col);
  });
}

template <class V>
void Finish(const Epilogue& e, const float* tile, std::int64_t tile_stride, std::int64_t rows,
            std::int64_t cols, std::int64_t row, std::int64_t col) {
  if (e.half) return FinishWith<V, std::uint16_t>(e, tile, tile_stride, rows, cols, row, col);
  FinishWith<V, float>(e, tile, tile_stride, rows, cols, row, col);
}

}  // namespace poprt::kernels::tile
