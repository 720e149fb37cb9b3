#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/reduction/reduce_loops.hpp"

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
        loops_(std::move(walk), element),
        store_(kElementOf<C>, element),
        finish_(finish),
        part_(PartLength()) {}

  /// Of every worker, though the parts of a result stand side by side.
  std::size_t scratch_bytes() const {
    return part_ == 0 ? 0 : sizeof(Total) * kMaxParts * (walk().run_is_kept ? kStrip : 1);
  }

  void Run(const KernelArguments& args) const {
    if (walk().count == 0) return RunEmpty(args);
    if (part_ != 0) {
      for (std::int64_t span = 0; span < spans(); ++span) FoldInParts(args, Span(span));
      return;
    }
    const std::int64_t cost =
        walk().run_is_kept ? std::min(walk().run, kStrip) * walk().count : walk().count;
    ForRanges(args.pool, spans(), GrainFor(cost),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                std::int64_t next = begin;
                while (next < end) next = FoldSpan(args, next, end);
              });
  }

 private:
  using Loops = ReduceLoops<C>;
  static constexpr std::int64_t kStrip = Loops::kStrip;

  /// Results that are fewer than kFewSpans are cut into up to kMaxParts parts of at least kMinPart
  /// elements, so that more than one thread has work. How depends on the shape alone.
  static constexpr std::int64_t kFewSpans = 16;
  static constexpr std::int64_t kMaxParts = 64;
  static constexpr std::int64_t kMinPart = 1 << 16;

  const ReduceShape& walk() const { return loops_.walk(); }

  // ---- Spans of results that one thread folds: rows, and strips of columns

  std::int64_t strips() const { return (walk().run - 1) / kStrip + 1; }

  std::int64_t spans() const {
    return walk().run_is_kept ? walk().results / walk().run * strips() : walk().results;
  }

  ReducedSpan Span(std::int64_t span) const {
    if (!walk().run_is_kept) return {.first = span, .count = 1};
    const std::int64_t column = span % strips() * kStrip;
    return {.first = span / strips() * walk().run + column,
            .count = std::min(kStrip, walk().run - column)};
  }

  /// Rows that are folded together; those that are read twice are still in a cache then.
  std::int64_t RowsTogether() const {
    if (!Fold::kShifted) return Loops::kTogether;
    constexpr std::int64_t kCached = std::int64_t{1} << 12;  // elements
    return std::clamp<std::int64_t>(kCached / walk().count, 1, Loops::kTogether);
  }

  /// Writes the results of a span, or of some rows of [span, end) together; returns the next.
  std::int64_t FoldSpan(const KernelArguments& args, std::int64_t span, std::int64_t end) const {
    ReducedSpan results = Span(span);
    if (!walk().run_is_kept) results.count = std::min(RowsTogether(), end - span);
    const ReducedPieces all{.first = 0, .last = loops_.pieces()};
    FoldAndFinish(args, results, [&]<typename R>(R, const C* shifts, Total* totals) {
      loops_.template Fold<R>(args.inputs[0], results, shifts, all, totals);
    });
    return walk().run_is_kept ? span + 1 : span + results.count;
  }

  /// The same for few results of many pieces: threads share each span.
  void FoldInParts(const KernelArguments& args, const ReducedSpan& results) const {
    const std::int64_t pieces = loops_.pieces();
    const std::int64_t n = results.count;
    auto* parts = reinterpret_cast<Total*>(args.scratch);
    FoldAndFinish(args, results, [&]<typename R>(R, const C* shifts, Total* totals) {
      ForRanges(args.pool, pieces, part_,
                [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                  loops_.template Fold<R>(args.inputs[0], results, shifts,
                                          {.first = begin, .last = end}, parts + begin / part_ * n);
                });
      std::copy_n(parts, n, totals);
      for (std::int64_t part = 1; part * part_ < pieces; ++part) {
        for (std::int64_t i = 0; i < n; ++i) {
          totals[i] = R::Combine(totals[i], parts[part * n + i]);
        }
      }
    });
  }

  /// Writes results of totals that fold(R{}, shifts, totals) folds by R.
  template <typename FoldBy>
  void FoldAndFinish(const KernelArguments& args, const ReducedSpan& results,
                     const FoldBy& fold) const {
    Total totals[kStrip];
    C shifts[kStrip];
    std::fill_n(shifts, results.count, C{});
    if constexpr (Fold::kShifted) {
      fold(MaxFold{}, shifts, totals);
      for (std::int64_t i = 0; i < results.count; ++i) shifts[i] = Finite(totals[i]);
    }
    fold(Fold{}, shifts, totals);
    Finish(args, results.first, totals, shifts, results.count);
  }

  static C Finite(Total maximum) {
    const auto shift = static_cast<C>(maximum);
    return shift - shift == C(0) ? shift : C(0);
  }

  void Store(const KernelArguments& args, std::int64_t at, const C* values, std::int64_t n) const {
    store_(reinterpret_cast<const std::byte*>(values),
           args.outputs[0] + static_cast<std::size_t>(at) * store_.to_bytes(), n);
  }

  void Finish(const KernelArguments& args, std::int64_t at, const Total* totals, const C* shifts,
              std::int64_t n) const {
    C results[kStrip];
    finish_(totals, shifts, n, walk().count, results);
    Store(args, at, results, n);
  }

  /// The identity of a maximum or minimum is the bound of the type that is stored.
  void RunEmpty(const KernelArguments& args) const {
    const Total nothing = Fold::template Identity<Total>();
    const C shift{};
    C result;
    finish_(&nothing, &shift, 1, 0, &result);
    result = Saturated(result, element_);
    for (std::int64_t i = 0; i < walk().results; ++i) Store(args, i, &result, 1);
  }

  /// The length of the parts, in pieces; 0 where the results are enough or too small.
  std::int64_t PartLength() const {
    if (walk().count == 0 || walk().results == 0) return 0;
    const std::int64_t pieces = loops_.pieces();
    const std::int64_t piece = std::min(walk().run, walk().run_is_kept ? kStrip : Loops::kBlock);
    const std::int64_t length = std::max((kMinPart - 1) / piece + 1, (pieces - 1) / kMaxParts + 1);
    return spans() < kFewSpans && length < pieces ? length : 0;
  }

  ElementType element_;
  Loops loops_;
  Converter store_;
  FinishTotals<C> finish_;
  std::int64_t part_;
};

}  // namespace poprt::kernels
