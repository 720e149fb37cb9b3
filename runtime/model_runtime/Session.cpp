#include "model_runtime/Session.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "model_runtime/model/model_file.hpp"
#include "model_runtime/session/memory_streams.hpp"

namespace model_runtime {
namespace {

std::uint64_t BytesOf(const popef::Anchor& anchor) {
  return static_cast<std::uint64_t>(anchor.tensorInfo().sizeInBytes());
}

class HandlerSource : public TensorSource {
 public:
  HandlerSource(popef::Anchor anchor, UserInputHandler handler)
      : anchor_(std::move(anchor)), handler_(std::move(handler)), memory_(BytesOf(anchor_) + 1) {}

  const void* Next() override {
    // Asked again without the tensor having been read, it is the same.
    if (!std::exchange(filled_, true)) handler_(anchor_, {memory_.data(), BytesOf(anchor_)});
    return memory_.data();
  }
  void Consumed() override { filled_ = false; }
  void Failed() override { filled_ = false; }

 private:
  popef::Anchor anchor_;
  UserInputHandler handler_;
  std::vector<std::byte> memory_;
  bool filled_ = false;
};

class HandlerSink : public TensorSink {
 public:
  HandlerSink(popef::Anchor anchor, std::optional<std::size_t> open_axis, UserOutputHandler handler)
      : anchor_(std::move(anchor)),
        open_axis_(open_axis),
        handler_(std::move(handler)),
        memory_(BytesOf(anchor_) + 1) {}

  void* Next() override { return memory_.data(); }
  void Filled(std::optional<std::int64_t> extent) override {
    std::uint64_t bytes = BytesOf(anchor_);
    if (open_axis_ && extent && bytes > 0) {
      const auto bound = static_cast<std::uint64_t>(anchor_.tensorInfo().shape()[*open_axis_]);
      bytes = bytes / bound * static_cast<std::uint64_t>(*extent);
    }
    handler_(anchor_, {memory_.data(), bytes});
  }

 private:
  popef::Anchor anchor_;
  std::optional<std::size_t> open_axis_;
  UserOutputHandler handler_;
  std::vector<std::byte> memory_;
};

}  // namespace

class Session::State {
 public:
  State(std::shared_ptr<popef::Model> model, const SessionConfig& session_config)
      : config(session_config), executable(std::move(model), session_config.check_package_hash) {
    ConnectInputs();
    ConnectOutputs();
    if (config.policy == LaunchPolicy::Immediate) Load();
  }

  ~State() {
    if (queues) queues->disconnectAll();
    executable.unload();
    std::unique_lock lock(programs_mutex);
    programs_ended.wait(lock, [&] { return programs == 0; });
  }

  AnchorCallbackPolicy InputPolicy(const popef::Anchor& anchor) const {
    if (config.input_predicate) return config.input_predicate(anchor);
    const popef::Model& model = *executable.model();
    const auto named = [&](const auto& reader) { return reader.info.name() == anchor.name(); };
    const bool has_data =
        std::ranges::any_of(model.tensors, named) || std::ranges::any_of(model.feeds, named);
    return has_data ? AnchorCallbackPolicy::BIND_EMPTY_CB : AnchorCallbackPolicy::BIND_USER_CB;
  }

  AnchorCallbackPolicy OutputPolicy(const popef::Anchor& anchor) const {
    if (config.output_predicate) return config.output_predicate(anchor);
    return executable.isMainAnchor(anchor) ? AnchorCallbackPolicy::BIND_USER_CB
                                           : AnchorCallbackPolicy::BIND_EMPTY_CB;
  }

  void ConnectInputs() {
    for (const popef::Anchor& anchor : executable.inputAnchors()) {
      if (input_names.count(anchor.name()) == 0) ConnectInput(anchor);
    }
  }

  void ConnectOutputs() {
    for (const popef::Anchor& anchor : executable.outputAnchors()) {
      if (output_names.count(anchor.name()) == 0) ConnectOutput(anchor);
    }
  }

  void ConnectInput(const popef::Anchor& anchor) {
    const std::string& name = anchor.name();
    switch (InputPolicy(anchor)) {
      case AnchorCallbackPolicy::BIND_USER_CB:
        if (const auto queue = input_queues.find(name); queue != input_queues.end()) {
          executable.connectInput(name, queue->second);
        } else if (input_handler) {
          executable.connectInput(name, std::make_shared<HandlerSource>(anchor, input_handler));
        } else {
          executable.connectInput(name, nullptr);
        }
        break;
      case AnchorCallbackPolicy::BIND_EMPTY_CB:
        if (!executable.connectInputWithModelData(name)) {
          executable.connectInput(name, std::make_shared<ZeroSource>(BytesOf(anchor)));
        }
        break;
      case AnchorCallbackPolicy::SKIP_CB:
        executable.connectInput(name, nullptr);
        break;
    }
  }

  void ConnectOutput(const popef::Anchor& anchor) {
    const std::string& name = anchor.name();
    switch (OutputPolicy(anchor)) {
      case AnchorCallbackPolicy::BIND_USER_CB:
        if (const auto queue = output_queues.find(name); queue != output_queues.end()) {
          executable.connectOutput(name, queue->second);
        } else if (output_handler) {
          executable.connectOutput(name, MakeSink(anchor, output_handler));
        } else {
          executable.connectOutput(name, nullptr);
        }
        break;
      case AnchorCallbackPolicy::BIND_EMPTY_CB:
        executable.connectOutput(name, std::make_shared<NoSink>());
        break;
      case AnchorCallbackPolicy::SKIP_CB:
        executable.connectOutput(name, nullptr);
        break;
    }
  }

  std::shared_ptr<TensorSink> MakeSink(const popef::Anchor& anchor,
                                       const UserOutputHandler& handler) const {
    return std::make_shared<HandlerSink>(anchor, executable.openAxis(anchor.name()), handler);
  }

  template <typename Anchors>
  static const popef::Anchor& AnchorOf(const Anchors& anchors, const std::string& name) {
    const auto named = [&](const popef::Anchor& anchor) { return anchor.name() == name; };
    return *std::ranges::find_if(anchors, named);
  }

  /// On the device that the session has, or takes one. The caller holds load_mutex.
  void Load() {
    std::shared_ptr<Device> target = Current();
    if (target == nullptr) {
      target = DeviceManager().getDevice(executable.model(), config.wait_config);
    }
    LoadOn(std::move(target));
  }

  void LoadOn(std::shared_ptr<Device> target) {
    executable.load(std::move(target));
    unloaded_device.reset();
    was_loaded = true;
  }

  std::shared_ptr<Device> Current() const {
    return unloaded_device ? unloaded_device : executable.device();
  }

  void LoadForTheFirstTime() {
    const std::lock_guard lock(load_mutex);
    if (was_loaded) return;
    Load();
    // Loading starts, but nobody has asked for that here.
    if (stop_called) executable.stop();
  }

  /// What is around a program, also when it throws.
  class ProgramGuard {
   public:
    explicit ProgramGuard(State& state) : state_(state), queues_(state.queues.get()) {
      if (queues_ != nullptr) queues_->ProgramBegins();
      const std::lock_guard lock(state_.programs_mutex);
      ++state_.programs;
    }
    ~ProgramGuard() {
      if (queues_ != nullptr) queues_->ProgramEnds();
      // Notified under the lock: the session may go as soon as it is free.
      const std::lock_guard lock(state_.programs_mutex);
      --state_.programs;
      state_.programs_ended.notify_all();
    }
    ProgramGuard(const ProgramGuard&) = delete;
    ProgramGuard& operator=(const ProgramGuard&) = delete;

   private:
    State& state_;
    QueueManager* queues_;
  };

  template <typename Run>
  void RunPrograms(const Run& run) {
    LoadForTheFirstTime();
    const ProgramGuard guard(*this);
    run();
  }

  std::mutex mutex;  ///< guards what decides on connections
  SessionConfig config;
  std::map<std::string, std::shared_ptr<InputQueue>> input_queues;
  std::map<std::string, std::shared_ptr<OutputQueue>> output_queues;
  UserInputHandler input_handler;
  UserOutputHandler output_handler;
  std::set<std::string> input_names;  ///< connected by name
  std::set<std::string> output_names;

  std::mutex load_mutex;  ///< guards the device; callbacks of programs must do without
  std::shared_ptr<Device> unloaded_device;
  bool was_loaded = false;
  std::atomic<bool> stop_called{false};  ///< ever

  std::mutex programs_mutex;
  std::condition_variable programs_ended;
  int programs = 0;  ///< running or waiting

  std::unique_ptr<QueueManager> queues;  ///< before any program runs
  Executable executable;
};

Session::Session(std::shared_ptr<popef::Model> model, const SessionConfig& config)
    : state_(std::make_unique<State>(std::move(model), config)) {}

Session::Session(const std::vector<std::string>& popef_paths, const SessionConfig& config)
    : Session(ReadModel(popef_paths), config) {}

Session::~Session() = default;

const std::shared_ptr<popef::Model>& Session::model() const { return state_->executable.model(); }

void Session::bindToDevice(std::shared_ptr<Device> device) {
  const std::lock_guard lock(state_->load_mutex);
  state_->LoadOn(std::move(device));
}

void Session::loadToDevice() {
  const std::lock_guard lock(state_->load_mutex);
  state_->Load();
}

void Session::unloadFromDevice() {
  const std::lock_guard lock(state_->load_mutex);
  state_->unloaded_device = state_->Current();
  state_->executable.unload();
}

bool Session::isLoaded() const { return state_->executable.isLoaded(); }

std::shared_ptr<Device> Session::device() const {
  const std::lock_guard lock(state_->load_mutex);
  return state_->Current();
}

void Session::setUserInputHandler(const std::string& anchor, UserInputHandler handler) {
  const std::lock_guard lock(state_->mutex);
  const std::string name = state_->executable.canonicalName(anchor);
  state_->executable.connectInput(name, nullptr);  // throws if there is no such input
  state_->executable.connectInput(
      name, std::make_shared<HandlerSource>(
                State::AnchorOf(state_->executable.inputAnchors(), name), std::move(handler)));
  state_->input_names.insert(name);
}

void Session::setUserInputHandler(UserInputHandler handler) {
  const std::lock_guard lock(state_->mutex);
  state_->input_handler = std::move(handler);
  state_->ConnectInputs();
}

void Session::setUserOutputHandler(const std::string& anchor, const UserOutputHandler& handler) {
  const std::lock_guard lock(state_->mutex);
  const std::string name = state_->executable.canonicalName(anchor);
  state_->executable.connectOutput(name, nullptr);
  state_->executable.connectOutput(
      name, state_->MakeSink(State::AnchorOf(state_->executable.outputAnchors(), name), handler));
  state_->output_names.insert(name);
}

void Session::setUserOutputHandler(UserOutputHandler handler) {
  const std::lock_guard lock(state_->mutex);
  state_->output_handler = std::move(handler);
  state_->ConnectOutputs();
}

void Session::setUserInputMemory(const std::string& anchor, const ConstTensorMemoryView& memory) {
  const std::lock_guard lock(state_->mutex);
  state_->executable.connectInput(anchor, memory);
  state_->input_names.insert(state_->executable.canonicalName(anchor));
}

void Session::setUserOutputMemory(const std::string& anchor, const TensorMemoryView& memory) {
  const std::lock_guard lock(state_->mutex);
  state_->executable.connectOutput(anchor, memory);
  state_->output_names.insert(state_->executable.canonicalName(anchor));
}

std::vector<popef::Anchor> Session::getUserInputAnchors() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<popef::Anchor> anchors = state_->executable.inputAnchors();
  std::erase_if(anchors, [&](const popef::Anchor& anchor) {
    return state_->InputPolicy(anchor) != AnchorCallbackPolicy::BIND_USER_CB;
  });
  return anchors;
}

std::vector<popef::Anchor> Session::getUserOutputAnchors() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<popef::Anchor> anchors = state_->executable.outputAnchors();
  std::erase_if(anchors, [&](const popef::Anchor& anchor) {
    return state_->OutputPolicy(anchor) != AnchorCallbackPolicy::BIND_USER_CB;
  });
  return anchors;
}

void Session::verify() const { state_->executable.verify(); }

QueueManager* Session::createQueueManager(std::size_t num_buffers, TimeoutCallback timeout_callback,
                                          std::chrono::nanoseconds timeout_ns,
                                          AnchorCallbackPredicate input_predicate,
                                          AnchorCallbackPredicate output_predicate) {
  const std::lock_guard lock(state_->mutex);
  if (state_->queues) throw Error("the session has a queue manager already, it makes one only");
  std::unique_ptr<QueueManager> queues(
      new QueueManager(num_buffers, std::move(timeout_callback), timeout_ns,
                       [state = state_.get()](std::string_view name) {
                         return state->executable.canonicalName(name);
                       }));
  if (input_predicate) state_->config.input_predicate = std::move(input_predicate);
  if (output_predicate) state_->config.output_predicate = std::move(output_predicate);
  for (const popef::Anchor& anchor : state_->executable.inputAnchors()) {
    if (state_->InputPolicy(anchor) != AnchorCallbackPolicy::BIND_USER_CB) continue;
    state_->input_queues[anchor.name()] = queues->AddInput(anchor);
  }
  for (const popef::Anchor& anchor : state_->executable.outputAnchors()) {
    if (state_->OutputPolicy(anchor) != AnchorCallbackPolicy::BIND_USER_CB) continue;
    state_->output_queues[anchor.name()] =
        queues->AddOutput(anchor, state_->executable.openAxis(anchor.name()));
  }
  state_->queues = std::move(queues);
  state_->ConnectInputs();
  state_->ConnectOutputs();
  return state_->queues.get();
}

QueueManager* Session::queueManager() const { return state_->queues.get(); }

void Session::runLoadPrograms() {
  state_->RunPrograms([&] { state_->executable.runLoadPrograms(); });
}

void Session::runMainPrograms() {
  state_->RunPrograms([&] { state_->executable.runMainPrograms(); });
}

void Session::runSavePrograms() {
  state_->RunPrograms([&] { state_->executable.runSavePrograms(); });
}

void Session::stop() {
  state_->stop_called = true;  // before the executable stops: see LoadForTheFirstTime
  state_->executable.stop();
}

}  // namespace model_runtime
