#include "runtime/kernels/rows/row_norms.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/bind_best.hpp"
#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/rows/row_kernels.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Positions of the operands of "norm_rows".
enum NormInput : std::size_t { kA, kScale, kBias, kB };

struct Rows {
  std::int64_t count;
  std::int64_t length;

  /// Calls f(begin, end) for ranges of rows.
  template <typename F>
  void ForRanges(ThreadPool* pool, const F& f) const {
    kernels::ForRanges(pool, count, GrainFor(2 * length),
                       [&](std::int64_t begin, std::int64_t end, int) { f(begin, end); });
  }
};

Rows RequireRows(const TensorType& type, ElementType element = ElementType::kFloat32) {
  Require(type.element == element && !type.shape.empty() && type.shape.back() >= 1,
          "input 0 is " + ToString(type) + ", expected is " + std::string(ElementName(element)) +
              " with rows of at least 1 element");
  return {.count = ElementCount(Shape(type.shape.begin(), type.shape.end() - 1)),
          .length = type.shape.back()};
}

/// Rows of float16, which are widened: a sum is rounded before it is normalised.
struct HalfNormRows {
  NormRows whole;
  Rows rows;
  decltype(RowKernels::normalize) normalize;
  Converter widen{ElementType::kFloat16, ElementType::kFloat32};
  Converter narrow{ElementType::kFloat32, ElementType::kFloat16};
  std::size_t scratch_bytes = FloatScratchBytes(kBuffers * whole.length);

  static constexpr std::int64_t kBuffers = 4;  // scale, bias, a row, the result

  void Run(const KernelArguments& args) const {
    ForRanges(args.pool, rows.count, GrainFor(4 * rows.length),
              [&](std::int64_t begin, std::int64_t end, int worker) {
                RunRange(args, begin, end, WorkerScratch(args, worker, scratch_bytes));
              });
  }

  void RunRange(const KernelArguments& args, std::int64_t begin, std::int64_t end,
                float* buffers) const {
    const std::int64_t n = rows.length;
    const auto given = [&](std::size_t i) {
      return i < args.inputs.size() ? args.in<std::uint16_t>(i) : nullptr;
    };
    const auto widened = [&](const std::uint16_t* from, float* to) {
      if (from == nullptr) return static_cast<const float*>(nullptr);
      widen(reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to), n);
      return static_cast<const float*>(to);
    };
    const auto store = [&](const float* from, std::uint16_t* to) {
      narrow(reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to), n);
    };
    float* const x = buffers + 2 * n;
    float* const y = buffers + 3 * n;
    NormRows row = whole;
    row.a = x;
    row.y = y;
    row.scale = widened(given(kScale), buffers);
    row.bias = widened(given(kBias), buffers + n);
    for (std::int64_t at = begin * n; at < end * n; at += n) {
      std::uint16_t* const out = args.out<std::uint16_t>(0) + at;
      widened(given(kA) + at, x);
      if (const std::uint16_t* const b = given(kB); b != nullptr) {
        widened(b + at, y);
        std::transform(x, x + n, y, x, std::plus<>());
        std::uint16_t* const sum = args.outputs.size() > 1 ? args.out<std::uint16_t>(1) + at : out;
        store(x, sum);
        widened(sum, x);
      } else if (args.outputs.size() > 1) {
        std::copy_n(given(kA) + at, n, args.out<std::uint16_t>(1) + at);
      }
      normalize(row);
      store(y, out);
    }
  }
};

BoundKernel BindNormRowsOf(const KernelCall& call, const RowKernels& kernels) {
  RequireArity(call, 1, 4, 1, 2);
  const TensorType& a = call.inputs[0];
  const bool half = a.element == ElementType::kFloat16;
  const Rows rows = RequireRows(a, half ? a.element : ElementType::kFloat32);
  for (const std::size_t i : {kScale, kBias}) {
    if (const TensorType& type = InputOrAbsent(call, i); type.defined()) {
      RequireType(type, {a.element, {rows.length}}, "input " + std::to_string(i));
    }
  }
  if (const TensorType& b = InputOrAbsent(call, kB); b.defined()) RequireType(b, a, "input 3");
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    RequireType(call.outputs[i], a, "output " + std::to_string(i));
  }
  const NormRows whole{.a = nullptr,
                       .b = nullptr,
                       .sum = nullptr,
                       .scale = nullptr,
                       .bias = nullptr,
                       .y = nullptr,
                       .count = 1,
                       .length = rows.length,
                       .epsilon = FloatAttribute(call, "epsilon", 1e-5F),
                       .centered = !FlagAttribute(call, "rms", false)};
  std::vector<std::size_t> in_place = {kA};
  if (InputOrAbsent(call, kB).defined()) in_place.push_back(kB);
  if (half) {
    const HalfNormRows norm{.whole = whole, .rows = rows, .normalize = kernels.normalize};
    return {.run = [norm](const KernelArguments& args) { norm.Run(args); },
            .scratch_bytes = norm.scratch_bytes,
            .in_place_inputs = std::move(in_place)};
  }
  const auto run = [whole, rows, normalize = kernels.normalize](const KernelArguments& args) {
    const auto given = [&](std::size_t i) {
      return i < args.inputs.size() ? args.in<float>(i) : nullptr;
    };
    const float* const b = given(kB);
    float* const sum = args.outputs.size() > 1 ? args.out<float>(1) : nullptr;
    rows.ForRanges(args.pool, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t at = begin * whole.length;
      NormRows some = whole;
      some.a = args.in<float>(kA) + at;
      some.b = b == nullptr ? nullptr : b + at;
      some.sum = sum == nullptr ? nullptr : sum + at;
      some.scale = given(kScale);
      some.bias = given(kBias);
      some.y = args.out<float>(0) + at;
      some.count = end - begin;
      normalize(some);
    });
  };
  return {.run = run, .in_place_inputs = std::move(in_place)};
}

Rows RequireUnaryRows(const KernelCall& call) {
  RequireArity(call, 1, 1);
  RequireType(call.outputs[0], call.inputs[0], "output 0");
  return RequireRows(call.inputs[0]);
}

/// y = log(softmax(x)) for `count` rows: their logarithms together, as far as the rows are still
/// in the first-level cache then.
void LogSoftmaxRows(decltype(RowKernels::exp_sum) exp_sum, std::int64_t length, std::int64_t count,
                    const float* x, float* y) {
  constexpr std::int64_t kRows = 16;
  constexpr std::int64_t kCached = 4096;
  const std::int64_t most = std::clamp<std::int64_t>(kCached / length, 1, kRows);
  for (std::int64_t first = 0; first < count; first += most) {
    const std::int64_t rows = std::min(most, count - first);
    const float* from = x + first * length;
    float* to = y + first * length;
    float largest[kRows];
    float sums[kRows] = {};
    for (std::int64_t row = 0; row < rows; ++row) {
      sums[row] = exp_sum(from + row * length, length, &largest[row]);
    }
    RunWide([=] {
      float logarithms[kRows];
      for (std::int64_t row = 0; row < kRows; ++row) logarithms[row] = Log(sums[row]);
      for (std::int64_t row = 0; row < rows; ++row) {
        const float shift = largest[row];
        const float logarithm = logarithms[row];
        POPRT_INDEPENDENT_LOOP
        for (std::int64_t i = row * length; i < (row + 1) * length; ++i) {
          to[i] = (from[i] - shift) - logarithm;
        }
      }
    });
  }
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"norm_rows", GuardedBind<BindBest<BindNormRows>>},
    {"log_softmax_rows", GuardedBind<BindBest<BindLogSoftmaxRows>>},
    {"softmax_rows", GuardedBind<BindBest<BindSoftmaxRows>>},
});

}  // namespace

BoundKernel BindNormRows(const KernelCall& call, const InnerLoops& loops) {
  return BindNormRowsOf(call, loops.rows);
}

BoundKernel BindSoftmaxRows(const KernelCall& call, const InnerLoops& loops) {
  const Rows rows = RequireUnaryRows(call);
  return {.run =
              [rows, softmax = loops.rows.softmax](const KernelArguments& args) {
                rows.ForRanges(args.pool, [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t at = begin * rows.length; at < end * rows.length;
                       at += rows.length) {
                    softmax(args.in<float>(0) + at, rows.length, args.out<float>(0) + at);
                  }
                });
              },
          .in_place_inputs = {0}};
}

BoundKernel BindLogSoftmaxRows(const KernelCall& call, const InnerLoops& loops) {
  const Rows rows = RequireUnaryRows(call);
  return {.run =
              [rows, exp_sum = loops.rows.exp_sum](const KernelArguments& args) {
                rows.ForRanges(args.pool, [&](std::int64_t begin, std::int64_t end) {
                  LogSoftmaxRows(exp_sum, rows.length, end - begin,
                                 args.in<float>(0) + begin * rows.length,
                                 args.out<float>(0) + begin * rows.length);
                });
              },
          .in_place_inputs = {0}};
}

std::span<const KernelDef> RowKernelDefs() { return kKernels; }

}  // namespace poprt::kernels
