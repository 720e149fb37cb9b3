#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/gather/gather.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/wide_loops.hpp"

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

/// What each worker needs: a line of the image, the pixels of bins along both axes.
template <typename T>
struct RoiPoolScratch {
  static std::size_t LineBytes(const RoiPoolPlan& plan) {
    return ScratchBytes(static_cast<std::size_t>(plan.width) * sizeof(Accumulator<T>));
  }
  static std::size_t Bytes(const RoiPoolPlan& plan) {
    const auto bins = static_cast<std::size_t>(plan.pooled[0] + plan.pooled[1]);
    return LineBytes(plan) + ScratchBytes(bins * sizeof(PixelRange));
  }

  RoiPoolScratch(const RoiPoolPlan& plan, const KernelArguments& args, int worker) {
    std::byte* own = args.scratch + static_cast<std::size_t>(worker) * Bytes(plan);
    line = reinterpret_cast<Accumulator<T>*>(own);
    rows = reinterpret_cast<PixelRange*>(own + LineBytes(plan));
    columns = rows + plan.pooled[0];
  }

  Accumulator<T>* line;
  PixelRange* rows;
  PixelRange* columns;
};

/// Finds the pixels of all bins of a region. Gives its image.
template <typename T>
std::int64_t FindBins(const RoiPoolPlan& plan, const T* region, const RoiPoolScratch<T>& scratch) {
  const auto corner = [&](int k) { return RoundedCorner(ToDouble(region[k]) * plan.scale); };
  for (std::int64_t i = 0; i < plan.pooled[0]; ++i) {
    scratch.rows[i] = BinPixels(corner(2), corner(4), i, plan.pooled[0], plan.height);
  }
  for (std::int64_t i = 0; i < plan.pooled[1]; ++i) {
    scratch.columns[i] = BinPixels(corner(1), corner(3), i, plan.pooled[1], plan.width);
  }
  return ClampedIndex(RoundedCorner(std::trunc(ToDouble(region[0]))), plan.images);
}

/// line[x] = the larger of line[x] and row[x], NaN if any is.
template <typename T, typename V>
POPRT_INLINE void TakeRow(const T* row, std::int64_t count, V* line) {
  const auto take = [row, line](std::int64_t x) {
    const V value = static_cast<V>(row[x]);
    line[x] = LargerOrNan(value, line[x]);
  };
  constexpr std::int64_t kLanes = 4;
  if (count < kLanes) {
    for (std::int64_t x = 0; x < count; ++x) take(x);
    return;
  }
  // The last lanes overlap with others: to take an element twice changes nothing.
  for (std::int64_t x = 0; x < count; x += kLanes) {
    const std::int64_t first = std::min(x, count - kLanes);
    POPRT_INDEPENDENT_LOOP
    POPRT_LANE_LOOP
    for (std::int64_t i = 0; i < kLanes; ++i) take(first + i);
  }
}

/// Bins of one row of them: their image rows become one line first.
template <typename T>
void PoolBinRow(const RoiPoolPlan& plan, const T* image, PixelRange rows,
                const RoiPoolScratch<T>& scratch, T* out) {
  using V = Accumulator<T>;
  const std::int64_t begin = scratch.columns[0].begin;
  const std::int64_t count = scratch.columns[plan.pooled[1] - 1].end - begin;
  V* const line = scratch.line;
  std::fill_n(line, count, -std::numeric_limits<V>::infinity());
  for (std::int64_t y = rows.begin; y < rows.end; ++y) {
    TakeRow(image + y * plan.width + begin, count, line);
  }
  for (std::int64_t bin = 0; bin < plan.pooled[1]; ++bin) {
    const PixelRange columns = scratch.columns[bin];
    // An empty bin is 0.
    if (rows.begin >= rows.end || columns.begin >= columns.end) {
      out[bin] = T{};
      continue;
    }
    // NaN apart, so that there is nothing to branch on.
    V most = -std::numeric_limits<V>::infinity();
    bool is_nan = false;
    for (std::int64_t x = columns.begin; x < columns.end; ++x) {
      const V value = line[x - begin];
      is_nan |= value != value;
      most = value > most ? value : most;
    }
    out[bin] = static_cast<T>(is_nan ? std::numeric_limits<V>::quiet_NaN() : most);
  }
}

template <typename T>
void RunMaxRoiPool(const RoiPoolPlan& plan, const KernelArguments& args) {
  const std::int64_t bins = plan.pooled[0] * plan.pooled[1];
  ForWideRanges(args.pool, plan.regions * plan.channels, GrainFor(plan.height * plan.width),
                [&](std::int64_t begin, std::int64_t end, int worker) {
                  const RoiPoolScratch<T> scratch(plan, args, worker);
                  std::int64_t image = 0;
                  for (std::int64_t i = begin; i < end; ++i) {
                    const std::int64_t channel = i % plan.channels;
                    if (i == begin || channel == 0) {
                      image = FindBins(plan, args.in<T>(1) + i / plan.channels * 5, scratch);
                    }
                    const T* in = args.in<T>(0) +
                                  (image * plan.channels + channel) * plan.height * plan.width;
                    T* out = args.out<T>(0) + i * bins;
                    for (std::int64_t row = 0; row < plan.pooled[0]; ++row) {
                      PoolBinRow(plan, in, scratch.rows[row], scratch, out + row * plan.pooled[1]);
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
  return VisitElement<BoundKernel, kFloatTypes>(data.element, [&]<typename T>(
                                                                  std::type_identity<T>) {
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunMaxRoiPool<T>(plan, args); },
                       .scratch_bytes = RoiPoolScratch<T>::Bytes(plan)};
  });
}

}  // namespace poprt::kernels
