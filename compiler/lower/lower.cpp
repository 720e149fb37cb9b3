#include "compiler/lower/lower.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "compiler/host/select_kernel.hpp"
#include "compiler/ir/control_flow.hpp"
#include "compiler/ir/placement.hpp"
#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/program/program.hpp"

namespace poprt::lower {
namespace {

/// Operators whose output is their first input under another shape or element type.
constexpr std::array<std::string_view, 6> kViews{"BitCast", "Flatten", "Identity",
                                                 "Reshape", "Squeeze", "Unsqueeze"};

/// Lowers one graph, or one region of a node, into a schedule.
class Lowering {
 public:
  /// `where` starts the messages: the model, for a region also the node.
  Lowering(const ir::Graph& graph, std::string where, Schedule& schedule, std::string& problems)
      : graph_(graph), where_(std::move(where)), schedule_(schedule), problems_(problems) {}

  /// `lowered` is told of every node, in their order, once it is not needed any more.
  template <typename Lowered>
  void LowerStreams(std::vector<Weight> weights, const Lowered& lowered) {
    const std::size_t streams = graph_.inputs.size() - weights.size();
    for (std::size_t i = 0; i < streams; ++i) {
      const ir::ValueId id = graph_.inputs[i];
      schedule_.inputs.push_back({graph_.value(id).name, BufferOf(id)});
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const BufferId buffer = BufferOf(graph_.inputs[streams + i]);
      schedule_.buffers[buffer].is_variable = true;
      schedule_.variables.push_back(
          {std::move(weights[i].name), buffer, std::move(weights[i].value)});
    }
    schedule_.steps = LowerNodes(lowered);
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      AddOutput(graph_.output_names[i], graph_.outputs[i]);
    }
    for (const ir::OutputExtent& extent : graph_.extents) {
      schedule_.outputs[extent.output].extent = {static_cast<std::uint32_t>(extent.axis),
                                                 BufferOf(extent.count)};
    }
  }

 private:
  void AddOutput(const std::string& name, ir::ValueId id) {
    if (std::ranges::count(schedule_.inputs, name, &Stream::name) > 0) {
      AddProblem("output '" + name +
                 "' is an input, from which it could not be told by its name; make it an Identity "
                 "of the input, called otherwise");
    }
    schedule_.outputs.push_back({name, BufferOf(id)});
  }

  std::vector<Step> LowerNodes() {
    return LowerNodes([](const ir::Node&) {});
  }

  template <typename Lowered>
  std::vector<Step> LowerNodes(const Lowered& lowered) {
    for (const ir::Node& node : graph_.nodes) {
      if (std::find(kViews.begin(), kViews.end(), node.op) != kViews.end()) {
        AddView(node);
      } else if (node.op == program::kIf) {
        AddIf(node);
      } else if (node.op == program::kLoop) {
        AddLoop(node);
      } else {
        AddStep(node);
      }
      lowered(node);
    }
    return std::move(steps_);
  }

  // ---- Regions ---------------------------------------------------------------------------------

  Lowering RegionOf(const ir::Node& node, std::size_t i) {
    const ir::Graph& region = node.regions[i];
    Lowering inner(region, where_ + ": in " + ir::DescribeRegion(node, i), schedule_, problems_);
    for (std::size_t n = ir::FirstCaptured(node); n < node.inputs.size(); ++n) {
      inner.buffers_[region.inputs[ir::RegionInput(node, n)]] = BufferOf(node.inputs[n]);
    }
    return inner;
  }

  std::vector<BufferId> BuffersOf(const std::vector<ir::ValueId>& ids) {
    std::vector<BufferId> buffers;
    buffers.reserve(ids.size());
    for (ir::ValueId id : ids) buffers.push_back(BufferOf(id));
    return buffers;
  }

  void AddIf(const ir::Node& node) {
    Step step{.name = node.name,
              .kernel = std::string(program::kIf),
              .inputs = {BufferOf(node.inputs[0])},
              .outputs = BuffersOf(node.outputs),
              .attributes = {}};
    for (std::size_t i = 0; i < node.regions.size(); ++i) {
      const std::vector<ir::ValueId>& results = node.regions[i].outputs;
      Lowering inner = RegionOf(node, i);
      inner.ComputeInPlace(step.outputs);
      Body body;
      body.steps = inner.LowerNodes();
      body.outputs = inner.BuffersOf(results);
      step.bodies.push_back(std::move(body));
    }
    Append(node, std::move(step));
  }

  /// Steps that compute an output of the region write it to where it is wanted.
  void ComputeInPlace(const std::vector<BufferId>& targets) {
    for (const ir::Node& node : graph_.nodes) {
      if (std::find(kViews.begin(), kViews.end(), node.op) != kViews.end()) continue;
      for (const ir::ValueId id : node.outputs) {
        const auto first = std::find(graph_.outputs.begin(), graph_.outputs.end(), id);
        if (id == ir::kAbsent || first == graph_.outputs.end()) continue;
        if (std::find(first + 1, graph_.outputs.end(), id) != graph_.outputs.end()) continue;
        const BufferId target = targets[static_cast<std::size_t>(first - graph_.outputs.begin())];
        if (target != kNoBuffer) buffers_[id] = target;
      }
    }
  }

  void AddLoop(const ir::Node& node) {
    const ir::Graph& region = node.regions[0];
    const std::size_t carried = ir::NumCarried(node);
    Step step{.name = node.name,
              .kernel = std::string(program::kLoop),
              .inputs = BuffersOf(
                  {node.inputs.begin(),
                   node.inputs.begin() + static_cast<std::ptrdiff_t>(ir::FirstCaptured(node))}),
              .outputs = BuffersOf(node.outputs),
              .attributes = {}};
    Lowering inner = RegionOf(node, 0);
    Body body;
    for (std::size_t i = 0; i < ir::kLoopControls; ++i) {
      body.inputs.push_back(inner.BufferOf(region.inputs[i]));
    }
    for (std::size_t i = 0; i < carried; ++i) {
      const ir::ValueId id = region.inputs[i + ir::kLoopControls];
      if (step.outputs[i] == kNoBuffer) step.outputs[i] = AddBuffer({.type = region.type(id)});
      inner.buffers_[id] = step.outputs[i];
    }
    body.steps = inner.LowerNodes();
    body.outputs = inner.BuffersOf(region.outputs);
    SaveCarried(step, carried, body);
    step.bodies.push_back(std::move(body));
    Append(node, std::move(step));
  }

  /// The device copies what is carried one by one: a result that is the present state of another
  /// must be somewhere else by then.
  void SaveCarried(const Step& step, std::size_t carried, Body& body) {
    const auto states = step.outputs.begin();
    for (std::size_t i = 0; i < carried; ++i) {
      BufferId& result = body.outputs[i + 1];
      const BufferId storage = schedule_.Storage(result);
      const bool is_state = std::find(states, states + static_cast<std::ptrdiff_t>(carried),
                                      storage) != states + static_cast<std::ptrdiff_t>(carried);
      if (!is_state || storage == step.outputs[i]) continue;
      const BufferId copy = AddBuffer({.type = schedule_.buffers[result].type});
      body.steps.push_back({.name = step.name + "/carried_" + std::to_string(i),
                            .kernel = "Identity",
                            .inputs = {result},
                            .outputs = {copy},
                            .attributes = {}});
      result = copy;
    }
  }

  // ---- Single nodes ----------------------------------------------------------------------------

  BufferId AddBuffer(Buffer buffer) {
    schedule_.buffers.push_back(std::move(buffer));
    return static_cast<BufferId>(schedule_.buffers.size() - 1);
  }

  BufferId BufferOf(ir::ValueId id) {
    if (id == ir::kAbsent) return kNoBuffer;
    const auto [at, added] = buffers_.try_emplace(id, kNoBuffer);
    if (added) {
      const ir::Value& value = graph_.value(id);
      at->second =
          AddBuffer({.type = value.type, .constant = value.constant, .view_of = std::nullopt});
    }
    return at->second;
  }

  BufferId BufferOf(const host::Operand& operand) {
    if (!operand.packed.has_value()) return BufferOf(operand.value);
    return AddBuffer(
        {.type = operand.packed->type(), .constant = operand.packed, .view_of = std::nullopt});
  }

  void AddView(const ir::Node& node) {
    const BufferId source = BufferOf(node.inputs[0]);
    buffers_[node.outputs[0]] = AddBuffer({.type = graph_.type(node.outputs[0]),
                                           .constant = std::nullopt,
                                           .view_of = schedule_.Storage(source)});
  }

  void AddStep(const ir::Node& node) {
    const absl::StatusOr<host::KernelChoice> choice = host::SelectKernel(graph_, node);
    if (!choice.ok()) return Refuse(node, std::string(choice.status().message()));
    Step step{.name = node.name,
              .kernel = choice->kernel,
              .inputs = {},
              .outputs = {},
              .attributes = choice->attributes};
    for (const host::Operand& operand : choice->operands) step.inputs.push_back(BufferOf(operand));
    for (ir::ValueId id : node.outputs) step.outputs.push_back(BufferOf(id));
    Check(node, step);
    Append(node, std::move(step));
  }

  void Append(const ir::Node& node, Step step) {
    step.stage = ir::PlacementOf(node.attributes).stage.value_or(0);
    steps_.push_back(std::move(step));
  }

  /// Binds the step's kernel, for its opinion only: on the operands, on computing in place, and on
  /// block sizes.
  void Check(const ir::Node& node, Step& step) {
    const auto types = [&](const std::vector<BufferId>& ids) {
      std::vector<TensorType> result;
      result.reserve(ids.size());
      for (BufferId id : ids) {
        result.push_back(id == kNoBuffer ? TensorType{} : schedule_.buffers[id].type);
      }
      return result;
    };
    const kernels::KernelDef* kernel = kernels::FindKernel(step.kernel);
    if (kernel == nullptr) return Refuse(node, "the model device has no kernel for it");
    try {
      kernels::BoundKernel bound = kernel->bind({.inputs = types(step.inputs),
                                                 .outputs = types(step.outputs),
                                                 .attributes = step.attributes});
      step.in_place_inputs = std::move(bound.in_place_inputs);
      if (!bound.block_sizes.empty()) {
        step.attributes.set(kernels::kBlockSizes, bound.block_sizes);
      }
    } catch (const std::exception& error) {
      Refuse(node, error.what());
    }
  }

  void Refuse(const ir::Node& node, const std::string& reason) {
    std::string types;
    for (ir::ValueId id : node.inputs) {
      types += (types.empty() ? "" : ", ") + (id == ir::kAbsent ? "-" : ToString(graph_.type(id)));
    }
    AddProblem("node '" + node.name + "' (" + node.op + " of " + types +
               ") cannot be compiled: " + reason);
  }

  void AddProblem(const std::string& problem) {
    if (!problems_.empty()) problems_ += "\n";
    problems_ += where_ + ": " + problem;
  }

  const ir::Graph& graph_;
  std::string where_;
  Schedule& schedule_;
  std::string& problems_;
  std::vector<Step> steps_;
  std::unordered_map<ir::ValueId, BufferId> buffers_;
};

}  // namespace

absl::StatusOr<Schedule> Lower(ir::Graph graph, std::vector<Weight> weights) {
  Schedule schedule{.name = graph.name};
  std::string problems;
  const ir::Uses uses(graph);
  std::vector<int> left;
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    left.push_back(uses.count(static_cast<ir::ValueId>(i)));
  }
  Lowering(graph, graph.name, schedule, problems)
      .LowerStreams(std::move(weights), [&](const ir::Node& node) {
        for (const ir::ValueId id : node.inputs) {
          if (id == ir::kAbsent || --left[static_cast<std::size_t>(id)] > 0) continue;
          graph.value(id).constant.reset();
        }
      });
  if (!problems.empty()) return absl::InvalidArgumentError(problems);
  return schedule;
}

}  // namespace poprt::lower
