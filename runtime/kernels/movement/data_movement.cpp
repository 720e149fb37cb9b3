#include "runtime/kernels/movement/data_movement.hpp"

#include <array>
#include <string>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/subpixel_shuffle.hpp"

namespace poprt::kernels {

std::size_t RequireSameElement(const TensorType& input, const TensorType& output) {
  const std::size_t size = ElementSize(input.element);
  if (size == 0 || input.element != output.element) {
    throw KernelError("the output's element type is " + std::string(ElementName(output.element)) +
                      ", expected " + std::string(ElementName(input.element)) +
                      " like the input's");
  }
  return size;
}

std::span<const KernelDef> DataMovementKernels() {
  static constexpr std::array kTable{
      KernelDef{"BitCast", &GuardedBind<BindBitCast>},
      KernelDef{"Concat", &GuardedBind<BindConcat>},
      KernelDef{"DepthToSpace", &GuardedBind<BindDepthToSpace>},
      KernelDef{"Expand", &GuardedBind<BindExpand>},
      KernelDef{"Flatten", &GuardedBind<BindIdentity>},
      KernelDef{"Identity", &GuardedBind<BindIdentity>},
      KernelDef{"Pad", &GuardedBind<BindPad>},
      KernelDef{"Reshape", &GuardedBind<BindIdentity>},
      KernelDef{"ReverseSequence", &GuardedBind<BindReverseSequence>},
      KernelDef{"Slice", &GuardedBind<BindSlice>},
      KernelDef{"SpaceToDepth", &GuardedBind<BindSpaceToDepth>},
      KernelDef{"Split", &GuardedBind<BindSplit>},
      KernelDef{"Squeeze", &GuardedBind<BindIdentity>},
      KernelDef{"Tile", &GuardedBind<BindTile>},
      KernelDef{"Transpose", &GuardedBind<BindTranspose>},
      KernelDef{"Unsqueeze", &GuardedBind<BindIdentity>},
      KernelDef{"subpixel_shuffle", &GuardedBind<BindSubpixelShuffle>},
  };
  return kTable;
}

}  // namespace poprt::kernels
