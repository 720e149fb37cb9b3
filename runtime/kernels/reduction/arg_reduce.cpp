#include <algorithm>
#include <array>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/reduction/reduction.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kStrip = 128;

/// Whether x takes the place of `best`, which came before. The first NaN wins over all numbers.
template <bool kMax, bool kLast, typename T>
bool Better(T x, T best) {
  if (best != best) return kLast && x != x;
  if (x != x) return true;
  if (x == best) return kLast;
  return kMax ? x > best : x < best;
}

/// Indices of the best elements in up to kStrip neighbouring columns.
template <bool kMax, bool kLast, typename T>
void SearchStrip(const std::byte* from, const Converter& load, const AxisSplit& split,
                 std::int64_t start, std::int64_t n, std::int64_t* indices) {
  T best[kStrip];
  T row[kStrip];
  for (std::int64_t k = 0; k < split.length; ++k) {
    const std::int64_t offset = start + k * split.inner;
    load(from + static_cast<std::size_t>(offset) * load.from_bytes(),
         reinterpret_cast<std::byte*>(row), n);
    for (std::int64_t i = 0; i < n; ++i) {
      if (k > 0 && !Better<kMax, kLast>(row[i], best[i])) continue;
      best[i] = row[i];
      indices[i] = k;
    }
  }
}

/// Index of the best of `length` contiguous elements.
template <bool kMax, bool kLast, typename T>
std::int64_t SearchLine(const std::byte* from, const Converter& load, std::int64_t length) {
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
  ForRanges(args.pool, split.outer, GrainFor(split.length),
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
  return {.run = [=](const KernelArguments& args) {
    const std::int64_t strips = (split.inner + kStrip - 1) / kStrip;
    ForRanges(args.pool, split.outer * strips,
              GrainFor(split.length * std::min(split.inner, kStrip)),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                for (std::int64_t task = begin; task < end; ++task) {
                  const std::int64_t outer = task / strips;
                  const std::int64_t column = task % strips * kStrip;
                  SearchStrip<kMax, kLast, T>(
                      args.inputs[0], load, split, outer * split.length * split.inner + column,
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
