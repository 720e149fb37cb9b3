#include "tools/popef_dump/json_dump.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <type_traits>

#include "popef/Format.hpp"
#include "tools/popef_dump/branch_weights.hpp"
#include "tools/popef_dump/open_axes.hpp"

namespace poprt::dump {
namespace {

using Json = nlohmann::ordered_json;

template <typename Items, typename Convert>
Json Array(const Items& items, const Convert& convert) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(convert(item));
  return array;
}

// JSON has no 64-bit integers that every reader keeps whole, and no hexadecimal ones.
std::string Hash(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

/// Adds type, shape and bytes, null if they are not known.
Json WithType(Json object, const popef::TensorInfo& info) {
  const bool known = info.hasDataType();
  object["type"] = known ? Json(fmt::format("{}", info.dataType())) : Json();
  object["shape"] = known ? Json(info.shape()) : Json();
  object["bytes"] = known ? Json(info.sizeInBytes()) : Json();
  return object;
}

// ---- metadata --------------------------------------------------------------------------------

Json OptionJson(const popef::Option& option) {
  return {{"name", option.name()}, {"value", option.value()}};
}

Json AnchorJson(const popef::Anchor& anchor, const OpenAxes& open_axes) {
  Json object = WithType({{"name", anchor.name()}, {"direction", fmt::format("{}", anchor.type())}},
                         anchor.tensorInfo());
  object["programs"] = anchor.programs();
  object["handle"] = anchor.handle();
  object["per_replica"] = anchor.isPerReplica();
  object["remote_buffers"] = anchor.useRemoteBuffers();
  object["repeats"] = anchor.repeats();
  const auto open = open_axes.find(anchor.name());
  if (open != open_axes.end() && anchor.type() == popef::TensorType::OUTPUT) {
    object["open_axis"] = open->second;
  }
  return object;
}

Json MetadataJson(const Contents& contents, const popef::Metadata& metadata) {
  const OpenAxes open_axes = OpenAxesOf(contents, metadata.executable());
  const popef::ProgramFlow& flow = metadata.programFlow();
  const std::map names(metadata.programsMap().begin(), metadata.programsMap().end());
  return {{"executable", metadata.executable()},
          {"ipu_version", metadata.ipuVersion()},
          {"num_ipus", metadata.numIpus()},
          {"replication_factor", metadata.replicationFactor()},
          {"num_processes", metadata.numProcesses()},
          {"pod", metadata.isPOD()},
          {"inference", metadata.isInference()},
          {"batches_per_step", metadata.deviceIterations()},
          {"seed_handle", metadata.seedHandle()},
          {"program_flow", {{"load", flow.load()}, {"main", flow.main()}, {"save", flow.save()}}},
          {"programs", Array(names,
                             [](const auto& entry) {
                               return Json{{"index", entry.first}, {"name", entry.second}};
                             })},
          {"engine_options", Array(metadata.engineOptions(), OptionJson)},
          {"device_options", Array(metadata.deviceOptions(), OptionJson)},
          {"anchors", Array(metadata.anchors(), [&](const popef::Anchor& anchor) {
             return AnchorJson(anchor, open_axes);
           })}};
}

// ---- payloads --------------------------------------------------------------------------------

Json OpaqueJson(const Opaque& opaque, const Selection& selection) {
  Json object{{"name", opaque.name}, {"executable", opaque.executable}, {"bytes", opaque.bytes}};
  if (opaque.plan.has_value() && selection.plan) object["plan"] = opaque.plan->json;
  if (!opaque.graphs.has_value()) return object;
  object["graphs"] = Array(*opaque.graphs, [](const FusedGraph& graph) {
    return Json{{"index", graph.index},
                {"name", graph.name},
                {"inputs", graph.inputs},
                {"outputs", graph.outputs}};
  });
  return object;
}

Json FeedJson(const popef::FeedReader& feed) {
  Json object = WithType({{"name", feed.info.name()}}, feed.info.tensorInfo());
  object["tensors"] = feed.info.numTensors();
  return object;
}

// JSON cannot write infinities and NaN: they become the texts "inf", "-inf", "nan".
Json ScalarJson(float value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}
Json ScalarJson(std::int64_t value) { return value; }
Json ScalarJson(const std::string& value) { return value; }

Json AttributeJson(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return held;
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return ToString(held.type());
        } else if constexpr (std::is_arithmetic_v<T>) {
          return ScalarJson(held);
        } else {
          return Array(held, [](const auto& item) { return ScalarJson(item); });
        }
      },
      value);
}

Json StepJson(const program::Step& step) {
  const auto operand = [](program::SlotIndex index) {
    return index == program::kNoSlot ? Json() : Json(index);
  };
  Json attributes = Json::object();
  for (const auto& [name, value] : step.attributes.entries()) {
    attributes[name] = AttributeJson(value);
  }
  Json object{{"name", step.name},
              {"kernel", step.kernel},
              {"inputs", Array(step.inputs, operand)},
              {"outputs", Array(step.outputs, operand)},
              {"attributes", std::move(attributes)}};
  const auto body_json = [&](const program::Body& body) {
    return Json{{"inputs", Array(body.inputs, operand)},
                {"outputs", Array(body.outputs, operand)},
                {"steps", Array(body.steps, StepJson)}};
  };
  if (step.stage > 0) object["stage"] = step.stage;
  if (!step.bodies.empty()) object["bodies"] = Array(step.bodies, body_json);
  return object;
}

Json SlotJson(const program::Slot& slot) {
  return {{"type", ElementName(slot.type.element)},
          {"shape", slot.type.shape},
          {"space", program::SpaceName(slot.space)},
          {"offset", slot.offset}};
}

Json StreamJson(const program::Stream& stream) {
  Json object{{"name", stream.name}, {"slot", stream.slot}};
  if (stream.extent) {
    object["extent"] = {{"axis", stream.extent->axis}, {"slot", stream.extent->slot}};
  }
  return object;
}

Json BranchJson(const program::Branch& branch, bool with_steps) {
  Json object{{"name", branch.name},
              {"inputs", Array(branch.inputs, StreamJson)},
              {"outputs", Array(branch.outputs, StreamJson)},
              {"num_steps", branch.steps.size()},
              {"num_stages", branch.NumStages()},
              {"weight_bytes", BranchWeightBytes(branch)},
              {"arena_bytes", branch.arena_bytes}};
  if (!with_steps) return object;
  object["slots"] = Array(branch.slots, SlotJson);
  object["steps"] = Array(branch.steps, StepJson);
  return object;
}

Json VariableJson(const program::Variable& variable) {
  return {{"name", variable.name},
          {"type", ElementName(variable.type.element)},
          {"shape", variable.type.shape},
          {"bytes", variable.type.bytes()},
          {"offset", variable.offset}};
}

Json ExecutableJson(const Executable& executable, const Selection& selection) {
  Json object{{"name", executable.name},
              {"bytes", executable.bytes},
              {"compressed", executable.compressed},
              {"by_poprt", executable.by_poprt},
              {"program", nullptr}};
  if (!executable.program.has_value()) return object;
  const program::Program& program = *executable.program;
  object["program"] = {{"ipu_version", program.ipu_version},
                       {"tiles", program.tiles},
                       {"io_tiles", program.io_tiles},
                       {"compute_tiles", program.tiles - program.io_tiles},
                       {"batches_per_step", program.batches_per_step},
                       {"weight_bytes", executable.weight_bytes},
                       {"arena_bytes", program.ArenaBytes()},
                       {"variable_bytes", program.VariableBytes()},
                       {"variables", Array(program.variables, VariableJson)},
                       {"branches", Array(program.branches, [&](const program::Branch& branch) {
                          return BranchJson(branch, selection.steps);
                        })}};
  return object;
}

// ---- blobs -----------------------------------------------------------------------------------

Json BlobJson(const popef::BlobInfo& blob) {
  return {{"kind", fmt::format("{}", blob.type)},
          {"name", blob.name},
          {"version", fmt::format("{}.{}", blob.versionMajor, blob.versionMinor)},
          {"must_understand_flags", blob.mustUnderstandFlags},
          {"may_ignore_flags", blob.mayIgnoreFlags},
          {"offset", blob.offset},
          {"size", blob.totalSize},
          {"info_offset", blob.infoOffset},
          {"info_size", blob.infoSize},
          {"payload_offset", blob.payloadOffset},
          {"payload_size", blob.payloadSize},
          {"uncompressed_size", blob.uncompressedSize},
          {"compressed", blob.compressed},
          {"alignment", blob.alignment},
          {"info_hash", Hash(blob.infoHash)},
          {"payload_hash", Hash(blob.payloadHash)}};
}

}  // namespace

Json JsonDump(const Contents& contents, const Selection& selection) {
  const popef::Reader& reader = contents.reader;
  Json object{{"file", contents.path},
              {"metadata", Array(reader.metadata(), [&](const popef::Metadata& metadata) {
                 return MetadataJson(contents, metadata);
               })}};
  if (selection.payloads) {
    object["opaques"] = Array(contents.opaques,
                              [&](const Opaque& opaque) { return OpaqueJson(opaque, selection); });
    object["tensor_data"] = Array(reader.tensors(), [](const popef::TensorReader& tensor) {
      return WithType({{"name", tensor.info.name()}}, tensor.info.tensorInfo());
    });
    object["feed_data"] = Array(reader.feeds(), FeedJson);
    object["executables"] = Array(contents.executables, [&](const Executable& executable) {
      return ExecutableJson(executable, selection);
    });
  }
  if (selection.blobs) object["blobs"] = Array(reader.blobs(), BlobJson);
  if (selection.verified) object["verified"] = contents.problems.empty();
  object["errors"] = contents.problems;
  return object;
}

}  // namespace poprt::dump
