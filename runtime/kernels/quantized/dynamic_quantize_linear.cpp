#include <algorithm>

#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

struct Scaling {
  float scale;
  float point;
};

/// The range of the elements and zero in 255 steps. NaN is in no range; no range has scale 1.
Scaling FindScaling(const float* x, std::int64_t count) {
  float lowest = 0;
  float highest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    lowest = x[i] < lowest ? x[i] : lowest;
    highest = x[i] > highest ? x[i] : highest;
  }
  if (lowest == highest) return {1, 0};
  const float scale = (highest - lowest) / 255.0F;
  const float point = 0.0F - lowest / scale;
  // Not a number when the range overflows; then zero as well.
  const float floor = point > 0 ? point : 0.0F;
  return {scale, RoundHalfEven(std::min(floor, 255.0F))};
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
    const Scaling scaling = FindScaling(x, count);
    *args.out<float>(1) = scaling.scale;
    *args.out<std::uint8_t>(2) = static_cast<std::uint8_t>(scaling.point);
    ForWideRanges(args.pool, count, kElementsPerTask,
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    const float low = -scaling.point;
                    const float high = 255.0F - scaling.point;
                    for (std::int64_t i = begin; i < end; ++i) {
                      const float value = x[i] / scaling.scale;
                      const float floor = value > low ? value : low;
                      const float clipped = floor < high ? floor : high;
                      y[i] = static_cast<std::uint8_t>(
                          static_cast<std::int32_t>(RoundHalfEven(clipped) + scaling.point));
                    }
                  });
  }};
}

}  // namespace poprt::kernels
