#include <algorithm>
#include <memory>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/signal/fourier_transform.hpp"
#include "runtime/kernels/signal/signal.hpp"
#include "runtime/kernels/signal/signal_shape.hpp"

namespace poprt::kernels {
namespace {

/// A line of complex numbers inside a tensor whose last axis holds 1 or 2 components.
struct Line {
  std::int64_t start;   // elements
  std::int64_t stride;  // from one number to the next
  std::int64_t components;
};

template <typename T>
void ReadLine(const T* from, const Line& line, std::int64_t count, Complex* to) {
  from += line.start;
  for (std::int64_t i = 0; i < count; ++i, from += line.stride) {
    to[i] = {ToDouble(from[0]), line.components == 2 ? ToDouble(from[1]) : 0.0};
  }
}

template <typename T>
void WriteLine(const Complex* from, std::int64_t count, const Line& line, T* to) {
  to += line.start;
  for (std::int64_t i = 0; i < count; ++i, to += line.stride) {
    to[0] = FromDouble<T>(from[i].re);
    if (line.components == 2) to[1] = FromDouble<T>(from[i].im);
  }
}

/// Fills in the upper half of the spectrum of a real signal. The parts that such a spectrum does
/// not have are ignored.
void Mirror(Complex* spectrum, std::int64_t length) {
  spectrum[0].im = 0;
  if (length % 2 == 0) spectrum[length / 2].im = 0;
  for (std::int64_t k = length / 2 + 1; k < length; ++k) {
    spectrum[k] = {spectrum[length - k].re, -spectrum[length - k].im};
  }
}

struct DftPlan {
  explicit DftPlan(const DftShape& dft) : shape(dft), transform(dft.length, dft.inverse) {}

  DftShape shape;
  FourierTransform transform;
  std::int64_t lines = 0;
  std::int64_t inner = 1;  ///< numbers behind the axis
  std::int64_t in_extent = 0;
  std::int64_t in_components = 1;
  std::size_t scratch_bytes = 0;
};

template <typename T>
void RunDft(const DftPlan& plan, const KernelArguments& args) {
  const DftShape& shape = plan.shape;
  const bool mirrored = shape.inverse && shape.onesided;
  const std::int64_t wanted = mirrored ? shape.length / 2 + 1 : shape.length;
  const std::int64_t given = std::min(plan.in_extent, wanted);
  const std::int64_t out_extent = shape.output[shape.axis];
  const std::int64_t out_components = shape.output.back();
  const auto line = [&](std::int64_t i, std::int64_t extent, std::int64_t components) {
    const std::int64_t number = i / plan.inner * extent * plan.inner + i % plan.inner;
    return Line{number * components, plan.inner * components, components};
  };
  ForRanges(
      args.pool, plan.lines, GrainFor(16 * shape.length),
      [&](std::int64_t begin, std::int64_t end, int worker) {
        auto* numbers = reinterpret_cast<Complex*>(args.scratch + static_cast<std::size_t>(worker) *
                                                                      plan.scratch_bytes);
        for (std::int64_t i = begin; i < end; ++i) {
          ReadLine(args.in<T>(0), line(i, plan.in_extent, plan.in_components), given, numbers);
          std::fill(numbers + given, numbers + shape.length, Complex{});
          if (mirrored) Mirror(numbers, shape.length);
          plan.transform.Run(numbers, numbers + shape.length);
          WriteLine(numbers, out_extent, line(i, out_extent, out_components), args.out<T>(0));
        }
      });
}

std::size_t TransformBytes(const FourierTransform& transform) {
  return ScratchBytes(static_cast<std::size_t>(transform.length() + transform.scratch_numbers()) *
                      sizeof(Complex));
}

struct StftPlan {
  explicit StftPlan(const StftShape& stft) : shape(stft), transform(stft.length, false) {}

  StftShape shape;
  FourierTransform transform;
  std::int64_t samples = 0;
  std::size_t scratch_bytes = 0;
};

template <typename T>
void RunStft(const StftPlan& plan, const KernelArguments& args) {
  const StftShape& shape = plan.shape;
  const T* window = args.inputs.size() > 1 ? args.in<T>(1) : nullptr;
  const std::int64_t frames = shape.output[0] * shape.frames;
  ForRanges(args.pool, frames, GrainFor(16 * shape.length),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              auto* numbers = reinterpret_cast<Complex*>(
                  args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes);
              for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t sample =
                    i / shape.frames * plan.samples + i % shape.frames * shape.step;
                ReadLine(args.in<T>(0),
                         Line{sample * shape.components, shape.components, shape.components},
                         shape.length, numbers);
                for (std::int64_t k = 0; window != nullptr && k < shape.length; ++k) {
                  const double factor = ToDouble(window[k]);
                  numbers[k] = {numbers[k].re * factor, numbers[k].im * factor};
                }
                plan.transform.Run(numbers, numbers + shape.length);
                WriteLine(numbers, shape.bins, Line{i * shape.bins * 2, 2, 2}, args.out<T>(0));
              }
            });
}

}  // namespace

BoundKernel BindDft(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kFloatTypes, "input 0");
  RequireCount(input.shape, "input 0");
  const DftShape shape = ResolveDft(call.attributes, input.shape);
  RequireType(call.outputs[0], {input.element, shape.output}, "output 0");
  if (RequireCount(shape.output, "the output") == 0) return NothingToRun();
  const auto plan = std::make_shared<DftPlan>(shape);
  for (std::size_t i = shape.axis + 1; i + 1 < input.shape.size(); ++i) {
    plan->inner *= input.shape[i];
  }
  plan->lines = ElementCount(shape.output) / shape.output[shape.axis] / shape.output.back();
  plan->in_extent = input.shape[shape.axis];
  plan->in_components = input.shape.back();
  plan->scratch_bytes = TransformBytes(plan->transform);
  return VisitElement<BoundKernel, kFloatTypes>(
      input.element, [&]<typename T>(std::type_identity<T>) -> BoundKernel {
        return {.run = [plan](const KernelArguments& args) { RunDft<T>(*plan, args); },
                .scratch_bytes = plan->scratch_bytes};
      });
}

BoundKernel BindStft(const KernelCall& call) {
  RequireArity(call, 1, 2);
  const TensorType& signal = call.inputs[0];
  const TensorType& window = InputOrAbsent(call, 1);
  RequireElement(signal, kFloatTypes, "input 0");
  RequireCount(signal.shape, "input 0");
  if (window.defined()) {
    RequireType({window.element, {}}, {signal.element, {}}, "the window's element type");
  }
  const StftShape shape = ResolveStft(call.attributes, signal.shape, window);
  RequireType(call.outputs[0], {signal.element, shape.output}, "output 0");
  if (RequireCount(shape.output, "the output") == 0) return NothingToRun();
  const auto plan = std::make_shared<StftPlan>(shape);
  plan->samples = signal.shape[1];
  plan->scratch_bytes = TransformBytes(plan->transform);
  return VisitElement<BoundKernel, kFloatTypes>(
      signal.element, [&]<typename T>(std::type_identity<T>) -> BoundKernel {
        return {.run = [plan](const KernelArguments& args) { RunStft<T>(*plan, args); },
                .scratch_bytes = plan->scratch_bytes};
      });
}

}  // namespace poprt::kernels
