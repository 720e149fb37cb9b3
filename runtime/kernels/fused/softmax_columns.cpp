#include "runtime/kernels/fused/softmax_columns.hpp"

#include <algorithm>

#include "runtime/kernels/fused/element_functions.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"

namespace poprt::kernels {
namespace {

/// Columns of a strip: its rows are long enough to stream, its largest elements and sums stay in
/// the first-level cache.
constexpr std::int64_t kStrip = 512;

struct SoftmaxColumns {
  AxisSplit split;
  ElementLoop larger;
  ElementLoop subtract;
  ElementLoop exp;
  ElementLoop add;
  ElementLoop divide;
  std::size_t scratch_bytes = 0;

  std::int64_t strips() const { return (split.inner - 1) / kStrip + 1; }

  void Run(const KernelArguments& args) const {
    const std::int64_t cost = 8 * split.length * std::min(split.inner, kStrip);
    ForRanges(args.pool, split.outer * strips(), GrainFor(cost),
              [&](std::int64_t begin, std::int64_t end, int worker) {
                float* const scratch = WorkerScratch(args, worker, scratch_bytes);
                for (std::int64_t i = begin; i < end; ++i) {
                  const std::int64_t column = i % strips() * kStrip;
                  const std::int64_t first = i / strips() * split.length * split.inner + column;
                  RunStrip(args.in<float>(0) + first, args.out<float>(0) + first,
                           std::min(kStrip, split.inner - column), scratch);
                }
              });
  }

  void RunStrip(const float* x, float* y, std::int64_t n, float* scratch) const {
    float* const largest = scratch;
    float* const sums = scratch + kStrip;
    std::copy_n(x, n, largest);
    for (std::int64_t k = 1; k < split.length; ++k) {
      larger(largest, x + k * split.inner, largest, n);
    }
    std::fill_n(sums, n, 0.0F);
    for (std::int64_t k = 0; k < split.length; ++k) {
      float* const row = y + k * split.inner;
      subtract(x + k * split.inner, largest, row, n);
      exp(row, nullptr, row, n);
      add(sums, row, sums, n);
    }
    for (std::int64_t k = 0; k < split.length; ++k) {
      divide(y + k * split.inner, sums, y + k * split.inner, n);
    }
  }
};

}  // namespace

BoundKernel BindSoftmaxColumns(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 1, 1);
  const TensorType& x = call.inputs[0];
  Require(x.element == ElementType::kFloat32, "input 0 is " + ToString(x) + ", expected float32");
  RequireCount(x.shape, "input 0");
  RequireType(call.outputs[0], x, "output 0");
  const std::size_t axis = AxisAttribute(call, "axis", -1, x.shape.size());
  if (ElementCount(x.shape) == 0) return NothingToRun();
  const ElementFunctions& functions = loops.element_functions;
  const SoftmaxColumns softmax{.split = SplitAt(x.shape, axis),
                               .larger = FunctionNamed(functions, "at_least")->loop,
                               .subtract = FunctionNamed(functions, "sub")->loop,
                               .exp = FunctionNamed(functions, "exp")->loop,
                               .add = FunctionNamed(functions, "add")->loop,
                               .divide = FunctionNamed(functions, "div")->loop,
                               .scratch_bytes = FloatScratchBytes(2 * kStrip)};
  return {.run = [softmax](const KernelArguments& args) { softmax.Run(args); },
          .scratch_bytes = softmax.scratch_bytes};
}

}  // namespace poprt::kernels
