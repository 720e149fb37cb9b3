#include <algorithm>
#include <array>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/window/convolution.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {
namespace {

/// Output channels that share one pass over the input rows.
constexpr std::int64_t kChannels = 4;

struct ConvPlan {
  ConvolutionOperands operands;
  WindowRows rows;
  std::size_t scratch_bytes = 0;
};

/// sums[x] += weight * in[x * stride], for kCount rows of sums at once.
template <std::int64_t kCount, typename T, typename Acc>
void AddTap(const T* in, std::int64_t stride, std::int64_t count, const Acc* weights, Acc* sums,
            std::int64_t pitch) {
  const auto add = [&](std::int64_t step) {
    for (std::int64_t i = 0; i < kCount; ++i) {
      Acc* row = sums + i * pitch;
      const Acc weight = weights[i];
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t x = 0; x < count; ++x) row[x] += weight * static_cast<Acc>(in[x * step]);
    }
  };
  if (stride == 1) {
    add(1);
  } else {
    add(stride);
  }
}

/// One task: a block of output channels of one image.
template <std::int64_t kCount, typename T>
void RunChannels(const ConvPlan& plan, const KernelArguments& args, std::int64_t image,
                 std::int64_t channel, Accumulator<T>* sums) {
  using Acc = Accumulator<T>;
  const ConvolutionOperands& o = plan.operands;
  const std::int64_t depth = o.in_channels / o.groups;
  const std::int64_t group = channel / (o.out_channels / o.groups);
  const std::int64_t in_plane = plan.rows.input_plane();
  const std::int64_t width = plan.rows.width();
  const std::int64_t taps = plan.rows.taps();
  const T* in = args.in<T>(0) + (image * o.in_channels + group * depth) * in_plane;
  const T* weights = args.in<T>(1) + channel * depth * taps;
  const T* bias = args.inputs.size() > 2 ? args.in<T>(2) : nullptr;
  T* out = args.out<T>(0) + (image * o.out_channels + channel) * plan.rows.rows() * width;
  for (std::int64_t row = 0; row < plan.rows.rows(); ++row) {
    std::fill(sums, sums + kCount * width, Acc{});
    for (std::int64_t c = 0; c < depth; ++c) {
      const T* plane = in + c * in_plane;
      plan.rows.Visit(row, [&](const WindowRows::Tap& tap) {
        std::array<Acc, kCount> factors;
        for (std::int64_t i = 0; i < kCount; ++i) {
          factors[static_cast<std::size_t>(i)] =
              static_cast<Acc>(weights[(i * depth + c) * taps + tap.index]);
        }
        AddTap<kCount>(plane + tap.in, plan.rows.stride(), tap.count, factors.data(),
                       sums + tap.out, width);
      });
    }
    for (std::int64_t i = 0; i < kCount; ++i) {
      const Acc base = bias == nullptr ? Acc{} : static_cast<Acc>(bias[channel + i]);
      T* to = out + (i * plan.rows.rows() + row) * width;
      for (std::int64_t x = 0; x < width; ++x) to[x] = static_cast<T>(sums[i * width + x] + base);
    }
  }
}

template <typename T>
void RunConv(const ConvPlan& plan, const KernelArguments& args) {
  const ConvolutionOperands& o = plan.operands;
  const std::int64_t per_group = o.out_channels / o.groups;
  const std::int64_t blocks = (per_group - 1) / kChannels + 1;
  ForRanges(args.pool, o.batch * o.groups * blocks, 1,
            [&](std::int64_t begin, std::int64_t end, int worker) {
              auto* sums = reinterpret_cast<Accumulator<T>*>(
                  args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes);
              for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t image = i / (o.groups * blocks);
                const std::int64_t block = i % (o.groups * blocks);
                const std::int64_t inside = block % blocks * kChannels;
                const std::int64_t channel = block / blocks * per_group + inside;
                if (per_group - inside >= kChannels) {
                  RunChannels<kChannels, T>(plan, args, image, channel, sums);
                  continue;
                }
                for (std::int64_t k = 0; k < per_group - inside; ++k) {
                  RunChannels<1, T>(plan, args, image, channel + k, sums);
                }
              }
            });
}

}  // namespace

BoundKernel BindConv(const KernelCall& call) {
  const ConvolutionOperands operands = CheckConvolution(call, false);
  const Window window = ResolveWindow(call.attributes, operands.input_spatial, operands.kernel);
  const Shape output = WindowOutputExtents(window, operands.input_spatial, false);
  TensorType wanted{call.inputs[0].element, {operands.batch, operands.out_channels}};
  wanted.shape.insert(wanted.shape.end(), output.begin(), output.end());
  RequireType(call.outputs[0], wanted, "output 0");
  if (RequireCount(wanted.shape, "the output") == 0) return NothingToRun();
  return VisitElement<BoundKernel, kFloatTypes>(
      wanted.element, [&]<typename T>(std::type_identity<T>) {
        const std::size_t scratch = ScratchBytes(
            static_cast<std::size_t>(kChannels * output.back()) * sizeof(Accumulator<T>));
        const ConvPlan plan{operands, WindowRows(window, operands.input_spatial, output), scratch};
        return BoundKernel{.run = [plan](const KernelArguments& args) { RunConv<T>(plan, args); },
                           .scratch_bytes = scratch};
      });
}

}  // namespace poprt::kernels
