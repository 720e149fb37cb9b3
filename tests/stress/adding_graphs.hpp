#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
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

/// A fused model. Graph g has the input Name(g, "x") and the output Name(g, "y"), both of
/// lengths[g] floats, and adds Addend(g) to them.
inline std::shared_ptr<popef::Model> AddingGraphs(const std::vector<std::int64_t>& lengths) {
  using poprt::ElementType;
  using poprt::program::kSlotAlignment;
  using poprt::program::Space;
  constexpr std::size_t kFloatsPerSlot = kSlotAlignment / sizeof(float);
  poprt::program::Program program;
  program.ipu_version = "ipu2";
  program.tiles = 1472;
  popef::Metadata metadata;
  metadata.setExecutable("exe");
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
    program.branches.push_back(
        {.name = "graph" + std::to_string(graph),
         .slots = {{type, Space::kArena, 0},
                   {{ElementType::kFloat32, {1}}, Space::kWeights, graph * kSlotAlignment},
                   {type, Space::kArena, bytes}},
         .inputs = {{Name(graph, "x"), 0}},
         .outputs = {{Name(graph, "y"), 2}},
         .steps = {{"add", "Add", {0, 1}, {2}, {}}},
         .arena_bytes = 2 * bytes});
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
