#include <algorithm>
#include <cstring>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {

BoundKernel CopyWhole(const TensorType& type) {
  const auto bytes = static_cast<std::int64_t>(type.bytes());
  return {.run = [bytes](const KernelArguments& args) {
    const std::byte* from = args.inputs[0];
    std::byte* to = args.outputs[0];
    if (from == to) return;
    ForRanges(args.pool, bytes, 1 << 17, [=](std::int64_t begin, std::int64_t end, int) {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
  }};
}

BoundKernel BindBitCast(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  const TensorType& output = call.outputs[0];
  RequireType(output, {output.element, input.shape}, "output 0");
  if (PackedBits(input.element) != PackedBits(output.element)) {
    throw KernelError("output 0 is " + ToString(output) +
                      ", whose elements are not of the size of " +
                      std::string(ElementName(input.element)));
  }
  return CopyWhole(input);
}

BoundKernel BindIdentity(const KernelCall& call) {
  // Reshape, Squeeze, ... may still carry the input their output shape was derived from.
  RequireArity(call, 1, 2);
  const TensorType& input = call.inputs[0];
  const TensorType& output = call.outputs[0];
  RequireSameElement(input, output);
  if (RequireCount(input.shape, "the input") != RequireCount(output.shape, "the output")) {
    throw KernelError("output 0 is " + ToString(output) + ", which has not as many elements as " +
                      ToString(input));
  }
  return CopyWhole(input);
}

}  // namespace poprt::kernels
