#include "session_test_models.hpp"

#include <sstream>
#include <utility>
#include <vector>

#include "popef/Writer.hpp"
#include "runtime/program/anchor_type.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

namespace model_runtime::testing {
namespace {

using poprt::ElementType;
using poprt::TensorType;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Space;

enum ProgramIndex : std::uint32_t { kLoad = 0, kMain = 1, kSave = 2 };

const TensorType kVector{ElementType::kFloat32, {4}};

popef::Anchor AnchorOf(const std::string& name, const TensorType& type, popef::TensorType direction,
                       std::uint32_t program) {
  popef::Anchor anchor;
  anchor.setName(name);
  anchor.setTensorInfo({*poprt::program::AnchorDataType(type.element), type.shape});
  anchor.setType(direction);
  anchor.setPrograms({program});
  return anchor;
}

/// With anchors for everything in the program.
popef::Metadata MetadataOf(const Program& program, bool fused) {
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.engineOptions().emplace_back(poprt::program::kPackageHashOption,
                                        poprt::program::PackageHash());
  metadata.programFlow().setLoad({kLoad});
  metadata.programFlow().setMain({kMain});
  metadata.programFlow().setSave({kSave});
  auto& anchors = metadata.anchors();
  if (fused) {
    anchors.push_back(AnchorOf(poprt::program::kIndexInput, {ElementType::kUint32, {1}},
                               popef::TensorType::INPUT, kMain));
  }
  for (const Branch& branch : program.branches) {
    for (const auto& stream : branch.inputs) {
      anchors.push_back(
          AnchorOf(stream.name, branch.slots[stream.slot].type, popef::TensorType::INPUT, kMain));
    }
    for (const auto& stream : branch.outputs) {
      anchors.push_back(
          AnchorOf(stream.name, branch.slots[stream.slot].type, popef::TensorType::OUTPUT, kMain));
    }
  }
  for (const auto& variable : program.variables) {
    anchors.push_back(AnchorOf(variable.name, variable.type, popef::TensorType::INPUT, kLoad));
    anchors.push_back(AnchorOf(variable.name, variable.type, popef::TensorType::OUTPUT, kSave));
  }
  return metadata;
}

Program ProgramOf(std::vector<Branch> branches) {
  return {.branches = std::move(branches),
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = 0};
}

Branch SumBranch(const std::string& name, const std::string& prefix, const TensorType& type) {
  return {
      .name = name,
      .slots = {{type, Space::kArena, 0}, {type, Space::kArena, 64}, {type, Space::kArena, 128}},
      .inputs = {{prefix + "a", 0}, {prefix + "b", 1}},
      .outputs = {{prefix + "y", 2}},
      .steps = {{"add", "Add", {0, 1}, {2}, {}}},
      .arena_bytes = 192};
}

/// A container in the making.
class Container {
 public:
  Container(const Program& program, const popef::Metadata& metadata) : writer_(out_) {
    writer_.write(metadata);
    const std::string head = poprt::program::SerializeHead(program, 0);
    writer_.createExecutable("exe", false)->write(head.data(), head.size());
  }

  void AddTensor(const std::string& name, const Vector& values) {
    popef::TensorDataInfo info;
    info.setName(name);
    info.setTensorInfo({popef::DataType::F32, {4}});
    writer_.createTensorData(info)->write(values.data(), sizeof(values));
  }

  void AddFeed(const std::string& name, const std::vector<Vector>& values) {
    popef::FeedDataInfo info;
    info.setName(name);
    info.setTensorInfo({popef::DataType::F32, {4}});
    info.setNumTensors(static_cast<std::uint32_t>(values.size()));
    writer_.createFeedData(info)->write(values.data(), values.size() * sizeof(Vector));
  }

  std::shared_ptr<popef::Model> Model() {
    writer_.close();
    auto reader = std::make_shared<popef::Reader>();
    reader->parseStream(std::make_shared<std::istringstream>(out_.str()));
    return popef::ModelBuilder(reader).createModel();
  }

 private:
  std::ostringstream out_;
  popef::Writer writer_;
};

}  // namespace

std::shared_ptr<popef::Model> SumModel(std::uint32_t batches_per_step, bool rows) {
  const TensorType type = rows ? TensorType{ElementType::kFloat32, {2, 2}} : kVector;
  Program program = ProgramOf({SumBranch("model", "", type)});
  program.batches_per_step = batches_per_step;
  return Container(program, MetadataOf(program, false)).Model();
}

std::shared_ptr<popef::Model> FusedModel() {
  const Branch twice{.name = "double",
                     .slots = {{kVector, Space::kArena, 0}, {kVector, Space::kArena, 64}},
                     .inputs = {{"double/x", 0}},
                     .outputs = {{"double/y", 1}},
                     .steps = {{"add", "Add", {0, 0}, {1}, {}}},
                     .arena_bytes = 128};
  const Program program = ProgramOf({SumBranch("sum", "sum/", kVector), twice});
  return Container(program, MetadataOf(program, true)).Model();
}

std::shared_ptr<popef::Model> VariableModel(bool with_data) {
  const Branch branch{.name = "model",
                      .slots = {{kVector, Space::kArena, 0},
                                {kVector, Space::kVariables, 0},
                                {kVector, Space::kArena, 64}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 2}},
                      .steps = {{"add", "Add", {0, 1}, {2}, {}}},
                      .arena_bytes = 128};
  Program program = ProgramOf({branch});
  program.variables = {{"w", kVector, 0}};
  Container container(program, MetadataOf(program, false));
  if (with_data) container.AddTensor("w", {1, 2, 3, 4});
  return container.Model();
}

std::shared_ptr<popef::Model> DataModel() {
  const Program program = ProgramOf({SumBranch("model", "", kVector)});
  Container container(program, MetadataOf(program, false));
  container.AddTensor("a", {1, 2, 3, 4});
  container.AddFeed("b", {{10, 10, 10, 10}, {20, 20, 20, 20}});
  return container.Model();
}

std::shared_ptr<popef::Model> ModelFor(std::uint32_t num_ipus, std::uint32_t ipu_version) {
  const Program program = ProgramOf({SumBranch("model", "", kVector)});
  popef::Metadata metadata = MetadataOf(program, false);
  metadata.setNumIpus(num_ipus);
  metadata.setIpuVersion(ipu_version);
  return Container(program, metadata).Model();
}

std::shared_ptr<popef::Model> PlacesModel() {
  const Branch branch{.name = "model",
                      .slots = {{kVector, Space::kArena, 0},
                                {{ElementType::kInt64, {1, 4}}, Space::kArena, 64},
                                {{ElementType::kInt64, {}}, Space::kArena, 128}},
                      .inputs = {{"x", 0}},
                      .outputs = {{"y", 1, {{1, 2}}}},
                      .steps = {{"find", "NonZero", {0}, {1, 2}, {}}},
                      .arena_bytes = 192};
  const Program program = ProgramOf({branch});
  return Container(program, MetadataOf(program, false)).Model();
}

}  // namespace model_runtime::testing
