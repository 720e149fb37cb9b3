#pragma once

#include "compiler/ipu/plan/plan.hpp"
#include "compiler/ipu/plan/step_builder.hpp"

namespace poprt::ipu {

/// The load of inputs and the store of outputs (section 5.1). Stream copies have the cycles of the
/// tiles' side; the time of the host is Performance's.
class HostSteps {
 public:
  HostSteps(StepBuilder& steps, TilePartition partition) : steps_(steps), partition_(partition) {}

  /// Where the host writes and reads a tensor: I/O tiles when there are any, else where it is.
  TileMapping Buffer(const TensorPlan& tensor) const;

  /// Steps from the host to the tensors that compute tiles read.
  void Load(const std::vector<const TensorPlan*>& tensors);
  void Store(const std::vector<const TensorPlan*>& tensors);

 private:
  /// Bytes on the fullest tile.
  struct Traffic {
    std::uint64_t buffer_bytes = 0;
    std::uint64_t compute_bytes = 0;
  };
  Traffic Sum(const std::vector<const TensorPlan*>& tensors) const;
  TileRange BufferTiles() const;
  void Stream(const char* name, Phase phase, std::uint64_t bytes);

  StepBuilder& steps_;
  TilePartition partition_;
};

}  // namespace poprt::ipu
