#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
  TensorType type = {};
  std::optional<Tensor> constant = {};   ///< weights, in the layout the kernel reads
  std::optional<BufferId> view_of = {};  ///< bytes of another buffer, one that is no view itself
  std::uint64_t view_offset = 0;         ///< where in the other, a multiple of kSlotAlignment
  bool is_variable = false;              ///< what the load program fills

  /// Whether it is in the arena and no view.
  bool is_activation() const { return !constant && !is_variable && !view_of; }
};

struct Step;

/// Steps inside a step, on the buffers of the schedule: program::Body says how they run.
struct Body {
  std::vector<BufferId> inputs;
  std::vector<BufferId> outputs;
  std::vector<Step> steps;
};

/// One kernel call, or a choice or repetition of steps. The last word on what runs, but for
/// addresses.
struct Step {
  std::string name;  ///< of the node
  std::string kernel;
  std::vector<BufferId> inputs;
  std::vector<BufferId> outputs;
  Attributes attributes;
  std::vector<Body> bodies = {};
  std::vector<std::size_t> in_place_inputs = {};  ///< see kernels::BoundKernel
  std::uint32_t stage = 0;                        ///< see program::Step
};

/// Where the true extent of an output stands: see program::StreamExtent.
struct StreamExtent {
  std::uint32_t axis = 0;
  BufferId buffer = kNoBuffer;
};

/// A buffer that users fill or read, under its public name.
struct Stream {
  std::string name;
  BufferId buffer = kNoBuffer;
  std::optional<StreamExtent> extent = {};
};

/// A weight that the load program fills: see program::Variable.
struct Variable {
  std::string name;
  BufferId buffer = kNoBuffer;
  Tensor value;  ///< what the container has for it
};

/// One graph as the model device runs it: stream copies in, steps in order, stream copies out.
struct Schedule {
  std::string name;
  std::vector<Buffer> buffers = {};
  std::vector<Stream> inputs = {};
  std::vector<Stream> outputs = {};
  std::vector<Step> steps = {};
  std::vector<Variable> variables = {};

  /// The buffer in whose memory `id` is: itself unless it is a view.
  BufferId Storage(BufferId id) const { return buffers[id].view_of.value_or(id); }
};

/// What the steps and the steps inside them read.
inline void AppendBuffersRead(std::span<const Step> steps, std::vector<BufferId>& read) {
  for (const Step& step : steps) {
    read.insert(read.end(), step.inputs.begin(), step.inputs.end());
    for (const Body& body : step.bodies) {
      AppendBuffersRead(body.steps, read);
      read.insert(read.end(), body.outputs.begin(), body.outputs.end());
    }
  }
}

/// What the steps and the steps inside them write.
inline void AppendBuffersWritten(std::span<const Step> steps, std::vector<BufferId>& written) {
  for (const Step& step : steps) {
    written.insert(written.end(), step.outputs.begin(), step.outputs.end());
    for (const Body& body : step.bodies) {
      written.insert(written.end(), body.inputs.begin(), body.inputs.end());
      AppendBuffersWritten(body.steps, written);
    }
  }
}

/// What steps, also those inside steps, and output streams read, in their order. May hold a buffer
/// many times, and kNoBuffer.
inline std::vector<BufferId> BuffersRead(const Schedule& schedule) {
  std::vector<BufferId> read;
  AppendBuffersRead(schedule.steps, read);
  for (const Stream& output : schedule.outputs) {
    read.push_back(output.buffer);
    if (output.extent) read.push_back(output.extent->buffer);
  }
  return read;
}

}  // namespace poprt::lower
