#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/normalization/normalization.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/strided_index.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// (x - mean) / (standard deviation + 1e-9) over any axes, in double.
struct MeanVariance {
  StridedDims kept;
  StridedDims reduced;   // without the run
  std::int64_t run = 1;  // neighbours that are reduced
  bool empty = false;
  Converter load;
  Converter store;

  static constexpr std::int64_t kBlock = 1024;

  /// Calls f(values, n, offset) for runs of neighbouring elements of a group, and their offset.
  template <typename F>
  void ForBlocks(const KernelArguments& args, std::int64_t start, const F& f) const {
    double values[kBlock];
    StridedWalk walk(reduced, 0);
    const std::int64_t count = reduced.count();
    for (std::int64_t i = 0; i < count; ++i, walk.Next()) {
      for (std::int64_t done = 0; done < run; done += kBlock) {
        const std::int64_t n = std::min(kBlock, run - done);
        const std::int64_t at = start + walk.offset() + done;
        load(args.inputs[0] + static_cast<std::size_t>(at) * load.from_bytes(),
             reinterpret_cast<std::byte*>(values), n);
        f(values, n, at);
      }
    }
  }

  void RunGroup(const KernelArguments& args, std::int64_t start) const {
    const auto add = [](double a, double b) { return a + b; };
    const auto count = static_cast<double>(reduced.count() * run);
    double sum = 0;
    ForBlocks(args, start, [&](const double* x, std::int64_t n, std::int64_t /*at*/) {
      sum += FoldLanes(
          n, 0.0, [x](std::int64_t i) { return x[i]; }, add);
    });
    const double mean = sum / count;
    double squares = 0;
    ForBlocks(args, start, [&](const double* x, std::int64_t n, std::int64_t /*at*/) {
      const auto square = [x, mean](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); };
      squares += FoldLanes(n, 0.0, square, add);
    });
    const double deviation = std::sqrt(squares / count) + 1e-9;
    ForBlocks(args, start, [&](double* x, std::int64_t n, std::int64_t at) {
      for (std::int64_t i = 0; i < n; ++i) x[i] = (x[i] - mean) / deviation;
      store(reinterpret_cast<const std::byte*>(x),
            args.outputs[0] + static_cast<std::size_t>(at) * store.to_bytes(), n);
    });
  }

  void Run(const KernelArguments& args) const {
    if (empty) return;
    ForWideRanges(args.pool, kept.count(), GrainFor(reduced.count() * run),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    StridedWalk walk(kept, begin);
                    for (std::int64_t i = begin; i < end; ++i, walk.Next()) {
                      RunGroup(args, walk.offset());
                    }
                  });
  }
};

BoundKernel BindMeanVariance(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kFloatTypes, "input 0");
  RequireType(call.outputs[0], input, "output 0");
  const Ints axes = call.attributes.has("axes") ? IntsAttribute(call, "axes") : Ints{0, 2, 3};
  const std::vector<bool> mask = AxesMask(axes, input.shape.size(), "axes");
  MeanVariance op{.kept = {},
                  .reduced = {},
                  .empty = ElementCount(input.shape) == 0,
                  .load = {input.element, ElementType::kFloat64},
                  .store = {ElementType::kFloat64, input.element}};
  const Shape strides = Strides(input.shape);
  for (std::size_t d = 0; d < mask.size() && !op.empty; ++d) {
    (mask[d] ? op.reduced : op.kept).Append(input.shape[d], strides[d]);
  }
  StridedDims& reduced = op.reduced;
  if (!reduced.strides.empty() && reduced.strides.back() == 1) {
    op.run = reduced.extents.back();
    reduced.extents.pop_back();
    reduced.strides.pop_back();
  }
  const auto shared = std::make_shared<const MeanVariance>(std::move(op));
  return {.run = [shared](const KernelArguments& args) { shared->Run(args); }};
}

constexpr auto kKernels =
    std::to_array<KernelDef>({{"MeanVarianceNormalization", BindMeanVariance}});

}  // namespace

std::span<const KernelDef> MeanVarianceKernels() { return kKernels; }

}  // namespace poprt::kernels
