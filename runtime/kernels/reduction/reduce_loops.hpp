#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/reduction/extreme.hpp"
#include "runtime/kernels/reduction/folds.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/reduction/reduce_shape.hpp"
#include "runtime/kernels/strided_index.hpp"
#include "runtime/kernels/transpose_block.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

/// Some of the neighbouring results of a reduction: rows, or columns of a strip.
struct ReducedSpan {
  std::int64_t first;
  std::int64_t count;
};

/// Some of what is folded into a result.
struct ReducedPieces {
  std::int64_t first;
  std::int64_t last;  ///< not one of them
};

/// The loops of reductions over a tensor, folded in C.
///
/// Where the last dimension is reduced, results are rows, of each of which pieces are blocks of up
/// to kBlock neighbours. Where it is kept, they are columns, up to kStrip side by side, of which a
/// piece is a row.
template <typename C>
class ReduceLoops {
 public:
  using Total = WideOf<C>;

  static constexpr std::int64_t kStrip = 1024;
  static constexpr std::int64_t kBlock = 1024;  // elements converted at a time
  /// Rows that are folded together.
  static constexpr std::int64_t kTogether = 64;

  ReduceLoops(ReduceShape walk, ElementType element)
      : walk_(std::move(walk)),
        load_(element, kElementOf<C>),
        has_short_neighbours_(walk_.reduced.extents.empty() && walk_.run < kLongRow &&
                              walk_.kept.strides.size() == 1 &&
                              walk_.kept.strides.front() == walk_.run) {}

  const ReduceShape& walk() const { return walk_; }

  /// Of every result.
  std::int64_t pieces() const {
    return walk_.reduced.count() * (walk_.run_is_kept ? 1 : blocks_per_run());
  }

  /// totals[i] = what R folds pieces of result span.first + i into, with shifts[i]. A span is of
  /// one strip, or of up to kTogether rows. Not inlined, which would take long to compile.
  template <typename R>
  [[gnu::noinline]] void Fold(const std::byte* base, const ReducedSpan& span, const C* shifts,
                              const ReducedPieces& pieces, Total* totals) const {
    if (walk_.run_is_kept) {
      FoldStrip<R>(base, span, shifts, pieces, totals);
    } else if (!R::kShifted && has_short_neighbours_) {
      FoldNeighbours<R>(base, span, totals);
    } else {
      FoldRows<R>(base, span, shifts, pieces, totals);
    }
  }

 private:
  static constexpr std::int64_t kRowsPerBlock = 64;  // of which sums are partial
  static constexpr std::int64_t kLanes = 16;         // of them that stay in registers
  static constexpr std::int64_t kNarrow = 64;        // that do so over many rows

  /// Rows of up to kShortRow elements become columns as they are, others when that many lanes of
  /// them are left.
  static constexpr int kShortRow = 16;
  static constexpr int kJoinedLanes = 4;
  /// Rows from here on are worth folding one by one.
  static constexpr std::int64_t kLongRow = 256;
  static_assert(kShortRow * kTogether <= kBlock);

  /// n elements in the computing type: in place or in `block`.
  const C* Load(const std::byte* base, std::int64_t offset, std::int64_t n, C* block) const {
    const std::byte* from = base + static_cast<std::size_t>(offset) * load_.from_bytes();
    if (load_.is_copy()) return reinterpret_cast<const C*>(from);
    load_(from, reinterpret_cast<std::byte*>(block), n);
    return block;
  }

  // ---- Rows

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

  template <typename R>
  Total FoldRow(const std::byte* base, std::int64_t start, C shift,
                const ReducedPieces& pieces) const {
    C block[kBlock];
    Total total = R::template Identity<Total>();
    const std::int64_t runs_before = pieces.first == 0 ? 0 : pieces.first / blocks_per_run();
    StridedWalk outer(walk_.reduced, runs_before);
    std::int64_t i = (pieces.first - runs_before * blocks_per_run()) * kBlock;
    for (std::int64_t at = pieces.first; at < pieces.last; ++at) {
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
  void FoldRows(const std::byte* base, const ReducedSpan& span, const C* shifts,
                const ReducedPieces& pieces, Total* totals) const {
    RunWide<C>([=, this] {
      StridedWalk kept(walk_.kept, span.first);
      for (std::int64_t k = 0; k < span.count; ++k, kept.Next()) {
        totals[k] = FoldRow<R>(base, kept.offset(), shifts[k], pieces);
      }
    });
  }

  // ---- Rows that are one block each and follow each other: many at once

  /// Their lanes are columns, which are joined for all rows at once.
  template <typename R>
  void FoldNeighbours(const std::byte* base, const ReducedSpan& span, Total* totals) const {
    using Sum = typename R::template Partial<C>;
    RunWide<C>([=, this, rows = span.count] {
      const auto combine = [](Sum a, Sum b) { return R::Combine(a, b); };
      const std::int64_t lanes = walk_.run <= kShortRow ? walk_.run : kJoinedLanes;
      C block[kBlock];
      Sum folded[kTogether * kShortRow];
      Sum columns[kShortRow * kTogether];
      TransposeBlock(FoldIntoRows<R>(base, span, combine, block, folded), lanes, rows, lanes,
                     columns, kTogether);
      for (std::int64_t width = kShortRow / 2; width > 0; width /= 2) {
        for (std::int64_t lane = 0; lane < width && lane + width < lanes; ++lane) {
          Sum* to = columns + lane * kTogether;
          const Sum* from = to + width * kTogether;
          POPRT_INDEPENDENT_LOOP
          for (std::int64_t k = 0; k < rows; ++k) to[k] = combine(to[k], from[k]);
        }
      }
      for (std::int64_t k = 0; k < rows; ++k) totals[k] = static_cast<Total>(columns[k]);
    });
  }

  /// The rows one after the other, in `folded` or where they are: up to kShortRow elements as they
  /// are, more as lanes.
  template <typename R, typename Sum, typename Combine>
  const Sum* FoldIntoRows(const std::byte* base, const ReducedSpan& span, const Combine& combine,
                          C* block, Sum* folded) const {
    const std::int64_t run = walk_.run;
    if (run <= kShortRow) {
      const C* x = Load(base, span.first * run, span.count * run, block);
      if constexpr (std::is_same_v<C, Sum> && !R::kMaps) {
        return x;
      } else {
        for (std::int64_t i = 0; i < span.count * run; ++i) {
          folded[i] = static_cast<Sum>(R::Map(x[i], C(0)));
        }
        return folded;
      }
    }
    for (std::int64_t k = 0; k < span.count; ++k) {
      const C* x = Load(base, (span.first + k) * run, run, block);
      FoldIntoLanes<kFoldLanes<Sum>, kJoinedLanes>(
          run, R::template Identity<Sum>(),
          [x](std::int64_t j) { return static_cast<Sum>(R::Map(x[j], C(0))); }, combine,
          folded + k * kJoinedLanes);
    }
    return folded;
  }

  // ---- Strips of columns, each row added to all of them

  template <typename R>
  void FoldStrip(const std::byte* base, const ReducedSpan& span, const C* shifts,
                 const ReducedPieces& rows, Total* totals) const {
    RunWide<C>([=, this, n = span.count] {
      using RowPartial = typename R::template Partial<C>;
      RowPartial partials[kStrip];
      const std::int64_t start =
          StridedWalk(walk_.kept, span.first / walk_.run).offset() + span.first % walk_.run;
      std::fill_n(totals, n, R::template Identity<Total>());
      StridedWalk row(walk_.reduced, rows.first);
      for (std::int64_t done = rows.first; done < rows.last; done += kRowsPerBlock) {
        const std::int64_t end = std::min(rows.last, done + kRowsPerBlock);
        FoldLines<R>(base, start, n, shifts, end - done, row, partials);
        for (std::int64_t i = 0; i < n; ++i) {
          totals[i] = R::Combine(totals[i], static_cast<Total>(partials[i]));
        }
      }
    });
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

  ReduceShape walk_;
  Converter load_;
  bool has_short_neighbours_;
};

}  // namespace poprt::kernels
