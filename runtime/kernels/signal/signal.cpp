#include "runtime/kernels/signal/signal.hpp"

#include <array>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {

std::span<const KernelDef> SignalKernels() {
  static constexpr std::array kTable{
      KernelDef{"BlackmanWindow", &GuardedBind<BindBlackmanWindow>},
      KernelDef{"DFT", &GuardedBind<BindDft>},
      KernelDef{"HammingWindow", &GuardedBind<BindHammingWindow>},
      KernelDef{"HannWindow", &GuardedBind<BindHannWindow>},
      KernelDef{"MelWeightMatrix", &GuardedBind<BindMelWeightMatrix>},
      KernelDef{"STFT", &GuardedBind<BindStft>},
  };
  return kTable;
}

}  // namespace poprt::kernels
