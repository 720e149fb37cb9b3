#include <type_traits>

#include "popef_generated.h"
#include "runtime/popef/info_codec.hpp"

namespace popef {
namespace {

constexpr flatbuffers::uoffset_t kMaxDepth = 8;
/// Every table takes a reference and a reference to its vtable.
constexpr std::size_t kMinTableBytes = 8;

/// Copies values out of one verified info. The bytes copied are counted against the size of the
/// info, because references to the same object would otherwise let a small file fill the memory.
class Decoder {
 public:
  Decoder(std::span<const std::byte> info, const Location& where)
      : info_(info), where_(where), budget_(info.size()) {}

  template <typename Table>
  const Table& Root(const std::string& kind) {
    flatbuffers::Verifier::Options options;
    options.max_depth = kMaxDepth;
    options.max_tables = static_cast<flatbuffers::uoffset_t>(info_.size() / kMinTableBytes + 1);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(info_.data());
    flatbuffers::Verifier verifier(bytes, info_.size(), options);
    if (!verifier.VerifyBuffer<Table>(nullptr)) {
      Refuse(where_, "info", "malformed", "a FlatBuffer with the fields of " + kind);
    }
    return *flatbuffers::GetRoot<Table>(bytes);
  }

  std::string Get(const flatbuffers::String& text) {
    Charge(text.size(), 1);
    return text.str();
  }

  std::string GetName(const flatbuffers::String& text, const std::string& what) {
    if (text.size() == 0) Refuse(where_, what, "empty", "any other name");
    return Get(text);
  }

  template <typename T>
  std::vector<T> Get(const flatbuffers::Vector<T>* values) requires std::is_integral_v<T> {
    if (values == nullptr) return {};
    Charge(values->size(), sizeof(T));
    return {values->begin(), values->end()};
  }

  TensorInfo Get(const wire::TensorInfo& table, const std::string& owner) {
    TensorInfo info(static_cast<DataType>(table.data_type()), Get(table.shape()));
    try {
      info.sizeInBytes();
      sizeInBytes(info.dataType());
    } catch (const Error& error) {
      throw Error(ToString(where_) + owner + ": " + error.what());
    }
    return info;
  }

  Option Get(const wire::Option& table) { return {Get(*table.name()), Get(*table.value())}; }

  Anchor Get(const wire::Anchor& table) {
    Anchor anchor;
    anchor.setName(Get(*table.name()));
    const std::string owner = "anchor \"" + anchor.name() + "\"";
    anchor.setHandle(Get(*table.handle()));
    if (table.tensor_info() != nullptr) anchor.setTensorInfo(Get(*table.tensor_info(), owner));
    anchor.setPrograms(Get(table.programs()));
    if (table.type() > static_cast<std::uint16_t>(TensorType::OUTPUT)) {
      Refuse(where_, "type of " + owner, table.type(), "0 to 2");
    }
    anchor.setType(static_cast<TensorType>(table.type()));
    anchor.setIsPerReplica(table.is_per_replica());
    anchor.setUseRemoteBuffers(table.use_remote_buffers());
    anchor.setRepeats(table.repeats());
    return anchor;
  }

  ProgramFlow Get(const wire::ProgramFlow& table) {
    ProgramFlow flow;
    flow.setLoad(Get(table.load()));
    flow.setMain(Get(table.main()));
    flow.setSave(Get(table.save()));
    return flow;
  }

  template <typename Value, typename Table>
  std::vector<Value> GetAll(const flatbuffers::Vector<flatbuffers::Offset<Table>>* tables) {
    std::vector<Value> values;
    if (tables == nullptr) return values;
    values.reserve(tables->size());
    for (const Table* table : *tables) values.push_back(Get(*table));
    return values;
  }

  Metadata::ProgramsMap GetProgramsMap(
      const flatbuffers::Vector<flatbuffers::Offset<wire::ProgramInfo>>* tables) {
    Metadata::ProgramsMap programs;
    if (tables == nullptr) return programs;
    for (const wire::ProgramInfo* table : *tables) {
      if (!programs.emplace(table->index(), Get(*table->name())).second) {
        Refuse(where_, "programs_map", "given twice for program " + std::to_string(table->index()),
               "one name for each program");
      }
    }
    return programs;
  }

 private:
  void Charge(std::size_t count, std::size_t size) {
    if (count > budget_ / size) {
      Refuse(where_, "the sum of the strings and vectors of the info", "larger than the info",
             "one reference to each");
    }
    budget_ -= count * size;
  }

  std::span<const std::byte> info_;
  const Location& where_;
  std::size_t budget_;
};

}  // namespace

std::string DecodeExecutable(std::span<const std::byte> info, const Location& where) {
  Decoder decoder(info, where);
  return decoder.GetName(*decoder.Root<wire::ExecutableInfo>("ExecutableInfo").name(),
                         "name of the executable");
}

OpaqueInfo DecodeOpaque(std::span<const std::byte> info, const Location& where) {
  Decoder decoder(info, where);
  const auto& table = decoder.Root<wire::OpaqueInfo>("OpaqueInfo");
  const std::string name = decoder.GetName(*table.name(), "name of the opaque blob");
  return {name, decoder.GetName(*table.executable(), "executable of opaque blob \"" + name + "\"")};
}

TensorDataInfo DecodeTensorData(std::span<const std::byte> info, const Location& where) {
  Decoder decoder(info, where);
  const auto& table = decoder.Root<wire::TensorDataInfo>("TensorDataInfo");
  TensorDataInfo result;
  result.setName(decoder.GetName(*table.name(), "name of the tensor data"));
  result.setTensorInfo(decoder.Get(*table.tensor_info(), "tensor data \"" + result.name() + "\""));
  return result;
}

FeedDataInfo DecodeFeedData(std::span<const std::byte> info, const Location& where) {
  Decoder decoder(info, where);
  const auto& table = decoder.Root<wire::FeedDataInfo>("FeedDataInfo");
  FeedDataInfo result;
  result.setName(decoder.GetName(*table.name(), "name of the feed data"));
  result.setTensorInfo(decoder.Get(*table.tensor_info(), "feed data \"" + result.name() + "\""));
  result.setNumTensors(table.num_tensors());
  return result;
}

Metadata DecodeMetadata(std::span<const std::byte> info, const Location& where) {
  Decoder decoder(info, where);
  const auto& table = decoder.Root<wire::Metadata>("Metadata");
  Metadata metadata;
  metadata.setReplicationFactor(table.replication_factor());
  metadata.setNumIpus(table.num_ipus());
  metadata.setIpuVersion(table.ipu_version());
  metadata.setExecutable(decoder.GetName(*table.executable(), "executable of the metadata"));
  metadata.setNumProcesses(table.num_processes());
  metadata.setIsPOD(table.is_pod());
  metadata.setIsInference(table.is_inference());
  metadata.setSeedHandle(decoder.Get(*table.seed_handle()));
  metadata.setEngineOptions(decoder.GetAll<Option>(table.engine_options()));
  metadata.setDeviceOptions(decoder.GetAll<Option>(table.device_options()));
  metadata.setAnchors(decoder.GetAll<Anchor>(table.anchors()));
  if (table.program_flow() != nullptr) metadata.setProgramFlow(decoder.Get(*table.program_flow()));
  metadata.setProgramsMap(decoder.GetProgramsMap(table.programs_map()));
  metadata.setDeviceIterations(table.device_iterations());
  return metadata;
}

}  // namespace popef
