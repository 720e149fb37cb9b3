#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/reduction/extreme.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/reduction/reducers.hpp"
#include "runtime/kernels/reduction/reduction.hpp"
#include "runtime/kernels/strided_index.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements converted at a time
constexpr std::int64_t kStrip = 512;   // columns, or results, handled together

/// Rows of up to kShortRow elements are handled kTogether at a time.
constexpr std::int64_t kShortRow = 16;
constexpr std::int64_t kTogether = 64;
/// Rows from here on are worth folding one by one.
constexpr std::int64_t kLongRow = 256;
static_assert(kShortRow * kTogether <= kBlock);

/// Results that are fewer than kFewTasks are cut into up to kMaxParts parts of at least kMinPart
/// elements, so that more than one thread has work. How depends on the shape alone.
constexpr std::int64_t kFewTasks = 16;
constexpr std::int64_t kMaxParts = 64;
constexpr std::int64_t kMinPart = 1 << 16;

/// `value` as the nearest integer that `element` holds.
template <typename C>
C Saturated(C value, ElementType element) {
  if constexpr (std::is_integral_v<C>) {
    constexpr TypeSet kStored =
        std::is_signed_v<C> ? kSignedTypes : TypeSet{kUnsignedTypes | kBoolType};
    VisitElement<void, kStored>(element, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(C)) {
        value =
            std::clamp<C>(value, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
      }
    });
  }
  return value;
}

/// A tensor of dimensions that are kept and dimensions that are reduced; the innermost run of
/// either kind is contiguous.
struct ReduceShape {
  StridedDims kept;     // without the contiguous run
  StridedDims reduced;  // without the contiguous run
  std::int64_t run = 1;
  bool run_is_kept = false;
  std::int64_t results = 1;
  std::int64_t count = 1;  // elements per result
};

ReduceShape Analyse(const Shape& shape, const std::vector<bool>& mask) {
  ReduceShape walk;
  const Shape strides = Strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (mask[d] ? walk.count : walk.results) *= shape[d];
  }
  if (walk.count == 0 || walk.results == 0) return walk;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (mask[d] ? walk.reduced : walk.kept).Append(shape[d], strides[d]);
  }
  walk.run_is_kept = !walk.kept.strides.empty() && walk.kept.strides.back() == 1;
  StridedDims& inner = walk.run_is_kept ? walk.kept : walk.reduced;
  if (!inner.extents.empty()) {
    walk.run = inner.extents.back();
    inner.extents.pop_back();
    inner.strides.pop_back();
  }
  return walk;
}

template <typename Op, typename C>
class Reducer {
 public:
  using Partial = typename Op::template Partial<C>;
  using Total = WideOf<C>;

  Reducer(ReduceShape walk, ElementType input, ElementType output)
      : walk_(std::move(walk)),
        load_(input, kElementOf<C>),
        store_(kElementOf<C>, output),
        // The identity of a maximum or minimum is the bound of the type that is stored.
        of_nothing_(Saturated(
            Op::template Finish<C, Total>(Op::template Identity<Total>(), 0, C(0)), output)),
        part_(PartLength()),
        is_one_block_(walk_.reduced.extents.empty() && walk_.run <= kBlock) {}

  /// Of every worker, though the parts of a result stand side by side.
  std::size_t scratch_bytes() const {
    return part_ == 0 ? 0 : sizeof(Total) * kMaxParts * (walk_.run_is_kept ? kStrip : 1);
  }

  void Run(const KernelArguments& args) const {
    if (walk_.count == 0) {
      RunEmpty(args);
    } else if (walk_.run_is_kept) {
      RunColumns(args);
    } else if (HasNeighbouringRows()) {
      RunNeighbouringRows(args);
    } else {
      RunRows(args);
    }
  }

 private:
  void Store(const KernelArguments& args, std::int64_t at, const C* values, std::int64_t n) const {
    store_(reinterpret_cast<const std::byte*>(values),
           args.outputs[0] + static_cast<std::size_t>(at) * store_.to_bytes(), n);
  }

  void RunEmpty(const KernelArguments& args) const {
    for (std::int64_t i = 0; i < walk_.results; ++i) Store(args, i, &of_nothing_, 1);
  }

  /// n elements in the computing type: in place or in `block`.
  const C* Load(const std::byte* base, std::int64_t offset, std::int64_t n, C* block) const {
    const std::byte* from = base + static_cast<std::size_t>(offset) * load_.from_bytes();
    if (load_.is_copy()) return reinterpret_cast<const C*>(from);
    load_(from, reinterpret_cast<std::byte*>(block), n);
    return block;
  }

  // ---- The reduced dimension is contiguous: one result after the other

  std::int64_t blocks_per_run() const { return (walk_.run - 1) / kBlock + 1; }

  template <typename R>
  static auto FoldBlock(const C* x, std::int64_t n, C shift) {
    using Sum = typename R::template Partial<C>;
    constexpr bool kMax = std::is_same_v<R, MaxReducer>;
    if constexpr (sizeof(C) <= 4 && (kMax || std::is_same_v<R, MinReducer>)) {
      return ExtremeOf<kMax>(x, n);
    } else {
      return FoldLanes<Sum>(
          n, R::template Identity<Sum>(),
          [&](std::int64_t j) { return static_cast<Sum>(R::Map(x[j], shift)); },
          [](auto a, auto b) { return R::Combine(a, b); });
    }
  }

  /// Folds blocks [first, last) of a row, each of up to kBlock neighbours.
  template <typename R>
  Total ReduceBlocks(const std::byte* base, std::int64_t start, C shift, std::int64_t first,
                     std::int64_t last) const {
    C block[kBlock];
    Total total = R::template Identity<Total>();
    StridedWalk outer(walk_.reduced, first / blocks_per_run());
    std::int64_t i = first % blocks_per_run() * kBlock;
    for (std::int64_t at = first; at < last; ++at) {
      const std::int64_t n = std::min(kBlock, walk_.run - i);
      const C* x = Load(base, start + outer.offset() + i, n, block);
      total = R::Combine(total, static_cast<Total>(FoldBlock<R>(x, n, shift)));
      i += kBlock;
      if (i < walk_.run) continue;
      i = 0;
      outer.Next();
    }
    return total;
  }

  template <typename R>
  Total ReduceRow(const KernelArguments& args, std::int64_t start, C shift) const {
    if (is_one_block_) {
      C block[kBlock];
      const C* x = Load(args.inputs[0], start, walk_.run, block);
      return static_cast<Total>(FoldBlock<R>(x, walk_.run, shift));
    }
    const std::int64_t blocks = walk_.reduced.count() * blocks_per_run();
    if (part_ == 0) return ReduceBlocks<R>(args.inputs[0], start, shift, 0, blocks);
    auto* parts = reinterpret_cast<Total*>(args.scratch);
    ForWideRanges(
        args.pool, blocks, part_, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
          parts[begin / part_] = ReduceBlocks<R>(args.inputs[0], start, shift, begin, end);
        });
    Total total = R::template Identity<Total>();
    for (std::int64_t i = 0; i * part_ < blocks; ++i) total = R::Combine(total, parts[i]);
    return total;
  }

  C RowResult(const KernelArguments& args, std::int64_t start) const {
    C shift{};
    if constexpr (Op::kShifted) shift = Finite(ReduceRow<MaxReducer>(args, start, shift));
    return Op::template Finish<C, Total>(ReduceRow<Op>(args, start, shift), walk_.count, shift);
  }

  void RunRows(const KernelArguments& args) const {
    // With parts, threads share each row instead.
    ForWideRanges(part_ == 0 ? args.pool : nullptr, walk_.results, GrainFor(walk_.count),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    C values[kTogether];
                    StridedWalk kept(walk_.kept, begin);
                    for (std::int64_t i = begin; i < end; i += kTogether) {
                      const std::int64_t n = std::min(kTogether, end - i);
                      for (std::int64_t k = 0; k < n; ++k, kept.Next()) {
                        values[k] = RowResult(args, kept.offset());
                      }
                      Store(args, i, values, n);
                    }
                  });
  }

  // ---- Rows that are one block each and follow each other: many at once

  bool HasNeighbouringRows() const {
    return !Op::kShifted && part_ == 0 && is_one_block_ && walk_.kept.strides.size() == 1 &&
           walk_.kept.strides.front() == walk_.run && walk_.run < kLongRow;
  }

  void RunNeighbouringRows(const KernelArguments& args) const {
    ForWideRanges(args.pool, walk_.results, GrainFor(walk_.count),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    for (std::int64_t i = begin; i < end; i += kTogether) {
                      const std::int64_t rows = std::min(kTogether, end - i);
                      if (walk_.run <= kShortRow) {
                        ReduceShortRows(args, i, rows);
                      } else {
                        ReduceMiddleRows(args, i, rows);
                      }
                    }
                  });
  }

  void ReduceMiddleRows(const KernelArguments& args, std::int64_t first, std::int64_t rows) const {
    using Sum = typename Op::template Partial<C>;
    const auto combine = [](Sum a, Sum b) { return Op::Combine(a, b); };
    C block[kBlock];
    Sum lanes[kTogether * kFoldLanes];
    C values[kTogether];
    for (std::int64_t k = 0; k < rows; ++k) {
      const C* x = Load(args.inputs[0], (first + k) * walk_.run, walk_.run, block);
      FoldIntoLanes(
          walk_.run, Op::template Identity<Sum>(),
          [x](std::int64_t j) { return static_cast<Sum>(Op::Map(x[j], C(0))); }, combine,
          lanes + k * kFoldLanes);
    }
    JoinLanes<kFoldLanes / 2>(rows, lanes, combine);
    for (std::int64_t k = 0; k < rows; ++k) {
      values[k] = Op::template Finish<C, Total>(static_cast<Total>(lanes[k]), walk_.count, C(0));
    }
    Store(args, first, values, rows);
  }

  void ReduceShortRows(const KernelArguments& args, std::int64_t first, std::int64_t rows) const {
    using Sum = typename Op::template Partial<C>;
    const std::int64_t run = walk_.run;
    C block[kBlock];
    Sum columns[kShortRow][kTogether];
    C values[kTogether];
    const C* x = Load(args.inputs[0], first * run, rows * run, block);
    for (std::int64_t j = 0; j < run; ++j) {
      for (std::int64_t k = 0; k < rows; ++k) {
        columns[j][k] = static_cast<Sum>(Op::Map(x[k * run + j], C(0)));
      }
    }
    // In the order of FoldLanes.
    for (std::int64_t width = kShortRow / 2; width > 0; width /= 2) {
      for (std::int64_t j = 0; j < width && j + width < run; ++j) {
        for (std::int64_t k = 0; k < rows; ++k) {
          columns[j][k] = Op::Combine(columns[j][k], columns[j + width][k]);
        }
      }
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      values[k] = Op::template Finish<C, Total>(static_cast<Total>(columns[0][k]), run, C(0));
    }
    Store(args, first, values, rows);
  }

  static C Finite(Total maximum) {
    const auto shift = static_cast<C>(maximum);
    return shift - shift == C(0) ? shift : C(0);
  }

  // ---- A kept dimension is contiguous: strips of columns, each row added to all of them

  /// Folds rows [first, last) of n columns.
  template <typename R>
  void ReduceLines(const std::byte* base, std::int64_t start, std::int64_t n, const C* shifts,
                   std::int64_t first, std::int64_t last, Total* totals) const {
    using RowPartial = typename R::template Partial<C>;
    constexpr std::int64_t kRowsPerBlock = 64;
    C block[kStrip];
    RowPartial partials[kStrip];
    std::fill_n(totals, n, R::template Identity<Total>());
    StridedWalk row(walk_.reduced, first);
    for (std::int64_t done = first; done < last; done += kRowsPerBlock) {
      std::fill_n(partials, n, R::template Identity<RowPartial>());
      const std::int64_t end = std::min(last, done + kRowsPerBlock);
      for (std::int64_t r = done; r < end; ++r, row.Next()) {
        const C* x = Load(base, start + row.offset(), n, block);
        POPRT_INDEPENDENT_LOOP
        for (std::int64_t i = 0; i < n; ++i) {
          partials[i] = R::Combine(partials[i], static_cast<RowPartial>(R::Map(x[i], shifts[i])));
        }
      }
      for (std::int64_t i = 0; i < n; ++i) {
        totals[i] = R::Combine(totals[i], static_cast<Total>(partials[i]));
      }
    }
  }

  template <typename R>
  void ReduceStrip(const KernelArguments& args, std::int64_t start, std::int64_t n, const C* shifts,
                   Total* totals) const {
    const std::int64_t rows = walk_.reduced.count();
    if (part_ == 0) return ReduceLines<R>(args.inputs[0], start, n, shifts, 0, rows, totals);
    auto* parts = reinterpret_cast<Total*>(args.scratch);
    ForWideRanges(args.pool, rows, part_,
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    ReduceLines<R>(args.inputs[0], start, n, shifts, begin, end,
                                   parts + begin / part_ * kStrip);
                  });
    std::copy_n(parts, n, totals);
    for (std::int64_t part = 1; part * part_ < rows; ++part) {
      for (std::int64_t i = 0; i < n; ++i) {
        totals[i] = R::Combine(totals[i], parts[part * kStrip + i]);
      }
    }
  }

  std::int64_t strips() const { return (walk_.run - 1) / kStrip + 1; }

  void RunColumns(const KernelArguments& args) const {
    const std::int64_t outer = walk_.results / walk_.run;
    const std::int64_t cost = std::min(walk_.run, kStrip) * walk_.count;
    ForWideRanges(part_ == 0 ? args.pool : nullptr, outer * strips(), GrainFor(cost),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    for (std::int64_t task = begin; task < end; ++task) {
                      RunStrip(args, task / strips(), task % strips() * kStrip);
                    }
                  });
  }

  void RunStrip(const KernelArguments& args, std::int64_t outer, std::int64_t column) const {
    const std::int64_t n = std::min(kStrip, walk_.run - column);
    const std::int64_t start = StridedWalk(walk_.kept, outer).offset() + column;
    C shifts[kStrip] = {};
    Total totals[kStrip];
    C values[kStrip];
    if constexpr (Op::kShifted) {
      ReduceStrip<MaxReducer>(args, start, n, shifts, totals);
      for (std::int64_t i = 0; i < n; ++i) shifts[i] = Finite(totals[i]);
    }
    ReduceStrip<Op>(args, start, n, shifts, totals);
    for (std::int64_t i = 0; i < n; ++i) {
      values[i] = Op::template Finish<C, Total>(totals[i], walk_.count, shifts[i]);
    }
    Store(args, outer * walk_.run + column, values, n);
  }

  /// The length of the parts, in blocks or rows; 0 where the results are enough or too small.
  std::int64_t PartLength() const {
    if (walk_.count == 0 || walk_.results == 0) return 0;
    const std::int64_t tasks =
        walk_.run_is_kept ? walk_.results / walk_.run * strips() : walk_.results;
    const std::int64_t pieces =
        walk_.run_is_kept ? walk_.count : walk_.reduced.count() * blocks_per_run();
    const std::int64_t piece =
        walk_.run_is_kept ? std::min(walk_.run, kStrip) : std::min(walk_.run, kBlock);
    const std::int64_t length = std::max((kMinPart - 1) / piece + 1, (pieces - 1) / kMaxParts + 1);
    return tasks < kFewTasks && length < pieces ? length : 0;
  }

  ReduceShape walk_;
  Converter load_;
  Converter store_;
  C of_nothing_;  // the result where there is nothing to reduce
  std::int64_t part_;
  bool is_one_block_;  // rows are contiguous and short
};

/// The axes to reduce: those named, else all unless the call says that none means none.
std::vector<bool> ReducedAxes(const KernelCall& call, std::size_t rank) {
  const Ints axes = IntsAttribute(call, "axes");
  const bool noop = FlagAttribute(call, "noop_with_empty_axes", false);
  if (axes.empty()) return std::vector<bool>(rank, !noop);
  return AxesMask(axes, rank, "axes");
}

Shape ReducedShape(const Shape& shape, const std::vector<bool>& mask, bool keepdims) {
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!mask[d]) {
      result.push_back(shape[d]);
    } else if (keepdims) {
      result.push_back(1);
    }
  }
  return result;
}

template <typename Op, typename C>
BoundKernel BindReducer(const ReduceShape& walk, ElementType element) {
  const auto reducer = std::make_shared<const Reducer<Op, C>>(walk, element, element);
  return {.run = [reducer](const KernelArguments& args) { reducer->Run(args); },
          .scratch_bytes = reducer->scratch_bytes()};
}

template <typename Op, TypeSet kTypes>
BoundKernel BindReduce(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kTypes, "input 0");
  const std::vector<bool> mask = ReducedAxes(call, input.shape.size());
  const bool keepdims = FlagAttribute(call, "keepdims", true);
  RequireType(call.outputs[0], {input.element, ReducedShape(input.shape, mask, keepdims)},
              "output 0");
  const ReduceShape walk = Analyse(input.shape, mask);
  if (input.element == ElementType::kFloat64) return BindReducer<Op, double>(walk, input.element);
  if (IsFloat(input.element)) return BindReducer<Op, float>(walk, input.element);
  if constexpr (Op::kOnlyFloat) {
    return BindReducer<Op, double>(walk, input.element);
  } else {
    if constexpr (Op::kSelects) {
      // One of the elements needs no wider type than they have.
      if (input.element == ElementType::kInt32)
        return BindReducer<Op, std::int32_t>(walk, input.element);
      if (input.element == ElementType::kInt8)
        return BindReducer<Op, std::int8_t>(walk, input.element);
      if (input.element == ElementType::kUint8)
        return BindReducer<Op, std::uint8_t>(walk, input.element);
    }
    if (Contains(kSignedTypes, input.element)) {
      return BindReducer<Op, std::int64_t>(walk, input.element);
    }
    return BindReducer<Op, std::uint64_t>(walk, input.element);
  }
}

constexpr TypeSet kSummable = kFloatTypes | Types({ElementType::kInt32, ElementType::kInt64,
                                                   ElementType::kUint32, ElementType::kUint64});
constexpr TypeSet kComparable =
    kSummable | Types({ElementType::kInt8, ElementType::kUint8, ElementType::kBool});

constexpr auto kKernels = std::to_array<KernelDef>({
    {"ReduceL1", BindReduce<L1Reducer, kSummable>},
    {"ReduceL2", BindReduce<L2Reducer, kSummable>},
    {"ReduceLogSum", BindReduce<LogSumReducer, kSummable>},
    {"ReduceLogSumExp", BindReduce<LogSumExpReducer, kSummable>},
    {"ReduceMax", BindReduce<MaxReducer, kComparable>},
    {"ReduceMean", BindReduce<MeanReducer, kSummable>},
    {"ReduceMin", BindReduce<MinReducer, kComparable>},
    {"ReduceProd", BindReduce<ProdReducer, kSummable>},
    {"ReduceSum", BindReduce<SumReducer, kSummable>},
    {"ReduceSumSquare", BindReduce<SumSquareReducer, kSummable>},
});

}  // namespace

std::span<const KernelDef> ReduceKernels() { return kKernels; }

}  // namespace poprt::kernels
