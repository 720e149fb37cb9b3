#include <array>
#include <cmath>
#include <memory>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/normalization/normalization.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/strided_index.hpp"

namespace poprt::kernels {
namespace {

/// (x - mean) / (standard deviation + 1e-9) over any axes, in double.
struct MeanVariance {
  StridedDims kept;
  StridedDims reduced;
  bool empty = false;
  Converter load;
  Converter store;

  double At(const KernelArguments& args, std::int64_t offset) const {
    double value = 0;
    load(args.inputs[0] + static_cast<std::size_t>(offset) * load.from_bytes(),
         reinterpret_cast<std::byte*>(&value), 1);
    return value;
  }

  template <typename F>
  void ForEach(std::int64_t start, std::int64_t count, const F& f) const {
    StridedWalk walk(reduced, 0);
    for (std::int64_t i = 0; i < count; ++i, walk.Next()) f(start + walk.offset());
  }

  void RunGroup(const KernelArguments& args, std::int64_t start, std::int64_t count) const {
    double sum = 0;
    ForEach(start, count, [&](std::int64_t at) { sum += At(args, at); });
    const double mean = sum / static_cast<double>(count);
    double squares = 0;
    ForEach(start, count, [&](std::int64_t at) {
      const double distance = At(args, at) - mean;
      squares += distance * distance;
    });
    const double deviation = std::sqrt(squares / static_cast<double>(count)) + 1e-9;
    ForEach(start, count, [&](std::int64_t at) {
      const double value = (At(args, at) - mean) / deviation;
      store(reinterpret_cast<const std::byte*>(&value),
            args.outputs[0] + static_cast<std::size_t>(at) * store.to_bytes(), 1);
    });
  }

  void Run(const KernelArguments& args) const {
    if (empty) return;
    const std::int64_t count = reduced.count();
    ForRanges(args.pool, kept.count(), GrainFor(count),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                StridedWalk walk(kept, begin);
                for (std::int64_t i = begin; i < end; ++i, walk.Next()) {
                  RunGroup(args, walk.offset(), count);
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
  const auto shared = std::make_shared<const MeanVariance>(std::move(op));
  return {.run = [shared](const KernelArguments& args) { shared->Run(args); }};
}

constexpr auto kKernels =
    std::to_array<KernelDef>({{"MeanVarianceNormalization", BindMeanVariance}});

}  // namespace

std::span<const KernelDef> MeanVarianceKernels() { return kKernels; }

}  // namespace poprt::kernels
