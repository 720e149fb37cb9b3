#pragma once

#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "popef/Model.hpp"
#include "popef/Writer.hpp"
#include "runtime/program/anchor_type.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

/// Models for the tests of this folder.
namespace model_runtime {

/// The model of a program without weights. Its variables have tensor data of ones, and so have the
/// `inputs_with_data`; all are of float32.
inline std::shared_ptr<popef::Model> ModelOf(
    const poprt::program::Program& program,
    const std::vector<std::pair<std::string, poprt::Shape>>& inputs_with_data = {}) {
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.engineOptions().emplace_back(poprt::program::kPackageHashOption,
                                        poprt::program::PackageHash());
  metadata.programFlow().setLoad({0});
  metadata.programFlow().setMain({1});
  metadata.programFlow().setSave({2});
  const auto add = [&](const std::string& name, const poprt::TensorType& type,
                       popef::TensorType direction, std::uint32_t in) {
    popef::Anchor& anchor = metadata.anchors().emplace_back();
    anchor.setName(name);
    anchor.setTensorInfo({*poprt::program::AnchorDataType(type.element), type.shape});
    anchor.setType(direction);
    anchor.setPrograms({in});
  };
  if (program.branches.size() > 1) {
    add(poprt::program::kIndexInput, {poprt::ElementType::kUint32, {1}}, popef::TensorType::INPUT,
        1);
  }
  for (const poprt::program::Branch& branch : program.branches) {
    for (const auto& stream : branch.inputs) {
      add(stream.name, branch.slots[stream.slot].type, popef::TensorType::INPUT, 1);
    }
    for (const auto& stream : branch.outputs) {
      add(stream.name, branch.slots[stream.slot].type, popef::TensorType::OUTPUT, 1);
    }
  }
  for (const auto& variable : program.variables) {
    add(variable.name, variable.type, popef::TensorType::INPUT, 0);
    add(variable.name, variable.type, popef::TensorType::OUTPUT, 2);
  }
  std::ostringstream out;
  popef::Writer writer(out);
  writer.write(metadata);
  {
    const auto blob = writer.createExecutable("exe", false);
    const std::string head = poprt::program::SerializeHead(program, 0);
    blob->write(head.data(), head.size());
  }
  const auto write_ones = [&](const std::string& name, const poprt::Shape& shape) {
    popef::TensorDataInfo info;
    info.setName(name);
    info.setTensorInfo({popef::DataType::F32, shape});
    const std::vector<float> ones(static_cast<std::size_t>(poprt::ElementCount(shape)), 1.0F);
    writer.writeTensorData(info, std::as_bytes(std::span(ones)));
  };
  for (const auto& variable : program.variables) write_ones(variable.name, variable.type.shape);
  for (const auto& [name, shape] : inputs_with_data) write_ones(name, shape);
  writer.close();
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(std::make_shared<std::istringstream>(out.str()));
  return popef::ModelBuilder(reader).createModel();
}

/// <prefix>y = <prefix>x + the sum of x along `axis`: a row of y tells its own value and what else
/// is in the batch.
inline poprt::program::Branch SumBranch(const std::string& name, const std::string& prefix,
                                        const poprt::Shape& shape, std::size_t axis) {
  using poprt::program::Space;
  const poprt::TensorType type{poprt::ElementType::kFloat32, shape};
  poprt::TensorType sum = type;
  sum.shape[axis] = 1;
  return {
      .name = name,
      .slots = {{type, Space::kArena, 0}, {sum, Space::kArena, 512}, {type, Space::kArena, 1024}},
      .inputs = {{prefix + "x", 0}},
      .outputs = {{prefix + "y", 2}},
      .steps = {{"sum",
                 "ReduceSum",
                 {0},
                 {1},
                 {{"axes", std::vector<std::int64_t>{static_cast<std::int64_t>(axis)}},
                  {"keepdims", std::int64_t{1}}}},
                {"add", "Add", {0, 1}, {2}, {}}},
      .arena_bytes = 1536};
}

inline poprt::program::Program ProgramOf(std::vector<poprt::program::Branch> branches) {
  return {.branches = std::move(branches),
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = 0};
}

}  // namespace model_runtime
