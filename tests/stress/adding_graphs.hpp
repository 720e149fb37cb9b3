#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "popef/Model.hpp"
#include "popef/Writer.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

/// A model as small as models can be, for what is about requests.
namespace testing {

inline float Addend(std::size_t graph) { return static_cast<float>(graph + 1) / 4; }

/// "graph2/x"
inline std::string Name(std::size_t graph, const char* tensor) {
  return "graph" + std::to_string(graph) + "/" + tensor;
}

/// What lets batches of a program overlap.
struct Overlap {
  std::uint32_t stages = 1;  ///< of a pipeline, each on an IPU
  std::uint32_t io_tiles = 0;
};

/// A fused model. Graph g has the input Name(g, "x") and the output Name(g, "y"), both of
/// lengths[g] floats, and adds Addend(g) to them in every stage.
inline std::shared_ptr<popef::Model> AddingGraphs(const std::vector<std::int64_t>& lengths,
                                                  const Overlap& overlap = {}) {
  using poprt::ElementType;
  using poprt::program::kSlotAlignment;
  using poprt::program::Space;
  constexpr std::size_t kFloatsPerSlot = kSlotAlignment / sizeof(float);
  poprt::program::Program program;
  program.ipu_version = "ipu2";
  program.tiles = 1472;
  program.io_tiles = overlap.io_tiles;
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.setNumIpus(overlap.stages);
  metadata.engineOptions().emplace_back(poprt::program::kPackageHashOption,
                                        poprt::program::PackageHash());
  const auto add_anchor = [&](const std::string& name, popef::TensorType direction,
                              popef::DataType type, std::int64_t extent) {
    popef::Anchor& anchor = metadata.anchors().emplace_back();
    anchor.setName(name);
    anchor.setTensorInfo({type, {extent}});
    anchor.setType(direction);
  };
  add_anchor(std::string(poprt::program::kIndexInput), popef::TensorType::INPUT,
             popef::DataType::U32, 1);
  std::vector<float> weights(lengths.size() * kFloatsPerSlot);
  for (std::size_t graph = 0; graph < lengths.size(); ++graph) {
    const poprt::TensorType type{ElementType::kFloat32, {lengths[graph]}};
    const std::uint64_t bytes = (type.bytes() / kSlotAlignment + 1) * kSlotAlignment;
    weights[graph * kFloatsPerSlot] = Addend(graph);
    poprt::program::Branch branch{
        .name = "graph" + std::to_string(graph),
        .slots = {{{ElementType::kFloat32, {1}}, Space::kWeights, graph * kSlotAlignment},
                  {type, Space::kArena, 0}},
        .inputs = {{Name(graph, "x"), 1}},
        .outputs = {{Name(graph, "y"), overlap.stages + 1}},
        .steps = {},
        .arena_bytes = (overlap.stages + 1) * bytes};
    for (std::uint32_t stage = 0; stage < overlap.stages; ++stage) {
      branch.slots.push_back({type, Space::kArena, (stage + 1) * bytes});
      branch.steps.push_back({.name = "add" + std::to_string(stage),
                              .kernel = "Add",
                              .inputs = {stage + 1, 0},
                              .outputs = {stage + 2},
                              .attributes = {},
                              .stage = stage});
    }
    program.branches.push_back(std::move(branch));
    add_anchor(Name(graph, "x"), popef::TensorType::INPUT, popef::DataType::F32, lengths[graph]);
    add_anchor(Name(graph, "y"), popef::TensorType::OUTPUT, popef::DataType::F32, lengths[graph]);
  }
  auto file = std::make_shared<std::stringstream>();
  popef::Writer writer(*file);
  writer.write(metadata);
  const auto blob = writer.createExecutable("exe", false);
  const std::size_t bytes = weights.size() * sizeof(float);
  const std::string head = poprt::program::SerializeHead(program, bytes);
  blob->write(head.data(), head.size());
  blob->write(reinterpret_cast<const char*>(weights.data()), bytes);
  writer.close();
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(file);
  return popef::ModelBuilder(reader).createModel();
}

}  // namespace testing
