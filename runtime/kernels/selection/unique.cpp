#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/selection/selection.hpp"

namespace poprt::kernels {
namespace {

/// What elements are ordered by: their number, NaN after all others and equal to itself.
template <typename T>
auto Key(T value) {
  if constexpr (std::is_same_v<T, Bool>) {
    return value.byte != 0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else {
    return static_cast<float>(value);
  }
}

/// Negative, zero, positive as a is before, equal to or after b.
template <typename T>
int Compare(T a, T b) {
  const auto x = Key(a);
  const auto y = Key(b);
  if (x < y) return -1;
  if (y < x) return 1;
  return static_cast<int>(x != x) - static_cast<int>(y != y);
}

/// The data as [outer, length, inner], whose slices along the middle axis are compared, in
/// lexicographic order. A slice becomes a row of the results' order by sorting indices.
template <typename T>
struct Unique {
  AxisSplit split;
  bool sorted = true;

  std::size_t scratch_bytes() const {
    return 2 * ScratchBytes(static_cast<std::size_t>(split.length) * sizeof(std::int64_t));
  }

  int CompareSlices(const T* x, std::int64_t a, std::int64_t b) const {
    for (std::int64_t outer = 0; outer < split.outer; ++outer) {
      const T* row = x + outer * split.length * split.inner;
      for (std::int64_t inner = 0; inner < split.inner; ++inner) {
        const int order = Compare(row[a * split.inner + inner], row[b * split.inner + inner]);
        if (order != 0) return order;
      }
    }
    return 0;
  }

  void Run(const KernelArguments& args) const {
    const T* x = args.in<T>(0);
    auto* order = reinterpret_cast<std::int64_t*>(args.scratch);
    auto* rank = reinterpret_cast<std::int64_t*>(args.scratch + scratch_bytes() / 2);
    auto* first = args.out<std::int64_t>(1);
    auto* inverse = args.out<std::int64_t>(2);
    auto* counts = args.out<std::int64_t>(3);
    const std::int64_t length = split.length;
    std::iota(order, order + length, std::int64_t{0});
    // Equal slices in the order of their positions: a group starts with its first occurrence.
    std::sort(order, order + length, [&](std::int64_t a, std::int64_t b) {
      const int by_value = CompareSlices(x, a, b);
      return by_value != 0 ? by_value < 0 : a < b;
    });
    std::fill(first, first + length, 0);
    std::fill(counts, counts + length, 0);
    std::int64_t groups = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      if (i == 0 || CompareSlices(x, order[i - 1], order[i]) != 0) first[groups++] = order[i];
      inverse[order[i]] = groups - 1;
    }
    if (!sorted) SortByOccurrence(first, inverse, groups, order, rank);
    for (std::int64_t i = 0; i < length; ++i) ++counts[inverse[i]];
    CopySlices(x, args.out<T>(0), first, groups);
    *args.out<std::int64_t>(4) = groups;
  }

  /// Renumbers the groups in the order of their first slices.
  void SortByOccurrence(std::int64_t* first, std::int64_t* inverse, std::int64_t groups,
                        std::int64_t* order, std::int64_t* rank) const {
    std::iota(order, order + groups, std::int64_t{0});
    std::sort(order, order + groups,
              [first](std::int64_t a, std::int64_t b) { return first[a] < first[b]; });
    for (std::int64_t i = 0; i < groups; ++i) rank[order[i]] = i;
    std::sort(first, first + groups);
    for (std::int64_t i = 0; i < split.length; ++i) inverse[i] = rank[inverse[i]];
  }

  void CopySlices(const T* x, T* y, const std::int64_t* first, std::int64_t groups) const {
    const auto inner_bytes = static_cast<std::size_t>(split.inner) * sizeof(T);
    for (std::int64_t outer = 0; outer < split.outer; ++outer) {
      const std::int64_t row = outer * split.length * split.inner;
      for (std::int64_t i = 0; i < groups; ++i) {
        std::memcpy(y + row + i * split.inner, x + row + first[i] * split.inner, inner_bytes);
      }
      std::memset(static_cast<void*>(y + row + groups * split.inner), 0,
                  static_cast<std::size_t>(split.length - groups) * inner_bytes);
    }
  }
};

}  // namespace

BoundKernel BindUnique(const KernelCall& call) {
  RequireArity(call, 1, 1, 5, 5);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kAllTypes, "input 0");
  const bool sorted = FlagAttribute(call, "sorted", true);
  const std::int64_t size = ElementCount(input.shape);
  AxisSplit split{.outer = 1, .length = size, .inner = 1};
  Shape shape{size};
  if (call.attributes.has("axis")) {
    const std::size_t axis = AxisAttribute(call, "axis", 0, input.shape.size());
    shape = input.shape;
    split = size > 0 ? SplitAt(input.shape, axis)
                     : AxisSplit{.outer = 0, .length = input.shape[axis], .inner = 0};
  }
  RequireType(call.outputs[0], {input.element, shape}, "output 0");
  for (std::size_t i = 1; i < 4; ++i) {
    RequireType(call.outputs[i], {ElementType::kInt64, {split.length}},
                "output " + std::to_string(i));
  }
  RequireType(call.outputs[4], {ElementType::kInt64, {}}, "output 4");
  return VisitElement<BoundKernel, kAllTypes>(input.element, [&](auto type) -> BoundKernel {
    const Unique<typename decltype(type)::type> unique{.split = split, .sorted = sorted};
    return {.run = [unique](const KernelArguments& args) { unique.Run(args); },
            .scratch_bytes = unique.scratch_bytes()};
  });
}

}  // namespace poprt::kernels
