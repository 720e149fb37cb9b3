#pragma once

#include <array>
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

/// Models that have much to load and little to compute.
namespace testing {

/// The sum of the rows of each input, `rows` x `columns` floats, all added up.
struct LargeInputs {
  std::size_t inputs = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

inline constexpr std::array kModelsWithLargeInputs{
    LargeInputs{4, 2048, 1024}, LargeInputs{1, 2048, 1024}, LargeInputs{16, 256, 256}};

inline std::string Describe(const LargeInputs& model) {
  return std::to_string(model.inputs) + " inputs of " +
         std::to_string(model.rows * model.columns * static_cast<std::int64_t>(sizeof(float)) /
                        1024) +
         " KiB";
}

inline std::shared_ptr<popef::Model> Compile(const LargeInputs& model, std::uint32_t io_tiles) {
  using poprt::program::SlotIndex;
  using poprt::program::Space;
  const poprt::TensorType input{poprt::ElementType::kFloat32, {model.rows, model.columns}};
  const poprt::TensorType sum{poprt::ElementType::kFloat32, {model.rows}};
  poprt::program::Branch branch;
  branch.name = "sums";
  const auto add_slot = [&](const poprt::TensorType& type) {
    branch.slots.push_back({type, Space::kArena, branch.arena_bytes});
    branch.arena_bytes += (type.bytes() + poprt::program::kSlotAlignment - 1) /
                          poprt::program::kSlotAlignment * poprt::program::kSlotAlignment;
    return static_cast<SlotIndex>(branch.slots.size() - 1);
  };
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.engineOptions().emplace_back(poprt::program::kPackageHashOption,
                                        poprt::program::PackageHash());
  const auto add_anchor = [&](const std::string& name, popef::TensorType direction,
                              const poprt::Shape& shape) {
    popef::Anchor& anchor = metadata.anchors().emplace_back();
    anchor.setName(name);
    anchor.setTensorInfo({popef::DataType::F32, shape});
    anchor.setType(direction);
  };
  SlotIndex total = poprt::program::kNoSlot;
  for (std::size_t i = 0; i < model.inputs; ++i) {
    const std::string number = std::to_string(i);
    const SlotIndex x = add_slot(input);
    branch.inputs.push_back({"x" + number, x});
    add_anchor("x" + number, popef::TensorType::INPUT, input.shape);
    const SlotIndex row_sums = add_slot(sum);
    branch.steps.push_back(
        {"sum" + number,
         "ReduceSum",
         {x},
         {row_sums},
         {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}}});
    if (i == 0) {
      total = row_sums;
      continue;
    }
    const SlotIndex next = add_slot(sum);
    branch.steps.push_back({"add" + number, "Add", {total, row_sums}, {next}, {}});
    total = next;
  }
  branch.outputs = {{"y", total}};
  add_anchor("y", popef::TensorType::OUTPUT, sum.shape);
  const poprt::program::Program program{.branches = {branch},
                                        .batches_per_step = 16,
                                        .ipu_version = "ipu2",
                                        .tiles = 1472,
                                        .io_tiles = io_tiles};
  auto file = std::make_shared<std::stringstream>();
  popef::Writer writer(*file);
  writer.write(metadata);
  {
    const auto blob = writer.createExecutable("exe", false);
    const std::string head = poprt::program::SerializeHead(program, 0);
    blob->write(head.data(), head.size());
  }
  writer.close();
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(file);
  return popef::ModelBuilder(reader).createModel();
}

}  // namespace testing
