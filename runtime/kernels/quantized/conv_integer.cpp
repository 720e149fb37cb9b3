#include <cstring>
#include <optional>
#include <utility>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/quad_conv.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/quantized/requantizer.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

/// Shorter rows, between which there is nothing, are read as one.
constexpr std::int64_t kShortRow = 64;

/// Of convolutions without any output, none.
std::optional<QuadConv> PlanConv(const KernelCall& call, const TensorType& x, const TensorType& w,
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
  Shape input(x.shape.begin() + 2, x.shape.end());
  Window window = ResolveWindow(call.attributes, input, kernel);
  Shape output = WindowOutputExtents(window, input, false);
  Shape wanted{x.shape[0], w.shape[0]};
  wanted.insert(wanted.end(), output.begin(), output.end());
  RequireType(call.outputs[0], {result, wanted}, "output 0");
  if (RequireCount(wanted, "the output") == 0) return std::nullopt;
  if (ReadsEveryPixelOnce(window) && input.back() < kShortRow) {
    input = output = {ElementCount(input)};
    window = ResolveWindow({}, input, {1});
  }
  return QuadConv(
      {.batch = x.shape[0], .groups = groups, .depth = channels, .per_group = w.shape[0] / groups},
      window, input, output, x.element, w.element);
}

/// Writes sums as they are.
struct CopySink {
  static constexpr std::int64_t kBytes = sizeof(std::int32_t);

  static void Store(std::int64_t /*channel*/, std::int64_t count, const std::int32_t* sums,
                    std::byte* to) {
    std::memcpy(to, sums, static_cast<std::size_t>(count * kBytes));
  }
};

}  // namespace

BoundKernel BindConvInteger(const KernelCall& call) {
  RequireArity(call, 2, 4);
  const TensorType& x = call.inputs[0];
  const TensorType& w = call.inputs[1];
  RequireElement(x, kByteTypes, "input 0");
  RequireElement(w, kByteTypes, "input 1");
  std::optional<QuadConv> conv = PlanConv(call, x, w, ElementType::kInt32);
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
  if (!conv) return NothingToRun();
  const std::size_t scratch_bytes = conv->ScratchBytes();
  auto run = [conv = *std::move(conv), w_stride](const KernelArguments& args) {
    conv.Run(args,
             {.x = args.inputs[0],
              .x_point = InputOrNull(args, 2),
              .w = args.inputs[1],
              .w_points = InputOrNull(args, 3),
              .w_stride = w_stride,
              .bias = nullptr},
             CopySink{});
  };
  return {.run = std::move(run), .scratch_bytes = scratch_bytes};
}

namespace {

using In = QLinearConvInput;

struct QLinearConvPlan {
  QuadConv conv;
  std::int64_t w_stride;
  ElementType output;
  Requantizer requantize;
};

/// Writes bytes.
struct QuantizedSink {
  static constexpr std::int64_t kBytes = 1;

  void Store(std::int64_t channel, std::int64_t count, const std::int32_t* sums,
             std::byte* to) const {
    const double factor =
        ProductFactor(ElementType::kFloat32, x_scale, w_scales[channel * w_stride], y_scale);
    requantize(sums, factor, y_point, count, to);
  }

  const Requantizer& requantize;
  float x_scale;
  const float* w_scales;
  std::int64_t w_stride;
  float y_scale;
  double y_point;
};

void RunQLinearConv(const QLinearConvPlan& plan, const KernelArguments& args) {
  const double y_point = plan.output == ElementType::kInt8 ? *args.in<std::int8_t>(In::kYPoint)
                                                           : *args.in<std::uint8_t>(In::kYPoint);
  plan.conv.Run(args,
                {.x = args.inputs[In::kX],
                 .x_point = args.inputs[In::kXPoint],
                 .w = args.inputs[In::kW],
                 .w_points = args.inputs[In::kWPoint],
                 .w_stride = plan.w_stride,
                 .bias = reinterpret_cast<const std::int32_t*>(InputOrNull(args, In::kBias))},
                QuantizedSink{.requantize = plan.requantize,
                              .x_scale = *args.in<float>(In::kXScale),
                              .w_scales = args.in<float>(In::kWScale),
                              .w_stride = plan.w_stride,
                              .y_scale = *args.in<float>(In::kYScale),
                              .y_point = y_point});
}

}  // namespace

BoundKernel BindQLinearConv(const KernelCall& call) {
  RequireArity(call, 8, 9);
  const TensorType& x = call.inputs[In::kX];
  const TensorType& w = call.inputs[In::kW];
  const ElementType output = call.outputs[0].element;
  RequireElement(x, kByteTypes, "input 0");
  RequireElement(w, kByteTypes, "input 3");
  RequireElement(call.outputs[0], kByteTypes, "output 0");
  for (const std::size_t scale : {In::kXScale, In::kWScale, In::kYScale}) {
    RequireElement(call.inputs[scale], Types({ElementType::kFloat32}),
                   "input " + std::to_string(scale));
  }
  RequireOne(call.inputs[In::kXScale], "input 1");
  RequireOne(call.inputs[In::kYScale], "input 6");
  RequirePoint(call.inputs[In::kXPoint], x.element, call.inputs[In::kXScale], "input 2");
  RequirePoint(call.inputs[In::kWPoint], w.element, call.inputs[In::kWScale], "input 5");
  RequirePoint(call.inputs[In::kYPoint], output, call.inputs[In::kYScale], "input 7");
  std::optional<QuadConv> conv = PlanConv(call, x, w, output);
  const std::int64_t w_stride = ChannelStride(call.inputs[In::kWScale], w.shape[0], "input 4");
  const TensorType& bias = InputOrAbsent(call, In::kBias);
  if (bias.defined()) RequireType(bias, {ElementType::kInt32, {w.shape[0]}}, "input 8");
  if (!conv) return NothingToRun();
  const std::size_t scratch_bytes = conv->ScratchBytes();
  QLinearConvPlan plan{.conv = *std::move(conv),
                       .w_stride = w_stride,
                       .output = output,
                       .requantize = Requantizer(output)};
  auto run = [plan = std::move(plan)](const KernelArguments& args) { RunQLinearConv(plan, args); };
  return {.run = std::move(run), .scratch_bytes = scratch_bytes};
}

}  // namespace poprt::kernels
