#include "runtime/kernels/fused/elementwise_pieces.hpp"

#include <algorithm>
#include <limits>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

// The private parts are inline: together they are one loop, which calls would slow by 4 %.

std::vector<std::size_t> FusedElementwise::InPlaceInputs() const {
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool same_element = operands[i].element == element;
    if (same_element && operands[i].access == Access::kFlat) inputs.push_back(i);
  }
  return inputs;
}

void FusedElementwise::Run(const KernelArguments& args) const {
  ForRanges(args.pool, count, kElementsPerTask,
            [&](std::int64_t begin, std::int64_t end, int worker) {
              RunRange(args, begin, end, WorkerScratch(args, worker, scratch_bytes));
            });
}

inline std::int64_t FusedElementwise::Shift(const KernelArguments& args, std::int64_t at) const {
  if (!writes_floats()) return 0;
  const auto place = reinterpret_cast<std::uintptr_t>(args.out<float>(0) + at);
  return static_cast<std::int64_t>(place / sizeof(float) % kLine);
}

inline void FusedElementwise::RunRange(const KernelArguments& args, std::int64_t begin,
                                       std::int64_t end, float* scratch) const {
  Cursor cursor;
  MoveTo(begin, cursor);
  bool new_row = true;
  std::int64_t column = begin % inner();
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t left = by_row() ? std::min(inner() - column, end - at) : end - at;
    const std::int64_t n = std::min(left, piece);
    RunPiece(args, cursor, at, column, n, new_row, scratch + Shift(args, at));
    at += n;
    column += n;
    new_row = column >= inner();
    if (by_row() && new_row) {
      NextRow(cursor);
      column = 0;
    } else if (!by_row() && at < end) {
      MoveTo(at, cursor);
      column = at % inner();
    }
  }
}

inline void FusedElementwise::MoveTo(std::int64_t position, Cursor& cursor) const {
  std::fill_n(cursor.offsets.begin(), operands.size(), std::int64_t{0});
  position /= inner();
  for (std::size_t d = extents.empty() ? 0 : extents.size() - 1; d-- > 0;) {
    cursor.index[d] = position % extents[d];
    position /= extents[d];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      cursor.offsets[i] += cursor.index[d] * operands[i].strides[d];
    }
  }
}

inline void FusedElementwise::NextRow(Cursor& cursor) const {
  for (std::size_t d = extents.empty() ? 0 : extents.size() - 1; d-- > 0;) {
    const bool wraps = ++cursor.index[d] == extents[d];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      cursor.offsets[i] += operands[i].strides[d] * (wraps ? 1 - extents[d] : 1);
    }
    if (!wraps) return;
    cursor.index[d] = 0;
  }
}

inline void FusedElementwise::RunPiece(const KernelArguments& args, const Cursor& cursor,
                                       std::int64_t at, std::int64_t column, std::int64_t n,
                                       bool new_row, float* scratch) const {
  std::array<const float*, kMostValues> values;
  std::size_t next = 0;
  for (; next < operands.size(); ++next) {
    values[next] = Load(args, next, cursor, at, column, n, new_row, scratch);
  }
  for (const float& constant : constants) values[next++] = &constant;
  for (const Instruction& step : instructions) {
    float* to = step.buffer < 0 ? args.out<float>(0) + at : Buffer(scratch, step.buffer);
    step.loop(values[step.a], step.binary ? values[step.b] : nullptr, to, step.is_single ? 1 : n);
    if (step.is_single && &step == &instructions.back()) std::fill_n(to, n, *to);
    values[next++] = to;
  }
  if (!writes_floats()) Store(args, values[next - 1], at, n);
}

inline void FusedElementwise::Store(const KernelArguments& args, const float* from, std::int64_t at,
                                    std::int64_t n) const {
  if (element == ElementType::kFloat16) {
    Epilogue store;
    store.out = args.out<std::uint16_t>(0) + at;
    store.half = true;
    kernels->finish(store, from, n, 1, n, 0, 0);
  } else if (element == ElementType::kInt8) {
    StoreBytes(from, n, point, args.out<std::int8_t>(0) + at);
  } else {
    StoreBytes(from, n, point, args.out<std::uint8_t>(0) + at);
  }
}

template <typename T>
void FusedElementwise::StoreBytes(const float* from, std::int64_t n, float point, T* to) {
  RunWide([=] {
    constexpr auto kLowest = static_cast<float>(std::numeric_limits<T>::lowest());
    constexpr auto kHighest = static_cast<float>(std::numeric_limits<T>::max());
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = static_cast<T>(ToInteger(from[i], point, kLowest, kHighest));
    }
  });
}

template <typename F>
auto FusedElementwise::WithElements(const KernelArguments& args, std::size_t i, const F& f) const {
  switch (operands[i].element) {
    case ElementType::kFloat16:
      return f(args.in<Float16>(i));
    case ElementType::kInt8:
      return f(args.in<std::int8_t>(i));
    case ElementType::kUint8:
      return f(args.in<std::uint8_t>(i));
    default:
      return f(args.in<float>(i));
  }
}

inline const float* FusedElementwise::Widened(const KernelArguments& args, std::size_t i,
                                              std::int64_t first, std::int64_t n,
                                              float* buffer) const {
  if (operands[i].element == ElementType::kFloat32) return args.in<float>(i) + first;
  if (operands[i].element == ElementType::kFloat16) {
    kernels->widen(args.in<std::uint16_t>(i) + first, n, buffer);
    return buffer;
  }
  WithElements(args, i, [=](const auto* from) {
    RunWide([from = from + first, n, buffer] {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t k = 0; k < n; ++k) buffer[k] = static_cast<float>(from[k]);
    });
  });
  return buffer;
}

inline const float* FusedElementwise::Load(const KernelArguments& args, std::size_t i,
                                           const Cursor& cursor, std::int64_t at,
                                           std::int64_t column, std::int64_t n, bool new_row,
                                           float* scratch) const {
  const Operand& operand = operands[i];
  float* const buffer = operand.buffer < 0 ? nullptr : Buffer(scratch, operand.buffer);
  switch (operand.access) {
    case Access::kRepeat:
      return Widened(args, i, cursor.offsets[i], 1, buffer);
    case Access::kCycle:
      if (new_row) {
        WithElements(args, i, [&](const auto* from) {
          for (std::int64_t k = 0; k < operand.period; ++k) {
            buffer[k] = static_cast<float>(from[cursor.offsets[i] + k]);
          }
        });
        for (std::int64_t k = operand.period; k < std::min(piece, inner()); k += operand.period) {
          std::copy_n(buffer, operand.period, buffer + k);
        }
      }
      return buffer;
    case Access::kGathered:
      WithElements(args, i, [&](const auto* from) { Gather(from, i, cursor, column, n, buffer); });
      return buffer;
    case Access::kFlat:
    case Access::kRow:
      break;
  }
  const std::int64_t first = operand.access == Access::kFlat ? at : cursor.offsets[i] + column;
  return Widened(args, i, first, n, buffer);
}

template <typename F>
void FusedElementwise::WriteChunks(std::int64_t n, float* to, F value_at) {
  for (std::int64_t k = 0; k < n; k += kChunk) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t c = k; c < k + kChunk; ++c) to[c] = value_at(c);
  }
}

template <typename T>
void FusedElementwise::Gather(const T* from, std::size_t i, const Cursor& cursor,
                              std::int64_t column, std::int64_t n, float* to) const {
  const std::vector<std::int64_t>& strides = operands[i].strides;
  const std::int64_t stride = extents.empty() ? 0 : strides.back();
  std::array<std::int64_t, kMostRank> index;
  std::copy_n(cursor.index.begin(), extents.empty() ? 0 : extents.size() - 1, index.begin());
  std::int64_t offset = cursor.offsets[i];
  const T* const end = from + operands[i].count;
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t run = std::min(n - done, inner() - column);
    const T* row = from + offset + column * stride;
    if (stride == 0) {
      const auto value = static_cast<float>(*row);
      WriteChunks(run, to + done, [value](std::int64_t) { return value; });
    } else if (stride == 1 && end - row >= run + kChunk) {
      WriteChunks(run, to + done, [row](std::int64_t k) { return static_cast<float>(row[k]); });
    } else {
      for (std::int64_t k = 0; k < run; ++k) to[done + k] = static_cast<float>(row[k]);
    }
    done += run;
    column = 0;
    for (std::size_t d = extents.empty() ? 0 : extents.size() - 1; d-- > 0;) {
      offset += strides[d];
      if (++index[d] < extents[d]) break;
      offset -= strides[d] * extents[d];
      index[d] = 0;
    }
  }
}

}  // namespace poprt::kernels
