#include <algorithm>
#include <cmath>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/window/convolution.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

constexpr std::size_t kMaxSpatialAxes = 8;

/// Columns hold what the taps of a block of output positions sample: [C, taps, block]. The output
/// is the weights times the columns.
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
  std::int64_t block = 1;  // output positions
  bool has_bias = false;
  bool has_mask = false;
  std::size_t columns_bytes = 0;
  std::size_t offsets_bytes = 0;
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;
};

template <typename Acc>
struct DeformScratch {
  Acc* columns;
  std::int64_t* offsets;  // [block, corners], -1 for what is outside
  Acc* weights;           // [block, corners]
  Acc* sums;              // [block]

  DeformScratch(const DeformPlan& plan, std::byte* memory)
      : columns(reinterpret_cast<Acc*>(memory)),
        offsets(reinterpret_cast<std::int64_t*>(memory + plan.columns_bytes)),
        weights(reinterpret_cast<Acc*>(memory + plan.columns_bytes + plan.offsets_bytes)),
        sums(reinterpret_cast<Acc*>(memory + plan.columns_bytes + plan.offsets_bytes +
                                    plan.weights_bytes)) {}
};

/// A run of output positions of one image.
struct Block {
  std::int64_t image;
  std::int64_t first;
  std::int64_t count;
};

/// Offsets and weights of the pixels around the samples of one tap in one offset group, whose moves
/// are in that row.
template <typename T>
void FindCorners(const DeformPlan& plan, const KernelArguments& args, const Block& block,
                 std::int64_t row, std::int64_t tap, const DeformScratch<Accumulator<T>>& scratch) {
  using Acc = Accumulator<T>;
  const std::size_t rank = plan.output.size();
  const T* moves =
      args.in<T>(2) + row * static_cast<std::int64_t>(rank) * plan.out_plane + block.first;
  for (std::int64_t i = 0; i < block.count; ++i) {
    std::int64_t* offset = scratch.offsets + i * plan.corners;
    Acc* weight = scratch.weights + i * plan.corners;
    offset[0] = 0;
    weight[0] = Acc(1);
    std::int64_t known = 1;
    for (std::size_t d = 0; d < rank; ++d, known *= 2) {
      const std::int64_t position = (block.first + i) / plan.output_strides[d] % plan.output[d];
      const std::int64_t step = tap / plan.tap_strides[d] % plan.window.kernel[d];
      const std::int64_t base = position * plan.window.strides[d] - plan.window.pads_begin[d] +
                                step * plan.window.dilations[d];
      const std::int64_t extent = plan.operands.input_spatial[d];
      const Acc x = static_cast<Acc>(base) +
                    static_cast<Acc>(moves[static_cast<std::int64_t>(d) * plan.out_plane + i]);
      const bool near = x > Acc(-1) && x < static_cast<Acc>(extent);
      const Acc low = near ? std::floor(x) : Acc(-1);
      const Acc t = near ? x - low : Acc(0);
      const auto at = static_cast<std::int64_t>(low);
      const auto pixel = [&](std::int64_t outer, std::int64_t where) {
        const bool inside = near && outer >= 0 && where >= 0 && where < extent;
        return inside ? outer + where * plan.input_strides[d] : -1;
      };
      // From the back, because the corners found so far are overwritten.
      for (std::int64_t k = known; k-- > 0;) {
        const std::int64_t outer = offset[k];
        const Acc scale = weight[k];
        offset[2 * k + 1] = pixel(outer, at + 1);
        weight[2 * k + 1] = scale * t;
        offset[2 * k] = pixel(outer, at);
        weight[2 * k] = scale * (Acc(1) - t);
      }
    }
  }
}

template <typename T>
void FillColumns(const DeformPlan& plan, const KernelArguments& args, const Block& block,
                 const DeformScratch<Accumulator<T>>& scratch) {
  using Acc = Accumulator<T>;
  const std::int64_t channels = plan.operands.in_channels;
  const std::int64_t share = channels / plan.offset_groups;
  for (std::int64_t group = 0; group < plan.offset_groups; ++group) {
    for (std::int64_t tap = 0; tap < plan.taps; ++tap) {
      const std::int64_t row = (block.image * plan.offset_groups + group) * plan.taps + tap;
      FindCorners<T>(plan, args, block, row, tap, scratch);
      const T* mask = plan.has_mask ? args.in<T>(4) + row * plan.out_plane + block.first : nullptr;
      for (std::int64_t c = group * share; c < (group + 1) * share; ++c) {
        const T* in = args.in<T>(0) + (block.image * channels + c) * plan.in_plane;
        Acc* column = scratch.columns + (c * plan.taps + tap) * plan.block;
        for (std::int64_t i = 0; i < block.count; ++i) {
          Acc sum{};
          for (std::int64_t k = i * plan.corners; k < (i + 1) * plan.corners; ++k) {
            const std::int64_t from = scratch.offsets[k];
            if (from >= 0) sum += scratch.weights[k] * static_cast<Acc>(in[from]);
          }
          // Not part of the weights: a NaN counts for samples outside, too.
          column[i] = mask == nullptr ? sum : sum * static_cast<Acc>(mask[i]);
        }
      }
    }
  }
}

template <typename T>
void MultiplyColumns(const DeformPlan& plan, const KernelArguments& args, const Block& block,
                     const DeformScratch<Accumulator<T>>& scratch) {
  using Acc = Accumulator<T>;
  const ConvolutionOperands& o = plan.operands;
  const std::int64_t depth = o.in_channels / o.groups * plan.taps;
  for (std::int64_t c = 0; c < o.out_channels; ++c) {
    const Acc bias = plan.has_bias ? static_cast<Acc>(args.in<T>(3)[c]) : Acc{};
    std::fill(scratch.sums, scratch.sums + block.count, bias);
    const T* weights = args.in<T>(1) + c * depth;
    const Acc* column = scratch.columns + c / (o.out_channels / o.groups) * depth * plan.block;
    for (std::int64_t k = 0; k < depth; ++k, column += plan.block) {
      const Acc weight = static_cast<Acc>(weights[k]);
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < block.count; ++i) scratch.sums[i] += weight * column[i];
    }
    T* out = args.out<T>(0) + (block.image * o.out_channels + c) * plan.out_plane + block.first;
    for (std::int64_t i = 0; i < block.count; ++i) out[i] = static_cast<T>(scratch.sums[i]);
  }
}

template <typename T>
void RunDeformConv(const DeformPlan& plan, const KernelArguments& args) {
  const std::int64_t blocks = (plan.out_plane - 1) / plan.block + 1;
  ForRanges(args.pool, plan.operands.batch * blocks, 1,
            [&](std::int64_t begin, std::int64_t end, int worker) {
              const DeformScratch<Accumulator<T>> scratch(
                  plan, args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes);
              for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t first = i % blocks * plan.block;
                const Block block{i / blocks, first, std::min(plan.block, plan.out_plane - first)};
                FillColumns<T>(plan, args, block, scratch);
                MultiplyColumns<T>(plan, args, block, scratch);
              }
            });
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

void PlanScratch(DeformPlan& plan, std::size_t item) {
  const std::int64_t depth = plan.operands.in_channels * plan.taps;
  plan.block =
      std::clamp<std::int64_t>((std::int64_t{1} << 16) / std::max<std::int64_t>(depth, 1), 16, 256);
  plan.block = std::min(plan.block, plan.out_plane);
  const auto block = static_cast<std::size_t>(plan.block);
  const auto corners = static_cast<std::size_t>(plan.corners);
  plan.columns_bytes = ScratchBytes(static_cast<std::size_t>(depth) * block * item);
  plan.offsets_bytes = ScratchBytes(block * corners * sizeof(std::int64_t));
  plan.weights_bytes = ScratchBytes(block * corners * item);
  plan.scratch_bytes =
      plan.columns_bytes + plan.offsets_bytes + plan.weights_bytes + ScratchBytes(block * item);
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
  plan.input_strides = Strides(o.input_spatial);
  plan.output_strides = Strides(plan.output);
  plan.tap_strides = Strides(o.kernel);
  return VisitElement<BoundKernel, kFloatTypes>(wanted.element, [&]<typename T>(
                                                                    std::type_identity<T>) {
    PlanScratch(plan, sizeof(Accumulator<T>));
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunDeformConv<T>(plan, args); },
                       .scratch_bytes = plan.scratch_bytes};
  });
}

}  // namespace poprt::kernels
