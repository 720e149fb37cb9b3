#include <algorithm>
#include <array>
#include <limits>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/normalization/normalization.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Columns that are copied out of the tensor together when the axis is not the last.
constexpr std::int64_t kColumns = 8;

template <typename C>
C Maximum(const C* x, std::int64_t n) {
  return FoldLanes<C>(
      n, -std::numeric_limits<C>::infinity(), [&](std::int64_t i) { return x[i]; },
      [](C a, C b) { return Select(a > b, a, b); });
}

// Line functions: y[0..n) from x[0..n), which may be the same memory; n > 0.

struct SoftmaxLine {
  template <typename C>
  void operator()(const C* x, C* y, std::int64_t n) const {
    const C maximum = Maximum(x, n);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = Exp(x[i] - maximum);
    const C scale = static_cast<C>(1.0 / LaneSum<C>(n, [&](std::int64_t i) { return y[i]; }));
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] *= scale;
  }
};

struct LogSoftmaxLine {
  template <typename C>
  void operator()(const C* x, C* y, std::int64_t n) const {
    const C maximum = Maximum(x, n);
    const double sum = LaneSum<C>(n, [&](std::int64_t i) { return Exp(x[i] - maximum); });
    const C log_sum = static_cast<C>(std::log(sum));
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - maximum) - log_sum;
  }
};

/// One at the first maximum, or the first NaN.
struct HardmaxLine {
  template <typename C>
  void operator()(const C* x, C* y, std::int64_t n) const {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < n && x[best] == x[best]; ++i) {
      if (x[i] > x[best] || x[i] != x[i]) best = i;
    }
    std::fill_n(y, n, C(0));
    y[best] = C(1);
  }
};

/// A line whose norm is zero stays zero.
struct LpLine {
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
};

/// Applies a line function along one axis of a tensor.
template <typename C, typename Line>
class LineMap {
 public:
  LineMap(const TensorType& type, std::size_t axis, const Line& line)
      : line_(line),
        split_(SplitAt(type.shape, axis)),
        empty_(ElementCount(type.shape) == 0),
        load_(type.element, kElementOf<C>),
        store_(kElementOf<C>, type.element) {}

  std::size_t scratch_bytes() const {
    if (empty_ || (split_.inner == 1 && load_.is_copy())) return 0;
    const auto columns = static_cast<std::size_t>(std::min(split_.inner, kColumns));
    return (columns * static_cast<std::size_t>(split_.length) * sizeof(C) + 63) / 64 * 64;
  }

  void Run(const KernelArguments& args) const {
    if (empty_) return;
    const std::int64_t strips = (split_.inner - 1) / kColumns + 1;
    const std::int64_t cost = split_.length * std::min(split_.inner, kColumns);
    ForWideRanges(args.pool, split_.outer * strips, GrainFor(4 * cost),
                  [&](std::int64_t begin, std::int64_t end, int worker) {
                    C* lines = reinterpret_cast<C*>(
                        args.scratch + static_cast<std::size_t>(worker) * scratch_bytes());
                    for (std::int64_t task = begin; task < end; ++task) {
                      if (split_.inner == 1) {
                        RunContiguous(args, task, lines);
                      } else {
                        RunColumns(args, task / strips, task % strips * kColumns, lines);
                      }
                    }
                  });
  }

 private:
  const std::byte* From(const KernelArguments& args, std::int64_t offset) const {
    return args.inputs[0] + static_cast<std::size_t>(offset) * load_.from_bytes();
  }
  std::byte* To(const KernelArguments& args, std::int64_t offset) const {
    return args.outputs[0] + static_cast<std::size_t>(offset) * store_.to_bytes();
  }

  void RunContiguous(const KernelArguments& args, std::int64_t at, C* line) const {
    const std::byte* from = From(args, at * split_.length);
    std::byte* to = To(args, at * split_.length);
    if (load_.is_copy()) {
      line_(reinterpret_cast<const C*>(from), reinterpret_cast<C*>(to), split_.length);
      return;
    }
    load_(from, reinterpret_cast<std::byte*>(line), split_.length);
    line_(line, line, split_.length);
    store_(reinterpret_cast<const std::byte*>(line), to, split_.length);
  }

  void RunColumns(const KernelArguments& args, std::int64_t outer, std::int64_t column,
                  C* lines) const {
    const std::int64_t n = std::min(kColumns, split_.inner - column);
    const std::int64_t start = outer * split_.length * split_.inner + column;
    C row[kColumns];
    auto* row_bytes = reinterpret_cast<std::byte*>(row);
    for (std::int64_t k = 0; k < split_.length; ++k) {
      load_(From(args, start + k * split_.inner), row_bytes, n);
      for (std::int64_t i = 0; i < n; ++i) lines[i * split_.length + k] = row[i];
    }
    for (std::int64_t i = 0; i < n; ++i) {
      C* line = lines + i * split_.length;
      line_(line, line, split_.length);
    }
    for (std::int64_t k = 0; k < split_.length; ++k) {
      for (std::int64_t i = 0; i < n; ++i) row[i] = lines[i * split_.length + k];
      store_(row_bytes, To(args, start + k * split_.inner), n);
    }
  }

  Line line_;
  AxisSplit split_;
  bool empty_;
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
            .scratch_bytes = map.scratch_bytes()};
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
