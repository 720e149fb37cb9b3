#include "runtime/kernels/quantized/quantized.hpp"

#include <array>
#include <limits>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/add_bytes.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/byte_conv2d.hpp"
#include "runtime/kernels/quantized/weight_only_gemm.hpp"

namespace poprt::kernels {

IntegerRange RangeOf(ElementType element) {
  return VisitElement<IntegerRange, kQuantizedIntegers>(
      element, []<typename T>(std::type_identity<T>) -> IntegerRange {
        if constexpr (std::is_integral_v<T>) {
          return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
        } else {
          return {T::kLowest, T::kHighest};
        }
      });
}

void RequirePoint(const TensorType& point, ElementType element, const TensorType& scales,
                  std::string_view what) {
  const bool are_single =
      RequireCount(point.shape, what) == 1 && RequireCount(scales.shape, "the scales") == 1;
  RequireType(point, {element, are_single ? point.shape : scales.shape}, what);
}

std::uint8_t ByteAttribute(const KernelCall& call, std::string_view name) {
  const std::int64_t value = IntAttribute(call, name, -1);
  Require(value >= 0 && value <= std::numeric_limits<std::uint8_t>::max(),
          "attribute '" + std::string(name) + "' is " + std::to_string(value) +
              ", allowed are 0 to 255");
  return static_cast<std::uint8_t>(value);
}

float PointAttribute(const KernelCall& call, std::string_view name) {
  const ElementType element = call.outputs[0].element;
  const IntegerRange range = RangeOf(element);
  const std::int64_t point = IntAttribute(call, name, 0);
  Require(point >= range.lowest && point <= range.highest,
          "attribute '" + std::string(name) + "' is " + std::to_string(point) + ", which is no " +
              std::string(ElementName(element)));
  return static_cast<float>(point);
}

void RequireOne(const TensorType& type, std::string_view what) {
  Require(RequireCount(type.shape, what) == 1,
          std::string(what) + " is " + ToString(type) + ", expected one number");
}

std::int64_t ChannelStride(const TensorType& type, std::int64_t channels, std::string_view what) {
  if (RequireCount(type.shape, what) == 1) return 0;
  Require(type.shape == Shape{channels}, std::string(what) + " is " + ToString(type) +
                                             ", expected one number or " +
                                             std::to_string(channels));
  return 1;
}

namespace {

template <BoundKernel (*kBind)(const KernelCall&, const ByteMicroKernels&)>
BoundKernel BindBest(const KernelCall& call) {
  return kBind(call, BestByteMicroKernels());
}

BoundKernel BindBestWeightOnlyGemm(const KernelCall& call) {
  return BindWeightOnlyGemm(call, BestInnerLoops(), BestByteMicroKernels());
}

}  // namespace

std::span<const KernelDef> QuantizedKernels() {
  static constexpr std::array kTable{
      KernelDef{"ConvInteger", &GuardedBind<BindConvInteger>},
      KernelDef{"DequantizeLinear", &GuardedBind<BindDequantizeLinear>},
      KernelDef{"DynamicQuantizeLinear", &GuardedBind<BindDynamicQuantizeLinear>},
      KernelDef{"MatMulInteger", &GuardedBind<BindMatMulInteger>},
      KernelDef{"QLinearConv", &GuardedBind<BindQLinearConv>},
      KernelDef{"QLinearMatMul", &GuardedBind<BindQLinearMatMul>},
      KernelDef{"QuantizeLinear", &GuardedBind<BindQuantizeLinear>},
      KernelDef{"add_bytes", &GuardedBind<BindBest<BindAddBytes>>},
      KernelDef{"blocked_byte_conv2d", &GuardedBind<BindBest<BindByteConv2d>>},
      KernelDef{"blocked_byte_conv2d_planes", &GuardedBind<BindBest<BindBytePlanesConv2d>>},
      KernelDef{"blocked_byte_depthwise_conv2d", &GuardedBind<BindBest<BindByteDepthwiseConv2d>>},
      KernelDef{"blocked_byte_max_pool", &GuardedBind<BindByteMaxPool>},
      KernelDef{"integer_gemm", &GuardedBind<BindIntegerGemm>},
      KernelDef{"weight_only_gemm", &GuardedBind<BindBestWeightOnlyGemm>},
  };
  return kTable;
}

}  // namespace poprt::kernels
