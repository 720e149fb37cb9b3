#include "runtime/kernels/window/convolution.hpp"

#include <array>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {

ConvolutionOperands CheckConvolution(const KernelCall& call, bool transposed) {
  RequireArity(call, 2, 3);
  const TensorType& data = call.inputs[0];
  const TensorType& weights = call.inputs[1];
  RequireElement(data, kFloatTypes, "input 0");
  RequireCount(data.shape, "input 0");
  RequireCount(weights.shape, "input 1");
  const std::size_t rank = data.shape.size();
  Require(rank >= 3, "input 0 is " + ToString(data) + ", expected rank 3 or more");
  if (weights.element != data.element || weights.shape.size() != rank) {
    throw KernelError("input 1 is " + ToString(weights) + ", expected " +
                      std::string(ElementName(data.element)) + " of rank " + std::to_string(rank));
  }
  ConvolutionOperands found;
  found.batch = data.shape[0];
  found.in_channels = data.shape[1];
  found.groups = IntAttribute(call, "group", 1);
  Require(found.groups >= 1,
          "attribute 'group' is " + std::to_string(found.groups) + ", allowed are numbers >= 1");
  const std::int64_t outside = weights.shape[0];
  const std::int64_t inside = weights.shape[1];
  // The weights' second axis holds the channels of one group.
  const bool fits = transposed ? outside == found.in_channels && outside % found.groups == 0
                               : found.in_channels % found.groups == 0 &&
                                     found.in_channels / found.groups == inside &&
                                     outside % found.groups == 0;
  if (!fits) {
    throw KernelError("weights " + ToString(weights) + " do not fit data " + ToString(data) +
                      " in " + std::to_string(found.groups) + " groups");
  }
  found.out_channels = outside;
  if (transposed && __builtin_mul_overflow(inside, found.groups, &found.out_channels)) {
    throw KernelError("attribute 'group' is " + std::to_string(found.groups) +
                      ", which makes too many output channels");
  }
  const TensorType& bias = InputOrAbsent(call, 2);
  if (bias.defined()) RequireType(bias, {data.element, {found.out_channels}}, "input 2");
  found.input_spatial.assign(data.shape.begin() + 2, data.shape.end());
  found.kernel.assign(weights.shape.begin() + 2, weights.shape.end());
  const Ints stated = IntsAttribute(call, "kernel_shape");
  Require(stated.empty() || stated == found.kernel, "attribute 'kernel_shape' is " +
                                                        ToString(stated) + ", the weights have " +
                                                        ToString(found.kernel));
  return found;
}

std::span<const KernelDef> ConvolutionKernels() {
  static constexpr std::array kTable{
      KernelDef{"Conv", &GuardedBind<BindConv>},
      KernelDef{"ConvTranspose", &GuardedBind<BindConvTranspose>},
  };
  return kTable;
}

}  // namespace poprt::kernels
