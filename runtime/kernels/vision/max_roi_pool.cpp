#include <algorithm>
#include <cmath>

#include "runtime/kernels/gather/gather.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/vision/vision.hpp"

namespace poprt::kernels {
namespace {

struct RoiPoolPlan {
  std::int64_t regions = 0;
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  Ints pooled;
  double scale = 1;
};

/// Rounds halves away from zero; what is far outside of any image becomes merely outside.
std::int64_t RoundedCorner(double value) {
  constexpr double kFar = 0x1p40;
  if (std::isnan(value)) return 0;
  return static_cast<std::int64_t>(std::clamp(std::round(value), -kFar, kFar));
}

struct PixelRange {
  std::int64_t begin;
  std::int64_t end;
};

/// The pixels of bin `index` of a region between two corners, both inside it.
PixelRange BinPixels(std::int64_t low, std::int64_t high, std::int64_t index, std::int64_t bins,
                     std::int64_t extent) {
  const double size =
      static_cast<double>(std::max<std::int64_t>(high - low + 1, 1)) / static_cast<double>(bins);
  const auto first = static_cast<std::int64_t>(std::floor(static_cast<double>(index) * size));
  const auto last = static_cast<std::int64_t>(std::ceil(static_cast<double>(index + 1) * size));
  return {std::clamp<std::int64_t>(low + first, 0, extent),
          std::clamp<std::int64_t>(low + last, 0, extent)};
}

template <typename T>
void RunMaxRoiPool(const RoiPoolPlan& plan, const KernelArguments& args) {
  const std::int64_t bins = plan.pooled[0] * plan.pooled[1];
  ForRanges(args.pool, plan.regions * plan.channels, GrainFor(plan.height * plan.width),
            [&](std::int64_t begin, std::int64_t end, int) {
              for (std::int64_t i = begin; i < end; ++i) {
                const T* region = args.in<T>(1) + i / plan.channels * 5;
                const auto corner = [&](int k) {
                  return RoundedCorner(ToDouble(region[k]) * plan.scale);
                };
                const std::int64_t image =
                    ClampedIndex(RoundedCorner(std::trunc(ToDouble(region[0]))), plan.images);
                const T* in = args.in<T>(0) + (image * plan.channels + i % plan.channels) *
                                                  plan.height * plan.width;
                for (std::int64_t bin = 0; bin < bins; ++bin) {
                  const PixelRange rows = BinPixels(corner(2), corner(4), bin / plan.pooled[1],
                                                    plan.pooled[0], plan.height);
                  const PixelRange columns = BinPixels(corner(1), corner(3), bin % plan.pooled[1],
                                                       plan.pooled[1], plan.width);
                  const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
                  // An empty bin is 0.
                  T most = empty ? T{} : in[rows.begin * plan.width + columns.begin];
                  for (std::int64_t y = rows.begin; y < rows.end && !empty; ++y) {
                    for (std::int64_t x = columns.begin; x < columns.end; ++x) {
                      const T value = in[y * plan.width + x];
                      const bool is_nan = ToDouble(value) != ToDouble(value);
                      most = is_nan || ToDouble(value) > ToDouble(most) ? value : most;
                    }
                  }
                  args.out<T>(0)[i * bins + bin] = most;
                }
              }
            });
}

}  // namespace

BoundKernel BindMaxRoiPool(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& data = call.inputs[0];
  const TensorType& regions = call.inputs[1];
  RequireElement(data, kFloatTypes, "input 0");
  RequireCount(data.shape, "input 0");
  Require(data.shape.size() == 4, "input 0 is " + ToString(data) + ", expected [N, C, H, W]");
  Require(regions.shape.size() == 2, "input 1 is " + ToString(regions) + ", expected [R, 5]");
  RequireType(regions, {data.element, {regions.shape[0], 5}}, "input 1");
  const Ints pooled = IntsAttribute(call, "pooled_shape");
  constexpr std::int64_t kMost = 1 << 15;
  const bool sane = pooled.size() == 2 && pooled[0] >= 1 && pooled[0] <= kMost && pooled[1] >= 1 &&
                    pooled[1] <= kMost;
  Require(sane, "attribute 'pooled_shape' is " + ToString(pooled) +
                    ", allowed are two numbers from 1 to " + std::to_string(kMost));
  const RoiPoolPlan plan{.regions = regions.shape[0],
                         .images = data.shape[0],
                         .channels = data.shape[1],
                         .height = data.shape[2],
                         .width = data.shape[3],
                         .pooled = pooled,
                         .scale = static_cast<double>(FloatAttribute(call, "spatial_scale", 1.0F))};
  const Shape output{plan.regions, plan.channels, pooled[0], pooled[1]};
  RequireType(call.outputs[0], {data.element, output}, "output 0");
  if (RequireCount(output, "the output") == 0) return NothingToRun();
  Require(ElementCount(data.shape) > 0,
          "input 0 is " + ToString(data) + ", which has no elements to pool");
  return VisitElement<BoundKernel, kFloatTypes>(
      data.element, [&]<typename T>(std::type_identity<T>) {
        return BoundKernel{
            .run = [plan](const KernelArguments& args) { RunMaxRoiPool<T>(plan, args); }};
      });
}

}  // namespace poprt::kernels
