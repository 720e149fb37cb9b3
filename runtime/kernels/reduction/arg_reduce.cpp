#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/reduction/extreme.hpp"
#include "runtime/kernels/reduction/reduction.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kStrip = 128;

/// Whether x takes the place of `best`, which came before. The first NaN wins over all numbers, the
/// last one if the last of equals wins. Without branches, for vectors.
template <bool kMax, bool kLast, typename T>
POPRT_INLINE bool Better(T x, T best) {
  const bool is_worse = kMax ? x < best : x > best;
  const bool wins = !(kLast ? is_worse : is_worse | (x == best));
  const bool may_win = (best == best) | (kLast & (x != x));
  return wins & may_win;
}

/// Indices of the best elements in up to kStrip neighbouring columns. I has room for the length.
template <bool kMax, bool kLast, typename I, typename T>
void SearchStrip(const std::byte* from, const Converter& load, const AxisSplit& split,
                 std::int64_t start, std::int64_t n, std::int64_t* indices) {
  T best[kStrip];
  T block[kStrip];
  I found[kStrip] = {};
  for (std::int64_t k = 0; k < split.length; ++k) {
    const std::byte* at =
        from + static_cast<std::size_t>(start + k * split.inner) * load.from_bytes();
    const T* row = reinterpret_cast<const T*>(at);
    if (!load.is_copy()) {
      load(at, reinterpret_cast<std::byte*>(block), n);
      row = block;
    }
    if (k == 0) {
      std::copy_n(row, n, best);
      continue;
    }
    const I index = static_cast<I>(k);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      const bool better = Better<kMax, kLast>(row[i], best[i]);
      best[i] = better ? row[i] : best[i];
      found[i] = better ? index : found[i];
    }
  }
  for (std::int64_t i = 0; i < n; ++i) indices[i] = static_cast<std::int64_t>(found[i]);
}

/// Where the extreme element of a line is: it is found first, then sought, both with vectors.
template <bool kMax, bool kLast>
std::int64_t SearchFloats(const float* x, std::int64_t length) {
  const float best = ExtremeOf<kMax>(x, length);
  const auto is_best = [&](std::int64_t i) { return best != best ? x[i] != x[i] : x[i] == best; };
  std::int64_t i = kLast ? length - 1 : 0;
  while (!is_best(i)) i += kLast ? -1 : 1;
  return i;
}

/// Index of the best of `length` contiguous elements.
template <bool kMax, bool kLast, typename T>
std::int64_t SearchLine(const std::byte* from, const Converter& load, std::int64_t length) {
  if constexpr (std::is_same_v<T, float>) {
    if (load.is_copy()) {
      return SearchFloats<kMax, kLast>(reinterpret_cast<const float*>(from), length);
    }
  }
  T best{};
  T block[kStrip];
  std::int64_t index = 0;
  for (std::int64_t k = 0; k < length; k += kStrip) {
    const std::int64_t n = std::min(kStrip, length - k);
    load(from + static_cast<std::size_t>(k) * load.from_bytes(),
         reinterpret_cast<std::byte*>(block), n);
    for (std::int64_t i = 0; i < n; ++i) {
      if (k + i > 0 && !Better<kMax, kLast>(block[i], best)) continue;
      best = block[i];
      index = k + i;
    }
  }
  return index;
}

template <bool kMax, bool kLast, typename T>
void SearchLines(const KernelArguments& args, const Converter& load, const AxisSplit& split) {
  ForWideRanges(args.pool, split.outer, GrainFor(split.length),
                [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                  for (std::int64_t line = begin; line < end; ++line) {
                    const auto offset = static_cast<std::size_t>(line * split.length);
                    args.out<std::int64_t>(0)[line] = SearchLine<kMax, kLast, T>(
                        args.inputs[0] + offset * load.from_bytes(), load, split.length);
                  }
                });
}

template <bool kMax, bool kLast, typename T>
BoundKernel BindSearch(const KernelCall& call, const AxisSplit& split) {
  const Converter load(call.inputs[0].element, kElementOf<T>);
  if (split.inner == 1) {
    return {.run = [=](const KernelArguments& args) {
      SearchLines<kMax, kLast, T>(args, load, split);
    }};
  }
  const bool narrow = split.length <= std::numeric_limits<std::int32_t>::max();
  const auto search = narrow ? SearchStrip<kMax, kLast, std::int32_t, T>
                             : SearchStrip<kMax, kLast, std::int64_t, T>;
  return {.run = [=](const KernelArguments& args) {
    const std::int64_t strips = (split.inner + kStrip - 1) / kStrip;
    ForWideRanges(
        args.pool, split.outer * strips, GrainFor(split.length * std::min(split.inner, kStrip)),
        [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
          for (std::int64_t task = begin; task < end; ++task) {
            const std::int64_t outer = task / strips;
            const std::int64_t column = task % strips * kStrip;
            search(args.inputs[0], load, split, outer * split.length * split.inner + column,
                   std::min(kStrip, split.inner - column),
                   args.out<std::int64_t>(0) + outer * split.inner + column);
          }
        });
  }};
}

template <bool kMax>
BoundKernel BindArgReduce(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kNumericTypes, "input 0");
  const std::size_t axis = AxisAttribute(call, "axis", 0, input.shape.size());
  const bool last = FlagAttribute(call, "select_last_index", false);
  Shape shape = input.shape;
  if (FlagAttribute(call, "keepdims", true)) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  RequireType(call.outputs[0], {ElementType::kInt64, shape}, "output 0");
  const AxisSplit split = SplitAt(input.shape, axis);
  Require(split.length > 0 || split.outer * split.inner == 0,
          "input 0 is " + ToString(input) + ", which has nothing to choose from");
  const auto bind = [&](auto type) {
    using T = typename decltype(type)::type;
    return last ? BindSearch<kMax, true, T>(call, split) : BindSearch<kMax, false, T>(call, split);
  };
  if (input.element == ElementType::kFloat64) return bind(std::type_identity<double>{});
  if (IsFloat(input.element)) return bind(std::type_identity<float>{});
  if (Contains(kSignedTypes, input.element)) return bind(std::type_identity<std::int64_t>{});
  return bind(std::type_identity<std::uint64_t>{});
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"ArgMax", BindArgReduce<true>},
    {"ArgMin", BindArgReduce<false>},
});

}  // namespace

std::span<const KernelDef> ArgReduceKernels() { return kKernels; }

}  // namespace poprt::kernels
