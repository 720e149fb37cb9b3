#include <cstddef>
#include <cstdint>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/quantized/scale_reader.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr TypeSet kInputTypes = kQuantizedTypes | Types({ElementType::kInt32});
constexpr TypeSet kOutputTypes = kHalfTypes | Types({ElementType::kFloat32});
constexpr TypeSet kScaleTypes = kOutputTypes | Types({ElementType::kFloat8E8M0});

// ---- Integers of whole bytes to float32, as most models have them: in one loop

template <typename T>
BoundKernel BindFloats(const ScaleReader<float>& reader) {
  return {.run = [reader](const KernelArguments& args) {
    reader.ForBlocks(args, [&](std::int64_t first, std::int64_t count, auto scales, auto points) {
      const T* x = args.in<T>(0) + first;
      float* y = args.out<float>(0) + first;
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t k = 0; k < count; ++k) {
        y[k] = (static_cast<float>(x[k]) - points[k]) * scales[k];
      }
    });
  }};
}

// ---- Anything to anything

struct DequantizePlan {
  ScaleReader<float> scales;
  Converter load;   // to float
  Converter store;  // from float
};

void Run(const DequantizePlan& plan, const KernelArguments& args) {
  plan.scales.ForBlocks(args, [&](std::int64_t first, std::int64_t count, auto scales,
                                  auto points) {
    alignas(64) float values[ScaleReader<float>::kBlock];
    const auto i = static_cast<std::size_t>(first);
    std::byte* const out = args.outputs[0] + i * plan.store.to_bytes();
    float* const to = plan.store.is_copy() ? reinterpret_cast<float*>(out) : values;
    plan.load(args.inputs[0] + i * plan.load.from_bytes(), reinterpret_cast<std::byte*>(to), count);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t k = 0; k < count; ++k) to[k] = (to[k] - points[k]) * scales[k];
    if (!plan.store.is_copy()) plan.store(reinterpret_cast<const std::byte*>(to), out, count);
  });
}

}  // namespace

// The product is rounded to float32 and, for a half type, from there to it, as ONNX's reference
// does it.
BoundKernel BindDequantizeLinear(const KernelCall& call) {
  RequireArity(call, 2, 3);
  const TensorType& input = call.inputs[0];
  const TensorType& scales = call.inputs[1];
  const TensorType& points = InputOrAbsent(call, 2);
  RequireElement(input, kInputTypes, "input 0");
  RequireElement(scales, kScaleTypes, "input 1");
  RequireElement(call.outputs[0], kOutputTypes, "output 0");
  RequireType(call.outputs[0], {call.outputs[0].element, input.shape}, "output 0");
  if (points.defined()) RequirePoint(points, input.element, scales, "input 2");
  const auto reader = ScaleReader<float>::Bind<kScaleTypes, kInputTypes>(call);
  if (Contains(kByteIntegers, input.element) && call.outputs[0].element == ElementType::kFloat32) {
    return VisitElement<BoundKernel, kByteIntegers>(
        input.element, [&]<typename T>(std::type_identity<T>) { return BindFloats<T>(reader); });
  }
  const DequantizePlan plan{.scales = reader,
                            .load = Converter(input.element, ElementType::kFloat32),
                            .store = Converter(ElementType::kFloat32, call.outputs[0].element)};
  return {.run = [plan](const KernelArguments& args) { Run(plan, args); }};
}

}  // namespace poprt::kernels
