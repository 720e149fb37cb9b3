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

/// Columns of a strip, or columns times rows where those are few: so many are long enough to
/// stream, and the largest elements and sums stay in the first-level cache.
constexpr std::int64_t kStrip = 512;

/// Makes `rows` rows of n numbers the same: what `fold` makes of all of them.
void FoldRows(ElementLoop fold, std::int64_t rows, std::int64_t n, float* x) {
  for (std::int64_t left = rows; left > 1;) {
    const std::int64_t half = (left + 1) / 2;
    fold(x, x + half * n, x, (left - half) * n);
    left = half;
  }
  for (std::int64_t done = 1; done < rows;) {
    const std::int64_t more = std::min(done, rows - done);
    std::copy_n(x, more * n, x + done * n);
    done += more;
  }
}

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

  /// n columns; as many rows at once as make a strip, if they follow each other.
  void RunStrip(const float* x, float* y, std::int64_t n, float* scratch) const {
    float* const largest = scratch;
    float* const sums = scratch + kStrip;
    const std::int64_t rows = n == split.inner ? std::min(kStrip / n, split.length) : 1;
    const auto each = [&](auto of_rows) {
      for (std::int64_t k = 0; k < split.length; k += rows) {
        of_rows(k * split.inner, std::min(rows, split.length - k) * n);
      }
    };
    std::copy_n(x, rows * n, largest);
    each([&](std::int64_t at, std::int64_t count) { larger(largest, x + at, largest, count); });
    FoldRows(larger, rows, n, largest);
    std::fill_n(sums, rows * n, 0.0F);
    each([&](std::int64_t at, std::int64_t count) {
      subtract(x + at, largest, y + at, count);
      exp(y + at, nullptr, y + at, count);
      add(sums, y + at, sums, count);
    });
    FoldRows(add, rows, n, sums);
    each([&](std::int64_t at, std::int64_t count) { divide(y + at, sums, y + at, count); });
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
