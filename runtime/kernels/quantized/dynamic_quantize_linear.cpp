#include <algorithm>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

struct Scaling {
  float scale;
  float point;
};

/// The smallest and the largest of the elements and zero. NaN is neither.
struct Range {
  float lowest = 0;
  float highest = 0;
};

Range RangeOf(const float* x, std::int64_t count) {
  const auto element = [x](std::int64_t i) { return x[i]; };
  return {
      FoldLanes<float>(count, 0.0F, element,
                       [](float most, float value) { return Select(value < most, value, most); }),
      FoldLanes<float>(count, 0.0F, element,
                       [](float most, float value) { return Select(value > most, value, most); })};
}

/// The range in 255 steps. No range has scale 1.
Scaling ScalingOf(const Range& range) {
  if (range.lowest == range.highest) return {1, 0};
  const float scale = (range.highest - range.lowest) / 255.0F;
  const float point = 0.0F - range.lowest / scale;
  // Not a number when the range overflows; then zero as well.
  const float floor = point > 0 ? point : 0.0F;
  return {scale, RoundHalfEven(std::min(floor, 255.0F))};
}

/// Of all elements, block by block on every thread.
Scaling FindScaling(const KernelArguments& args, std::int64_t count) {
  constexpr std::int64_t kParts = 64;
  Range parts[kParts];
  const std::int64_t grain = std::max(kElementsPerTask, (count - 1) / kParts + 1);
  ForWideRanges(args.pool, count, grain, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
    parts[begin / grain] = RangeOf(args.in<float>(0) + begin, end - begin);
  });
  Range all;
  for (const Range& part : parts) {
    all.lowest = std::min(all.lowest, part.lowest);
    all.highest = std::max(all.highest, part.highest);
  }
  return ScalingOf(all);
}

}  // namespace

BoundKernel BindDynamicQuantizeLinear(const KernelCall& call) {
  RequireArity(call, 1, 1, 3, 3);
  const TensorType& input = call.inputs[0];
  RequireElement(input, Types({ElementType::kFloat32}), "input 0");
  RequireType(call.outputs[0], {ElementType::kUint8, input.shape}, "output 0");
  RequireType(call.outputs[1], {ElementType::kFloat32, {}}, "output 1");
  RequireType(call.outputs[2], {ElementType::kUint8, {}}, "output 2");
  const std::int64_t count = ElementCount(input.shape);
  return {.run = [count](const KernelArguments& args) {
    const float* x = args.in<float>(0);
    std::uint8_t* y = args.out<std::uint8_t>(0);
    const Scaling scaling = FindScaling(args, count);
    *args.out<float>(1) = scaling.scale;
    *args.out<std::uint8_t>(2) = static_cast<std::uint8_t>(scaling.point);
    ForWideRanges(
        args.pool, count, kElementsPerTask,
        [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
          const float* const from = x;
          std::uint8_t* const to = y;
          const float point = scaling.point;
          const float scale = scaling.scale;
          POPRT_INDEPENDENT_LOOP
          for (std::int64_t i = begin; i < end; ++i) {
            to[i] = static_cast<std::uint8_t>(ToInteger(from[i] / scale, point, 0.0F, 255.0F));
          }
        });
  }};
}

}  // namespace poprt::kernels
