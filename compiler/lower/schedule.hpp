#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::lower {

/// Number of a buffer in its schedule.
using BufferId = std::uint32_t;
/// Stands for an absent optional operand.
inline constexpr BufferId kNoBuffer = 0xFFFFFFFF;

/// Memory of one tensor, not yet placed.
struct Buffer {
  TensorType type;
  std::optional<Tensor> constant;   ///< weights, in the layout the kernel reads
  std::optional<BufferId> view_of;  ///< same bytes as an earlier buffer that is no view itself
};

/// One kernel call. The last word on what runs, but for addresses.
struct Step {
  std::string name;  ///< of the node
  std::string kernel;
  std::vector<BufferId> inputs;
  std::vector<BufferId> outputs;
  Attributes attributes;
};

/// A buffer that users fill or read, under its public name.
struct Stream {
  std::string name;
  BufferId buffer = kNoBuffer;
};

/// One graph as the model device runs it: stream copies in, steps in order, stream copies out.
struct Schedule {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Stream> inputs;
  std::vector<Stream> outputs;
  std::vector<Step> steps;

  /// The buffer whose memory `id` uses: itself unless it is a view.
  BufferId Storage(BufferId id) const { return buffers[id].view_of.value_or(id); }
};

}  // namespace poprt::lower
