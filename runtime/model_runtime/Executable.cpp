#include "model_runtime/Executable.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "model_runtime/Errors.hpp"
#include "model_runtime/model/model_image.hpp"
#include "model_runtime/model/variables.hpp"
#include "model_runtime/serving/device_failure.hpp"
#include "model_runtime/serving/index_input.hpp"
#include "model_runtime/session/device_use.hpp"
#include "model_runtime/session/memory_streams.hpp"
#include "runtime/program/container_names.hpp"

namespace model_runtime {
namespace {

using poprt::device::Image;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Stream;

/// An anchor and what it is connected with.
template <typename Connection>
struct Port {
  popef::Anchor anchor;
  bool is_variable = false;
  std::uint64_t bytes = 0;
  std::optional<std::size_t> open_axis = std::nullopt;
  std::shared_ptr<Connection> connection = nullptr;
};
using InputPort = Port<TensorSource>;
using OutputPort = Port<TensorSink>;

/// Indices of ports, in the order of a branch's streams.
struct BranchPorts {
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
};

template <typename Ports>
std::size_t Find(const Ports& ports, const std::string& name) {
  const auto named = [&](const auto& port) { return port.anchor.name() == name; };
  return static_cast<std::size_t>(std::ranges::find_if(ports, named) - ports.begin());
}

template <typename Ports>
std::size_t At(Ports& ports, const std::string& name, const std::string& kind) {
  const std::size_t at = Find(ports, name);
  if (at < ports.size()) return at;
  std::string message = "there is no " + kind + " '" + name + "', " + kind + "s are:";
  for (const auto& port : ports) message += " '" + port.anchor.name() + "'";
  throw Error(message);
}

template <typename Memory>
void CheckMemory(const popef::Anchor& anchor, std::uint64_t bytes, const Memory& memory) {
  if (memory.data_size_bytes == bytes && (memory.data != nullptr || bytes == 0)) return;
  throw Error("the memory for '" + anchor.name() + "' has " +
              std::to_string(memory.data == nullptr ? 0 : memory.data_size_bytes) +
              " bytes, allowed are " + std::to_string(bytes));
}

void AddLine(std::string& text, const std::string& line) {
  text += (text.empty() ? "" : "\n") + line;
}

}  // namespace

class Executable::State : public DeviceUser, public std::enable_shared_from_this<State> {
 public:
  State(std::shared_ptr<popef::Model> source, bool check_package_hash);

  void Load(std::shared_ptr<Device> target);
  void Unload();
  bool yields() const override { return true; }
  void GiveUp(const DeviceUse& use) override;
  void Stop();

  void RunLoad();
  void RunMain();
  void RunSave();

  InputPort& Input(std::string_view name) {
    return inputs[At(inputs, CanonicalName(program(), name), "input")];
  }
  OutputPort& Output(std::string_view name) {
    return outputs[At(outputs, CanonicalName(program(), name), "output")];
  }
  template <typename Connection>
  void Connect(Port<Connection>& port, std::shared_ptr<Connection> connection);
  bool ConnectModelData(InputPort& port);
  const Program& program() const { return image->payload.program; }

  /// Throws Error that lists what is not connected among the anchors that `concerned` selects.
  template <typename Concerned>
  void CheckConnections(const Concerned& concerned) const {
    std::string problems;
    for (const InputPort& port : inputs) {
      if (concerned(port.is_variable, true) && port.connection == nullptr) {
        AddLine(problems, "input '" + port.anchor.name() +
                              "' has no source: connect a queue, a handler or memory, or read the "
                              "file with its tensor data");
      }
    }
    for (const OutputPort& port : outputs) {
      if (concerned(port.is_variable, false) && port.connection == nullptr) {
        AddLine(problems, "output '" + port.anchor.name() +
                              "' has no sink: connect a queue, a handler or memory");
      }
    }
    if (!problems.empty()) throw Error(problems);
  }

  std::mutex mutex;  ///< guards everything that is not const or atomic
  const std::shared_ptr<popef::Model> model;
  const std::shared_ptr<const Image> image;
  std::vector<InputPort> inputs;
  std::vector<OutputPort> outputs;
  std::unique_ptr<poprt::device::LoadedProgram> loaded;
  std::mutex device_mutex;  ///< guards `device` as well, so that it can be read while programs run
  std::shared_ptr<Device> device;

 private:
  void AddPorts();
  void AddBranches();
  void DropProgram();
  void SetDevice(std::shared_ptr<Device> target);
  void CheckLoaded() const;
  void StartStreams();

  bool RunBatch();
  /// The selected branch; nothing when the program is to end.
  std::optional<std::size_t> SelectBranch();
  bool Gather(const BranchPorts& ports);
  /// Of a flush: no input is real and no output is wanted.
  bool NothingWanted(const BranchPorts& ports) const;
  void RunOnDevice(std::size_t branch);
  void Finish(std::size_t branch);
  void Fail(const BranchPorts& ports);
  void ProgramOver();

  Variables variables_;
  std::vector<BranchPorts> branches_;
  std::optional<std::size_t> index_port_;
  bool variables_loaded_ = false;
  std::atomic<const DeviceUse*> use_{nullptr};  ///< where the program is loaded
  std::atomic<bool> stopped_{false};
  std::mutex streams_mutex_;  ///< held while connections change and while stop() tells them

  // Of the run:
  std::vector<const void*> input_data_;
  std::vector<void*> output_data_;
  std::vector<std::int64_t> extents_;
  std::vector<std::size_t> later_;  ///< outputs that must wait for their place
};

Executable::State::State(std::shared_ptr<popef::Model> source, bool check_package_hash)
    : model([&] {
        if (source == nullptr) throw Error("there is no model");
        if (check_package_hash) CheckPackage(source->metadata);
        return std::move(source);
      }()),
      image(MakeImage(*model)),
      variables_(*model, program()) {
  CheckAnchors(model->metadata, program());
  AddPorts();
  AddBranches();
  for (InputPort& port : inputs) {
    // Variables are connected as other inputs are.
    if (port.is_variable) variables_.Exclude(port.anchor.name());
    ConnectModelData(port);
  }
}

void Executable::State::AddPorts() {
  const auto has = [](const std::vector<Stream>& streams, const std::string& name) {
    return std::ranges::any_of(streams, [&](const Stream& stream) { return stream.name == name; });
  };
  const bool has_index = HasIndex(model->metadata, program());
  for (const popef::Anchor& anchor : model->metadata.anchors()) {
    const std::string& name = anchor.name();
    const bool is_variable = variables_.Find(name) < program().variables.size();
    const auto bytes = static_cast<std::uint64_t>(anchor.tensorInfo().sizeInBytes());
    if (anchor.type() == popef::TensorType::INPUT) {
      const bool is_index = has_index && name == poprt::program::kIndexInput;
      const bool is_stream = std::ranges::any_of(
          program().branches, [&](const Branch& branch) { return has(branch.inputs, name); });
      if (is_index) index_port_ = inputs.size();
      if (is_index || is_stream || is_variable) {
        inputs.push_back({.anchor = anchor, .is_variable = is_variable, .bytes = bytes});
      }
    } else if (anchor.type() == popef::TensorType::OUTPUT) {
      const bool is_stream = std::ranges::any_of(
          program().branches, [&](const Branch& branch) { return has(branch.outputs, name); });
      if (is_stream || is_variable) {
        outputs.push_back(
            {.anchor = anchor, .is_variable = is_variable && !is_stream, .bytes = bytes});
      }
    }
  }
  if (has_index && (!index_port_ || inputs[*index_port_].bytes != sizeof(std::uint32_t))) {
    throw Error(
        "the metadata has no input anchor 'index' of type uint32[1], which selects the "
        "graph: the container is damaged");
  }
}

void Executable::State::AddBranches() {
  for (const Branch& branch : program().branches) {
    BranchPorts& ports = branches_.emplace_back();
    for (const Stream& stream : branch.inputs) ports.inputs.push_back(Find(inputs, stream.name));
    for (const Stream& stream : branch.outputs) {
      ports.outputs.push_back(Find(outputs, stream.name));
      if (stream.extent) outputs[ports.outputs.back()].open_axis = stream.extent->axis;
    }
    extents_.resize(std::max(extents_.size(), branch.outputs.size()));
  }
}

template <typename Connection>
void Executable::State::Connect(Port<Connection>& port, std::shared_ptr<Connection> connection) {
  const std::lock_guard lock(streams_mutex_);
  port.connection = std::move(connection);
}

bool Executable::State::ConnectModelData(InputPort& port) {
  const auto named = [&](const auto& reader) { return reader.info.name() == port.anchor.name(); };
  std::shared_ptr<TensorSource> source;
  if (const auto tensor = std::ranges::find_if(model->tensors, named);
      tensor != model->tensors.end()) {
    source = std::make_shared<ContainerSource>(tensor->view(), 1);
  } else if (const auto feed = std::ranges::find_if(model->feeds, named);
             feed != model->feeds.end() && feed->info.numTensors() > 0) {
    source = std::make_shared<ContainerSource>(feed->view(), feed->info.numTensors());
  }
  if (source == nullptr) return false;
  Connect<TensorSource>(port, std::move(source));
  return true;
}

void Executable::State::CheckLoaded() const {
  if (loaded != nullptr) return;
  throw Error(
      "the programs are not loaded on a device, or something else has been loaded on it "
      "since: bind a device");
}

void Executable::State::StartStreams() {
  const std::lock_guard lock(streams_mutex_);
  stopped_ = false;
  for (const InputPort& port : inputs) {
    if (port.connection) port.connection->Start();
  }
  for (const OutputPort& port : outputs) {
    if (port.connection) port.connection->Start();
  }
}

void Executable::State::Stop() {
  const std::lock_guard lock(streams_mutex_);
  stopped_ = true;
  for (const InputPort& port : inputs) {
    if (port.connection) port.connection->Stop();
  }
  for (const OutputPort& port : outputs) {
    if (port.connection) port.connection->Stop();
  }
}

void Executable::State::Load(std::shared_ptr<Device> target) {
  if (target == nullptr) throw Error("there is no device");
  target->use().Check(model->metadata);
  Unload();
  target->use().Claim(shared_from_this());
  const std::lock_guard lock(mutex);
  DeviceUse& use = target->use();
  // Before IsUsedBy(), as the streams: whoever claims the device after that finds something to
  // stop.
  use_ = &use;
  try {
    auto program = use.device().Load(image);
    StartStreams();
    if (!use.IsUsedBy(this)) {
      throw Error("something else was loaded on the device at the same time");
    }
    loaded = std::move(program);
  } catch (...) {
    Stop();
    use_ = nullptr;
    use.Release(this);
    throw;
  }
  SetDevice(std::move(target));
  variables_loaded_ = false;
}

void Executable::State::Unload() {
  Stop();
  const std::lock_guard lock(mutex);
  DropProgram();
}

void Executable::State::DropProgram() {
  loaded.reset();
  use_ = nullptr;
  if (device != nullptr) device->use().Release(this);
  SetDevice(nullptr);
}

void Executable::State::SetDevice(std::shared_ptr<Device> target) {
  // The one before is released without the lock.
  const std::lock_guard lock(device_mutex);
  device.swap(target);
}

void Executable::State::GiveUp(const DeviceUse& use) {
  if (use_ != &use) return;  // does not make a program elsewhere stop
  Stop();
  const std::lock_guard lock(mutex);
  if (use_ == &use) DropProgram();
}

void Executable::State::RunLoad() {
  const std::lock_guard lock(mutex);
  CheckLoaded();
  CheckConnections([](bool is_variable, bool is_input) { return is_variable && is_input; });
  StartStreams();
  std::vector<TensorSource*> used;
  for (const InputPort& port : inputs) {
    if (!port.is_variable || port.connection == nullptr) continue;
    const void* data = port.connection->Next();
    if (data == nullptr) return;
    variables_.Override(port.anchor.name(), ConstTensorMemoryView(data, port.bytes));
    used.push_back(port.connection.get());
  }
  variables_.Load(*loaded);
  for (TensorSource* source : used) source->Consumed();
  for (TensorSource* source : used) source->ProgramOver();
  variables_loaded_ = true;
}

void Executable::State::RunSave() {
  const std::lock_guard lock(mutex);
  CheckLoaded();
  if (!program().variables.empty() && !variables_loaded_) {
    throw Error("the load program has not run: there are no variables to save");
  }
  OutputMemoryView targets;
  std::vector<TensorSink*> used;
  for (const OutputPort& port : outputs) {
    if (!port.is_variable || port.connection == nullptr || stopped_) continue;
    void* const data = port.connection->Next();
    if (data != nullptr) targets[port.anchor.name()] = TensorMemoryView(data, port.bytes);
    used.push_back(port.connection.get());
  }
  variables_.Save(*loaded, targets);
  for (TensorSink* sink : used) sink->Filled(std::nullopt);
  for (TensorSink* sink : used) sink->ProgramOver();
}

void Executable::State::RunMain() {
  const std::lock_guard lock(mutex);
  CheckLoaded();
  CheckConnections([](bool is_variable, bool) { return !is_variable; });
  if (stopped_) return;
  if (!program().variables.empty() && !variables_loaded_) {
    throw Error("the load program has not run: run it once before the main program");
  }
  try {
    for (std::uint32_t i = 0; i < program().batches_per_step; ++i) {
      if (!RunBatch()) return;
    }
  } catch (...) {
    ProgramOver();
    throw;
  }
  ProgramOver();
}

bool Executable::State::RunBatch() {
  const std::optional<std::size_t> branch = SelectBranch();
  if (!branch || !Gather(branches_[*branch]) || stopped_) return false;
  if (!NothingWanted(branches_[*branch])) RunOnDevice(*branch);
  Finish(*branch);
  return true;
}

std::optional<std::size_t> Executable::State::SelectBranch() {
  if (!index_port_) return 0;
  TensorSource& source = *inputs[*index_port_].connection;
  const void* const data = source.Next();
  if (data == nullptr) return std::nullopt;
  const IndexedGraph graph = GraphOfIndex(
      {poprt::program::kIndexInput, data, inputs[*index_port_].bytes}, branches_.size());
  if (graph.problem.empty()) return graph.index;
  source.Failed();
  throw Error(graph.problem);
}

bool Executable::State::Gather(const BranchPorts& ports) {
  input_data_.clear();
  output_data_.clear();
  for (const std::size_t port : ports.inputs) {
    input_data_.push_back(inputs[port].connection->Next());
    if (input_data_.back() == nullptr) return false;
  }
  for (const std::size_t port : ports.outputs) {
    output_data_.push_back(outputs[port].connection->Next());
  }
  return true;
}

bool Executable::State::NothingWanted(const BranchPorts& ports) const {
  bool stand_ins = false;
  for (const std::size_t port : ports.inputs) {
    const TensorSource& source = *inputs[port].connection;
    if (!source.IsStandIn() && !source.IsConstant()) return false;
    stand_ins = stand_ins || source.IsStandIn();
  }
  return stand_ins && std::ranges::all_of(ports.outputs, [&](std::size_t port) {
           return outputs[port].connection->IsStandIn();
         });
}

void Executable::State::RunOnDevice(std::size_t branch) {
  try {
    loaded->Run(branch, input_data_, output_data_, extents_);
  } catch (const poprt::device::DeviceFault& fault) {
    Fail(branches_[branch]);
    DeviceFailure::Of(fault).Throw();
  } catch (...) {
    Fail(branches_[branch]);
    throw;
  }
}

void Executable::State::Finish(std::size_t branch) {
  const BranchPorts& ports = branches_[branch];
  if (index_port_) inputs[*index_port_].connection->Consumed();
  for (const std::size_t port : ports.inputs) inputs[port].connection->Consumed();
  const auto fill = [&](std::size_t i) {
    const OutputPort& port = outputs[ports.outputs[i]];
    port.connection->Filled(port.open_axis ? std::optional(extents_[i]) : std::nullopt);
  };
  later_.clear();
  for (std::size_t i = 0; i < ports.outputs.size(); ++i) {
    if (outputs[ports.outputs[i]].connection->IsPlaced()) {
      fill(i);
    } else {
      later_.push_back(i);
    }
  }
  for (const std::size_t i : later_) fill(i);
}

void Executable::State::Fail(const BranchPorts& ports) {
  if (index_port_) inputs[*index_port_].connection->Failed();
  for (const std::size_t port : ports.inputs) inputs[port].connection->Failed();
  for (const std::size_t port : ports.outputs) outputs[port].connection->Failed();
}

void Executable::State::ProgramOver() {
  for (const InputPort& port : inputs) {
    if (port.connection) port.connection->ProgramOver();
  }
  for (const OutputPort& port : outputs) {
    if (port.connection) port.connection->ProgramOver();
  }
}

Executable::Executable(std::shared_ptr<popef::Model> model, bool check_package_hash)
    : state_(std::make_shared<State>(std::move(model), check_package_hash)) {}

Executable::~Executable() { unload(); }

const std::shared_ptr<popef::Model>& Executable::model() const { return state_->model; }

void Executable::load(std::shared_ptr<Device> device) { state_->Load(std::move(device)); }

void Executable::unload() { state_->Unload(); }

bool Executable::isLoaded() const { return device() != nullptr; }

std::shared_ptr<Device> Executable::device() const {
  const std::lock_guard lock(state_->device_mutex);
  return state_->device;
}

void Executable::connectInput(std::string_view anchor, std::shared_ptr<TensorSource> source) {
  const std::lock_guard lock(state_->mutex);
  state_->Connect<TensorSource>(state_->Input(anchor), std::move(source));
}

void Executable::connectInput(std::string_view anchor, const ConstTensorMemoryView& memory) {
  const std::lock_guard lock(state_->mutex);
  InputPort& port = state_->Input(anchor);
  CheckMemory(port.anchor, port.bytes, memory);
  std::shared_ptr<TensorSource> source = std::make_shared<MemorySource>(memory.data);
  if (memory.data == nullptr) source = std::make_shared<ZeroSource>(0);
  state_->Connect(port, std::move(source));
}

bool Executable::connectInputWithModelData(std::string_view anchor) {
  const std::lock_guard lock(state_->mutex);
  return state_->ConnectModelData(state_->Input(anchor));
}

void Executable::connectOutput(std::string_view anchor, std::shared_ptr<TensorSink> sink) {
  const std::lock_guard lock(state_->mutex);
  state_->Connect<TensorSink>(state_->Output(anchor), std::move(sink));
}

void Executable::connectOutput(std::string_view anchor, const TensorMemoryView& memory) {
  const std::lock_guard lock(state_->mutex);
  OutputPort& port = state_->Output(anchor);
  CheckMemory(port.anchor, port.bytes, memory);
  state_->Connect<TensorSink>(port, std::make_shared<MemorySink>(memory.data));
}

std::vector<popef::Anchor> Executable::inputAnchors() const {
  std::vector<popef::Anchor> anchors;
  for (const InputPort& port : state_->inputs) anchors.push_back(port.anchor);
  return anchors;
}

std::vector<popef::Anchor> Executable::outputAnchors() const {
  std::vector<popef::Anchor> anchors;
  for (const OutputPort& port : state_->outputs) anchors.push_back(port.anchor);
  return anchors;
}

bool Executable::isMainAnchor(const popef::Anchor& anchor) const {
  if (anchor.type() == popef::TensorType::INPUT) return !state_->Input(anchor.name()).is_variable;
  return !state_->Output(anchor.name()).is_variable;
}

std::optional<std::size_t> Executable::openAxis(std::string_view output) const {
  return state_->Output(output).open_axis;
}

std::string Executable::canonicalName(std::string_view name) const {
  return CanonicalName(state_->program(), name);
}

void Executable::verify() const {
  const std::lock_guard lock(state_->mutex);
  state_->CheckConnections([](bool, bool) { return true; });
}

void Executable::runLoadPrograms() { state_->RunLoad(); }
void Executable::runMainPrograms() { state_->RunMain(); }
void Executable::runSavePrograms() { state_->RunSave(); }
void Executable::stop() { state_->Stop(); }

}  // namespace model_runtime
