#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/index/index.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"

namespace poprt::kernels {
namespace {

std::size_t RoundUp(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The result is sorted whether that is asked for or not, so that it is determined: equal elements
/// in the order of their indices, NaN as the greatest of all.
template <typename C>
struct TopK {
  AxisSplit split;
  std::int64_t k = 0;
  bool empty = false;
  bool has_values = true;
  bool has_indices = true;
  Converter load;
  std::size_t element = 0;

  std::size_t scratch_bytes() const {
    if (empty) return 0;
    const auto length = static_cast<std::size_t>(split.length);
    return RoundUp(length * sizeof(C)) + RoundUp(length * sizeof(std::int64_t));
  }

  template <bool kLargest>
  void SelectLine(C* values, std::int64_t* order) const {
    if constexpr (std::is_same_v<C, float>) {
      // The index stands in the low half of a key.
      if (split.length <= std::numeric_limits<std::uint32_t>::max()) {
        return SelectKeys<kLargest>(values, order);
      }
    }
    std::iota(order, order + split.length, std::int64_t{0});
    const auto before = [values](std::int64_t a, std::int64_t b) {
      const C x = values[a];
      const C y = values[b];
      const bool x_nan = x != x;
      const bool y_nan = y != y;
      if (x_nan || y_nan) return x_nan != y_nan ? x_nan == kLargest : a < b;
      if (x == y) return a < b;
      return kLargest ? x > y : x < y;
    };
    if (k < split.length) std::nth_element(order, order + k, order + split.length, before);
    std::sort(order, order + k, before);
  }

  /// A number that is the larger the earlier the element stands in the result.
  template <bool kLargest>
  static std::uint64_t KeyOf(float x, std::int64_t index) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x == 0.0F ? 0.0F : x);
    std::uint32_t rank = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
    if (x != x) rank = 0xFFFFFFFFU;
    return std::uint64_t{kLargest ? rank : ~rank} << 32 | ~static_cast<std::uint32_t>(index);
  }

  /// One pass that keeps what is better than the k-th best so far.
  template <bool kLargest>
  void SelectKeys(const float* values, std::int64_t* order) const {
    auto* const keys = reinterpret_cast<std::uint64_t*>(order);
    const std::int64_t room = std::min(split.length, 2 * k + 32);
    std::int64_t kept = 0;
    const auto keep_best = [&] {
      std::nth_element(keys, keys + k - 1, keys + kept, std::greater<>());
      kept = k;
    };
    std::int64_t i = 0;
    for (; i < room; ++i) keys[i] = KeyOf<kLargest>(values[i], i);
    for (kept = room; i < split.length;) {
      keep_best();
      // Of equal elements the earlier ones are better, and those are kept already. A NaN is better
      // than any number where the largest are sought.
      const float limit = values[~static_cast<std::uint32_t>(keys[k - 1])];
      for (; i < split.length && kept < room; ++i) {
        const float x = values[i];
        const bool loses = kLargest ? x <= limit : x >= limit;
        if (!loses) keys[kept++] = KeyOf<kLargest>(x, i);
      }
    }
    if (kept > k) keep_best();
    std::sort(keys, keys + k, std::greater<>());
    for (std::int64_t place = 0; place < k; ++place) {
      order[place] = static_cast<std::int64_t>(~static_cast<std::uint32_t>(keys[place]));
    }
  }

  template <bool kLargest>
  void Run(const KernelArguments& args) const {
    if (empty) return;
    ForRanges(args.pool, split.outer * split.inner, GrainFor(8 * split.length),
              [&](std::int64_t begin, std::int64_t end, int worker) {
                std::byte* scratch =
                    args.scratch + static_cast<std::size_t>(worker) * scratch_bytes();
                C* values = reinterpret_cast<C*>(scratch);
                auto* order = reinterpret_cast<std::int64_t*>(
                    scratch + RoundUp(static_cast<std::size_t>(split.length) * sizeof(C)));
                for (std::int64_t line = begin; line < end; ++line) {
                  RunLine<kLargest>(args, line / split.inner, line % split.inner, values, order);
                }
              });
  }

  template <bool kLargest>
  void RunLine(const KernelArguments& args, std::int64_t outer, std::int64_t inner, C* values,
               std::int64_t* order) const {
    const std::byte* from =
        args.inputs[0] +
        static_cast<std::size_t>(outer * split.length * split.inner + inner) * element;
    const std::size_t stride = static_cast<std::size_t>(split.inner) * element;
    if (split.inner == 1) {
      load(from, reinterpret_cast<std::byte*>(values), split.length);
    } else {
      for (std::int64_t i = 0; i < split.length; ++i) {
        load(from + static_cast<std::size_t>(i) * stride, reinterpret_cast<std::byte*>(values + i),
             1);
      }
    }
    SelectLine<kLargest>(values, order);
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t to = (outer * k + i) * split.inner + inner;
      // The stored bytes, so that nothing is rounded on the way.
      if (has_values) {
        std::copy_n(from + static_cast<std::size_t>(order[i]) * stride, element,
                    args.outputs[0] + static_cast<std::size_t>(to) * element);
      }
      if (has_indices) args.out<std::int64_t>(1)[to] = order[i];
    }
  }
};

}  // namespace

BoundKernel BindTopK(const KernelCall& call) {
  RequireArity(call, 1, 1, 0, 2);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kNumericTypes, "input 0");
  Require(call.attributes.has("k"), "attribute 'k' is missing");
  const std::int64_t k = ScalarAttribute(call, "k", 0);
  const std::size_t axis = AxisAttribute(call, "axis", -1, input.shape.size());
  Require(k >= 0 && k <= input.shape[axis], "attribute 'k' is " + std::to_string(k) +
                                                ", allowed are 0 to " +
                                                std::to_string(input.shape[axis]));
  const bool largest = FlagAttribute(call, "largest", true);
  FlagAttribute(call, "sorted", true);
  Shape shape = input.shape;
  shape[axis] = k;
  const bool has_values = !call.outputs.empty() && call.outputs[0].defined();
  const bool has_indices = call.outputs.size() > 1 && call.outputs[1].defined();
  if (has_values) RequireType(call.outputs[0], {input.element, shape}, "output 0");
  if (has_indices) RequireType(call.outputs[1], {ElementType::kInt64, shape}, "output 1");

  const auto bind = [&](auto type) -> BoundKernel {
    using C = typename decltype(type)::type;
    const TopK<C> top{.split = SplitAt(input.shape, axis),
                      .k = k,
                      .empty = ElementCount(shape) == 0,
                      .has_values = has_values,
                      .has_indices = has_indices,
                      .load = {input.element, kElementOf<C>},
                      .element = ElementSize(input.element)};
    return {.run =
                [top, largest](const KernelArguments& args) {
                  largest ? top.template Run<true>(args) : top.template Run<false>(args);
                },
            .scratch_bytes = top.scratch_bytes()};
  };
  if (input.element == ElementType::kFloat64) return bind(std::type_identity<double>{});
  if (IsFloat(input.element)) return bind(std::type_identity<float>{});
  if (Contains(kSignedTypes, input.element)) return bind(std::type_identity<std::int64_t>{});
  return bind(std::type_identity<std::uint64_t>{});
}

}  // namespace poprt::kernels
