#include <algorithm>
#include <vector>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/product.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/quantized/requantizer.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

using E = std::int16_t;

/// A convolution as products: for every image and group, weights times patches of the input.
struct ConvPlan {
  ProductShape shape;
  std::int64_t groups = 1;
  std::int64_t channels = 0;  // of the input, in a group
  Window window;
  Shape input;
  Shape output;
  std::int64_t input_plane = 0;
  std::int64_t taps = 0;
  std::vector<std::int64_t> tap_offsets;  // per spatial axis, of every tap in row-major order
};

/// The place of every tap relative to the first one.
std::vector<std::int64_t> TapOffsets(const Window& window) {
  std::vector<std::int64_t> offsets;
  const std::size_t rank = window.kernel.size();
  std::vector<std::int64_t> at(rank);
  for (std::int64_t tap = ElementCount(window.kernel); tap > 0; --tap) {
    for (std::size_t i = 0; i < rank; ++i) offsets.push_back(at[i] * window.dilations[i]);
    for (std::size_t i = rank; i-- > 0;) {
      if (++at[i] < window.kernel[i]) break;
      at[i] = 0;
    }
  }
  return offsets;
}

ConvPlan PlanConv(const KernelCall& call, const TensorType& x, const TensorType& w,
                  ElementType result) {
  RequireCount(x.shape, "the input");
  RequireCount(w.shape, "the weights");
  Require(x.shape.size() >= 3 && w.shape.size() == x.shape.size(),
          "the input is " + ToString(x) + ", the weights are " + ToString(w) +
              ", their ranks must be the same and 3 or more");
  ConvPlan plan;
  plan.groups = IntAttribute(call, "group", 1);
  plan.channels = w.shape[1];
  Require(plan.groups > 0 && x.shape[1] % plan.groups == 0 &&
              x.shape[1] / plan.groups == plan.channels && w.shape[0] % plan.groups == 0,
          "the input is " + ToString(x) + ", the weights are " + ToString(w) +
              ", which do not fit in " + std::to_string(plan.groups) + " groups");
  const Ints kernel(w.shape.begin() + 2, w.shape.end());
  const Ints given = IntsAttribute(call, "kernel_shape");
  Require(given.empty() || given == kernel,
          "attribute 'kernel_shape' does not fit the weights, which are " + ToString(w));
  plan.input = Shape(x.shape.begin() + 2, x.shape.end());
  plan.window = ResolveWindow(call.attributes, plan.input, kernel);
  plan.output = WindowOutputExtents(plan.window, plan.input, false);
  Shape wanted{x.shape[0], w.shape[0]};
  wanted.insert(wanted.end(), plan.output.begin(), plan.output.end());
  RequireType(call.outputs[0], {result, wanted}, "output 0");
  if (RequireCount(wanted, "the output") == 0) return plan;
  plan.shape = {.products = x.shape[0] * plan.groups,
                .rows = w.shape[0] / plan.groups,
                .columns = ElementCount(plan.output),
                .depth = 0};
  if (plan.channels == 0) return plan;
  plan.input_plane = ElementCount(plan.input);
  plan.taps = ElementCount(kernel);
  plan.shape.depth = plan.channels * plan.taps;
  plan.tap_offsets = TapOffsets(plan.window);
  return plan;
}

struct ConvSource {
  const ConvPlan* plan;
  LoadDifferences<E> load_x;
  LoadDifferences<E> load_w;
  const std::byte* x;
  const std::byte* w;
  E x_point;
  const std::byte* w_points;
  std::int64_t w_stride;  // 0: one zero point for all channels

  void LoadRow(std::int64_t product, std::int64_t row, std::int64_t first, std::int64_t n,
               E* to) const {
    const std::int64_t channel = product % plan->groups * plan->shape.rows + row;
    load_w(w + channel * plan->shape.depth + first, 1, n,
           ReadPoint(load_w, w_points, channel * w_stride), to, 1);
  }

  void LoadColumns(std::int64_t product, std::int64_t column, std::int64_t count,
                   std::int64_t first, std::int64_t n, E* to) const {
    const std::byte* planes = x + product * plan->channels * plan->input_plane;
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t tap = 0; tap < plan->taps; ++tap) {
        LoadTap(planes, column + c, tap, first, n, to + c * kProductDepth);
      }
    }
  }

  /// The elements that one tap of the patch at one output position reads from all channels.
  void LoadTap(const std::byte* planes, std::int64_t position, std::int64_t tap, std::int64_t first,
               std::int64_t n, E* to) const {
    const std::int64_t taps = plan->taps;
    const std::int64_t channel = first <= tap ? 0 : (first - tap - 1) / taps + 1;
    const std::int64_t end = first + n <= tap ? 0 : (first + n - tap - 1) / taps + 1;
    if (channel >= end) return;
    to += channel * taps + tap - first;
    const std::int64_t at = InputIndex(position, tap);
    if (at < 0) {
      for (std::int64_t i = 0; i < end - channel; ++i) to[i * taps] = 0;
    } else {
      load_x(planes + channel * plan->input_plane + at, plan->input_plane, end - channel, x_point,
             to, taps);
    }
  }

  /// Where the tap falls in a plane, -1 in the padding.
  std::int64_t InputIndex(std::int64_t position, std::int64_t tap) const {
    const Window& window = plan->window;
    const std::size_t rank = plan->output.size();
    const std::int64_t* offset = plan->tap_offsets.data() + tap * static_cast<std::int64_t>(rank);
    std::int64_t index = 0;
    std::int64_t stride = 1;
    for (std::size_t i = rank; i-- > 0;) {
      const std::int64_t at =
          position % plan->output[i] * window.strides[i] - window.pads_begin[i] + offset[i];
      position /= plan->output[i];
      if (at < 0 || at >= plan->input[i]) return -1;
      index += at * stride;
      stride *= plan->input[i];
    }
    return index;
  }
};

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

/// What becomes of the sums of one row: element `at` of the output on.
std::int64_t OutputIndex(const ConvPlan& plan, std::int64_t product, std::int64_t row,
                         std::int64_t column) {
  return (product * plan.shape.rows + row) * plan.shape.columns + column;
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
  if (plan.shape.products == 0) return NothingToRun();
  const auto load_x = FindLoadDifferences<E>(x.element);
  const auto load_w = FindLoadDifferences<E>(w.element);
  return {.run =
              [plan, load_x, load_w, w_stride](const KernelArguments& args) {
                const ConvSource source{&plan,
                                        load_x,
                                        load_w,
                                        args.inputs[0],
                                        args.inputs[1],
                                        ReadPoint(load_x, InputOrNull(args, 2), 0),
                                        InputOrNull(args, 3),
                                        w_stride};
                std::int32_t* out = args.out<std::int32_t>(0);
                RunProducts<E>(args, plan.shape, source,
                               [&](std::int64_t product, std::int64_t row, std::int64_t column,
                                   std::int64_t count, const std::int32_t* sums) {
                                 std::copy_n(sums, count,
                                             out + OutputIndex(plan, product, row, column));
                               });
              },
          .scratch_bytes = kProductScratch<E>};
}

namespace {

/// Positions of QLinearConv's inputs.
enum Input : std::size_t { kX, kXScale, kXPoint, kW, kWScale, kWPoint, kYScale, kYPoint, kBias };

struct QLinearConvPlan {
  ConvPlan conv;
  std::int64_t w_stride = 0;
  LoadDifferences<E> load_x = nullptr;
  LoadDifferences<E> load_w = nullptr;
  LoadDifferences<E> load_y = nullptr;
  Requantizer requantize;
};

void RunQLinearConv(const QLinearConvPlan& plan, const KernelArguments& args) {
  const ConvSource source{&plan.conv,           plan.load_x,
                          plan.load_w,          args.inputs[kX],
                          args.inputs[kW],      ReadPoint(plan.load_x, args.inputs[kXPoint], 0),
                          args.inputs[kWPoint], plan.w_stride};
  const auto* bias = reinterpret_cast<const std::int32_t*>(InputOrNull(args, kBias));
  const double y_point = ReadPoint(plan.load_y, args.inputs[kYPoint], 0);
  const float x_scale = *args.in<float>(kXScale);
  const float y_scale = *args.in<float>(kYScale);
  RunProducts<E>(
      args, plan.conv.shape, source,
      [&](std::int64_t product, std::int64_t row, std::int64_t column, std::int64_t count,
          const std::int32_t* sums) {
        const std::int64_t channel = product % plan.conv.groups * plan.conv.shape.rows + row;
        const float w_scale = args.in<float>(kWScale)[channel * plan.w_stride];
        const double factor = ProductFactor(ElementType::kFloat32, x_scale, w_scale, y_scale);
        const std::int32_t offset = bias == nullptr ? 0 : bias[channel];
        double values[Requantizer::kMost];
        for (std::int64_t c = 0; c < count; ++c) {
          values[c] = static_cast<double>(AddSums(sums[c], offset)) * factor;
        }
        plan.requantize(values, y_point, count,
                        args.outputs[0] + OutputIndex(plan.conv, product, row, column));
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
  if (conv.shape.products == 0) return NothingToRun();
  const QLinearConvPlan plan{.conv = conv,
                             .w_stride = w_stride,
                             .load_x = FindLoadDifferences<E>(x.element),
                             .load_w = FindLoadDifferences<E>(w.element),
                             .load_y = FindLoadDifferences<E>(output),
                             .requantize = Requantizer(output)};
  return {.run = [plan](const KernelArguments& args) { RunQLinearConv(plan, args); },
          .scratch_bytes = kProductScratch<E>};
}

}  // namespace poprt::kernels
