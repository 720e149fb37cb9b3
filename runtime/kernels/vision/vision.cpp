#include "runtime/kernels/vision/vision.hpp"

#include <array>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {

std::span<const KernelDef> VisionKernels() {
  static constexpr std::array kTable{
      KernelDef{"Col2Im", &GuardedBind<BindCol2Im>},
      KernelDef{"DeformConv", &GuardedBind<BindDeformConv>},
      KernelDef{"GridSample", &GuardedBind<BindGridSample>},
      KernelDef{"MaxRoiPool", &GuardedBind<BindMaxRoiPool>},
      KernelDef{"MaxUnpool", &GuardedBind<BindMaxUnpool>},
      KernelDef{"RoiAlign", &GuardedBind<BindRoiAlign>},
  };
  return kTable;
}

}  // namespace poprt::kernels
