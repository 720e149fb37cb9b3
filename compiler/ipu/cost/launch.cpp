#include "compiler/ipu/cost/launch.hpp"

namespace poprt::ipu {

std::uint64_t LaunchCycles(const Target& target, ComputeSetKind kind) {
  return kind == ComputeSetKind::kAmp ? target.amp_launch_cycles : target.compute_set_launch_cycles;
}

std::uint64_t ComputeSetCycles(const Target& target, ComputeSetKind kind,
                               std::uint64_t vertex_cycles) {
  return vertex_cycles + LaunchCycles(target, kind);
}

}  // namespace poprt::ipu
