#include "runtime/kernels/rows/row_norms.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/rows/row_kernels.hpp"

namespace poprt::kernels {
namespace {

/// Positions of the operands of "norm_rows".
enum NormInput : std::size_t { kA, kScale, kBias, kB };

struct Rows {
  std::int64_t count;
  std::int64_t length;

  template <typename F>
  void ForEach(ThreadPool* pool, const F& f) const {
    ForRanges(pool, count, GrainFor(2 * length), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row) f(row * length);
    });
  }
};

Rows RequireRows(const TensorType& type) {
  Require(type.element == ElementType::kFloat32 && !type.shape.empty() && type.shape.back() >= 1,
          "input 0 is " + ToString(type) + ", expected is float32 with rows of at least 1 element");
  return {.count = ElementCount(Shape(type.shape.begin(), type.shape.end() - 1)),
          .length = type.shape.back()};
}

BoundKernel BindNormRowsOf(const KernelCall& call, const RowKernels& kernels) {
  RequireArity(call, 1, 4, 1, 2);
  const TensorType& a = call.inputs[0];
  const Rows rows = RequireRows(a);
  for (const std::size_t i : {kScale, kBias}) {
    if (const TensorType& type = InputOrAbsent(call, i); type.defined()) {
      RequireType(type, {ElementType::kFloat32, {rows.length}}, "input " + std::to_string(i));
    }
  }
  if (const TensorType& b = InputOrAbsent(call, kB); b.defined()) RequireType(b, a, "input 3");
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    RequireType(call.outputs[i], a, "output " + std::to_string(i));
  }
  const NormRow whole{.a = nullptr,
                      .b = nullptr,
                      .sum = nullptr,
                      .scale = nullptr,
                      .bias = nullptr,
                      .y = nullptr,
                      .length = rows.length,
                      .epsilon = FloatAttribute(call, "epsilon", 1e-5F),
                      .centered = !FlagAttribute(call, "rms", false)};
  const auto run = [whole, rows, normalize = kernels.normalize](const KernelArguments& args) {
    const auto given = [&](std::size_t i) {
      return i < args.inputs.size() ? args.in<float>(i) : nullptr;
    };
    const float* const b = given(kB);
    float* const sum = args.outputs.size() > 1 ? args.out<float>(1) : nullptr;
    rows.ForEach(args.pool, [&](std::int64_t at) {
      NormRow row = whole;
      row.a = args.in<float>(kA) + at;
      row.b = b == nullptr ? nullptr : b + at;
      row.sum = sum == nullptr ? nullptr : sum + at;
      row.scale = given(kScale);
      row.bias = given(kBias);
      row.y = args.out<float>(0) + at;
      normalize(row);
    });
  };
  std::vector<std::size_t> in_place = {kA};
  if (InputOrAbsent(call, kB).defined()) in_place.push_back(kB);
  return {.run = run, .in_place_inputs = std::move(in_place)};
}

/// y = f(x) for every row, by f(x, length, y).
template <typename F>
BoundKernel BindRowFunction(const KernelCall& call, F f) {
  RequireArity(call, 1, 1);
  const Rows rows = RequireRows(call.inputs[0]);
  RequireType(call.outputs[0], call.inputs[0], "output 0");
  return {.run =
              [rows, f](const KernelArguments& args) {
                rows.ForEach(args.pool, [&](std::int64_t at) {
                  f(args.in<float>(0) + at, rows.length, args.out<float>(0) + at);
                });
              },
          .in_place_inputs = {0}};
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"norm_rows", [](const KernelCall& call) { return BindNormRows(call, BestInnerLoops()); }},
    {"log_softmax_rows",
     [](const KernelCall& call) { return BindLogSoftmaxRows(call, BestInnerLoops()); }},
    {"softmax_rows",
     [](const KernelCall& call) { return BindSoftmaxRows(call, BestInnerLoops()); }},
});

}  // namespace

BoundKernel BindNormRows(const KernelCall& call, const InnerLoops& loops) {
  return BindNormRowsOf(call, loops.rows);
}

BoundKernel BindSoftmaxRows(const KernelCall& call, const InnerLoops& loops) {
  return BindRowFunction(call, loops.rows.softmax);
}

BoundKernel BindLogSoftmaxRows(const KernelCall& call, const InnerLoops& loops) {
  const auto exp_sum = loops.rows.exp_sum;
  return BindRowFunction(call, [exp_sum](const float* x, std::int64_t length, float* y) {
    float largest = 0;
    const float logarithm = Log(exp_sum(x, length, &largest));
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < length; ++i) y[i] = (x[i] - largest) - logarithm;
  });
}

std::span<const KernelDef> RowKernelDefs() { return kKernels; }

}  // namespace poprt::kernels
