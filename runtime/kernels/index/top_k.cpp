#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/index/best_of_line.hpp"
#include "runtime/kernels/index/index.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/reduction/line_blocks.hpp"
#include "runtime/kernels/wide_loops.hpp"

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
  ElementType stored = ElementType::kUndefined;
  Converter load;
  std::size_t element = 0;

  std::size_t scratch_bytes() const {
    if (empty) return 0;
    if (IsSideBySide()) {
      return LineBlocks<C>(split, stored).scratch_bytes(std::min(split.length, kRows));
    }
    const auto length = static_cast<std::size_t>(split.length);
    return RoundUp(length * sizeof(C)) + RoundUp(length * sizeof(std::int64_t));
  }

  template <bool kLargest>
  void SelectLine(C* values, std::int64_t* order) const {
    if constexpr (std::is_same_v<C, float>) {
      if (split.length <= std::numeric_limits<std::uint32_t>::max()) {
        return BestOfLine(split.length, k).Select<kLargest>(values, order);
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

  // ---- A few of many lines: the best of each line are kept in order, lines side by side

  static constexpr std::int64_t kFewBest = 16;
  static constexpr std::int64_t kRows = 128;  // elements of each line copied at a time

  /// The fewer the best are, and the shorter or the more scattered the lines, the faster.
  bool IsSideBySide() const {
    constexpr std::int64_t kLongRow = 96;
    return std::is_same_v<C, float> && k <= kFewBest &&
           split.length < (split.inner == 1 ? kLongRow : std::numeric_limits<std::int32_t>::max());
  }

  /// Whether the element of a line goes before another is a comparison of keys as signed numbers,
  /// which every processor has.
  template <bool kLargest>
  static std::int64_t SignedKeyOf(float x, std::int64_t index) {
    return static_cast<std::int64_t>(RankKeyOf<kLargest>(x, index) ^ (std::uint64_t{1} << 63));
  }

  /// Takes rows of a block (line_blocks.hpp); the first of them is row `first` of the lines.
  template <bool kLargest>
  void TakeRows(const float* block, std::int64_t stride, std::int64_t first, std::int64_t rows,
                std::int64_t (*best)[kLines]) const {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t keys[kLines];
      const float* row = block + r * stride;
      POPRT_LANE_LOOP
      for (std::int64_t i = 0; i < kLines; ++i) keys[i] = SignedKeyOf<kLargest>(row[i], first + r);
      for (std::int64_t place = 0; place < k; ++place) {
        POPRT_INDEPENDENT_LOOP
        POPRT_LANE_LOOP
        for (std::int64_t i = 0; i < kLines; ++i) {
          const std::int64_t held = best[place][i];
          const bool is_better = keys[i] > held;
          best[place][i] = is_better ? keys[i] : held;
          keys[i] = is_better ? held : keys[i];
        }
      }
    }
  }

  template <bool kLargest>
  void RunBlock(const KernelArguments& args, std::int64_t first, std::int64_t n,
                float* scratch) const {
    const LineBlocks<float> blocks(split, stored);
    std::int64_t best[kFewBest][kLines];
    std::fill_n(&best[0][0], kFewBest * kLines, std::numeric_limits<std::int64_t>::min());
    if (blocks.IsBlock(first)) {
      TakeRows<kLargest>(args.in<float>(0) + blocks.StartOf(first), split.inner, 0, split.length,
                         best);
    } else if (split.inner == 1) {
      blocks.Load(args.inputs[0], first, n, scratch);
      TakeRows<kLargest>(scratch, kLines, 0, split.length, best);
    } else {
      std::fill_n(scratch, kLines * std::min(kRows, split.length), 0.0F);
      for (std::int64_t row = 0; row < split.length; row += kRows) {
        const std::int64_t rows = std::min(kRows, split.length - row);
        blocks.LoadPart(args.inputs[0], first, n, row, rows, scratch);
        TakeRows<kLargest>(scratch, kLines, row, rows, best);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const Line line = LineAt(first + i);
      for (std::int64_t place = 0; place < k; ++place) {
        StoreResult(args, line, place, IndexOfKey(static_cast<std::uint64_t>(best[place][i])));
      }
    }
  }

  template <bool kLargest>
  void RunSideBySide(const KernelArguments& args) const {
    const std::int64_t lines = split.outer * split.inner;
    ForWideRanges(args.pool, (lines - 1) / kLines + 1, GrainFor(k * kLines * split.length),
                  [&](std::int64_t begin, std::int64_t end, int worker) {
                    auto* scratch = reinterpret_cast<float*>(
                        args.scratch + static_cast<std::size_t>(worker) * scratch_bytes());
                    for (std::int64_t i = begin; i < end; ++i) {
                      const std::int64_t first = i * kLines;
                      RunBlock<kLargest>(args, first, std::min(kLines, lines - first), scratch);
                    }
                  });
  }

  /// Where a line and its result begin, in elements.
  struct Line {
    std::int64_t from;
    std::int64_t to;
  };
  Line LineAt(std::int64_t line) const {
    const std::int64_t outer = line / split.inner;
    const std::int64_t inner = line % split.inner;
    return {.from = outer * split.length * split.inner + inner,
            .to = outer * k * split.inner + inner};
  }

  /// Element `index` of a line stands at `place` of its result: the stored bytes, so that nothing
  /// is rounded on the way.
  void StoreResult(const KernelArguments& args, const Line& line, std::int64_t place,
                   std::int64_t index) const {
    const std::int64_t to = line.to + place * split.inner;
    if (has_values) {
      const std::int64_t from = line.from + index * split.inner;
      const std::byte* const source = args.inputs[0] + static_cast<std::size_t>(from) * element;
      std::byte* const target = args.outputs[0] + static_cast<std::size_t>(to) * element;
      // Of the size that most have, a move instead of a call.
      element == sizeof(float) ? std::memcpy(target, source, sizeof(float))
                               : std::memcpy(target, source, element);
    }
    if (has_indices) args.out<std::int64_t>(1)[to] = index;
  }

  // ---- Line by line

  template <bool kLargest>
  void Run(const KernelArguments& args) const {
    if (empty) return;
    if constexpr (std::is_same_v<C, float>) {
      if (IsSideBySide()) return RunSideBySide<kLargest>(args);
    }
    ForWideRanges<C>(args.pool, split.outer * split.inner, GrainFor(8 * split.length),
                     [&](std::int64_t begin, std::int64_t end, int worker) {
                       std::byte* scratch =
                           args.scratch + static_cast<std::size_t>(worker) * scratch_bytes();
                       C* values = reinterpret_cast<C*>(scratch);
                       auto* order = reinterpret_cast<std::int64_t*>(
                           scratch + RoundUp(static_cast<std::size_t>(split.length) * sizeof(C)));
                       for (std::int64_t line = begin; line < end; ++line) {
                         RunLine<kLargest>(args, LineAt(line), values, order);
                       }
                     });
  }

  template <bool kLargest>
  void RunLine(const KernelArguments& args, const Line& line, C* values,
               std::int64_t* order) const {
    const std::byte* from = args.inputs[0] + static_cast<std::size_t>(line.from) * element;
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
    for (std::int64_t place = 0; place < k; ++place) StoreResult(args, line, place, order[place]);
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
                      .stored = input.element,
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
