#include "runtime/poprt_runtime/test_containers.hpp"

#include <array>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "popef/Writer.hpp"
#include "runtime/program/anchor_type.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

namespace poprt::runtime::test {
namespace {

using program::Branch;
using program::Program;
using program::Space;

constexpr std::uint64_t kWeightBytes = 64;

void AddAnchor(const Branch& branch, const program::Stream& stream, popef::TensorType direction,
               popef::Metadata& metadata) {
  const TensorType& type = branch.slots[stream.slot].type;
  popef::Anchor& anchor = metadata.anchors().emplace_back();
  anchor.setName(stream.name);
  anchor.setTensorInfo({*program::AnchorDataType(type.element), type.shape});
  anchor.setType(direction);
  anchor.setPrograms({1});
}

/// Each variable is (1, 2, 3, 4), an anchor of the load and the save program.
void AddVariable(const program::Variable& variable, popef::Metadata& metadata) {
  for (const auto& [direction, number] :
       {std::pair{popef::TensorType::INPUT, 0U}, std::pair{popef::TensorType::OUTPUT, 2U}}) {
    popef::Anchor& anchor = metadata.anchors().emplace_back();
    anchor.setName(variable.name);
    anchor.setTensorInfo({popef::DataType::F32, variable.type.shape});
    anchor.setType(direction);
    anchor.setPrograms({number});
  }
}

void WriteTensorData(const program::Variable& variable, popef::Writer& writer) {
  popef::TensorDataInfo info;
  info.setName(variable.name);
  info.setTensorInfo({popef::DataType::F32, variable.type.shape});
  const std::array<float, 4> values{1, 2, 3, 4};
  writer.writeTensorData(info, std::as_bytes(std::span(values)));
}

/// The weights are 0.
std::shared_ptr<popef::Model> ModelOf(Branch branch,
                                      std::vector<program::Variable> variables = {}) {
  Program program;
  program.ipu_version = "ipu21";
  program.tiles = 1472;
  program.branches.push_back(std::move(branch));
  program.variables = std::move(variables);
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.engineOptions().emplace_back(program::kPackageHashOption, program::PackageHash());
  const Branch& only = program.branches[0];
  for (const auto& stream : only.inputs) {
    AddAnchor(only, stream, popef::TensorType::INPUT, metadata);
  }
  for (const auto& stream : only.outputs) {
    AddAnchor(only, stream, popef::TensorType::OUTPUT, metadata);
  }
  metadata.programFlow().setLoad({0});
  metadata.programFlow().setMain({1});
  metadata.programFlow().setSave({2});
  for (const program::Variable& variable : program.variables) AddVariable(variable, metadata);
  std::ostringstream out;
  popef::Writer writer(out);
  writer.write(metadata);
  const auto blob = writer.createExecutable("exe", false);
  const std::string head = program::SerializeHead(program, kWeightBytes);
  blob->write(head.data(), head.size());
  const std::string weights(kWeightBytes, '\0');
  blob->write(weights.data(), weights.size());
  for (const program::Variable& variable : program.variables) WriteTensorData(variable, writer);
  writer.close();
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(std::make_shared<std::istringstream>(out.str()));
  return popef::ModelBuilder(reader).createModel();
}

}  // namespace

std::shared_ptr<popef::Model> CopyModel(std::int64_t rows, std::int64_t length) {
  Branch branch;
  branch.name = "copy";
  branch.slots = {{{ElementType::kFloat32, {rows, length}}, Space::kArena, 0}};
  branch.inputs = {{"x", 0}};
  branch.outputs = {{"y", 0}};
  branch.arena_bytes = 4096;
  return ModelOf(std::move(branch));
}

std::shared_ptr<popef::Model> RowSumModel(std::int64_t rows, std::int64_t length) {
  const TensorType type{ElementType::kFloat32, {rows, length}};
  Branch branch;
  branch.name = "row_sum";
  branch.slots = {{type, Space::kArena, 0},
                  {{ElementType::kFloat32, {rows, 1}}, Space::kArena, 1024},
                  {{ElementType::kFloat32, {1, 1}}, Space::kWeights, 0},
                  {type, Space::kArena, 2048},
                  {type, Space::kArena, 3072}};
  branch.inputs = {{"x", 0}};
  branch.outputs = {{"y", 4}};
  Attributes sum;
  sum.set("axes", std::vector<std::int64_t>{1});
  sum.set("keepdims", std::int64_t{1});
  // x * 0 + sum: the sum for every token.
  branch.steps = {{"sum", "ReduceSum", {0}, {1}, sum},
                  {"zeros", "Mul", {0, 2}, {3}, {}},
                  {"spread", "Add", {3, 1}, {4}, {}}};
  branch.arena_bytes = 4096;
  return ModelOf(std::move(branch));
}

std::shared_ptr<popef::Model> VariableModel() {
  const TensorType type{ElementType::kFloat32, {4}};
  Branch branch;
  branch.name = "scale";
  branch.slots = {
      {type, Space::kArena, 0}, {type, Space::kVariables, 0}, {type, Space::kArena, 64}};
  branch.inputs = {{"x", 0}};
  branch.outputs = {{"y", 2}};
  branch.steps = {{"mul", "Mul", {0, 1}, {2}, {}}};
  branch.arena_bytes = 128;
  return ModelOf(std::move(branch), {{"w", type, 0}});
}

}  // namespace poprt::runtime::test
