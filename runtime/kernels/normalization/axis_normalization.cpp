#include <algorithm>
#include <array>
#include <limits>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/normalization/normalization.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/reduction/extreme.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/reduction/line_blocks.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Lines of which a block would leave the caches are handled one by one.
constexpr std::int64_t kLongLine = 16384;

// Each of the following has two forms. Of one line: y[0, n) from x[0, n), which may be the same
// memory; n > 0. Of kLines lines side by side (line_blocks.hpp): `y` from `x`. Lines of
// neighbouring elements are handled one by one from kLongRow of them on.

/// A block of `length` rows of kLines lines, in turn.
template <typename C>
struct Block {
  C* at;
  std::int64_t stride;
  std::int64_t length;

  /// f(row) for every row.
  template <typename F>
  POPRT_INLINE void ForRows(const F& f) const {
    for (std::int64_t k = 0; k < length; ++k) f(at + k * stride);
  }
};

/// f(i) for every line i of a row.
template <typename F>
POPRT_INLINE void ForLines(const F& f) {
  POPRT_INDEPENDENT_LOOP
  POPRT_LANE_LOOP
  for (std::int64_t i = 0; i < kLines; ++i) f(i);
}

/// totals[i] = sum of value(k, i) over the rows k: in C over 64 rows, those in double.
template <typename C, typename Value>
POPRT_INLINE void SumRows(std::int64_t length, const Value& value, double* totals) {
  constexpr std::int64_t kRows = 64;
  std::fill_n(totals, kLines, 0.0);
  for (std::int64_t first = 0; first < length; first += kRows) {
    C sums[kLines] = {};
    const std::int64_t end = std::min(length, first + kRows);
    for (std::int64_t k = first; k < end; ++k) {
      ForLines([&](std::int64_t i) { sums[i] += value(k, i); });
    }
    ForLines([&](std::int64_t i) { totals[i] += static_cast<double>(sums[i]); });
  }
}

template <typename C>
C Maximum(const C* x, std::int64_t n) {
  return FoldLanes<C>(
      n, -std::numeric_limits<C>::infinity(), [&](std::int64_t i) { return x[i]; },
      [](C a, C b) { return Select(a > b, a, b); });
}

template <typename C>
POPRT_INLINE void Maxima(const Block<const C>& x, C* maxima) {
  std::fill_n(maxima, kLines, -std::numeric_limits<C>::infinity());
  x.ForRows([maxima](const C* row) {
    ForLines([=](std::int64_t i) { maxima[i] = Select(maxima[i] > row[i], maxima[i], row[i]); });
  });
}

struct SoftmaxLine {
  static constexpr std::int64_t kLongRow = 200;
  template <typename C>
  void operator()(const C* x, C* y, std::int64_t n) const {
    const C maximum = Maximum(x, n);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = Exp(x[i] - maximum);
    const C scale = static_cast<C>(1.0 / LaneSum<C>(n, [&](std::int64_t i) { return y[i]; }));
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] *= scale;
  }

  template <typename C>
  void operator()(const Block<const C>& x, const Block<C>& y) const {
    C maxima[kLines];
    double totals[kLines];
    C scales[kLines];
    Maxima(x, maxima);
    SumRows<C>(
        x.length,
        [&](std::int64_t k, std::int64_t i) {
          return y.at[k * y.stride + i] = Exp(x.at[k * x.stride + i] - maxima[i]);
        },
        totals);
    ForLines([&](std::int64_t i) { scales[i] = static_cast<C>(1.0 / totals[i]); });
    y.ForRows([&](C* row) { ForLines([&](std::int64_t i) { row[i] *= scales[i]; }); });
  }
};

struct LogSoftmaxLine {
  static constexpr std::int64_t kLongRow = 200;
  template <typename C>
  void operator()(const C* x, C* y, std::int64_t n) const {
    const C maximum = Maximum(x, n);
    const double sum = LaneSum<C>(n, [&](std::int64_t i) { return Exp(x[i] - maximum); });
    const C log_sum = Log(static_cast<C>(sum));
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - maximum) - log_sum;
  }

  template <typename C>
  void operator()(const Block<const C>& x, const Block<C>& y) const {
    C maxima[kLines];
    double totals[kLines];
    C log_sums[kLines];
    Maxima(x, maxima);
    SumRows<C>(
        x.length,
        [&](std::int64_t k, std::int64_t i) { return Exp(x.at[k * x.stride + i] - maxima[i]); },
        totals);
    ForLines([&](std::int64_t i) { log_sums[i] = Log(static_cast<C>(totals[i])); });
    for (std::int64_t k = 0; k < x.length; ++k) {
      const C* from = x.at + k * x.stride;
      C* to = y.at + k * y.stride;
      ForLines([&](std::int64_t i) { to[i] = (from[i] - maxima[i]) - log_sums[i]; });
    }
  }
};

/// One at the first maximum, or the first NaN.
struct HardmaxLine {
  static constexpr std::int64_t kLongRow = 160;
  template <typename C>
  void operator()(const C* x, C* y, std::int64_t n) const {
    const std::int64_t best = IndexOfExtreme<true, false>(x, n);
    std::fill_n(y, n, C(0));
    y[best] = C(1);
  }

  template <typename C>
  void operator()(const Block<const C>& x, const Block<C>& y) const {
    C best[kLines];
    C found[kLines] = {};
    std::fill_n(best, kLines, -std::numeric_limits<C>::infinity());
    x.ForRows([&](const C* row) {
      ForLines([&](std::int64_t i) {
        best[i] = Select((row[i] > best[i]) | (row[i] != row[i]), row[i], best[i]);
      });
    });
    for (std::int64_t k = 0; k < x.length; ++k) {
      const C* from = x.at + k * x.stride;
      C* to = y.at + k * y.stride;
      ForLines([&](std::int64_t i) {
        const bool is_best = (from[i] == best[i]) | ((from[i] != from[i]) & (best[i] != best[i]));
        const C one = Select(is_best, C(1) - found[i], C(0));
        found[i] += one;
        to[i] = one;
      });
    }
  }
};

/// A line whose norm is zero stays zero.
struct LpLine {
  static constexpr std::int64_t kLongRow = 24;
  std::int64_t p;
  template <typename C>
  void operator()(const C* x, C* y, std::int64_t n) const {
    const double norm = p == 1
                            ? LaneSum<C>(n, [&](std::int64_t i) { return Abs(x[i]); })
                            : std::sqrt(LaneSum<C>(n, [&](std::int64_t i) { return x[i] * x[i]; }));
    const C divisor = norm == 0 ? C(1) : static_cast<C>(norm);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] / divisor;
  }

  template <typename C>
  void operator()(const Block<const C>& x, const Block<C>& y) const {
    double totals[kLines];
    C divisors[kLines];
    const auto element = [&](std::int64_t k, std::int64_t i) { return x.at[k * x.stride + i]; };
    if (p == 1) {
      SumRows<C>(
          x.length, [&](std::int64_t k, std::int64_t i) { return Abs(element(k, i)); }, totals);
    } else {
      SumRows<C>(
          x.length, [&](std::int64_t k, std::int64_t i) { return element(k, i) * element(k, i); },
          totals);
      ForLines([&](std::int64_t i) { totals[i] = Sqrt(totals[i]); });
    }
    ForLines([&](std::int64_t i) {
      divisors[i] = Select(totals[i] == 0, C(1), static_cast<C>(totals[i]));
    });
    for (std::int64_t k = 0; k < x.length; ++k) {
      C* to = y.at + k * y.stride;
      ForLines([&](std::int64_t i) { to[i] = element(k, i) / divisors[i]; });
    }
  }
};

/// Applies a line function along one axis of a tensor.
template <typename C, typename Line>
class LineMap {
 public:
  LineMap(const TensorType& type, std::size_t axis, const Line& line)
      : line_(line),
        split_(SplitAt(type.shape, axis)),
        empty_(ElementCount(type.shape) == 0),
        by_blocks_(split_.length < (split_.inner == 1 ? Line::kLongRow : kLongLine)),
        blocks_(split_, type.element),
        load_(type.element, kElementOf<C>),
        store_(kElementOf<C>, type.element) {}

  std::size_t scratch_bytes() const {
    if (empty_) return 0;
    if (by_blocks_) return blocks_.scratch_bytes(split_.length);
    return ScratchBytes(static_cast<std::size_t>(split_.length) * sizeof(C));
  }

  void Run(const KernelArguments& args) const {
    if (empty_) return;
    const std::int64_t together = by_blocks_ ? kLines : 1;
    const std::int64_t lines = split_.outer * split_.inner;
    ForWideRanges<C>(
        args.pool, (lines - 1) / together + 1, GrainFor(4 * split_.length * together),
        [&](std::int64_t begin, std::int64_t end, int worker) {
          C* scratch = reinterpret_cast<C*>(args.scratch +
                                            static_cast<std::size_t>(worker) * scratch_bytes());
          for (std::int64_t i = begin; i < end; ++i) {
            if (by_blocks_) {
              RunBlock(args, i * kLines, std::min(kLines, lines - i * kLines), scratch);
            } else {
              RunLine(args, blocks_.StartOf(i), scratch);
            }
          }
        });
  }

 private:
  void RunBlock(const KernelArguments& args, std::int64_t first, std::int64_t n, C* scratch) const {
    if (blocks_.IsBlock(first)) {
      const std::int64_t start = blocks_.StartOf(first);
      return line_(Block<const C>{args.in<C>(0) + start, split_.inner, split_.length},
                   Block<C>{args.out<C>(0) + start, split_.inner, split_.length});
    }
    blocks_.Load(args.inputs[0], first, n, scratch);
    line_(Block<const C>{scratch, kLines, split_.length}, Block<C>{scratch, kLines, split_.length});
    blocks_.Store(scratch, first, n, args.outputs[0]);
  }

  void RunLine(const KernelArguments& args, std::int64_t start, C* line) const {
    const std::byte* from = args.inputs[0] + static_cast<std::size_t>(start) * load_.from_bytes();
    std::byte* to = args.outputs[0] + static_cast<std::size_t>(start) * store_.to_bytes();
    if (split_.inner == 1 && load_.is_copy()) {
      return line_(reinterpret_cast<const C*>(from), reinterpret_cast<C*>(to), split_.length);
    }
    ForRuns([&](std::int64_t k, std::int64_t n) {
      load_(from + static_cast<std::size_t>(k * split_.inner) * load_.from_bytes(),
            reinterpret_cast<std::byte*>(line + k), n);
    });
    line_(static_cast<const C*>(line), line, split_.length);
    ForRuns([&](std::int64_t k, std::int64_t n) {
      store_(reinterpret_cast<const std::byte*>(line + k),
             to + static_cast<std::size_t>(k * split_.inner) * store_.to_bytes(), n);
    });
  }

  /// f(first, count) for runs of neighbouring elements of a line.
  template <typename F>
  void ForRuns(const F& f) const {
    if (split_.inner == 1) return f(0, split_.length);
    for (std::int64_t k = 0; k < split_.length; ++k) f(k, 1);
  }

  Line line_;
  AxisSplit split_;
  bool empty_;
  bool by_blocks_;
  LineBlocks<C> blocks_;
  Converter load_;
  Converter store_;
};

template <typename Line>
BoundKernel BindLine(const KernelCall& call, const Line& line) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kFloatTypes, "input 0");
  RequireType(call.outputs[0], input, "output 0");
  const std::size_t axis = AxisAttribute(call, "axis", -1, input.shape.size());
  return VisitCompute<BoundKernel, kFloatTypes>(input.element, [&](auto type) -> BoundKernel {
    const LineMap<typename decltype(type)::type, Line> map(input, axis, line);
    return {.run = [map](const KernelArguments& args) { map.Run(args); },
            .scratch_bytes = map.scratch_bytes(),
            .in_place_inputs = {0}};
  });
}

template <typename Line>
BoundKernel BindPlainLine(const KernelCall& call) {
  return BindLine(call, Line{});
}

BoundKernel BindLp(const KernelCall& call) {
  const std::int64_t p = IntAttribute(call, "p", 2);
  Require(p == 1 || p == 2, "attribute 'p' is " + std::to_string(p) + ", allowed are 1 and 2");
  return BindLine(call, LpLine{p});
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"Hardmax", BindPlainLine<HardmaxLine>},
    {"LogSoftmax", BindPlainLine<LogSoftmaxLine>},
    {"LpNormalization", BindLp},
    {"Softmax", BindPlainLine<SoftmaxLine>},
});

}  // namespace

std::span<const KernelDef> AxisNormalizationKernels() { return kKernels; }

}  // namespace poprt::kernels
