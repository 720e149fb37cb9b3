#pragma once

#include <cstdint>

#include "runtime/kernels/packed/gemm_micro_kernels.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"

// Panels of operands that are not packed by the compiler are gathered while the program runs.
namespace poprt::kernels::tile {

/// Writes `count` elements of the source and zeros behind them, 16 floats in all.
template <class V, int kStep, class T>
void CopyRun(const T* source, std::int64_t count, float* target) {
  Unroll<kVectors<V>>([&](auto v) POPRT_INLINED {
    constexpr int kFirst = decltype(v)::value * V::kLanes;
    const T* const from = source + kStep * kFirst;
    auto lanes = V::Load(from);
    if constexpr (kStep == 2) lanes = V::Even(lanes, V::Load(from + V::kLanes));
    V::Store(V::KeepFirst(lanes, count - kFirst), target + kFirst);
  });
}

/// As CopyRun for any step, reading no more than the elements asked for.
template <class V, class T>
void CopyRunCarefully(const T* source, std::int64_t count, std::int64_t step, float* target) {
  T lanes[kColumns] = {};
  for (std::int64_t i = 0; i < count; ++i) lanes[i] = source[i * step];
  for (int c = 0; c < kColumns; c += V::kLanes) V::Store(V::Load(lanes + c), target + c);
}

/// Whole rows of a panel.
template <class V, class T>
void CopyRows(const T* source, std::int64_t row_stride, std::int64_t rows, float* panel) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (int c = 0; c < kColumns; c += V::kLanes) {
      V::Store(V::Load(source + r * row_stride + c), panel + r * kColumns + c);
    }
  }
}

template <class V, class T>
void Gather(const T* source, std::int64_t row_stride, std::int64_t rows,
            const PanelSegment* segments, std::int64_t segment_count, std::int64_t step,
            const T* end, float* panel) {
  if (segment_count == 1 && segments[0].count == kColumns && step == 1) {
    return CopyRows<V>(source + segments[0].offset, row_stride, rows, panel);
  }
  const bool starts_with_zeros = segment_count == 0 || segments[0].at > 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = panel + r * kColumns;
    if (starts_with_zeros) {
      for (int c = 0; c < kColumns; c += V::kLanes) V::Store(V::Zero(), row + c);
    }
    // Runs are written whole and from left to right: what is too much is overwritten by the next
    // run or the next row.
    for (std::int64_t s = 0; s < segment_count; ++s) {
      const PanelSegment& segment = segments[s];
      const T* from = source + r * row_stride + segment.offset;
      float* to = row + segment.at;
      if (step <= 2 && end - from >= step * kColumns) {
        if (step == 1) {
          CopyRun<V, 1>(from, segment.count, to);
        } else {
          CopyRun<V, 2>(from, segment.count, to);
        }
      } else {
        CopyRunCarefully<V>(from, segment.count, step, to);
      }
    }
  }
}

template <class V, class T>
void GatherTransposed(const T* source, std::int64_t column_stride, std::int64_t cols,
                      std::int64_t depth, float* panel) {
  for (std::int64_t c = 0; c < kColumns; c += V::kLanes) {
    for (std::int64_t k = 0; k < depth; k += V::kLanes) {
      const std::int64_t count = depth - k < V::kLanes ? depth - k : V::kLanes;
      typename V::Register lines[V::kLanes];
      for (int i = 0; i < V::kLanes; ++i) {
        lines[i] =
            c + i < cols ? LoadFirst<V>(source + (c + i) * column_stride + k, count) : V::Zero();
      }
      V::Transpose(lines);
      for (std::int64_t i = 0; i < count; ++i) V::Store(lines[i], panel + (k + i) * kColumns + c);
    }
  }
}

template <class V>
void Widen(const std::uint16_t* source, std::int64_t count, float* target) {
  for (std::int64_t i = 0; i < count; i += V::kLanes) {
    StoreFirst<V>(LoadFirst<V>(source + i, count - i), target + i, count - i);
  }
}

}  // namespace poprt::kernels::tile
