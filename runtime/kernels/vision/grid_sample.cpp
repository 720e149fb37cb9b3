#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/vision/channels_last.hpp"
#include "runtime/kernels/vision/grid_points.hpp"
#include "runtime/kernels/vision/sample_corners.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Taps of one output position at most: cubic interpolation in six dimensions.
constexpr std::int64_t kMaxTaps = 4096;
/// Output positions of a block at most.
constexpr std::int64_t kMostPositions = 256;

struct SamplePlan {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  std::int64_t in_plane = 0;
  std::int64_t out_plane = 0;
  Shape extents;  // of the image
  Shape strides;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  std::int64_t axis_taps = 1;  // 1 nearest, 2 linear, 4 cubic
  std::int64_t taps = 1;       // of all axes together
  std::int64_t block = 1;      // output positions that share one table of taps
  bool turns = false;          // images are turned before they are sampled
  std::size_t offset_bytes = 0;
  std::size_t scratch_bytes = 0;
};

/// Channels of a turned image that are sampled at once.
constexpr std::int64_t kTurnedChannels = 64;

/// Of their sums at a block of positions.
std::size_t SumBytes(const SamplePlan& plan) {
  return ScratchBytes(static_cast<std::size_t>(plan.block * kTurnedChannels) * sizeof(double));
}

/// Offsets (-1 for what is outside) and weights, both [tap, plan.block], of the taps of `count`
/// points of the grid.
template <typename G, typename Weight>
void FindTaps(const SamplePlan& plan, const std::byte* points, std::int64_t first_point,
              std::int64_t count, std::int64_t* offsets, Weight* weights) {
  using Coordinate = Accumulator<G>;
  const std::size_t rank = plan.extents.size();
  const G* grid =
      reinterpret_cast<const G*>(points) + first_point * static_cast<std::int64_t>(rank);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t* offset = offsets + i;
    Weight* weight = weights + i;
    offset[0] = 0;
    weight[0] = 1;
    std::int64_t known = 1;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const GridAxis<Coordinate> place(plan.extents[axis], plan.padding, plan.align_corners);
      // The grid names the innermost axis first.
      const G given =
          grid[i * static_cast<std::int64_t>(rank) + static_cast<std::int64_t>(rank - 1 - axis)];
      Coordinate x = place.Denormalize(static_cast<Coordinate>(given));
      if (plan.axis_taps == 1) x = std::nearbyint(x);
      x = place.Place(x, plan.axis_taps == 4);
      const Coordinate base = plan.axis_taps == 1 ? std::trunc(x) : std::floor(x);
      const Coordinate t = x - base;
      std::array<Coordinate, 4> factors{1 - t, t, 0, 0};
      if (plan.axis_taps == 1) factors[0] = 1;
      if (plan.axis_taps == 4) factors = CubicWeights(t);
      const std::int64_t first = static_cast<std::int64_t>(base) - (plan.axis_taps == 4 ? 1 : 0);
      // From the back, because the taps found so far are overwritten.
      for (std::int64_t k = known; k-- > 0;) {
        const std::int64_t outer = offset[k * plan.block];
        const Weight scale = weight[k * plan.block];
        for (std::int64_t tap = plan.axis_taps; tap-- > 0;) {
          const std::int64_t pixel = place.Pixel(first + tap);
          const std::int64_t at = (k * plan.axis_taps + tap) * plan.block;
          offset[at] = outer < 0 || pixel < 0 ? -1 : outer + pixel * plan.strides[axis];
          weight[at] = scale * static_cast<Weight>(factors[static_cast<std::size_t>(tap)]);
        }
      }
      known *= plan.axis_taps;
    }
  }
}

/// The same for taps at the two pixels next to a point along each axis, of which those outside
/// count as zeros.
template <typename G>
void FindLinearTaps(const SamplePlan& plan, const std::byte* points, std::int64_t first_point,
                    std::int64_t count, std::int64_t* offsets, Accumulator<G>* weights) {
  using Coordinate = Accumulator<G>;
  const auto rank = static_cast<std::int64_t>(plan.extents.size());
  const G* const grid = reinterpret_cast<const G*>(points) + first_point * rank;
  const SampleCorners<Coordinate> corners{offsets, weights, plan.block};
  std::int64_t pixels[kMostPositions];
  Coordinate parts[kMostPositions];
  corners.Start(count);
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t extent = plan.extents[static_cast<std::size_t>(axis)];
    const GridAxis<Coordinate> place(extent, GridPadding::kZeros, plan.align_corners);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      const G given = grid[i * rank + (rank - 1 - axis)];
      const Coordinate x = place.Place(place.Denormalize(static_cast<Coordinate>(given)), false);
      const Coordinate low = std::floor(x);
      pixels[i] = static_cast<std::int64_t>(low);
      parts[i] = x - low;
    }
    corners.AddAxis(extent, plan.strides[static_cast<std::size_t>(axis)], std::int64_t{1} << axis,
                    count, pixels, parts);
  }
}

template <typename T>
T Converted(double value) {
  if constexpr (std::is_integral_v<T>) {
    // The next double above the largest 64-bit integers is 2^n.
    if (!(value > static_cast<double>(std::numeric_limits<T>::min()))) {
      return std::numeric_limits<T>::min();
    }
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
    return static_cast<T>(value);
  } else {
    return FromDouble<T>(value);
  }
}

/// The sum over the taps of one point, each `pitch` behind the one before. kTaps is how many there
/// are, or 0 for any number.
template <std::int64_t kTaps, typename T, typename Weight>
Weight SumOfTaps(const T* in, std::int64_t taps, const std::int64_t* offsets, const Weight* weights,
                 std::int64_t pitch) {
  Weight sum = 0;
  const std::int64_t end = (kTaps > 0 ? kTaps : taps) * pitch;
  std::int64_t signs = 0;
  for (std::int64_t k = 0; k < end; k += pitch) signs |= offsets[k];
  if (kTaps > 0 && signs >= 0) {  // all are inside
    for (std::int64_t k = 0; k < end; k += pitch)
      sum += weights[k] * static_cast<Weight>(in[offsets[k]]);
    return sum;
  }
  for (std::int64_t k = 0; k < end; k += pitch) {
    if (offsets[k] >= 0) sum += weights[k] * static_cast<Weight>(in[offsets[k]]);
  }
  return sum;
}

template <std::int64_t kTaps, typename T, typename Weight>
void SampleBlockOf(const SamplePlan& plan, const T* in, std::int64_t count,
                   const std::int64_t* offsets, const Weight* weights, T* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Weight sum = SumOfTaps<kTaps>(in, plan.taps, offsets + i, weights + i, plan.block);
    if constexpr (std::is_same_v<T, Weight>) {
      out[i] = sum;
    } else {
      out[i] = Converted<T>(static_cast<double>(sum));
    }
  }
}

template <typename T, typename Weight>
void SampleBlock(const SamplePlan& plan, const T* in, std::int64_t count,
                 const std::int64_t* offsets, const Weight* weights, T* out) {
  constexpr std::int64_t kLinearInImages = 4;
  if (plan.taps == kLinearInImages) {
    return SampleBlockOf<kLinearInImages>(plan, in, count, offsets, weights, out);
  }
  SampleBlockOf<0>(plan, in, count, offsets, weights, out);
}

/// FindTaps for the element type of the grid, compiled for every instruction set.
template <typename Weight>
using TapFinder = decltype(&FindTaps<float, Weight>);
template <typename Weight>
TapFinder<Weight> FinderFor(ElementType grid) {
  return VisitElement<TapFinder<Weight>, kFloatTypes>(
      grid, []<typename G>(std::type_identity<G>) -> TapFinder<Weight> {
        return [](const SamplePlan& plan, const std::byte* points, std::int64_t first_point,
                  std::int64_t count, std::int64_t* offsets, Weight* weights) {
          RunWide([&plan, points, first_point, count, offsets, weights] {
            if constexpr (std::is_same_v<Accumulator<G>, Weight>) {
              if (plan.axis_taps == 2 && plan.padding == GridPadding::kZeros) {
                return FindLinearTaps<G>(plan, points, first_point, count, offsets, weights);
              }
            }
            FindTaps<G>(plan, points, first_point, count, offsets, weights);
          });
        };
      });
}

/// The taps of a run of output positions of one image.
template <typename Weight>
struct TapBlock {
  std::int64_t image;
  std::int64_t first;
  std::int64_t count;
  const std::int64_t* offsets;
  const Weight* weights;
  std::byte* scratch;  ///< of the worker, behind the taps
};

/// Tasks are such blocks; every one serves all channels.
template <typename Weight, typename F>
void ForBlocks(const SamplePlan& plan, TapFinder<Weight> find_taps, const KernelArguments& args,
               const F& sample) {
  const std::int64_t blocks = (plan.out_plane - 1) / plan.block + 1;
  ForWideRanges(
      args.pool, plan.batch * blocks, GrainFor(plan.block * plan.channels * plan.taps),
      [&](std::int64_t begin, std::int64_t end, int worker) {
        std::byte* scratch = args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes;
        auto* offsets = reinterpret_cast<std::int64_t*>(scratch);
        auto* weights = reinterpret_cast<Weight*>(scratch + plan.offset_bytes);
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t image = i / blocks;
          const std::int64_t first = i % blocks * plan.block;
          const std::int64_t count = std::min(plan.block, plan.out_plane - first);
          find_taps(plan, args.inputs[1], image * plan.out_plane + first, count, offsets, weights);
          sample(TapBlock<Weight>{image, first, count, offsets, weights,
                                  scratch + 2 * plan.offset_bytes});
        }
      });
}

/// Calls f(first element in, first element out) for every channel of the block.
template <typename Weight, typename F>
void EachChannel(const SamplePlan& plan, const TapBlock<Weight>& block, const F& f) {
  for (std::int64_t c = block.image * plan.channels; c < (block.image + 1) * plan.channels; ++c) {
    f(c * plan.in_plane, c * plan.out_plane + block.first);
  }
}

template <typename Unit>
void RunNearest(const SamplePlan& plan, TapFinder<float> find_taps, const KernelArguments& args) {
  const Unit* in = args.in<Unit>(0);
  Unit* out = args.out<Unit>(0);
  ForBlocks<float>(plan, find_taps, args, [&](const TapBlock<float>& block) {
    EachChannel(plan, block, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = 0; i < block.count; ++i) {
        out[to + i] = block.offsets[i] < 0 ? Unit{} : in[from + block.offsets[i]];
      }
    });
  });
}

/// Sums of 32-bit and shorter floats are kept in float, others in double, which holds integers.
template <typename T>
using SumType = std::conditional_t<std::is_same_v<Accumulator<T>, float>, float, double>;

template <typename T>
void RunWeighted(const SamplePlan& plan, TapFinder<SumType<T>> find_taps,
                 const KernelArguments& args) {
  ForBlocks<SumType<T>>(plan, find_taps, args, [&](const TapBlock<SumType<T>>& block) {
    EachChannel(plan, block, [&](std::int64_t from, std::int64_t to) {
      SampleBlock(plan, args.in<T>(0) + from, block.count, block.offsets, block.weights,
                  args.out<T>(0) + to);
    });
  });
}

// ---- Turned images ---------------------------------------------------------------------------

/// The sums over the taps of a block for a vector of channels of a turned image, every position
/// `pitch` elements behind the one before.
template <typename Lanes, typename Weight>
void SumLanes(const SamplePlan& plan, const TapBlock<Weight>& block, const Weight* image,
              Weight* sums, std::int64_t pitch) {
  for (std::int64_t i = 0; i < block.count; ++i, sums += pitch) {
    Lanes sum{};
    for (std::int64_t k = i; k < plan.taps * plan.block; k += plan.block) {
      if (block.offsets[k] < 0) continue;
      Lanes pixel;
      std::memcpy(&pixel, image + block.offsets[k] * plan.channels, sizeof(pixel));
      sum += block.weights[k] * pixel;
    }
    std::memcpy(sums, &sum, sizeof(sum));
  }
}

/// The same for n channels, [position, channel].
template <typename Weight>
void SumChannels(const SamplePlan& plan, const TapBlock<Weight>& block, const Weight* image,
                 std::int64_t n, Weight* sums) {
  constexpr std::int64_t kLanes = 16;
  using Sixteen [[gnu::vector_size(kLanes * sizeof(Weight))]] = Weight;
  std::int64_t c = 0;
  for (; c + kLanes <= n; c += kLanes) SumLanes<Sixteen>(plan, block, image + c, sums + c, n);
  for (; c < n; ++c) SumLanes<Weight>(plan, block, image + c, sums + c, n);
}

/// RunWeighted for floats, after the images have been turned; the first worker's scratch memory
/// holds them behind its own.
template <typename T>
void RunTurned(const SamplePlan& plan, TapFinder<Accumulator<T>> find_taps,
               const KernelArguments& args) {
  using Weight = Accumulator<T>;
  const std::size_t own = 2 * plan.offset_bytes + SumBytes(plan);
  auto* const images = reinterpret_cast<Weight*>(args.scratch + own);
  TurnImages(*args.pool, args.in<T>(0), plan.batch, plan.channels, plan.in_plane, images);
  ForBlocks<Weight>(plan, find_taps, args, [&](const TapBlock<Weight>& block) {
    auto* const sums = reinterpret_cast<Weight*>(block.scratch);
    const Weight* const image = images + block.image * plan.in_plane * plan.channels;
    for (std::int64_t c = 0; c < plan.channels; c += kTurnedChannels) {
      const std::int64_t n = std::min(kTurnedChannels, plan.channels - c);
      SumChannels(plan, block, image + c, n, sums);
      T* const out =
          args.out<T>(0) + (block.image * plan.channels + c) * plan.out_plane + block.first;
      if constexpr (std::is_same_v<T, Weight>) {
        TransposeBlock(sums, n, block.count, n, out, plan.out_plane);
      } else {
        for (std::int64_t channel = 0; channel < n; ++channel) {
          for (std::int64_t i = 0; i < block.count; ++i) {
            out[channel * plan.out_plane + i] = static_cast<T>(sums[i * n + channel]);
          }
        }
      }
    }
  });
}

GridPadding ReadPadding(const KernelCall& call) {
  const std::string name = StringAttribute(call, "padding_mode", "zeros");
  if (name == "zeros") return GridPadding::kZeros;
  if (name == "border") return GridPadding::kBorder;
  if (name == "reflection") return GridPadding::kReflection;
  throw KernelError("attribute 'padding_mode' is \"" + name +
                    "\", allowed are zeros, border, reflection");
}

std::int64_t ReadAxisTaps(const KernelCall& call) {
  const std::string mode = StringAttribute(call, "mode", "linear");
  if (mode == "nearest") return 1;
  if (mode == "linear") return 2;
  if (mode == "cubic") return 4;
  throw KernelError("attribute 'mode' is \"" + mode + "\", allowed are linear, nearest, cubic");
}

void CheckOperands(const KernelCall& call) {
  const TensorType& data = call.inputs[0];
  const TensorType& grid = call.inputs[1];
  RequireElement(grid, kFloatTypes, "input 1");
  RequireCount(data.shape, "input 0");
  RequireCount(grid.shape, "input 1");
  const std::size_t rank = data.shape.size();
  Require(rank >= 3, "input 0 is " + ToString(data) + ", expected rank 3 or more");
  const auto spatial = static_cast<std::int64_t>(rank - 2);
  if (grid.shape.size() != rank || grid.shape[0] != data.shape[0] || grid.shape.back() != spatial) {
    throw KernelError("input 1 is " + ToString(grid) + ", expected [" +
                      std::to_string(data.shape[0]) + ", " + std::to_string(spatial) +
                      " extents, " + std::to_string(spatial) + "]");
  }
  TensorType wanted{data.element, {data.shape[0], data.shape[1]}};
  wanted.shape.insert(wanted.shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  RequireType(call.outputs[0], wanted, "output 0");
  RequireCount(wanted.shape, "the output");
}

SamplePlan MakePlan(const KernelCall& call) {
  const Shape& data = call.inputs[0].shape;
  SamplePlan plan;
  plan.extents.assign(data.begin() + 2, data.end());
  plan.strides = Strides(plan.extents);
  plan.batch = data[0];
  plan.channels = data[1];
  plan.in_plane = ElementCount(plan.extents);
  plan.out_plane = ElementCount(call.outputs[0].shape) / (data[0] * data[1]);
  Require(plan.in_plane > 0,
          "input 0 is " + ToString(call.inputs[0]) + ", which has no elements to sample");
  plan.padding = ReadPadding(call);
  plan.align_corners = FlagAttribute(call, "align_corners", false);
  plan.axis_taps = ReadAxisTaps(call);
  for (std::size_t i = 0; i < plan.extents.size(); ++i) {
    // A float must hold the positions to either side of every pixel.
    Require(plan.extents[i] < std::int64_t{1} << 22,
            "a spatial extent is " + std::to_string(plan.extents[i]) + ", allowed are up to 2^22");
    plan.taps *= plan.axis_taps;
    Require(plan.taps <= kMaxTaps, "input 0 is " + ToString(call.inputs[0]) +
                                       ", which has too many spatial axes to interpolate");
  }
  plan.block = std::clamp<std::int64_t>(kMaxTaps / plan.taps, 1, kMostPositions);
  plan.offset_bytes =
      ScratchBytes(static_cast<std::size_t>(plan.block * plan.taps) * sizeof(std::int64_t));
  plan.scratch_bytes = 2 * plan.offset_bytes;  // weights take as much at most
  const bool is_float = Contains(kFloatTypes, call.inputs[0].element);
  plan.turns = is_float && plan.axis_taps > 1 &&
               TurningPays(plan.batch * plan.in_plane, plan.channels,
                           static_cast<double>(plan.batch) * static_cast<double>(plan.out_plane));
  if (plan.turns) {
    const bool is_double = call.inputs[0].element == ElementType::kFloat64;
    const auto elements = static_cast<std::size_t>(ElementCount(data));
    plan.scratch_bytes +=
        SumBytes(plan) + ScratchBytes(elements * (is_double ? sizeof(double) : sizeof(float)));
  }
  return plan;
}

}  // namespace

BoundKernel BindGridSample(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& data = call.inputs[0];
  const bool nearest = ReadAxisTaps(call) == 1;
  RequireElement(data, nearest ? kAllTypes : kNumericTypes, "input 0");
  CheckOperands(call);
  ReadPadding(call);
  if (ElementCount(call.outputs[0].shape) == 0) return NothingToRun();
  const SamplePlan plan = MakePlan(call);
  const ElementType grid = call.inputs[1].element;
  BoundKernel bound{.run = {}, .scratch_bytes = plan.scratch_bytes};
  if (nearest) {
    VisitSize<void>(data.element, [&]<typename Unit>(std::type_identity<Unit>) {
      bound.run = [plan, finder = FinderFor<float>(grid)](const KernelArguments& args) {
        RunNearest<Unit>(plan, finder, args);
      };
    });
  } else if (plan.turns) {
    VisitElement<void, kFloatTypes>(data.element, [&]<typename T>(std::type_identity<T>) {
      bound.run = [plan, finder = FinderFor<Accumulator<T>>(grid)](const KernelArguments& args) {
        RunTurned<T>(plan, finder, args);
      };
    });
  } else {
    VisitElement<void, kNumericTypes>(data.element, [&]<typename T>(std::type_identity<T>) {
      bound.run = [plan, finder = FinderFor<SumType<T>>(grid)](const KernelArguments& args) {
        RunWeighted<T>(plan, finder, args);
      };
    });
  }
  return bound;
}

}  // namespace poprt::kernels
