#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/reduction/extreme.hpp"
#include "runtime/kernels/reduction/folds.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/reduction/reduce_shape.hpp"
#include "runtime/kernels/strided_index.hpp"
#include "runtime/kernels/transpose_block.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

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

/// In the widest vectors, but for doubles, which are rare and take long to compile.
template <typename C, typename F>
void ForReduced(ThreadPool* pool, std::int64_t count, std::int64_t grain, const F& f) {
  if constexpr (std::is_same_v<C, double>) {
    ForRanges(pool, count, grain, f);
  } else {
    ForWideRanges(pool, count, grain, f);
  }
}

/// Makes results of `n` totals of `count` elements each, folded by Fold with the given shifts.
template <typename C>
using FinishTotals = void (*)(const WideOf<C>* totals, const C* shifts, std::int64_t n,
                              std::int64_t count, C* results);

/// Folds dimensions of a tensor of `element`, in C, whatever their order and sizes. How the work
/// is cut depends on the shape alone, so that results have the same bits with any number of
/// threads.
template <typename Fold, typename C>
class Reducer {
 public:
  using Total = WideOf<C>;

  Reducer(ReduceShape walk, ElementType element, FinishTotals<C> finish)
      : element_(element),
        walk_(std::move(walk)),
        load_(element, kElementOf<C>),
        store_(kElementOf<C>, element),
        finish_(finish),
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
      part_ == 0 ? RunColumns(args) : RunColumnsInParts(args);
    } else if (part_ != 0) {
      RunRowsInParts(args);
    } else if (HasNeighbouringRows()) {
      RunNeighbouringRows(args);
    } else {
      RunRows(args);
    }
  }

 private:
  static constexpr std::int64_t kBlock = 1024;       // elements converted at a time
  static constexpr std::int64_t kStrip = 1024;       // columns, or results, handled together
  static constexpr std::int64_t kRowsPerBlock = 64;  // of which sums are partial
  static constexpr std::int64_t kLanes = 16;         // of them that stay in registers
  static constexpr std::int64_t kNarrow = 64;        // that do so over many rows

  /// Rows that are handled together.
  static constexpr std::int64_t kTogether = 64;
  /// Rows of up to kShortRow elements become columns as they are, others when that many lanes of
  /// them are left.
  static constexpr int kShortRow = 16;
  static constexpr int kJoinedLanes = 4;
  /// Rows from here on are worth folding one by one.
  static constexpr std::int64_t kLongRow = 256;
  static_assert(kShortRow * kTogether <= kBlock);

  /// Results that are fewer than kFewTasks are cut into up to kMaxParts parts of at least kMinPart
  /// elements, so that more than one thread has work. How depends on the shape alone.
  static constexpr std::int64_t kFewTasks = 16;
  static constexpr std::int64_t kMaxParts = 64;
  static constexpr std::int64_t kMinPart = 1 << 16;

  void Store(const KernelArguments& args, std::int64_t at, const C* values, std::int64_t n) const {
    store_(reinterpret_cast<const std::byte*>(values),
           args.outputs[0] + static_cast<std::size_t>(at) * store_.to_bytes(), n);
  }

  void Finish(const KernelArguments& args, std::int64_t at, const Total* totals, const C* shifts,
              std::int64_t n) const {
    C results[kStrip];
    finish_(totals, shifts, n, walk_.count, results);
    Store(args, at, results, n);
  }

  /// The identity of a maximum or minimum is the bound of the type that is stored.
  void RunEmpty(const KernelArguments& args) const {
    const Total nothing = Fold::template Identity<Total>();
    const C shift{};
    C result;
    finish_(&nothing, &shift, 1, 0, &result);
    result = Saturated(result, element_);
    for (std::int64_t i = 0; i < walk_.results; ++i) Store(args, i, &result, 1);
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
    if constexpr (R::kSelects) {
      return ExtremeOf<std::is_same_v<R, MaxFold>>(x, n);
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
  Total ReduceRow(const std::byte* base, std::int64_t start, C shift) const {
    if (is_one_block_) {
      C block[kBlock];
      const C* x = Load(base, start, walk_.run, block);
      return static_cast<Total>(FoldBlock<R>(x, walk_.run, shift));
    }
    return ReduceBlocks<R>(base, start, shift, 0, walk_.reduced.count() * blocks_per_run());
  }

  Total FoldRow(const std::byte* base, std::int64_t start, C& shift) const {
    if constexpr (Fold::kShifted) shift = Finite(ReduceRow<MaxFold>(base, start, C(0)));
    return ReduceRow<Fold>(base, start, shift);
  }

  void RunRows(const KernelArguments& args) const {
    ForReduced<C>(args.pool, walk_.results, GrainFor(walk_.count),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    Total totals[kTogether];
                    C shifts[kTogether] = {};
                    StridedWalk kept(walk_.kept, begin);
                    for (std::int64_t i = begin; i < end; i += kTogether) {
                      const std::int64_t n = std::min(kTogether, end - i);
                      for (std::int64_t k = 0; k < n; ++k, kept.Next()) {
                        totals[k] = FoldRow(args.inputs[0], kept.offset(), shifts[k]);
                      }
                      Finish(args, i, totals, shifts, n);
                    }
                  });
  }

  /// The same for few long rows: threads share each of them.
  void RunRowsInParts(const KernelArguments& args) const {
    StridedWalk kept(walk_.kept, 0);
    for (std::int64_t i = 0; i < walk_.results; ++i, kept.Next()) {
      C shift{};
      if constexpr (Fold::kShifted) {
        shift = Finite(ReduceRowInParts<MaxFold>(args, kept.offset(), shift));
      }
      const Total total = ReduceRowInParts<Fold>(args, kept.offset(), shift);
      Finish(args, i, &total, &shift, 1);
    }
  }

  template <typename R>
  Total ReduceRowInParts(const KernelArguments& args, std::int64_t start, C shift) const {
    const std::int64_t blocks = walk_.reduced.count() * blocks_per_run();
    auto* parts = reinterpret_cast<Total*>(args.scratch);
    ForReduced<C>(
        args.pool, blocks, part_, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
          parts[begin / part_] = ReduceBlocks<R>(args.inputs[0], start, shift, begin, end);
        });
    Total total = R::template Identity<Total>();
    for (std::int64_t i = 0; i * part_ < blocks; ++i) total = R::Combine(total, parts[i]);
    return total;
  }

  // ---- Rows that are one block each and follow each other: many at once

  bool HasNeighbouringRows() const {
    return !Fold::kShifted && is_one_block_ && walk_.kept.strides.size() == 1 &&
           walk_.kept.strides.front() == walk_.run && walk_.run < kLongRow;
  }

  void RunNeighbouringRows(const KernelArguments& args) const {
    ForReduced<C>(args.pool, walk_.results, GrainFor(walk_.count),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    for (std::int64_t i = begin; i < end; i += kTogether) {
                      const std::int64_t rows = std::min(kTogether, end - i);
                      ReduceNeighbours(args, i, rows);
                    }
                  });
  }

  /// Their lanes are columns, which are joined for all rows at once.
  void ReduceNeighbours(const KernelArguments& args, std::int64_t first, std::int64_t rows) const {
    using Sum = typename Fold::template Partial<C>;
    const auto combine = [](Sum a, Sum b) { return Fold::Combine(a, b); };
    const std::int64_t lanes = walk_.run <= kShortRow ? walk_.run : kJoinedLanes;
    Sum folded[kTogether * kShortRow];
    Sum columns[kShortRow * kTogether];
    FoldRows(args.inputs[0], first, rows, combine, folded);
    TransposeBlock(folded, lanes, rows, lanes, columns, kTogether);
    for (std::int64_t width = kShortRow / 2; width > 0; width /= 2) {
      for (std::int64_t lane = 0; lane < width && lane + width < lanes; ++lane) {
        Sum* to = columns + lane * kTogether;
        const Sum* from = to + width * kTogether;
        POPRT_INDEPENDENT_LOOP
        for (std::int64_t k = 0; k < rows; ++k) to[k] = combine(to[k], from[k]);
      }
    }
    Total totals[kTogether];
    const C shifts[kTogether] = {};
    for (std::int64_t k = 0; k < rows; ++k) totals[k] = static_cast<Total>(columns[k]);
    Finish(args, first, totals, shifts, rows);
  }

  /// The rows one after the other in `folded`: up to kShortRow elements as they are, more as
  /// lanes.
  template <typename Sum, typename Combine>
  void FoldRows(const std::byte* base, std::int64_t first, std::int64_t rows,
                const Combine& combine, Sum* folded) const {
    const std::int64_t run = walk_.run;
    C block[kBlock];
    if (run <= kShortRow) {
      const C* x = Load(base, first * run, rows * run, block);
      for (std::int64_t i = 0; i < rows * run; ++i) {
        folded[i] = static_cast<Sum>(Fold::Map(x[i], C(0)));
      }
      return;
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      const C* x = Load(base, (first + k) * run, run, block);
      FoldIntoLanes<kFoldLanes<Sum>, kJoinedLanes>(
          run, Fold::template Identity<Sum>(),
          [x](std::int64_t j) { return static_cast<Sum>(Fold::Map(x[j], C(0))); }, combine,
          folded + k * kJoinedLanes);
    }
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
    RowPartial partials[kStrip];
    std::fill_n(totals, n, R::template Identity<Total>());
    StridedWalk row(walk_.reduced, first);
    for (std::int64_t done = first; done < last; done += kRowsPerBlock) {
      const std::int64_t end = std::min(last, done + kRowsPerBlock);
      FoldLines<R>(base, start, n, shifts, end - done, row, partials);
      for (std::int64_t i = 0; i < n; ++i) {
        totals[i] = R::Combine(totals[i], static_cast<Total>(partials[i]));
      }
    }
  }

  /// `partials` of the next `count` rows, up to kRowsPerBlock.
  template <typename R, typename RowPartial>
  void FoldLines(const std::byte* base, std::int64_t start, std::int64_t n, const C* shifts,
                 std::int64_t count, StridedWalk& row, RowPartial* partials) const {
    if constexpr (std::is_same_v<C, float>) {  // for more types it takes long to compile
      if (load_.is_copy() && n <= kNarrow) {
        const C* rows[kRowsPerBlock];
        for (std::int64_t r = 0; r < count; ++r, row.Next()) {
          rows[r] = reinterpret_cast<const C*>(base) + start + row.offset();
        }
        return FoldNarrowLines<R>(rows, count, n, shifts, partials);
      }
    }
    std::fill_n(partials, n, R::template Identity<RowPartial>());
    std::int64_t r = 0;
    for (; r + 8 <= count; r += 8) AddLines<R, 8>(base, start, n, shifts, row, partials);
    for (; r < count; ++r) AddLines<R, 1>(base, start, n, shifts, row, partials);
  }

  /// Combines the next kRows rows with `partials`, one after the other.
  template <typename R, int kRows, typename RowPartial>
  void AddLines(const std::byte* base, std::int64_t start, std::int64_t n, const C* shifts,
                StridedWalk& row, RowPartial* partials) const {
    C block[kRows][kStrip];
    std::array<const C*, kRows> x;
    for (int r = 0; r < kRows; ++r, row.Next()) {
      x[r] = Load(base, start + row.offset(), n, block[r]);
    }
    std::int64_t at = 0;
    for (; at + 2 * kLanes <= n; at += 2 * kLanes) {
      AddLanes<R, kLanes>(x.data(), kRows, std::array{at, at + kLanes}, shifts, partials);
    }
    for (; at + kLanes / 2 <= n; at += kLanes / 2) {
      AddLanes<R, kLanes / 2>(x.data(), kRows, std::array{at}, shifts, partials);
    }
    for (; at < n; ++at) AddLanes<R, 1>(x.data(), kRows, std::array{at}, shifts, partials);
  }

  /// Combines rows of few columns, all of them before the next columns. The last columns are
  /// combined together with some before them, once more.
  template <typename R, typename RowPartial>
  static void FoldNarrowLines(const C* const* rows, std::int64_t count, std::int64_t n,
                              const C* shifts, RowPartial* partials) {
    const auto add = [&]<std::int64_t kWidth>(std::integral_constant<std::int64_t, kWidth>) {
      for (std::int64_t at = 0; at < n; at += 2 * kWidth) {
        const std::array columns{std::min(at, n - kWidth), std::min(at + kWidth, n - kWidth)};
        for (const std::int64_t column : columns) {
          std::fill_n(partials + column, kWidth, R::template Identity<RowPartial>());
        }
        AddLanes<R, kWidth>(rows, count, columns, shifts, partials);
      }
    };
    if (n >= kLanes) return add(std::integral_constant<std::int64_t, kLanes>{});
    if (n >= kLanes / 2) return add(std::integral_constant<std::int64_t, kLanes / 2>{});
    if (n >= kLanes / 4) return add(std::integral_constant<std::int64_t, kLanes / 4>{});
    add(std::integral_constant<std::int64_t, 1>{});
  }

  /// Combines `partials` with kWidth columns from each of `columns` on of some rows, one after the
  /// other. Columns may be named twice.
  template <typename R, std::int64_t kWidth, std::size_t kBlocks, typename RowPartial>
  POPRT_INLINE static void AddLanes(const C* const* rows, std::int64_t count,
                                    std::array<std::int64_t, kBlocks> columns, const C* shifts,
                                    RowPartial* partials) {
    RowPartial lanes[kBlocks][kWidth];
    for (std::size_t b = 0; b < kBlocks; ++b) {
      std::copy_n(partials + columns[b], kWidth, lanes[b]);
    }
    for (std::int64_t r = 0; r < count; ++r) {
      POPRT_UNROLLED
      for (std::size_t b = 0; b < kBlocks; ++b) {
        const C* x = rows[r] + columns[b];
        const C* shift = shifts + columns[b];
        POPRT_LANE_LOOP
        for (std::int64_t i = 0; i < kWidth; ++i) {
          lanes[b][i] = R::Combine(lanes[b][i], static_cast<RowPartial>(R::Map(x[i], shift[i])));
        }
      }
    }
    for (std::size_t b = 0; b < kBlocks; ++b) {
      std::copy_n(lanes[b], kWidth, partials + columns[b]);
    }
  }

  std::int64_t strips() const { return (walk_.run - 1) / kStrip + 1; }
  std::int64_t strip_tasks() const { return walk_.results / walk_.run * strips(); }

  void RunColumns(const KernelArguments& args) const {
    const std::int64_t cost = std::min(walk_.run, kStrip) * walk_.count;
    ForReduced<C>(args.pool, strip_tasks(), GrainFor(cost),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    for (std::int64_t task = begin; task < end; ++task) {
                      RunStrip(args, task,
                               [&]<typename R>(R, std::int64_t start, std::int64_t n,
                                               const C* shifts, Total* totals) {
                                 ReduceLines<R>(args.inputs[0], start, n, shifts, 0,
                                                walk_.reduced.count(), totals);
                               });
                    }
                  });
  }

  /// The same for few strips of many rows: threads share each of them.
  void RunColumnsInParts(const KernelArguments& args) const {
    for (std::int64_t task = 0; task < strip_tasks(); ++task) {
      RunStrip(
          args, task,
          [&]<typename R>(R, std::int64_t start, std::int64_t n, const C* shifts, Total* totals) {
            ReduceInParts<R>(args, start, n, shifts, totals);
          });
    }
  }

  template <typename R>
  void ReduceInParts(const KernelArguments& args, std::int64_t start, std::int64_t n,
                     const C* shifts, Total* totals) const {
    const std::int64_t rows = walk_.reduced.count();
    auto* parts = reinterpret_cast<Total*>(args.scratch);
    ForReduced<C>(args.pool, rows, part_,
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

  /// Results of one strip; reduce(R{}, start, n, shifts, totals) folds its columns by R.
  template <typename Reduce>
  void RunStrip(const KernelArguments& args, std::int64_t task, const Reduce& reduce) const {
    const std::int64_t outer = task / strips();
    const std::int64_t column = task % strips() * kStrip;
    const std::int64_t n = std::min(kStrip, walk_.run - column);
    const std::int64_t start = StridedWalk(walk_.kept, outer).offset() + column;
    C shifts[kStrip];
    Total totals[kStrip];
    std::fill_n(shifts, n, C{});
    if constexpr (Fold::kShifted) {
      reduce(MaxFold{}, start, n, shifts, totals);
      for (std::int64_t i = 0; i < n; ++i) shifts[i] = Finite(totals[i]);
    }
    reduce(Fold{}, start, n, shifts, totals);
    Finish(args, outer * walk_.run + column, totals, shifts, n);
  }

  /// The length of the parts, in blocks or rows; 0 where the results are enough or too small.
  std::int64_t PartLength() const {
    if (walk_.count == 0 || walk_.results == 0) return 0;
    const std::int64_t tasks = walk_.run_is_kept ? strip_tasks() : walk_.results;
    const std::int64_t pieces =
        walk_.run_is_kept ? walk_.count : walk_.reduced.count() * blocks_per_run();
    const std::int64_t piece =
        walk_.run_is_kept ? std::min(walk_.run, kStrip) : std::min(walk_.run, kBlock);
    const std::int64_t length = std::max((kMinPart - 1) / piece + 1, (pieces - 1) / kMaxParts + 1);
    return tasks < kFewTasks && length < pieces ? length : 0;
  }

  ElementType element_;
  ReduceShape walk_;
  Converter load_;
  Converter store_;
  FinishTotals<C> finish_;
  std::int64_t part_;
  bool is_one_block_;  // rows are contiguous and short
};

}  // namespace poprt::kernels
