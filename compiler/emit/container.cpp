#include "compiler/emit/container.hpp"

#include <array>
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/program/anchor_type.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

namespace poprt::emit {
namespace {

using program::Branch;
using program::Stream;

/// Programs as the original producers number them: load once, main for every step, save on request.
enum ProgramIndex : std::uint32_t { kLoad = 0, kMain = 1, kSave = 2 };

popef::Anchor MakeAnchor(const std::string& name, popef::DataType type, const Shape& shape,
                         popef::TensorType direction, ProgramIndex program = kMain) {
  const char* const output_handle = program == kSave ? "weight_d2h_" : "anchor_d2h_";
  popef::Anchor anchor;
  anchor.setName(name);
  anchor.setHandle((direction == popef::TensorType::INPUT ? "h2d_" : output_handle) + name);
  anchor.setTensorInfo(popef::TensorInfo(type, shape));
  anchor.setPrograms({program});
  anchor.setType(direction);
  return anchor;
}

absl::Status AddAnchors(const Branch& branch, const std::vector<Stream>& streams,
                        popef::TensorType direction, std::vector<popef::Anchor>& anchors) {
  std::string problems;
  for (const Stream& stream : streams) {
    const TensorType& type = branch.slots[stream.slot].type;
    const auto data_type = program::AnchorDataType(type.element);
    if (data_type.has_value()) {
      anchors.push_back(MakeAnchor(stream.name, *data_type, type.shape, direction));
    } else {
      absl::StrAppend(&problems, problems.empty() ? "" : "\n", "'", stream.name, "' is ",
                      ToString(type), ", which no input or output can be: add a Cast");
    }
  }
  return problems.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problems);
}

absl::Status AddVariableAnchors(const std::vector<program::Variable>& variables,
                                std::vector<popef::Anchor>& anchors) {
  std::string problems;
  for (const program::Variable& variable : variables) {
    const auto type = program::AnchorDataType(variable.type.element);
    if (!type.has_value()) {
      absl::StrAppend(&problems, problems.empty() ? "" : "\n", "'", variable.name, "' is ",
                      ToString(variable.type), ", which no variable can be");
      continue;
    }
    anchors.push_back(
        MakeAnchor(variable.name, *type, variable.type.shape, popef::TensorType::INPUT, kLoad));
    anchors.push_back(
        MakeAnchor(variable.name, *type, variable.type.shape, popef::TensorType::OUTPUT, kSave));
  }
  return problems.empty() ? absl::OkStatus() : absl::InvalidArgumentError(problems);
}

absl::StatusOr<std::vector<popef::Anchor>> MakeAnchors(const Container& container) {
  std::vector<popef::Anchor> anchors;
  if (container.fused) {
    anchors.push_back(
        MakeAnchor(program::kIndexInput, popef::DataType::U32, {1}, popef::TensorType::INPUT));
  }
  for (const Branch& branch : container.program.branches) {
    for (const absl::Status& status :
         {AddAnchors(branch, branch.inputs, popef::TensorType::INPUT, anchors),
          AddAnchors(branch, branch.outputs, popef::TensorType::OUTPUT, anchors)}) {
      if (!status.ok()) return status;
    }
  }
  const absl::Status status = AddVariableAnchors(container.program.variables, anchors);
  if (!status.ok()) return status;
  return anchors;
}

std::uint32_t VersionNumber(const std::string& ipu_version) {
  return static_cast<std::uint32_t>(std::stoul(ipu_version.substr(std::string("ipu").size())));
}

popef::Metadata MakeMetadata(const Container& container, const std::string& executable,
                             std::vector<popef::Anchor> anchors) {
  popef::Metadata metadata;
  metadata.setExecutable(executable);
  metadata.setIpuVersion(VersionNumber(container.program.ipu_version));
  metadata.setNumIpus(container.num_ipus);
  metadata.setIsInference(true);
  metadata.setAnchors(anchors);
  metadata.programFlow().setLoad({kLoad});
  metadata.programFlow().setMain({kMain});
  metadata.programFlow().setSave({kSave});
  metadata.setProgramsMap(
      {{kLoad, "load_program"}, {kMain, "main_program"}, {kSave, "save_program"}});
  metadata.setDeviceIterations(container.program.batches_per_step);
  metadata.setEngineOptions(container.engine_options);
  metadata.engineOptions().emplace_back(program::kPackageHashOption, program::PackageHash());
  metadata.setDeviceOptions(container.device_options);
  return metadata;
}

std::string FusionDescription(const program::Program& program) {
  nlohmann::ordered_json graphs = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < program.branches.size(); ++i) {
    const Branch& branch = program.branches[i];
    nlohmann::ordered_json graph{{"index", i}, {"name", branch.name}};
    for (const auto& [key, streams] :
         {std::pair{"inputs", &branch.inputs}, std::pair{"outputs", &branch.outputs}}) {
      graph[key] = nlohmann::ordered_json::array();
      for (const Stream& stream : *streams) graph[key].push_back(stream.name);
    }
    graphs.push_back(std::move(graph));
  }
  return nlohmann::ordered_json{{"version", 1}, {"graphs", graphs}}.dump(2) + "\n";
}

/// Hash of program and weights: equal models have executables of equal name.
std::string ExecutableName(const std::string& head, const host::WeightsPlan& weights) {
  std::uint64_t hash = XXH3_64bits(head.data(), head.size());
  for (const auto& [offset, piece] : weights.pieces) {
    hash = XXH3_64bits_withSeed(piece.data(), piece.bytes(), hash);
  }
  return absl::StrFormat("%016x", hash);
}

/// Head and weights with what is between them, in place.
std::vector<std::span<const std::byte>> PayloadPieces(const std::string& head,
                                                      const host::WeightsPlan& weights) {
  static constexpr std::array<std::byte, program::kSlotAlignment> zeros{};
  std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(head))};
  std::uint64_t end = 0;
  const auto fill_to = [&](std::uint64_t offset) {
    if (offset > end) pieces.push_back(std::span(zeros).first(offset - end));
  };
  for (const auto& [offset, piece] : weights.pieces) {
    fill_to(offset);
    pieces.emplace_back(piece.data(), piece.bytes());
    end = offset + piece.bytes();
  }
  fill_to(weights.bytes);
  return pieces;
}

void WriteOpaque(const std::string& name, const std::string& content, const std::string& executable,
                 popef::Writer& writer) {
  const auto blob = writer.createOpaqueBlob(name, executable);
  blob->write(content.data(), content.size());
  blob->close();
}

void WriteVariables(const Container& container, popef::Writer& writer) {
  for (std::size_t i = 0; i < container.variables.size(); ++i) {
    const program::Variable& variable = container.program.variables[i];
    const Tensor& value = container.variables[i];
    popef::TensorDataInfo info;
    info.setName(variable.name);
    info.setTensorInfo(
        popef::TensorInfo(*program::AnchorDataType(variable.type.element), variable.type.shape));
    writer.writeTensorData(info, {value.data(), value.bytes()});
  }
}

}  // namespace

absl::Status WriteContainer(const Container& container, popef::Writer& writer) {
  absl::StatusOr<std::vector<popef::Anchor>> anchors = MakeAnchors(container);
  if (!anchors.ok()) return anchors.status();
  try {
    const host::WeightsPlan& weights = *container.weights;
    const std::string head = program::SerializeHead(container.program, weights.bytes);
    const std::string name = ExecutableName(head, weights);
    writer.write(MakeMetadata(container, name, *std::move(anchors)));
    writer.writeExecutable(name, PayloadPieces(head, weights));
    if (container.fused) {
      WriteOpaque(program::kFusionBlob, FusionDescription(container.program), name, writer);
    }
    WriteOpaque(program::kIpuPlanBlob, container.ipu_plan, name, writer);
    for (const auto& [key, content] : container.opaque_blobs) {
      WriteOpaque(key, content, name, writer);
    }
    WriteVariables(container, writer);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("cannot write the container: ", error.what()));
  }
  return absl::OkStatus();
}

}  // namespace poprt::emit
