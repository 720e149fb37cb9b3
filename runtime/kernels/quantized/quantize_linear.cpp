#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/quantized/scale_reader.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr TypeSet kInputTypes = kFloatTypes | Types({ElementType::kInt32});
constexpr TypeSet kScaleTypes = kInputTypes | Types({ElementType::kFloat8E8M0});

template <typename C>
struct QuantizePlan {
  ScaleReader<C> scales;
  Converter load;   // to C
  Converter store;  // from int32 to integers, from C to floats
  IntegerRange range;
  bool adds_zeros = false;  // makes +0 of -0
};

/// Operands and quotients are rounded to the type P that the division happens in.
template <typename P, typename C>
C Rounded(C value) {
  if constexpr (std::is_same_v<P, C>) {
    return value;
  } else {
    return static_cast<C>(P(value));
  }
}

template <typename P, typename C, typename Scales>
void Divide(C* values, Scales scales, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    values[k] = Rounded<P>(Rounded<P>(values[k]) / Rounded<P>(scales[k]));
  }
}

template <typename C, typename Points>
void ToIntegers(const C* values, Points points, std::int64_t count, const IntegerRange& range,
                std::int32_t* integers) {
  const auto lowest = static_cast<C>(range.lowest);
  const auto highest = static_cast<C>(range.highest);
  for (std::int64_t k = 0; k < count; ++k) {
    integers[k] = ToInteger(values[k], points[k], lowest, highest);
  }
}

// ---- float32 to integers of whole bytes, as most models quantise: in one loop

template <typename T>
BoundKernel BindFloats(const ScaleReader<float>& reader) {
  return {.run = [reader](const KernelArguments& args) {
    reader.ForBlocks(args, [&](std::int64_t first, std::int64_t count, auto scales, auto points) {
      constexpr auto kLowest = static_cast<float>(std::numeric_limits<T>::lowest());
      constexpr auto kHighest = static_cast<float>(std::numeric_limits<T>::max());
      const float* x = args.in<float>(0) + first;
      T* y = args.out<T>(0) + first;
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t k = 0; k < count; ++k) {
        y[k] = static_cast<T>(ToInteger(x[k] / scales[k], points[k], kLowest, kHighest));
      }
    });
  }};
}

// ---- Anything to anything

template <typename P, typename C, bool kIntegers>
void Run(const QuantizePlan<C>& plan, const KernelArguments& args) {
  plan.scales.ForBlocks(args,
                        [&](std::int64_t first, std::int64_t count, auto scales, auto points) {
                          alignas(64) C values[ScaleReader<C>::kBlock];
                          const auto i = static_cast<std::size_t>(first);
                          plan.load(args.inputs[0] + i * plan.load.from_bytes(),
                                    reinterpret_cast<std::byte*>(values), count);
                          Divide<P>(values, scales, count);
                          std::byte* to = args.outputs[0] + i * plan.store.to_bytes();
                          if constexpr (kIntegers) {
                            alignas(64) std::int32_t integers[ScaleReader<C>::kBlock];
                            ToIntegers(values, points, count, plan.range, integers);
                            plan.store(reinterpret_cast<const std::byte*>(integers), to, count);
                          } else {
                            for (std::int64_t k = 0; k < count; ++k) {
                              if (plan.adds_zeros || points[k] != 0) values[k] += points[k];
                            }
                            plan.store(reinterpret_cast<const std::byte*>(values), to, count);
                          }
                        });
}

template <typename P, typename C>
BoundKernel BindPrecision(const KernelCall& call) {
  const TensorType& input = call.inputs[0];
  const ElementType output = call.outputs[0].element;
  const bool is_integer = Contains(kQuantizedIntegers, output);
  const ConvertMode mode{.overflow = FlagAttribute(call, "saturate", true) ? Overflow::kSaturate
                                                                           : Overflow::kSpecial};
  const QuantizePlan<C> plan{
      .scales = ScaleReader<C>::template Bind<kScaleTypes, kQuantizedTypes>(call),
      .load = Converter(input.element, kElementOf<C>),
      .store = Converter(is_integer ? ElementType::kInt32 : kElementOf<C>, output, mode),
      .range = is_integer ? RangeOf(output) : IntegerRange{},
      // In ONNX only floats of 4 bits have zero points that are more than a formality.
      .adds_zeros = output == ElementType::kFloat4E2M1 && InputOrAbsent(call, 2).defined()};
  if (is_integer) {
    return {.run = [plan](const KernelArguments& args) { Run<P, C, true>(plan, args); }};
  }
  return {.run = [plan](const KernelArguments& args) { Run<P, C, false>(plan, args); }};
}

/// The type the division happens in: attribute "precision", else the type of the scales.
ElementType Precision(const KernelCall& call) {
  const std::int64_t given = IntAttribute(call, "precision", 0);
  if (given == 0) return call.inputs[1].element;
  const auto element = static_cast<ElementType>(given);
  Require(given > 0 && given < 32 && Contains(kFloatTypes, element),
          "attribute 'precision' is " + std::to_string(given) +
              ", which is not the number of float32, float64, float16 or bfloat16");
  return element;
}

}  // namespace

BoundKernel BindQuantizeLinear(const KernelCall& call) {
  RequireArity(call, 2, 3);
  const TensorType& input = call.inputs[0];
  const TensorType& scales = call.inputs[1];
  const TensorType& points = InputOrAbsent(call, 2);
  RequireElement(input, kInputTypes, "input 0");
  RequireElement(scales, kScaleTypes, "input 1");
  RequireElement(call.outputs[0], kQuantizedTypes, "output 0");
  RequireType(call.outputs[0], {call.outputs[0].element, input.shape}, "output 0");
  if (points.defined()) RequirePoint(points, call.outputs[0].element, scales, "input 2");
  switch (Precision(call)) {
    case ElementType::kFloat16:
      return BindPrecision<Float16, float>(call);
    case ElementType::kBFloat16:
      return BindPrecision<BFloat16, float>(call);
    case ElementType::kFloat64:
    case ElementType::kInt32:  // the exact quotient decides
      return BindPrecision<double, double>(call);
    default:
      if (input.element == ElementType::kFloat32 &&
          Contains(kByteIntegers, call.outputs[0].element)) {
        const auto reader = ScaleReader<float>::Bind<kScaleTypes, kQuantizedTypes>(call);
        return VisitElement<BoundKernel, kByteIntegers>(
            call.outputs[0].element,
            [&]<typename T>(std::type_identity<T>) { return BindFloats<T>(reader); });
      }
      return BindPrecision<float, float>(call);
  }
}

}  // namespace poprt::kernels
