#include <algorithm>
#include <cmath>

#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/vision/channels_last.hpp"
#include "runtime/kernels/vision/sample_corners.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/channel_tiles.hpp"
#include "runtime/kernels/window/convolution.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

constexpr std::size_t kMaxSpatialAxes = 8;

/// The image is turned first, so that all channels of a pixel are sampled at once. What the taps
/// of a block of output positions sample are rows, [group, position, tap, channel of the group],
/// and the output is their product with the weights, [group, tap, channel of the group, lane].
struct DeformPlan {
  ConvolutionOperands operands;
  Window window;
  std::int64_t offset_groups = 1;
  std::int64_t taps = 0;     // of the window
  std::int64_t corners = 1;  // pixels around a sample: two along each axis
  std::int64_t in_plane = 0;
  std::int64_t out_plane = 0;
  Shape output;  // spatial
  Shape input_strides;
  Shape output_strides;
  Shape tap_strides;
  std::int64_t positions = 1;  // of a block
  bool has_bias = false;
  bool has_mask = false;
  std::size_t scratch_bytes = 0;

  std::int64_t rank() const { return static_cast<std::int64_t>(output.size()); }
  /// Channels of a group.
  std::int64_t ins() const { return operands.in_channels / operands.groups; }
  std::int64_t outs() const { return operands.out_channels / operands.groups; }
  /// The same, and lanes that are spare.
  std::int64_t out_lanes() const {
    return (outs() + kChannelLanes - 1) / kChannelLanes * kChannelLanes;
  }
  /// What is summed for an element of the output.
  std::int64_t depth() const { return ins() * taps; }
};

/// The scratch memory of a worker; without memory only its size.
template <typename Acc>
struct DeformScratch {
  Acc* image;             ///< [in_plane, C]; the first worker's is everybody's
  Acc* factors;           ///< the weights; likewise
  std::int64_t* origins;  ///< [rank, positions]: where windows begin, per axis
  std::int64_t* pixels;   ///< [positions]: the last pixel before a sample, along an axis
  std::int64_t* offsets;  ///< of the corners of samples
  Acc* shares;            ///< likewise
  Acc* parts;             ///< [positions]: how far a sample is behind that pixel
  Acc* rows;
  Acc* sums;  ///< [positions, lane]

  DeformScratch(const DeformPlan& plan, std::byte* memory)
      : end_(reinterpret_cast<std::uintptr_t>(memory)) {
    const std::int64_t corners = plan.corners * plan.positions;
    Take(image, plan.in_plane * plan.operands.in_channels);
    Take(factors, plan.operands.groups * plan.depth() * plan.out_lanes());
    Take(origins, plan.rank() * plan.positions);
    Take(pixels, plan.positions);
    Take(offsets, corners);
    Take(shares, corners);
    Take(parts, plan.positions);
    Take(rows, plan.operands.groups * plan.positions * plan.depth());
    Take(sums, plan.positions * plan.out_lanes());
  }

  SampleCorners<Acc> CornersOf(const DeformPlan& plan) const {
    return {offsets, shares, plan.positions};
  }

  static std::size_t Bytes(const DeformPlan& plan) { return DeformScratch(plan, nullptr).end_; }

 private:
  template <typename T>
  void Take(T*& part, std::int64_t count) {
    part = reinterpret_cast<T*>(end_);  // NOLINT(performance-no-int-to-ptr)
    end_ += ScratchBytes(static_cast<std::size_t>(count) * sizeof(T));
  }

  std::uintptr_t end_;
};

/// A run of output positions of one image.
struct Block {
  std::int64_t image;
  std::int64_t first;
  std::int64_t count;
};

void FindOrigins(const DeformPlan& plan, const Block& block, std::int64_t* origins) {
  for (std::size_t d = 0; d < plan.output.size(); ++d, origins += plan.positions) {
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::int64_t position = (block.first + i) / plan.output_strides[d] % plan.output[d];
      origins[i] = position * plan.window.strides[d] - plan.window.pads_begin[d];
    }
  }
}

/// Offsets and weights of the pixels around the samples of one tap in one offset group, whose moves
/// are in that row.
template <typename T>
POPRT_INLINE void FindCorners(const DeformPlan& plan, const KernelArguments& args,
                              const Block& block, std::int64_t row, std::int64_t tap,
                              const DeformScratch<Accumulator<T>>& scratch) {
  using Acc = Accumulator<T>;
  const T* moves = args.in<T>(2) + row * plan.rank() * plan.out_plane + block.first;
  const SampleCorners<Acc> corners = scratch.CornersOf(plan);
  corners.Start(block.count);
  for (std::size_t d = 0; d < plan.output.size(); ++d, moves += plan.out_plane) {
    const std::int64_t step =
        tap / plan.tap_strides[d] % plan.window.kernel[d] * plan.window.dilations[d];
    const auto extent = static_cast<Acc>(plan.operands.input_spatial[d]);
    const std::int64_t* const origins =
        scratch.origins + static_cast<std::int64_t>(d) * plan.positions;
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < block.count; ++i) {
      const Acc x = static_cast<Acc>(origins[i] + step) + static_cast<Acc>(moves[i]);
      const bool near = x > Acc(-1) && x < extent;
      const Acc sample = near ? x : Acc(-2);  // of which both pixels are outside
      const Acc low = std::floor(sample);
      scratch.pixels[i] = static_cast<std::int64_t>(low);
      scratch.parts[i] = sample - low;
    }
    corners.AddAxis(plan.operands.input_spatial[d], plan.input_strides[d], std::int64_t{1} << d,
                    block.count, scratch.pixels, scratch.parts);
  }
}

/// Adds the pixels around the sample of a position, n of their channels.
template <typename Acc>
POPRT_INLINE void Sample(const DeformPlan& plan, std::int64_t position, const Acc* channels,
                         std::int64_t n, const DeformScratch<Acc>& scratch, Acc* to) {
  std::fill_n(to, n, Acc{});
  for (std::int64_t k = 0; k < plan.corners; ++k) {
    const std::int64_t offset = scratch.offsets[k * plan.positions + position];
    if (offset == SampleCorners<Acc>::kOutside) continue;
    const Acc share = scratch.shares[k * plan.positions + position];
    const Acc* const from = channels + offset * plan.operands.in_channels;
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t c = 0; c < n; ++c) to[c] += share * from[c];
  }
}

/// The samples of all positions of the block for one tap and channels [first, first + n), which are
/// of one group.
template <typename T>
POPRT_INLINE void SampleChannels(const DeformPlan& plan, const Block& block, std::int64_t tap,
                                 std::int64_t first, std::int64_t n, const T* mask,
                                 const DeformScratch<Accumulator<T>>& scratch) {
  using Acc = Accumulator<T>;
  Acc* to = scratch.rows + first / plan.ins() * plan.positions * plan.depth() + tap * plan.ins() +
            first % plan.ins();
  for (std::int64_t i = 0; i < block.count; ++i, to += plan.depth()) {
    Sample(plan, i, static_cast<const Acc*>(scratch.image + first), n, scratch, to);
    if (mask == nullptr) continue;
    // Not part of the shares: a NaN counts for samples outside, too.
    const Acc factor = static_cast<Acc>(mask[i]);
    for (std::int64_t c = 0; c < n; ++c) to[c] *= factor;
  }
}

template <typename T>
POPRT_INLINE void FillRows(const DeformPlan& plan, const KernelArguments& args, const Block& block,
                           const DeformScratch<Accumulator<T>>& scratch) {
  const std::int64_t share = plan.operands.in_channels / plan.offset_groups;
  FindOrigins(plan, block, scratch.origins);
  for (std::int64_t group = 0; group < plan.offset_groups; ++group) {
    for (std::int64_t tap = 0; tap < plan.taps; ++tap) {
      const std::int64_t row = (block.image * plan.offset_groups + group) * plan.taps + tap;
      FindCorners<T>(plan, args, block, row, tap, scratch);
      const T* mask = plan.has_mask ? args.in<T>(4) + row * plan.out_plane + block.first : nullptr;
      const std::int64_t end = (group + 1) * share;
      for (std::int64_t c = group * share; c < end;) {
        const std::int64_t n = std::min(end - c, plan.ins() - c % plan.ins());
        SampleChannels(plan, block, tap, c, n, mask, scratch);
        c += n;
      }
    }
  }
}

template <typename T>
POPRT_INLINE void MultiplyRows(const DeformPlan& plan, const KernelArguments& args,
                               const Block& block, const DeformScratch<Accumulator<T>>& scratch) {
  using Acc = Accumulator<T>;
  const std::int64_t depth = plan.depth();
  const std::int64_t lanes = plan.out_lanes();
  for (std::int64_t group = 0; group < plan.operands.groups; ++group) {
    MultiplyChannels(
        block.count, lanes, static_cast<const Acc*>(scratch.factors + group * depth * lanes),
        [lanes](std::int64_t t) { return t * lanes; },
        static_cast<const Acc*>(scratch.rows + group * plan.positions * depth), depth, scratch.sums,
        lanes);
    for (std::int64_t o = 0; o < plan.outs(); ++o) {
      const std::int64_t channel = group * plan.outs() + o;
      const Acc bias = plan.has_bias ? static_cast<Acc>(args.in<T>(3)[channel]) : Acc{};
      T* out = args.out<T>(0) +
               (block.image * plan.operands.out_channels + channel) * plan.out_plane + block.first;
      for (std::int64_t i = 0; i < block.count; ++i) {
        out[i] = static_cast<T>(scratch.sums[i * lanes + o] + bias);
      }
    }
  }
}

/// Spare lanes are left as they are: nothing reads what becomes of them.
template <typename T>
void TurnWeights(const DeformPlan& plan, const KernelArguments& args, Accumulator<T>* factors) {
  const T* from = args.in<T>(1);
  for (std::int64_t o = 0; o < plan.operands.out_channels; ++o) {
    Accumulator<T>* const to =
        factors + o / plan.outs() * plan.depth() * plan.out_lanes() + o % plan.outs();
    for (std::int64_t c = 0; c < plan.ins(); ++c) {
      for (std::int64_t tap = 0; tap < plan.taps; ++tap) {
        to[(tap * plan.ins() + c) * plan.out_lanes()] = static_cast<Accumulator<T>>(*from++);
      }
    }
  }
}

template <typename T>
void RunDeformConv(const DeformPlan& plan, const KernelArguments& args) {
  using Scratch = DeformScratch<Accumulator<T>>;
  const EvenSplit blocks(plan.out_plane, plan.positions);
  const Scratch shared(plan, args.scratch);
  const std::int64_t channels = plan.operands.in_channels;
  TurnWeights<T>(plan, args, shared.factors);
  for (std::int64_t image = 0; image < plan.operands.batch; ++image) {
    TurnImages(*args.pool, args.in<T>(0) + image * channels * plan.in_plane, 1, channels,
               plan.in_plane, shared.image);
    ForWideRanges<Accumulator<T>>(
        args.pool, blocks.blocks(), 1, [&](std::int64_t i, std::int64_t /*end*/, int worker) {
          Scratch scratch(plan,
                          args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes);
          scratch.image = shared.image;
          scratch.factors = shared.factors;
          const Block block{image, blocks.begin(i), blocks.end(i) - blocks.begin(i)};
          FillRows<T>(plan, args, block, scratch);
          MultiplyRows<T>(plan, args, block, scratch);
        });
  }
}

/// The operands that a convolution does not have: offsets (input 2) and mask (input 4).
void CheckDeformation(const KernelCall& call, const DeformPlan& plan) {
  const std::int64_t groups = plan.offset_groups;
  const std::int64_t channels = plan.operands.in_channels;
  if (groups < 1 || channels % groups != 0) {
    throw KernelError("attribute 'offset_group' is " + std::to_string(groups) +
                      ", it must divide the " + std::to_string(channels) + " channels");
  }
  std::int64_t rows = 0;
  std::int64_t moves = 0;
  if (__builtin_mul_overflow(groups, plan.taps, &rows) ||
      __builtin_mul_overflow(rows, static_cast<std::int64_t>(plan.output.size()), &moves)) {
    throw KernelError("attribute 'offset_group' is " + std::to_string(groups) +
                      ", which is too large");
  }
  TensorType wanted{call.inputs[0].element, {plan.operands.batch, moves}};
  wanted.shape.insert(wanted.shape.end(), plan.output.begin(), plan.output.end());
  RequireType(call.inputs[2], wanted, "input 2");
  wanted.shape[1] = rows;
  if (plan.has_mask) RequireType(call.inputs[4], wanted, "input 4");
}

/// The operands as those of a convolution with the same bias.
ConvolutionOperands CheckAsConvolution(const KernelCall& call) {
  KernelCall convolution{{call.inputs[0], call.inputs[1]}, call.outputs, call.attributes};
  if (InputOrAbsent(call, 3).defined()) convolution.inputs.push_back(call.inputs[3]);
  try {
    return CheckConvolution(convolution, false);
  } catch (const KernelError& error) {
    // The bias is input 3 here.
    std::string message = error.what();
    if (message.rfind("input 2", 0) == 0) message[6] = '3';
    throw KernelError(message);
  }
}

/// So many positions that their rows stay in the second-level cache.
std::int64_t PositionsOf(const DeformPlan& plan) {
  constexpr std::int64_t kElements = 1 << 16;
  constexpr std::int64_t kMost = 256;
  const std::int64_t row = std::max<std::int64_t>(1, plan.operands.in_channels * plan.taps);
  return std::clamp<std::int64_t>(kElements / row, 1, std::min(kMost, plan.out_plane));
}

}  // namespace

BoundKernel BindDeformConv(const KernelCall& call) {
  RequireArity(call, 3, 5);
  DeformPlan plan;
  plan.operands = CheckAsConvolution(call);
  const ConvolutionOperands& o = plan.operands;
  Require(o.kernel.size() <= kMaxSpatialAxes,
          "input 0 is " + ToString(call.inputs[0]) + ", allowed are up to 8 spatial axes");
  plan.window = ResolveWindow(call.attributes, o.input_spatial, o.kernel);
  plan.output = WindowOutputExtents(plan.window, o.input_spatial, false);
  plan.taps = RequireCount(o.kernel, "the window");
  plan.offset_groups = IntAttribute(call, "offset_group", 1);
  plan.has_bias = InputOrAbsent(call, 3).defined();
  plan.has_mask = InputOrAbsent(call, 4).defined();
  CheckDeformation(call, plan);
  TensorType wanted{call.inputs[0].element, {o.batch, o.out_channels}};
  wanted.shape.insert(wanted.shape.end(), plan.output.begin(), plan.output.end());
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  plan.in_plane = ElementCount(o.input_spatial);
  plan.out_plane = ElementCount(plan.output);
  plan.corners = std::int64_t{1} << plan.output.size();
  plan.positions = PositionsOf(plan);
  plan.input_strides = Strides(o.input_spatial);
  plan.output_strides = Strides(plan.output);
  plan.tap_strides = Strides(o.kernel);
  return VisitElement<BoundKernel, kFloatTypes>(wanted.element, [&]<typename T>(
                                                                    std::type_identity<T>) {
    plan.scratch_bytes = DeformScratch<Accumulator<T>>::Bytes(plan);
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunDeformConv<T>(plan, args); },
                       .scratch_bytes = plan.scratch_bytes};
  });
}

}  // namespace poprt::kernels
