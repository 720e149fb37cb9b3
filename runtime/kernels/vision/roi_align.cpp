#include <algorithm>
#include <cmath>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/gather/gather.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/vision/channels_last.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

struct AlignPlan {
  std::int64_t regions = 0;
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t in_height = 0;
  std::int64_t in_width = 0;
  std::int64_t out_height = 1;
  std::int64_t out_width = 1;
  std::int64_t sampling_ratio = 0;
  float spatial_scale = 1;
  bool half_pixel = true;
  bool maximum = false;
  bool turns = false;  ///< images are turned before they are sampled
};

/// Where the samples of one bin lie along one axis: sample i at first + (i + 0.5) * step.
template <typename F>
struct Samples {
  F first = 0;
  F step = 0;
  std::int64_t count = 0;  // that the region asks for
  std::int64_t begin = 0;  // samples [begin, end) can lie on the image
  std::int64_t end = 0;
};

/// One axis of a region.
template <typename F>
struct RegionAxis {
  F start;
  F bin;
  std::int64_t samples;  // in each bin

  RegionAxis(const AlignPlan& plan, F low, F high, std::int64_t bins) {
    const F scale = static_cast<F>(plan.spatial_scale);
    const F offset = plan.half_pixel ? F(0.5) : F(0);
    start = low * scale - offset;
    F length = high * scale - offset - start;
    if (!plan.half_pixel) length = std::fmax(length, F(1));
    bin = length / static_cast<F>(bins);
    // Nothing sensible is larger, and it must fit an integer.
    constexpr F kMost = F(1 << 30);
    const F adaptive = std::ceil(bin);
    samples = plan.sampling_ratio > 0 ? plan.sampling_ratio
              : adaptive > 0          ? static_cast<std::int64_t>(std::fmin(adaptive, kMost))
                                      : 0;
  }

  Samples<F> Bin(std::int64_t index, std::int64_t extent) const {
    Samples<F> found{.first = start + static_cast<F>(index) * bin,
                     .step = samples > 0 ? bin / static_cast<F>(samples) : F(0),
                     .count = samples,
                     .begin = 0,
                     .end = samples};
    // A region may be far larger than the image: skip what cannot reach it, with one to spare.
    if (found.step > 0 && std::isfinite(found.first) && std::isfinite(found.step)) {
      const auto at = [&](F position) {
        const F sample = std::floor((position - found.first) / found.step);
        return static_cast<std::int64_t>(
            std::fmin(std::fmax(sample, F(-4)), static_cast<F>(samples) + F(4)));
      };
      found.begin = std::clamp<std::int64_t>(at(F(-1)) - 2, 0, samples);
      found.end = std::clamp<std::int64_t>(at(static_cast<F>(extent)) + 3, found.begin, samples);
    } else if (!std::isfinite(found.first) || !std::isfinite(found.step)) {
      found.end = 0;
    }
    return found;
  }
};

/// The two pixels next to a sample, and the weight of the second.
template <typename F>
struct Neighbors {
  std::int64_t low = 0;
  std::int64_t high = 0;
  F t = 0;
  bool outside = false;

  Neighbors(const Samples<F>& samples, std::int64_t i, std::int64_t extent) {
    F x = samples.first + (static_cast<F>(i) + F(0.5)) * samples.step;
    outside = !(x >= F(-1) && x <= static_cast<F>(extent));
    if (outside) return;
    x = std::fmax(x, F(0));
    low = std::min(static_cast<std::int64_t>(x), extent - 1);
    high = std::min(low + 1, extent - 1);
    t = low == extent - 1 ? F(0) : x - static_cast<F>(low);
  }
};

/// Calls f(rows, columns) for every pair of samples on the image; true if there are others.
template <typename F, typename Visit>
bool ForSamples(const AlignPlan& plan, const Samples<F>& y, const Samples<F>& x, const Visit& f) {
  bool others = y.begin > 0 || x.begin > 0 || y.end < y.count || x.end < x.count;
  for (std::int64_t i = y.begin; i < y.end; ++i) {
    const Neighbors<F> rows(y, i, plan.in_height);
    for (std::int64_t j = x.begin; j < x.end; ++j) {
      const Neighbors<F> columns(x, j, plan.in_width);
      if (rows.outside || columns.outside) {
        others = true;
      } else {
        f(rows, columns);
      }
    }
  }
  return others && y.count > 0 && x.count > 0;
}

/// Channels of an image that are pooled together, since they share their samples.
template <typename T, bool kIsTurned>
struct Channels {
  const T* first;
  std::int64_t step;   ///< elements from one to the next; of a turned image, from pixel to pixel
  std::int64_t count;  ///< at most kMost

  static constexpr std::int64_t kMost = kIsTurned ? 64 : 16;

  /// The element of a channel at a pixel; those of a turned image lie side by side.
  const T& At(std::int64_t channel, std::int64_t pixel) const {
    return kIsTurned ? first[pixel * step + channel] : first[channel * step + pixel];
  }
};

/// Where the four pixels around a sample are in a plane.
template <typename F>
struct Corners {
  std::int64_t low_low;
  std::int64_t low_high;
  std::int64_t high_low;
  std::int64_t high_high;

  Corners(const AlignPlan& plan, const Neighbors<F>& rows, const Neighbors<F>& columns)
      : low_low(rows.low * plan.in_width + columns.low),
        low_high(rows.low * plan.in_width + columns.high),
        high_low(rows.high * plan.in_width + columns.low),
        high_high(rows.high * plan.in_width + columns.high) {}
};

/// The value of one bin for every channel.
template <typename F, typename Pooled>
void BinAverages(const AlignPlan& plan, const Samples<F>& y, const Samples<F>& x,
                 const Pooled& channels, F* values) {
  std::fill_n(values, channels.count, F(0));
  ForSamples(plan, y, x, [&](const Neighbors<F>& rows, const Neighbors<F>& columns) {
    const Corners<F> at(plan, rows, columns);
    const F row = rows.t;
    const F column = columns.t;
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t c = 0; c < channels.count; ++c) {
      values[c] += (F(1) - row) * ((F(1) - column) * static_cast<F>(channels.At(c, at.low_low)) +
                                   column * static_cast<F>(channels.At(c, at.low_high))) +
                   row * ((F(1) - column) * static_cast<F>(channels.At(c, at.high_low)) +
                          column * static_cast<F>(channels.At(c, at.high_high)));
    }
  });
  const F samples = std::fmax(static_cast<F>(y.count) * static_cast<F>(x.count), F(1));
  for (std::int64_t c = 0; c < channels.count; ++c) values[c] /= samples;
}

/// The largest weighted pixel, not the largest interpolated value: ONNX's conformance data and
/// other runtimes have it so. Samples outside count as 0, and NaN is larger than all numbers.
template <typename F, typename Pooled>
void BinMaxima(const AlignPlan& plan, const Samples<F>& y, const Samples<F>& x,
               const Pooled& channels, F* values) {
  bool any = false;
  const bool others =
      ForSamples(plan, y, x, [&](const Neighbors<F>& rows, const Neighbors<F>& columns) {
        const Corners<F> at(plan, rows, columns);
        for (std::int64_t c = 0; c < channels.count; ++c) {
          const auto weighted = [&](F row, F column, std::int64_t pixel) {
            return row * column * static_cast<F>(channels.At(c, pixel));
          };
          const F first = weighted(F(1) - rows.t, F(1) - columns.t, at.low_low);
          F most = any ? LargerOrNan(first, values[c]) : first;
          most = LargerOrNan(weighted(F(1) - rows.t, columns.t, at.low_high), most);
          most = LargerOrNan(weighted(rows.t, F(1) - columns.t, at.high_low), most);
          values[c] = LargerOrNan(weighted(rows.t, columns.t, at.high_high), most);
        }
        any = true;
      });
  for (std::int64_t c = 0; c < channels.count; ++c) {
    if (!any) values[c] = F(0);
    if (any && others) values[c] = LargerOrNan(F(0), values[c]);
  }
}

/// All bins of some channels of a region. `out` is [channels, bins].
template <typename T, typename Pooled>
void PoolRegion(const AlignPlan& plan, const T* corners, const Pooled& channels, T* out) {
  using F = Accumulator<T>;
  const auto corner = [&](int k) { return static_cast<F>(corners[k]); };
  const RegionAxis<F> x(plan, corner(0), corner(2), plan.out_width);
  const RegionAxis<F> y(plan, corner(1), corner(3), plan.out_height);
  const std::int64_t bins = plan.out_height * plan.out_width;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const Samples<F> rows = y.Bin(bin / plan.out_width, plan.in_height);
    const Samples<F> columns = x.Bin(bin % plan.out_width, plan.in_width);
    F values[Pooled::kMost];
    if (plan.maximum) {
      BinMaxima(plan, rows, columns, channels, values);
    } else {
      BinAverages(plan, rows, columns, channels, values);
    }
    for (std::int64_t c = 0; c < channels.count; ++c) {
      out[c * bins + bin] = static_cast<T>(values[c]);
    }
  }
}

/// Pools images of planes, or turned ones.
template <bool kIsTurned, typename T, typename Number, typename Element>
void PoolRegions(const AlignPlan& plan, const KernelArguments& args, const Element* images) {
  using Pooled = Channels<Element, kIsTurned>;
  const std::int64_t plane = plan.in_height * plan.in_width;
  const std::int64_t bins = plan.out_height * plan.out_width;
  const std::int64_t groups = (plan.channels + Pooled::kMost - 1) / Pooled::kMost;
  ForWideRanges<Accumulator<T>>(
      args.pool, plan.regions * groups, GrainFor(bins * 16 * Pooled::kMost),
      [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t region = i / groups;
          const std::int64_t channel = i % groups * Pooled::kMost;
          const std::int64_t image = ClampedIndex(args.in<Number>(2)[region], plan.images);
          const Element* const first = images + image * plan.channels * plane;
          const Pooled channels{.first = first + channel * (kIsTurned ? 1 : plane),
                                .step = kIsTurned ? plan.channels : plane,
                                .count = std::min(Pooled::kMost, plan.channels - channel)};
          PoolRegion(plan, args.in<T>(1) + region * 4, channels,
                     args.out<T>(0) + (region * plan.channels + channel) * bins);
        }
      });
}

template <typename T, typename Number>
void RunRoiAlign(const AlignPlan& plan, const KernelArguments& args) {
  using F = Accumulator<T>;
  if (!plan.turns) return PoolRegions<false, T, Number>(plan, args, args.in<T>(0));
  // The first worker's scratch memory is everybody's.
  auto* const turned = reinterpret_cast<F*>(args.scratch);
  TurnImages(*args.pool, args.in<T>(0), plan.images, plan.channels, plan.in_height * plan.in_width,
             turned);
  PoolRegions<true, T, Number>(plan, args, static_cast<const F*>(turned));
}

std::int64_t ReadCount(const KernelCall& call, std::string_view name, std::int64_t least,
                       std::int64_t otherwise) {
  constexpr std::int64_t kMost = 1 << 15;
  const std::int64_t value = IntAttribute(call, name, otherwise);
  if (value >= least && value <= kMost) return value;
  throw KernelError("attribute '" + std::string(name) + "' is " + std::to_string(value) +
                    ", allowed are " + std::to_string(least) + " to " + std::to_string(kMost));
}

bool ReadChoice(const KernelCall& call, std::string_view name, std::string_view off,
                std::string_view on) {
  const std::string value = StringAttribute(call, name, off);
  if (value == on || value == off) return value == on;
  throw KernelError("attribute '" + std::string(name) + "' is \"" + value + "\", allowed are " +
                    std::string(off) + ", " + std::string(on));
}

}  // namespace

BoundKernel BindRoiAlign(const KernelCall& call) {
  RequireArity(call, 3, 3);
  const TensorType& data = call.inputs[0];
  const TensorType& regions = call.inputs[1];
  const TensorType& images = call.inputs[2];
  RequireElement(data, kFloatTypes, "input 0");
  RequireCount(data.shape, "input 0");
  Require(data.shape.size() == 4, "input 0 is " + ToString(data) + ", expected [N, C, H, W]");
  Require(images.shape.size() == 1, "input 2 is " + ToString(images) + ", expected rank 1");
  RequireType(regions, {data.element, {images.shape[0], 4}}, "input 1");
  AlignPlan plan{.regions = images.shape[0],
                 .images = data.shape[0],
                 .channels = data.shape[1],
                 .in_height = data.shape[2],
                 .in_width = data.shape[3],
                 .out_height = ReadCount(call, "output_height", 1, 1),
                 .out_width = ReadCount(call, "output_width", 1, 1),
                 .sampling_ratio = ReadCount(call, "sampling_ratio", 0, 0),
                 .spatial_scale = FloatAttribute(call, "spatial_scale", 1.0F),
                 .half_pixel = !ReadChoice(call, "coordinate_transformation_mode", "half_pixel",
                                           "output_half_pixel"),
                 .maximum = ReadChoice(call, "mode", "avg", "max")};
  const Shape output{plan.regions, plan.channels, plan.out_height, plan.out_width};
  RequireType(call.outputs[0], {data.element, output}, "output 0");
  RequireElement(images, kIndexTypes, "input 2");
  if (RequireCount(output, "the output") == 0) return NothingToRun();
  Require(ElementCount(data.shape) > 0,
          "input 0 is " + ToString(data) + ", which has no elements to pool");
  constexpr double kUsualRatio = 2;
  const double ratio =
      plan.sampling_ratio > 0 ? static_cast<double>(plan.sampling_ratio) : kUsualRatio;
  const std::int64_t bins = ElementCount(output) / plan.channels;
  plan.turns = TurningPays(ElementCount(data.shape) / plan.channels, plan.channels,
                           static_cast<double>(bins) * ratio * ratio);
  return VisitElement<BoundKernel, kFloatTypes>(
      data.element, [&]<typename T>(std::type_identity<T>) {
        return VisitIndex(images, "input 2", [&]<typename Number>(std::type_identity<Number>) {
          const auto elements = static_cast<std::size_t>(plan.turns ? ElementCount(data.shape) : 0);
          return BoundKernel{
              .run = [plan](const KernelArguments& args) { RunRoiAlign<T, Number>(plan, args); },
              .scratch_bytes = ScratchBytes(elements * sizeof(Accumulator<T>))};
        });
      });
}

}  // namespace poprt::kernels
