#pragma once

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

/// Value types of the container. All can be default-constructed, copied and moved; none is
/// synchronised. Getters named `x` come with setters `setX`; containers and sub-objects also have a
/// non-const `x()` for changes in place.
namespace popef {

/// What every function of this library throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Numbers are part of the format.
enum class BlobType : std::uint16_t { POPLAR_EXECUTABLE, METADATA, DATA_TENSOR, DATA_FEED, OPAQUE };

/// Numbers are part of the format. F8143 and F8152 name the exponent and mantissa bits of an F8:
/// one NaN, no infinity, biases 8 and 16. What follows BF16 included is not in the original.
/// Elements of 4 and 2 bits take a byte each, with the value in the low bits; S4 and S2 extend its
/// sign.
enum class DataType : std::uint16_t {
  BOOL,
  F8,
  F16,
  F32,
  F64,
  S8,
  U8,
  S16,
  U16,
  S32,
  U32,
  S64,
  U64,
  F8143,
  F8152,
  BF16,
  F8E4M3FN,
  F8E5M2,
  F8E8M0,
  F4E2M1,
  S4,
  U4,
  S2,
  U2
};

/// Numbers are part of the format.
enum class TensorType : std::uint16_t { UNKNOWN, INPUT, OUTPUT };

/// Bytes of one element. Throws Error for a number that is no element type.
std::int64_t sizeInBytes(DataType type);

/// A name and a value for the engine or the device.
class Option {
 public:
  Option() = default;
  Option(const std::string& name, const std::string& value) : name_(name), value_(value) {}

  const std::string& name() const { return name_; }
  void setName(const std::string& name) { name_ = name; }
  const std::string& value() const { return value_; }
  void setValue(const std::string& value) { value_ = value; }

  bool operator==(const Option& other) const;
  bool operator!=(const Option& other) const { return !(*this == other); }

 private:
  std::string name_;
  std::string value_;
};

/// Shape and element type. A default one has no element type and describes no tensor: its size is 0
/// and dataType() returns BOOL.
class TensorInfo {
 public:
  using ShapeDimType = std::int64_t;

  TensorInfo() = default;
  TensorInfo(DataType type, const std::vector<ShapeDimType>& shape)
      : shape_(shape), type_(type), has_type_(true) {}

  /// Empty for a scalar.
  const std::vector<ShapeDimType>& shape() const { return shape_; }
  std::vector<ShapeDimType>& shape() { return shape_; }
  void setShape(const std::vector<ShapeDimType>& shape) { shape_ = shape; }

  DataType dataType() const { return type_; }
  void setDataType(DataType type) {
    type_ = type;
    has_type_ = true;
  }
  bool hasDataType() const { return has_type_; }

  /// Element size times the product of the dimensions. Throws Error if a dimension is negative or
  /// the size is not below 2^63.
  std::int64_t sizeInBytes() const;

  bool operator==(const TensorInfo& other) const;
  bool operator!=(const TensorInfo& other) const { return !(*this == other); }

 private:
  std::vector<ShapeDimType> shape_;
  DataType type_ = DataType::BOOL;
  bool has_type_ = false;
};

/// A named entry or exit of the model.
class Anchor {
 public:
  using ProgramsType = std::uint32_t;

  const std::string& name() const { return name_; }
  void setName(const std::string& name) { name_ = name; }
  /// Handle of the stream; may be empty.
  const std::string& handle() const { return handle_; }
  void setHandle(const std::string& handle) { handle_ = handle; }
  /// The shape starts with the replica dimension if the anchor is per replica.
  const TensorInfo& tensorInfo() const { return tensor_info_; }
  TensorInfo& tensorInfo() { return tensor_info_; }
  void setTensorInfo(const TensorInfo& info) { tensor_info_ = info; }
  /// Indices of the programs that transfer this tensor; empty if unknown.
  const std::vector<ProgramsType>& programs() const { return programs_; }
  std::vector<ProgramsType>& programs() { return programs_; }
  void setPrograms(const std::vector<ProgramsType>& programs) { programs_ = programs; }
  TensorType type() const { return type_; }
  void setType(TensorType type) { type_ = type; }
  /// True if each replica has values of its own.
  bool isPerReplica() const { return is_per_replica_; }
  void setIsPerReplica(bool value) { is_per_replica_ = value; }
  /// True if blocks are copied to or from a remote buffer.
  bool useRemoteBuffers() const { return use_remote_buffers_; }
  void setUseRemoteBuffers(bool value) { use_remote_buffers_ = value; }
  /// Number of such blocks, of equal size.
  std::uint32_t repeats() const { return repeats_; }
  void setRepeats(std::uint32_t repeats) { repeats_ = repeats; }

  bool operator==(const Anchor& other) const;
  bool operator!=(const Anchor& other) const { return !(*this == other); }

 private:
  std::string name_;
  std::string handle_;
  TensorInfo tensor_info_;
  std::vector<ProgramsType> programs_;
  TensorType type_ = TensorType::UNKNOWN;
  bool is_per_replica_ = false;
  bool use_remote_buffers_ = false;
  std::uint32_t repeats_ = 0;
};

/// Indices of the programs to run, in order: load once, main for every step, save on request.
class ProgramFlow {
 public:
  using ProgramIndexType = std::uint32_t;

  const std::vector<ProgramIndexType>& load() const { return load_; }
  std::vector<ProgramIndexType>& load() { return load_; }
  void setLoad(const std::vector<ProgramIndexType>& programs) { load_ = programs; }
  const std::vector<ProgramIndexType>& main() const { return main_; }
  std::vector<ProgramIndexType>& main() { return main_; }
  void setMain(const std::vector<ProgramIndexType>& programs) { main_ = programs; }
  const std::vector<ProgramIndexType>& save() const { return save_; }
  std::vector<ProgramIndexType>& save() { return save_; }
  void setSave(const std::vector<ProgramIndexType>& programs) { save_ = programs; }

  bool operator==(const ProgramFlow& other) const;
  bool operator!=(const ProgramFlow& other) const { return !(*this == other); }

 private:
  std::vector<ProgramIndexType> load_;
  std::vector<ProgramIndexType> main_;
  std::vector<ProgramIndexType> save_;
};

/// What a runtime must know about an executable.
class Metadata {
 public:
  using ProgramsMap = std::unordered_map<ProgramFlow::ProgramIndexType, std::string>;

  /// Replicas inside the executable.
  std::uint32_t replicationFactor() const { return replication_factor_; }
  void setReplicationFactor(std::uint32_t value) { replication_factor_ = value; }
  std::uint32_t numIpus() const { return num_ipus_; }
  void setNumIpus(std::uint32_t value) { num_ipus_ = value; }
  /// The digits behind "ipu" in the name of the architecture: 1, 2, 21.
  std::uint32_t ipuVersion() const { return ipu_version_; }
  void setIpuVersion(std::uint32_t value) { ipu_version_ = value; }
  /// Name of the executable blob described.
  const std::string& executable() const { return executable_; }
  void setExecutable(const std::string& name) { executable_ = name; }
  std::uint32_t numProcesses() const { return num_processes_; }
  void setNumProcesses(std::uint32_t value) { num_processes_ = value; }
  bool isPOD() const { return is_pod_; }
  void setIsPOD(bool value) { is_pod_ = value; }
  bool isInference() const { return is_inference_; }
  void setIsInference(bool value) { is_inference_ = value; }
  /// Stream handle of the random seed; empty if there is none.
  const std::string& seedHandle() const { return seed_handle_; }
  void setSeedHandle(const std::string& handle) { seed_handle_ = handle; }
  const std::vector<Option>& engineOptions() const { return engine_options_; }
  std::vector<Option>& engineOptions() { return engine_options_; }
  void setEngineOptions(const std::vector<Option>& options) { engine_options_ = options; }
  const std::vector<Option>& deviceOptions() const { return device_options_; }
  std::vector<Option>& deviceOptions() { return device_options_; }
  void setDeviceOptions(const std::vector<Option>& options) { device_options_ = options; }
  /// Order is kept. Names may repeat with different types.
  const std::vector<Anchor>& anchors() const { return anchors_; }
  std::vector<Anchor>& anchors() { return anchors_; }
  void setAnchors(const std::vector<Anchor>& anchors) { anchors_ = anchors; }
  const ProgramFlow& programFlow() const { return program_flow_; }
  ProgramFlow& programFlow() { return program_flow_; }
  void setProgramFlow(const ProgramFlow& flow) { program_flow_ = flow; }
  /// Names of programs by index.
  const ProgramsMap& programsMap() const { return programs_map_; }
  ProgramsMap& programsMap() { return programs_map_; }
  void setProgramsMap(const ProgramsMap& map) { programs_map_ = map; }
  /// Batches per step.
  std::uint32_t deviceIterations() const { return device_iterations_; }
  void setDeviceIterations(std::uint32_t value) { device_iterations_ = value; }

  bool operator==(const Metadata& other) const;
  bool operator!=(const Metadata& other) const { return !(*this == other); }

 private:
  std::uint32_t replication_factor_ = 1;
  std::uint32_t num_ipus_ = 1;
  std::uint32_t ipu_version_ = 0;
  std::string executable_;
  std::uint32_t num_processes_ = 1;
  bool is_pod_ = false;
  bool is_inference_ = false;
  std::string seed_handle_;
  std::vector<Option> engine_options_;
  std::vector<Option> device_options_;
  std::vector<Anchor> anchors_;
  ProgramFlow program_flow_;
  ProgramsMap programs_map_;
  std::uint32_t device_iterations_ = 1;
};

/// A tensor stored in the container.
class TensorDataInfo {
 public:
  const std::string& name() const { return name_; }
  void setName(const std::string& name) { name_ = name; }
  const TensorInfo& tensorInfo() const { return tensor_info_; }
  TensorInfo& tensorInfo() { return tensor_info_; }
  void setTensorInfo(const TensorInfo& info) { tensor_info_ = info; }

  bool operator==(const TensorDataInfo& other) const;
  bool operator!=(const TensorDataInfo& other) const { return !(*this == other); }

 private:
  std::string name_;
  TensorInfo tensor_info_;
};

/// Several tensors of one type and shape stored one behind the other.
class FeedDataInfo {
 public:
  const std::string& name() const { return name_; }
  void setName(const std::string& name) { name_ = name; }
  /// Of one tensor.
  const TensorInfo& tensorInfo() const { return tensor_info_; }
  TensorInfo& tensorInfo() { return tensor_info_; }
  void setTensorInfo(const TensorInfo& info) { tensor_info_ = info; }
  std::uint32_t numTensors() const { return num_tensors_; }
  void setNumTensors(std::uint32_t value) { num_tensors_ = value; }

  /// Bytes of all tensors together. Throws Error as TensorInfo::sizeInBytes does.
  std::int64_t sizeInBytes() const;

  bool operator==(const FeedDataInfo& other) const;
  bool operator!=(const FeedDataInfo& other) const { return !(*this == other); }

 private:
  std::string name_;
  TensorInfo tensor_info_;
  std::uint32_t num_tensors_ = 0;
};

/// Enumerators print as their bare names ("F32"), numbers without a name as "?17". Classes print on
/// one line. fmt users include popef/Format.hpp.
std::ostream& operator<<(std::ostream& out, BlobType type);
std::ostream& operator<<(std::ostream& out, DataType type);
std::ostream& operator<<(std::ostream& out, TensorType type);
std::ostream& operator<<(std::ostream& out, const Option& option);
std::ostream& operator<<(std::ostream& out, const TensorInfo& info);
std::ostream& operator<<(std::ostream& out, const Anchor& anchor);
std::ostream& operator<<(std::ostream& out, const ProgramFlow& flow);
std::ostream& operator<<(std::ostream& out, const Metadata& metadata);
std::ostream& operator<<(std::ostream& out, const TensorDataInfo& info);
std::ostream& operator<<(std::ostream& out, const FeedDataInfo& info);

}  // namespace popef
