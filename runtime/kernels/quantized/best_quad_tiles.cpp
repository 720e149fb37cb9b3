#include "runtime/kernels/quantized/best_quad_tiles.hpp"

#include <vector>

#include "runtime/kernels/instruction_set.hpp"

namespace poprt::kernels {
namespace {

const QuadTiles& TilesFor(InstructionSet set, [[maybe_unused]] bool has_vnni) {
#if defined(__x86_64__)
  if (set == InstructionSet::kAmx && has_vnni) {
    static const QuadTiles amx = Avx512VnniWithAmx();
    return amx;
  }
  if (set >= InstructionSet::kAvx512) return has_vnni ? kAvx512VnniQuadTiles : kAvx512QuadTiles;
  if (set == InstructionSet::kAvx2) return has_vnni ? kAvx2VnniQuadTiles : kAvx2QuadTiles;
#endif
  return kPortableQuadTiles;
}

std::vector<const QuadTiles*> FindSupported() {
  std::vector<const QuadTiles*> supported;
  for (const InstructionSet set : SupportedInstructionSets()) {
    supported.push_back(&TilesFor(set, false));
    if (HasVnni(set)) supported.push_back(&TilesFor(set, true));
  }
  return supported;
}

}  // namespace

std::span<const QuadTiles* const> SupportedQuadTiles() {
  static const std::vector<const QuadTiles*> supported = FindSupported();
  return supported;
}

const QuadTiles& BestQuadTiles() {
  static const QuadTiles& best = TilesFor(BestInstructionSet(), HasVnni(BestInstructionSet()));
  return best;
}

}  // namespace poprt::kernels
