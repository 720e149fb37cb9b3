#include "popef/Types.hpp"

#include <array>
#include <limits>
#include <map>
#include <ostream>
#include <string_view>
#include <tuple>

namespace popef {
namespace {

struct DataTypeRow {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<DataTypeRow, 24> kDataTypes = {
    {{"BOOL", 1},   {"F8", 1},     {"F16", 2},   {"F32", 4},  {"F64", 8},      {"S8", 1},
     {"U8", 1},     {"S16", 2},    {"U16", 2},   {"S32", 4},  {"U32", 4},      {"S64", 8},
     {"U64", 8},    {"F8143", 1},  {"F8152", 1}, {"BF16", 2}, {"F8E4M3FN", 1}, {"F8E5M2", 1},
     {"F8E8M0", 1}, {"F4E2M1", 1}, {"S4", 1},    {"U4", 1},   {"S2", 1},       {"U2", 1}}};
constexpr std::array<std::string_view, 5> kBlobTypes = {"POPLAR_EXECUTABLE", "METADATA",
                                                        "DATA_TENSOR", "DATA_FEED", "OPAQUE"};
constexpr std::array<std::string_view, 3> kTensorTypes = {"UNKNOWN", "INPUT", "OUTPUT"};

template <std::size_t N>
std::ostream& PrintName(std::ostream& out, const std::array<std::string_view, N>& names,
                        std::size_t number) {
  if (number < N) return out << names[number];
  return out << '?' << number;
}

template <typename Values>
std::ostream& PrintList(std::ostream& out, const Values& values) {
  out << '[';
  const char* separator = "";
  for (const auto& value : values) {
    out << separator << value;
    separator = ", ";
  }
  return out << ']';
}

std::ostream& PrintBool(std::ostream& out, bool value) { return out << (value ? "true" : "false"); }

/// left * right for non-negative factors.
std::int64_t CheckedProduct(std::int64_t left, std::int64_t right, const TensorInfo& info) {
  if (right != 0 && left > std::numeric_limits<std::int64_t>::max() / right) {
    std::string shape;
    for (const auto dim : info.shape()) shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
    throw Error("the size of a tensor of shape [" + shape + "] is not below 2^63 bytes");
  }
  return left * right;
}

}  // namespace

std::int64_t sizeInBytes(DataType type) {
  const auto number = static_cast<std::size_t>(type);
  if (number >= kDataTypes.size()) {
    throw Error("data type " + std::to_string(number) + " is unknown, allowed is 0 to " +
                std::to_string(kDataTypes.size() - 1));
  }
  return kDataTypes[number].size;
}

std::int64_t TensorInfo::sizeInBytes() const {
  if (!has_type_) return 0;
  bool empty = false;
  for (const auto dim : shape_) {
    if (dim < 0) throw Error("dimension " + std::to_string(dim) + " is negative");
    empty |= dim == 0;
  }
  if (empty) return 0;
  std::int64_t size = popef::sizeInBytes(type_);
  for (const auto dim : shape_) size = CheckedProduct(size, dim, *this);
  return size;
}

std::int64_t FeedDataInfo::sizeInBytes() const {
  return CheckedProduct(tensor_info_.sizeInBytes(), num_tensors_, tensor_info_);
}

std::ostream& operator<<(std::ostream& out, BlobType type) {
  return PrintName(out, kBlobTypes, static_cast<std::size_t>(type));
}

std::ostream& operator<<(std::ostream& out, DataType type) {
  const auto number = static_cast<std::size_t>(type);
  if (number < kDataTypes.size()) return out << kDataTypes[number].name;
  return out << '?' << number;
}

std::ostream& operator<<(std::ostream& out, TensorType type) {
  return PrintName(out, kTensorTypes, static_cast<std::size_t>(type));
}

std::ostream& operator<<(std::ostream& out, const Option& option) {
  return out << option.name() << '=' << option.value();
}

std::ostream& operator<<(std::ostream& out, const TensorInfo& info) {
  if (!info.hasDataType()) return out << "{ dtype: unknown }";
  out << "{ dtype: " << info.dataType() << ", sizeInBytes: " << info.sizeInBytes() << ", shape: ";
  return PrintList(out, info.shape()) << " }";
}

std::ostream& operator<<(std::ostream& out, const Anchor& anchor) {
  out << "{ name: \"" << anchor.name() << "\", type: " << anchor.type()
      << ", tensorInfo: " << anchor.tensorInfo() << ", programs: ";
  PrintList(out, anchor.programs()) << ", handle: \"" << anchor.handle() << "\", isPerReplica: ";
  PrintBool(out, anchor.isPerReplica()) << ", useRemoteBuffers: ";
  return PrintBool(out, anchor.useRemoteBuffers()) << ", repeats: " << anchor.repeats() << " }";
}

std::ostream& operator<<(std::ostream& out, const ProgramFlow& flow) {
  PrintList(out << "{ load: ", flow.load());
  PrintList(out << ", main: ", flow.main());
  return PrintList(out << ", save: ", flow.save()) << " }";
}

std::ostream& operator<<(std::ostream& out, const Metadata& metadata) {
  out << "{ executable: \"" << metadata.executable()
      << "\", replicationFactor: " << metadata.replicationFactor()
      << ", numIpus: " << metadata.numIpus() << ", ipuVersion: " << metadata.ipuVersion()
      << ", numProcesses: " << metadata.numProcesses() << ", isPOD: ";
  PrintBool(out, metadata.isPOD()) << ", isInference: ";
  PrintBool(out, metadata.isInference())
      << ", seedHandle: \"" << metadata.seedHandle()
      << "\", deviceIterations: " << metadata.deviceIterations() << ", engineOptions: ";
  PrintList(out, metadata.engineOptions()) << ", deviceOptions: ";
  PrintList(out, metadata.deviceOptions())
      << ", programFlow: " << metadata.programFlow() << ", programsMap: {";
  const char* separator = "";
  for (const auto& [index, name] :
       std::map(metadata.programsMap().begin(), metadata.programsMap().end())) {
    out << separator << index << ": \"" << name << '"';
    separator = ", ";
  }
  return PrintList(out << "}, anchors: ", metadata.anchors()) << " }";
}

std::ostream& operator<<(std::ostream& out, const TensorDataInfo& info) {
  return out << "{ name: \"" << info.name() << "\", tensorInfo: " << info.tensorInfo() << " }";
}

std::ostream& operator<<(std::ostream& out, const FeedDataInfo& info) {
  return out << "{ name: \"" << info.name() << "\", tensorInfo: " << info.tensorInfo()
             << ", numTensors: " << info.numTensors() << " }";
}

bool Option::operator==(const Option& other) const {
  return std::tie(name_, value_) == std::tie(other.name_, other.value_);
}

bool TensorInfo::operator==(const TensorInfo& other) const {
  return std::tie(shape_, type_, has_type_) == std::tie(other.shape_, other.type_, other.has_type_);
}

bool Anchor::operator==(const Anchor& other) const {
  return std::tie(name_, handle_, tensor_info_, programs_, type_, is_per_replica_,
                  use_remote_buffers_, repeats_) ==
         std::tie(other.name_, other.handle_, other.tensor_info_, other.programs_, other.type_,
                  other.is_per_replica_, other.use_remote_buffers_, other.repeats_);
}

bool ProgramFlow::operator==(const ProgramFlow& other) const {
  return std::tie(load_, main_, save_) == std::tie(other.load_, other.main_, other.save_);
}

bool Metadata::operator==(const Metadata& other) const {
  return std::tie(replication_factor_, num_ipus_, ipu_version_, executable_, num_processes_,
                  is_pod_, is_inference_, seed_handle_, engine_options_, device_options_, anchors_,
                  program_flow_, programs_map_, device_iterations_) ==
         std::tie(other.replication_factor_, other.num_ipus_, other.ipu_version_, other.executable_,
                  other.num_processes_, other.is_pod_, other.is_inference_, other.seed_handle_,
                  other.engine_options_, other.device_options_, other.anchors_, other.program_flow_,
                  other.programs_map_, other.device_iterations_);
}

bool TensorDataInfo::operator==(const TensorDataInfo& other) const {
  return std::tie(name_, tensor_info_) == std::tie(other.name_, other.tensor_info_);
}

bool FeedDataInfo::operator==(const FeedDataInfo& other) const {
  return std::tie(name_, tensor_info_, num_tensors_) ==
         std::tie(other.name_, other.tensor_info_, other.num_tensors_);
}

}  // namespace popef
