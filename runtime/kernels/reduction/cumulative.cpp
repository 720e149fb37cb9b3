#include <algorithm>
#include <array>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"
#include "runtime/kernels/reduction/reduction.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kStrip = 128;

struct Plus {
  static constexpr int kNeutral = 0;
  template <typename T>
  static T Combine(T a, T b) {
    return WrappingAdd(a, b);
  }
};

struct Times {
  static constexpr int kNeutral = 1;
  template <typename T>
  static T Combine(T a, T b) {
    return WrappingMul(a, b);
  }
};

/// Running results along an axis of an associative operation.
template <typename Op>
struct Cumulative {
  AxisSplit split;
  bool exclusive;
  bool reverse;
  ElementType stored;
  Converter load;
  Converter store;

  /// Up to kStrip neighbouring columns; T is double or an integer, S what is stored or T, to which
  /// rows are converted then.
  template <typename T, typename S>
  void RunStrip(const KernelArguments& args, std::int64_t start, std::int64_t n) const {
    T results[kStrip];
    std::fill_n(results, n, T{Op::kNeutral});
    S block[kStrip];
    for (std::int64_t step = 0; step < split.length; ++step) {
      const std::int64_t k = reverse ? split.length - 1 - step : step;
      const auto offset = static_cast<std::size_t>(start + k * split.inner);
      const std::byte* from = args.inputs[0] + offset * load.from_bytes();
      std::byte* to = args.outputs[0] + offset * store.to_bytes();
      const bool in_place = is_stored<S>();
      if (!in_place) load(from, reinterpret_cast<std::byte*>(block), n);
      Combine(in_place ? reinterpret_cast<const S*>(from) : block, n, results,
              in_place ? reinterpret_cast<S*>(to) : block);
      if (!in_place) store(reinterpret_cast<const std::byte*>(block), to, n);
    }
  }

  template <typename S>
  bool is_stored() const {
    return stored == kElementOf<S>;
  }

  template <typename T, typename S>
  void Combine(const S* x, std::int64_t n, T* results, S* y) const {
    // What is written was read before, if it is the same memory at all.
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      const T before = results[i];
      results[i] = Op::Combine(before, static_cast<T>(x[i]));
      y[i] = static_cast<S>(exclusive ? before : results[i]);
    }
  }

  /// `length` contiguous elements, as RunStrip with one column would.
  template <typename T>
  void RunLine(const KernelArguments& args, std::int64_t start) const {
    T result{Op::kNeutral};
    T block[kStrip];
    for (std::int64_t done = 0; done < split.length; done += kStrip) {
      const std::int64_t n = std::min(kStrip, split.length - done);
      const auto offset =
          static_cast<std::size_t>(start + (reverse ? split.length - done - n : done));
      load(args.inputs[0] + offset * load.from_bytes(), reinterpret_cast<std::byte*>(block), n);
      for (std::int64_t step = 0; step < n; ++step) {
        T& element = block[reverse ? n - 1 - step : step];
        const T before = result;
        result = Op::Combine(result, element);
        element = exclusive ? before : result;
      }
      store(reinterpret_cast<const std::byte*>(block), args.outputs[0] + offset * store.to_bytes(),
            n);
    }
  }

  template <typename T>
  void RunLines(const KernelArguments& args) const {
    ForRanges(args.pool, split.outer, GrainFor(split.length),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                for (std::int64_t line = begin; line < end; ++line) {
                  RunLine<T>(args, line * split.length);
                }
              });
  }

  template <typename T, typename S>
  void Run(const KernelArguments& args) const {
    if (split.inner == 1) return RunLines<T>(args);
    const std::int64_t strips = (split.inner + kStrip - 1) / kStrip;
    ForWideRanges(args.pool, split.outer * strips,
                  GrainFor(split.length * std::min(split.inner, kStrip)),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    for (std::int64_t task = begin; task < end; ++task) {
                      const std::int64_t column = task % strips * kStrip;
                      RunStrip<T, S>(args, task / strips * split.length * split.inner + column,
                                     std::min(kStrip, split.inner - column));
                    }
                  });
  }
};

// Floats are combined in double: a long running sum has no lanes that would keep its error small.
template <typename Op>
BoundKernel BindCumulative(const KernelCall& call) {
  constexpr TypeSet kTypes = kFloatTypes | Types({ElementType::kInt32, ElementType::kInt64,
                                                  ElementType::kUint32, ElementType::kUint64});
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kTypes, "input 0");
  RequireType(call.outputs[0], input, "output 0");
  Require(call.attributes.has("axis"), "attribute 'axis' is missing");
  const std::size_t axis = AxisAttribute(call, "axis", 0, input.shape.size());
  const bool is_float = IsFloat(input.element);
  const ElementType compute = is_float ? ElementType::kFloat64 : ElementType::kInt64;
  const Cumulative<Op> op{.split = SplitAt(input.shape, axis),
                          .exclusive = FlagAttribute(call, "exclusive", false),
                          .reverse = FlagAttribute(call, "reverse", false),
                          .stored = input.element,
                          .load = {input.element, compute},
                          .store = {compute, input.element}};
  if (input.element == ElementType::kFloat32) {
    return {.run = [op](const KernelArguments& args) { op.template Run<double, float>(args); }};
  }
  if (is_float) {
    return {.run = [op](const KernelArguments& args) { op.template Run<double, double>(args); }};
  }
  if (input.element == ElementType::kInt32) {
    return {.run = [op](const KernelArguments& args) {
      op.template Run<std::int64_t, std::int32_t>(args);
    }};
  }
  return {.run = [op](const KernelArguments& args) {
    op.template Run<std::int64_t, std::int64_t>(args);
  }};
}

constexpr auto kKernels = std::to_array<KernelDef>(
    {{"CumProd", BindCumulative<Times>}, {"CumSum", BindCumulative<Plus>}});

}  // namespace

std::span<const KernelDef> CumulativeKernels() { return kKernels; }

}  // namespace poprt::kernels
