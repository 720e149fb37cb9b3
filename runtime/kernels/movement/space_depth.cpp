#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/movement/strided_copy.hpp"
#include "runtime/kernels/movement/subpixel_shuffle.hpp"

namespace poprt::kernels {
namespace {

std::int64_t ReadBlock(const KernelCall& call) {
  RequireArity(call, 1, 1);
  RequireSameElement(call.inputs[0], call.outputs[0]);
  Require(call.inputs[0].shape.size() == 4,
          "input 0 is " + ToString(call.inputs[0]) + ", expected rank 4");
  RequireCount(call.inputs[0].shape, "the input");
  const std::int64_t block = call.attributes.get_int("blocksize", 0);
  constexpr std::int64_t kMaxBlock = 1 << 20;
  if (block < 1 || block > kMaxBlock) {
    throw KernelError("attribute 'blocksize' is " + std::to_string(block) + ", allowed are 1 to " +
                      std::to_string(kMaxBlock));
  }
  return block;
}

void RequireMultiple(std::int64_t extent, std::int64_t of, std::size_t axis) {
  if (extent % of == 0) return;
  throw KernelError("axis " + std::to_string(axis) + " has extent " + std::to_string(extent) +
                    ", which is not a multiple of " + std::to_string(of));
}

BoundKernel Rearrange(const KernelCall& call, const Shape& split, const Ints& order,
                      const Shape& output) {
  RequireCount(output, "the output");
  RequireType(call.outputs[0], {call.inputs[0].element, output}, "output 0");
  const StridedCopy copy(Permute(split, order), ElementSize(call.inputs[0].element));
  return {.run = [copy](const KernelArguments& args) {
    copy.Run(args.inputs[0], args.outputs[0], args.pool);
  }};
}

std::int64_t Product(std::int64_t extent, std::int64_t factor) {
  std::int64_t product = 0;
  Require(!__builtin_mul_overflow(extent, factor, &product), "the output is too large");
  return product;
}

}  // namespace

BoundKernel BindDepthToSpace(const KernelCall& call) {
  const std::int64_t b = ReadBlock(call);
  const Shape& in = call.inputs[0].shape;
  RequireMultiple(in[1], b * b, 1);
  const std::int64_t depth = in[1] / (b * b);
  const Shape output{in[0], depth, Product(in[2], b), Product(in[3], b)};
  const std::string mode = call.attributes.get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    throw KernelError("attribute 'mode' is \"" + mode + "\", allowed are DCR and CRD");
  }
  RequireCount(output, "the output");
  RequireType(call.outputs[0], {call.inputs[0].element, output}, "output 0");
  // In mode DCR neighbouring channels of the input are neighbouring channels of the output.
  const bool phases_inside = mode == "CRD";
  const std::int64_t phase_planes = phases_inside ? 1 : depth;
  return BindShuffle({.batch = in[0],
                      .channels = depth,
                      .in_height = in[2],
                      .in_width = in[3],
                      .out_height = output[2],
                      .out_width = output[3],
                      .block_height = b,
                      .block_width = b,
                      .channel_planes = phases_inside ? b * b : 1,
                      .block_row_planes = b * phase_planes,
                      .phase_step = phase_planes * in[2] * in[3]},
                     call.inputs[0].element);
}

BoundKernel BindSpaceToDepth(const KernelCall& call) {
  const std::int64_t b = ReadBlock(call);
  const Shape& in = call.inputs[0].shape;
  RequireMultiple(in[2], b, 2);
  RequireMultiple(in[3], b, 3);
  return Rearrange(call, {in[0], in[1], in[2] / b, b, in[3] / b, b}, {0, 3, 5, 1, 2, 4},
                   {in[0], Product(in[1], b * b), in[2] / b, in[3] / b});
}

}  // namespace poprt::kernels
