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
#include "runtime/kernels/reduction/line_blocks.hpp"
#include "runtime/kernels/reduction/reduction.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kBlock = 128;  // elements converted at a time
constexpr std::int64_t kRows = 128;   // elements of each line copied at a time
/// Lines of neighbouring elements are searched one by one from here on.
constexpr std::int64_t kLongRow = 96;

/// Whether x takes the place of `best`, which came before. The first NaN wins over all numbers, the
/// last one if the last of equals wins. Without branches, for vectors.
template <bool kMax, bool kLast, typename T>
POPRT_INLINE bool Better(T x, T best) {
  const bool is_worse = kMax ? x < best : x > best;
  const bool wins = !(kLast ? is_worse : is_worse | (x == best));
  const bool may_win = (best == best) | (kLast & (x != x));
  return wins & may_win;
}

/// An index of the size of the elements keeps vectors whole. Lines of more elements than it counts
/// are searched in double or 64-bit integers.
template <typename T>
using IndexAmong = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// The best elements of kLines lines side by side (line_blocks.hpp).
template <bool kMax, bool kLast, typename T>
struct BestOfLines {
  using I = IndexAmong<T>;

  T best[kLines];
  I found[kLines] = {};

  /// Takes `rows` rows, the first of which is row `first` of the lines.
  void Take(const T* block, std::int64_t stride, std::int64_t first, std::int64_t rows) {
    if (first == 0) std::copy_n(block, kLines, best);
    for (std::int64_t k = 0; k < rows; ++k) {
      const T* row = block + k * stride;
      const I index = static_cast<I>(first + k);
      POPRT_INDEPENDENT_LOOP
      POPRT_LANE_LOOP
      for (std::int64_t i = 0; i < kLines; ++i) {
        const bool better = Better<kMax, kLast>(row[i], best[i]);
        best[i] = better ? row[i] : best[i];
        found[i] = better ? index : found[i];
      }
    }
  }
};

/// Searches the lines of a tensor side by side.
template <bool kMax, bool kLast, typename T>
class BlockSearch {
 public:
  BlockSearch(const AxisSplit& split, ElementType element)
      : split_(split), blocks_(split, element) {}

  std::size_t scratch_bytes() const {
    return blocks_.scratch_bytes(std::min(split_.length, kRows));
  }

  void Run(const KernelArguments& args) const {
    const std::int64_t lines = split_.outer * split_.inner;
    const std::int64_t blocks = (lines - 1) / kLines + 1;
    ForWideRanges<T>(args.pool, blocks, GrainFor(kLines * split_.length),
                     [&](std::int64_t begin, std::int64_t end, int worker) {
                       T* scratch = reinterpret_cast<T*>(
                           args.scratch + static_cast<std::size_t>(worker) * scratch_bytes());
                       for (std::int64_t i = begin; i < end; ++i) {
                         const std::int64_t first = i * kLines;
                         Search(args, first, std::min(kLines, lines - first), scratch);
                       }
                     });
  }

 private:
  void Search(const KernelArguments& args, std::int64_t first, std::int64_t n, T* scratch) const {
    BestOfLines<kMax, kLast, T> lines;
    if (blocks_.IsBlock(first)) {
      lines.Take(args.in<T>(0) + blocks_.StartOf(first), split_.inner, 0, split_.length);
    } else if (split_.inner == 1) {
      blocks_.Load(args.inputs[0], first, n, scratch);
      lines.Take(scratch, kLines, 0, split_.length);
    } else {
      std::fill_n(scratch, kLines * std::min(split_.length, kRows), T(0));
      for (std::int64_t row = 0; row < split_.length; row += kRows) {
        const std::int64_t rows = std::min(kRows, split_.length - row);
        blocks_.LoadPart(args.inputs[0], first, n, row, rows, scratch);
        lines.Take(scratch, kLines, row, rows);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      args.out<std::int64_t>(0)[first + i] = static_cast<std::int64_t>(lines.found[i]);
    }
  }

  AxisSplit split_;
  LineBlocks<T> blocks_;
};

/// Index of the best of `length` contiguous elements.
template <bool kMax, bool kLast, typename T>
std::int64_t SearchLine(const std::byte* from, const Converter& load, std::int64_t length) {
  if (load.is_copy()) {
    return IndexOfExtreme<kMax, kLast>(reinterpret_cast<const T*>(from), length);
  }
  T best{};
  T block[kBlock];
  std::int64_t index = 0;
  for (std::int64_t k = 0; k < length; k += kBlock) {
    const std::int64_t n = std::min(kBlock, length - k);
    load(from + static_cast<std::size_t>(k) * load.from_bytes(),
         reinterpret_cast<std::byte*>(block), n);
    const std::int64_t i = IndexOfExtreme<kMax, kLast>(static_cast<const T*>(block), n);
    if (k > 0 && !Better<kMax, kLast>(block[i], best)) continue;
    best = block[i];
    index = k + i;
  }
  return index;
}

template <bool kMax, bool kLast, typename T>
void SearchRows(const KernelArguments& args, const Converter& load, const AxisSplit& split) {
  ForWideRanges<T>(args.pool, split.outer, GrainFor(split.length),
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
  const ElementType element = call.inputs[0].element;
  if (split.outer * split.inner == 0) return NothingToRun();
  if (split.inner == 1 && split.length >= kLongRow) {
    const Converter load(element, kElementOf<T>);
    return {
        .run = [=](const KernelArguments& args) { SearchRows<kMax, kLast, T>(args, load, split); }};
  }
  const BlockSearch<kMax, kLast, T> search(split, element);
  return {.run = [search](const KernelArguments& args) { search.Run(args); },
          .scratch_bytes = search.scratch_bytes()};
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
  if (split.length <= std::numeric_limits<std::int32_t>::max()) {  // see IndexAmong
    if (IsFloat(input.element) && input.element != ElementType::kFloat64) {
      return bind(std::type_identity<float>{});
    }
    if (input.element == ElementType::kInt32) return bind(std::type_identity<std::int32_t>{});
  }
  if (IsFloat(input.element)) return bind(std::type_identity<double>{});
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
