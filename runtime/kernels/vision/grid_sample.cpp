#include <algorithm>
#include <limits>
#include <type_traits>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/vision/grid_points.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Taps of one output position at most: cubic interpolation in six dimensions.
constexpr std::int64_t kMaxTaps = 4096;

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
  std::size_t offset_bytes = 0;
  std::size_t scratch_bytes = 0;
};

/// Offsets (-1 for what is outside) and weights of the taps of `count` points of the grid, point by
/// point.
template <typename G, typename Weight>
void FindTaps(const SamplePlan& plan, const std::byte* points, std::int64_t first_point,
              std::int64_t count, std::int64_t* offsets, Weight* weights) {
  using Coordinate = Accumulator<G>;
  const std::size_t rank = plan.extents.size();
  const G* grid =
      reinterpret_cast<const G*>(points) + first_point * static_cast<std::int64_t>(rank);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t* offset = offsets + i * plan.taps;
    Weight* weight = weights + i * plan.taps;
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
        const std::int64_t outer = offset[k];
        const Weight scale = weight[k];
        for (std::int64_t tap = plan.axis_taps; tap-- > 0;) {
          const std::int64_t pixel = place.Pixel(first + tap);
          offset[k * plan.axis_taps + tap] =
              outer < 0 || pixel < 0 ? -1 : outer + pixel * plan.strides[axis];
          weight[k * plan.axis_taps + tap] =
              scale * static_cast<Weight>(factors[static_cast<std::size_t>(tap)]);
        }
      }
      known *= plan.axis_taps;
    }
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

/// The sum over the taps of one point. kTaps is how many there are, or 0 for any number.
template <std::int64_t kTaps, typename T, typename Weight>
Weight SumOfTaps(const T* in, std::int64_t taps, const std::int64_t* offsets,
                 const Weight* weights) {
  Weight sum = 0;
  const std::int64_t count = kTaps > 0 ? kTaps : taps;
  std::int64_t signs = 0;
  for (std::int64_t k = 0; k < count; ++k) signs |= offsets[k];
  if (kTaps > 0 && signs >= 0) {  // all are inside
    for (std::int64_t k = 0; k < count; ++k)
      sum += weights[k] * static_cast<Weight>(in[offsets[k]]);
    return sum;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    if (offsets[k] >= 0) sum += weights[k] * static_cast<Weight>(in[offsets[k]]);
  }
  return sum;
}

template <std::int64_t kTaps, typename T, typename Weight>
void SampleBlockOf(std::int64_t taps, const T* in, std::int64_t count, const std::int64_t* offsets,
                   const Weight* weights, T* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Weight sum = SumOfTaps<kTaps>(in, taps, offsets + i * taps, weights + i * taps);
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
    return SampleBlockOf<kLinearInImages>(plan.taps, in, count, offsets, weights, out);
  }
  SampleBlockOf<0>(plan.taps, in, count, offsets, weights, out);
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
            FindTaps<G>(plan, points, first_point, count, offsets, weights);
          });
        };
      });
}

/// Tasks are blocks of output positions of one image; every block serves all channels.
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
          const std::int64_t n = i / blocks;
          const std::int64_t first = i % blocks * plan.block;
          const std::int64_t count = std::min(plan.block, plan.out_plane - first);
          find_taps(plan, args.inputs[1], n * plan.out_plane + first, count, offsets, weights);
          for (std::int64_t c = n * plan.channels; c < (n + 1) * plan.channels; ++c) {
            sample(c * plan.in_plane, count, offsets, weights, c * plan.out_plane + first);
          }
        }
      });
}

template <typename Unit>
void RunNearest(const SamplePlan& plan, TapFinder<float> find_taps, const KernelArguments& args) {
  const Unit* in = args.in<Unit>(0);
  Unit* out = args.out<Unit>(0);
  ForBlocks<float>(plan, find_taps, args,
                   [&](std::int64_t from, std::int64_t count, const std::int64_t* offsets,
                       const float*, std::int64_t to) {
                     for (std::int64_t i = 0; i < count; ++i) {
                       out[to + i] = offsets[i] < 0 ? Unit{} : in[from + offsets[i]];
                     }
                   });
}

/// Sums of 32-bit and shorter floats are kept in float, others in double, which holds integers.
template <typename T>
using SumType = std::conditional_t<std::is_same_v<Accumulator<T>, float>, float, double>;

template <typename T>
void RunWeighted(const SamplePlan& plan, TapFinder<SumType<T>> find_taps,
                 const KernelArguments& args) {
  using Weight = SumType<T>;
  ForBlocks<Weight>(plan, find_taps, args,
                    [&](std::int64_t from, std::int64_t count, const std::int64_t* offsets,
                        const Weight* weights, std::int64_t to) {
                      SampleBlock(plan, args.in<T>(0) + from, count, offsets, weights,
                                  args.out<T>(0) + to);
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
  plan.block = std::clamp<std::int64_t>(kMaxTaps / plan.taps, 1, 256);
  plan.offset_bytes =
      ScratchBytes(static_cast<std::size_t>(plan.block * plan.taps) * sizeof(std::int64_t));
  plan.scratch_bytes =
      plan.offset_bytes +
      ScratchBytes(static_cast<std::size_t>(plan.block * plan.taps) * sizeof(double));
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
