#include <algorithm>
#include <optional>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/product.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/quantized/requantizer.hpp"
#include "runtime/kernels/window/padded_conv.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

/// A convolution of differences from zero points, which float holds.
struct ConvPlan {
  std::optional<PaddedConv> conv;  ///< none where there is nothing to compute
  std::size_t scratch_bytes = 0;
  std::int64_t input_plane = 0;
  std::int64_t input_width = 0;
  std::int64_t output_plane = 0;
  std::int64_t out_channels = 0;
  LoadDifferences load_x = nullptr;
  LoadDifferences load_w = nullptr;
};

ConvPlan PlanConv(const KernelCall& call, const TensorType& x, const TensorType& w,
                  ElementType result) {
  RequireCount(x.shape, "the input");
  RequireCount(w.shape, "the weights");
  Require(x.shape.size() >= 3 && w.shape.size() == x.shape.size(),
          "the input is " + ToString(x) + ", the weights are " + ToString(w) +
              ", their ranks must be the same and 3 or more");
  const std::int64_t groups = IntAttribute(call, "group", 1);
  const std::int64_t channels = w.shape[1];
  Require(groups > 0 && x.shape[1] % groups == 0 && x.shape[1] / groups == channels &&
              w.shape[0] % groups == 0,
          "the input is " + ToString(x) + ", the weights are " + ToString(w) +
              ", which do not fit in " + std::to_string(groups) + " groups");
  const Ints kernel(w.shape.begin() + 2, w.shape.end());
  const Ints given = IntsAttribute(call, "kernel_shape");
  Require(given.empty() || given == kernel,
          "attribute 'kernel_shape' does not fit the weights, which are " + ToString(w));
  const Shape input(x.shape.begin() + 2, x.shape.end());
  const Window window = ResolveWindow(call.attributes, input, kernel);
  const Shape output = WindowOutputExtents(window, input, false);
  Shape wanted{x.shape[0], w.shape[0]};
  wanted.insert(wanted.end(), output.begin(), output.end());
  RequireType(call.outputs[0], {result, wanted}, "output 0");
  if (RequireCount(wanted, "the output") == 0) return {};
  ConvPlan plan{.conv = PaddedConv({.batch = x.shape[0],
                                    .groups = groups,
                                    .depth = channels,
                                    .per_group = w.shape[0] / groups},
                                   window, input, output),
                .input_plane = ElementCount(input),
                .input_width = input.back(),
                .output_plane = ElementCount(output),
                .out_channels = w.shape[0],
                .load_x = FindLoadDifferences(x.element),
                .load_w = FindLoadDifferences(w.element)};
  plan.scratch_bytes = plan.conv->ScratchBytes(sizeof(float), sizeof(std::int32_t));
  return plan;
}

/// What a run reads.
struct ConvOperands {
  const std::byte* x;
  const std::byte* x_point;
  const std::byte* w;
  const std::byte* w_points;
  std::int64_t w_stride;  // 0: one zero point for all channels
};

/// Calls store(channel, index, count, sums) for rows of the output, from element `index` on.
template <typename Store>
void RunConv(const ConvPlan& plan, const ConvOperands& operands, const KernelArguments& args,
             const Store& store) {
  const float x_point = ReadPoint(plan.load_x, operands.x_point, 0);
  const auto load_row = [&](std::int64_t image, std::int64_t row, std::int64_t n, float* to) {
    plan.load_x(operands.x + image * plan.input_plane + row * plan.input_width, n, x_point, to, 1);
  };
  const auto load_weights = [&](std::int64_t channel, std::int64_t stride, float* to) {
    plan.load_w(operands.w + channel * plan.conv->sums(), plan.conv->sums(),
                ReadPoint(plan.load_w, operands.w_points, channel * operands.w_stride), to, stride);
  };
  const auto store_row = [&](std::int64_t image, std::int64_t channel, std::int64_t position,
                             std::int64_t n, const std::int32_t* sums) {
    store(channel, (image * plan.out_channels + channel) * plan.output_plane + position, n, sums);
  };
  ForWideRanges(
      args.pool, plan.conv->tasks(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
        std::byte* scratch = args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes;
        for (std::int64_t task = begin; task < end; ++task) {
          plan.conv->RunTask<float, std::int32_t>(task, scratch, load_row, load_weights, store_row);
        }
      });
}

/// A zero point or scale of the weights is one number or one per output channel; returns its
/// stride.
std::int64_t ChannelStride(const TensorType& type, std::int64_t channels, const std::string& what) {
  const std::int64_t count = RequireCount(type.shape, what);
  if (count == 1 && type.shape.size() <= 1) return 0;
  Require(type.shape == Shape{channels},
          what + " is " + ToString(type) + ", expected one number or " + std::to_string(channels));
  return 1;
}

void RequireOne(const TensorType& type, const std::string& what) {
  Require(RequireCount(type.shape, what) == 1,
          what + " is " + ToString(type) + ", expected one number");
}

const std::byte* InputOrNull(const KernelArguments& args, std::size_t i) {
  return i < args.inputs.size() ? args.inputs[i] : nullptr;
}

}  // namespace

BoundKernel BindConvInteger(const KernelCall& call) {
  RequireArity(call, 2, 4);
  const TensorType& x = call.inputs[0];
  const TensorType& w = call.inputs[1];
  RequireElement(x, kByteTypes, "input 0");
  RequireElement(w, kByteTypes, "input 1");
  const ConvPlan plan = PlanConv(call, x, w, ElementType::kInt32);
  const TensorType& x_point = InputOrAbsent(call, 2);
  const TensorType& w_points = InputOrAbsent(call, 3);
  std::int64_t w_stride = 0;
  if (x_point.defined()) {
    RequireElement(x_point, Types({x.element}), "input 2");
    RequireOne(x_point, "input 2");
  }
  if (w_points.defined()) {
    RequireElement(w_points, Types({w.element}), "input 3");
    w_stride = ChannelStride(w_points, w.shape[0], "input 3");
  }
  if (!plan.conv) return NothingToRun();
  return {.run =
              [plan, w_stride](const KernelArguments& args) {
                const ConvOperands operands{.x = args.inputs[0],
                                            .x_point = InputOrNull(args, 2),
                                            .w = args.inputs[1],
                                            .w_points = InputOrNull(args, 3),
                                            .w_stride = w_stride};
                std::int32_t* out = args.out<std::int32_t>(0);
                RunConv(plan, operands, args,
                        [out](std::int64_t /*channel*/, std::int64_t index, std::int64_t count,
                              const std::int32_t* sums) { std::copy_n(sums, count, out + index); });
              },
          .scratch_bytes = plan.scratch_bytes};
}

namespace {

/// Positions of QLinearConv's inputs.
enum Input : std::size_t { kX, kXScale, kXPoint, kW, kWScale, kWPoint, kYScale, kYPoint, kBias };

struct QLinearConvPlan {
  ConvPlan conv;
  std::int64_t w_stride = 0;
  LoadDifferences load_y = nullptr;
  Requantizer requantize;
};

void RunQLinearConv(const QLinearConvPlan& plan, const KernelArguments& args) {
  const ConvOperands operands{.x = args.inputs[kX],
                              .x_point = args.inputs[kXPoint],
                              .w = args.inputs[kW],
                              .w_points = args.inputs[kWPoint],
                              .w_stride = plan.w_stride};
  const auto* bias = reinterpret_cast<const std::int32_t*>(InputOrNull(args, kBias));
  const auto y_point = static_cast<double>(ReadPoint(plan.load_y, args.inputs[kYPoint], 0));
  const float x_scale = *args.in<float>(kXScale);
  const float y_scale = *args.in<float>(kYScale);
  RunConv(
      plan.conv, operands, args,
      [&](std::int64_t channel, std::int64_t index, std::int64_t count, const std::int32_t* sums) {
        const float w_scale = args.in<float>(kWScale)[channel * plan.w_stride];
        const double factor = ProductFactor(ElementType::kFloat32, x_scale, w_scale, y_scale);
        const std::int32_t offset = bias == nullptr ? 0 : bias[channel];
        for (std::int64_t done = 0; done < count; done += Requantizer::kMost) {
          const std::int64_t n = std::min(Requantizer::kMost, count - done);
          double values[Requantizer::kMost];
          for (std::int64_t c = 0; c < n; ++c) {
            values[c] = static_cast<double>(AddSums(sums[done + c], offset)) * factor;
          }
          plan.requantize(values, y_point, n, args.outputs[0] + index + done);
        }
      });
}

}  // namespace

BoundKernel BindQLinearConv(const KernelCall& call) {
  RequireArity(call, 8, 9);
  const TensorType& x = call.inputs[kX];
  const TensorType& w = call.inputs[kW];
  const ElementType output = call.outputs[0].element;
  RequireElement(x, kByteTypes, "input 0");
  RequireElement(w, kByteTypes, "input 3");
  RequireElement(call.outputs[0], kByteTypes, "output 0");
  for (const Input scale : {kXScale, kWScale, kYScale}) {
    RequireElement(call.inputs[scale], Types({ElementType::kFloat32}),
                   "input " + std::to_string(scale));
  }
  RequireOne(call.inputs[kXScale], "input 1");
  RequireOne(call.inputs[kYScale], "input 6");
  RequirePoint(call.inputs[kXPoint], x.element, call.inputs[kXScale], "input 2");
  RequirePoint(call.inputs[kWPoint], w.element, call.inputs[kWScale], "input 5");
  RequirePoint(call.inputs[kYPoint], output, call.inputs[kYScale], "input 7");
  const ConvPlan conv = PlanConv(call, x, w, output);
  const std::int64_t w_stride = ChannelStride(call.inputs[kWScale], w.shape[0], "input 4");
  const TensorType& bias = InputOrAbsent(call, kBias);
  if (bias.defined()) RequireType(bias, {ElementType::kInt32, {w.shape[0]}}, "input 8");
  if (!conv.conv) return NothingToRun();
  const QLinearConvPlan plan{.conv = conv,
                             .w_stride = w_stride,
                             .load_y = FindLoadDifferences(output),
                             .requantize = Requantizer(output)};
  return {.run = [plan](const KernelArguments& args) { RunQLinearConv(plan, args); },
          .scratch_bytes = conv.scratch_bytes};
}

}  // namespace poprt::kernels
