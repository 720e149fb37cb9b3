#include <map>

#include "popef_generated.h"
#include "runtime/popef/blob_header.hpp"
#include "runtime/popef/info_codec.hpp"

namespace popef {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
template <typename T>
using Ref = flatbuffers::Offset<T>;

void RequireName(const std::string& name, const std::string& what) {
  if (name.empty()) throw Error(what + " has an empty name, allowed is any other");
}

template <typename T>
InfoBytes Finish(Builder& builder, Ref<T> root, const std::string& what) {
  builder.Finish(root);
  if (builder.GetSize() > kMaxInfoSize) {
    throw Error(what + " takes " + std::to_string(builder.GetSize()) + " bytes, allowed is " +
                std::to_string(kMaxInfoSize));
  }
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

/// Refuses what a reader would refuse. `what` names the owner.
Ref<wire::TensorInfo> Put(Builder& builder, const TensorInfo& info, const std::string& what) {
  if (!info.hasDataType()) throw Error(what + " has no data type, call setDataType");
  try {
    sizeInBytes(info.dataType());
    info.sizeInBytes();
  } catch (const Error& error) {
    throw Error(what + ": " + error.what());
  }
  const auto shape = builder.CreateVector(info.shape());
  return wire::CreateTensorInfo(builder, shape, static_cast<std::uint16_t>(info.dataType()));
}

Ref<wire::Option> Put(Builder& builder, const Option& option) {
  const auto name = builder.CreateString(option.name());
  return wire::CreateOption(builder, name, builder.CreateString(option.value()));
}

Ref<wire::Anchor> Put(Builder& builder, const Anchor& anchor) {
  if (anchor.type() > TensorType::OUTPUT) {
    throw Error("anchor \"" + anchor.name() + "\" has type " +
                std::to_string(static_cast<unsigned>(anchor.type())) + ", allowed is 0 to 2");
  }
  const auto name = builder.CreateString(anchor.name());
  const auto handle = builder.CreateString(anchor.handle());
  // A default TensorInfo means "not known" and is left out.
  const auto info = anchor.tensorInfo() == TensorInfo()
                        ? Ref<wire::TensorInfo>()
                        : Put(builder, anchor.tensorInfo(), "anchor \"" + anchor.name() + "\"");
  const auto programs = builder.CreateVector(anchor.programs());
  return wire::CreateAnchor(builder, name, handle, info, programs,
                            static_cast<std::uint16_t>(anchor.type()), anchor.isPerReplica(),
                            anchor.useRemoteBuffers(), anchor.repeats());
}

Ref<wire::ProgramFlow> Put(Builder& builder, const ProgramFlow& flow) {
  const auto load = builder.CreateVector(flow.load());
  const auto main = builder.CreateVector(flow.main());
  return wire::CreateProgramFlow(builder, load, main, builder.CreateVector(flow.save()));
}

template <typename Wire, typename Value>
auto PutAll(Builder& builder, const std::vector<Value>& values) {
  std::vector<Ref<Wire>> refs;
  refs.reserve(values.size());
  for (const Value& value : values) refs.push_back(Put(builder, value));
  return builder.CreateVector(refs);
}

auto PutProgramsMap(Builder& builder, const Metadata::ProgramsMap& programs) {
  std::vector<Ref<wire::ProgramInfo>> refs;
  refs.reserve(programs.size());
  // In the order of the indices: the bytes must not depend on the hash table.
  for (const auto& [index, name] : std::map(programs.begin(), programs.end())) {
    refs.push_back(wire::CreateProgramInfo(builder, index, builder.CreateString(name)));
  }
  return builder.CreateVector(refs);
}

}  // namespace

InfoBytes EncodeExecutable(const std::string& name) {
  RequireName(name, "an executable");
  Builder builder;
  return Finish(builder, wire::CreateExecutableInfo(builder, builder.CreateString(name)), name);
}

InfoBytes EncodeOpaque(const OpaqueInfo& info) {
  RequireName(info.name, "an opaque blob");
  RequireName(info.executable, "the executable of opaque blob \"" + info.name + "\"");
  Builder builder;
  const auto name = builder.CreateString(info.name);
  const auto executable = builder.CreateString(info.executable);
  return Finish(builder, wire::CreateOpaqueInfo(builder, name, executable), info.name);
}

InfoBytes EncodeTensorData(const TensorDataInfo& info) {
  RequireName(info.name(), "tensor data");
  Builder builder;
  const auto name = builder.CreateString(info.name());
  const auto tensor = Put(builder, info.tensorInfo(), "tensor data \"" + info.name() + "\"");
  return Finish(builder, wire::CreateTensorDataInfo(builder, name, tensor), info.name());
}

InfoBytes EncodeFeedData(const FeedDataInfo& info) {
  RequireName(info.name(), "feed data");
  Builder builder;
  const auto name = builder.CreateString(info.name());
  const auto tensor = Put(builder, info.tensorInfo(), "feed data \"" + info.name() + "\"");
  return Finish(builder, wire::CreateFeedDataInfo(builder, name, tensor, info.numTensors()),
                info.name());
}

InfoBytes EncodeMetadata(const Metadata& metadata) {
  RequireName(metadata.executable(), "the executable of the metadata");
  Builder builder;
  const auto executable = builder.CreateString(metadata.executable());
  const auto seed_handle = builder.CreateString(metadata.seedHandle());
  const auto engine_options = PutAll<wire::Option>(builder, metadata.engineOptions());
  const auto device_options = PutAll<wire::Option>(builder, metadata.deviceOptions());
  const auto anchors = PutAll<wire::Anchor>(builder, metadata.anchors());
  const auto flow = Put(builder, metadata.programFlow());
  const auto programs = PutProgramsMap(builder, metadata.programsMap());
  return Finish(
      builder,
      wire::CreateMetadata(builder, metadata.replicationFactor(), metadata.numIpus(),
                           metadata.ipuVersion(), executable, metadata.numProcesses(),
                           metadata.isPOD(), metadata.isInference(), seed_handle, engine_options,
                           device_options, anchors, flow, programs, metadata.deviceIterations()),
      "the metadata of \"" + metadata.executable() + "\"");
}

}  // namespace popef
