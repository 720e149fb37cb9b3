#include "model_runtime/engine.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "model_runtime/request_router.hpp"
#include "runtime/program/anchor_type.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

namespace model_runtime {
namespace {

using poprt::device::Image;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Stream;

void CheckPackage(const popef::Metadata& metadata) {
  const std::string wanted = poprt::program::PackageHash();
  for (const popef::Option& option : metadata.engineOptions()) {
    if (option.name() != poprt::program::kPackageHashOption) continue;
    if (option.value() == wanted) return;
    throw Error("the container was written by " + option.value() + ", this runtime is " + wanted +
                ": compile the model again or switch check_package_hash off");
  }
  throw Error("the container does not say which compiler wrote it (engine option " +
              std::string(poprt::program::kPackageHashOption) +
              "): compile the model again or switch check_package_hash off");
}

std::shared_ptr<const Image> MakeImage(const popef::Model& model) {
  const popef::PayloadView view = model.executable.view();
  try {
    return std::make_shared<Image>(
        Image{.owner = view.owner, .payload = poprt::program::ParsePayload(view.bytes())});
  } catch (const poprt::program::PayloadError& error) {
    throw Error("executable '" + model.executable.name + "': " + error.what());
  }
}

/// The container's anchors of one direction; the program must agree with them.
std::vector<DataDesc> DescribeAnchors(const popef::Metadata& metadata,
                                      popef::TensorType direction) {
  std::vector<DataDesc> result;
  for (const popef::Anchor& anchor : metadata.anchors()) {
    if (anchor.type() != direction) continue;
    result.push_back({.name = anchor.name(),
                      .size_in_bytes = anchor.tensorInfo().sizeInBytes(),
                      .shape = anchor.tensorInfo().shape(),
                      .data_type = anchor.tensorInfo().dataType(),
                      .popef_contains_tensor_data = false,
                      .open_axis = std::nullopt});
  }
  return result;
}

/// Tells of the streams' extents, which metadata has no place for.
void DescribeExtents(const std::vector<Stream>& streams, std::vector<DataDesc>& anchors) {
  for (const Stream& stream : streams) {
    for (DataDesc& anchor : anchors) {
      if (stream.extent && anchor.name == stream.name) anchor.open_axis = stream.extent->axis;
    }
  }
}

void CheckAnchors(const Branch& branch, const std::vector<Stream>& streams,
                  const std::vector<DataDesc>& anchors) {
  for (const Stream& stream : streams) {
    const poprt::TensorType& type = branch.slots[stream.slot].type;
    const auto agrees = [&](const DataDesc& anchor) {
      return anchor.name == stream.name && anchor.shape == type.shape &&
             anchor.data_type == poprt::program::AnchorDataType(type.element);
    };
    if (std::none_of(anchors.begin(), anchors.end(), agrees)) {
      throw Error("the metadata has no anchor '" + stream.name + "' of type " +
                  poprt::ToString(type) + ", which the program needs: the container is damaged");
    }
  }
}

bool HasIndex(const std::vector<DataDesc>& inputs, const Program& program) {
  if (program.branches.size() > 1) return true;
  return std::any_of(inputs.begin(), inputs.end(), [&](const DataDesc& input) {
    return input.name == poprt::program::kIndexInput &&
           std::none_of(
               program.branches[0].inputs.begin(), program.branches[0].inputs.end(),
               [](const Stream& stream) { return stream.name == poprt::program::kIndexInput; });
  });
}

struct Request {
  std::vector<InputBuffer> inputs;
  std::vector<OutputBuffer> outputs;
  Engine::Done done;
};

}  // namespace

struct Engine::State {
  State(const popef::Model& source, std::shared_ptr<poprt::device::Device> target,
        const EngineConfig& config)
      : image(MakeImage(source)),
        inputs(DescribeAnchors(source.metadata, popef::TensorType::INPUT)),
        outputs(DescribeAnchors(source.metadata, popef::TensorType::OUTPUT)),
        router(image->payload.program, HasIndex(inputs, image->payload.program),
               config.validate_io_params),
        device(std::move(target)),
        program(device->Load(image)) {
    for (const Branch& branch : image->payload.program.branches) {
      CheckAnchors(branch, branch.inputs, inputs);
      CheckAnchors(branch, branch.outputs, outputs);
      DescribeExtents(branch.outputs, outputs);
      extents.resize(std::max(extents.size(), branch.outputs.size()));
    }
  }

  /// One request; the caller holds `running`.
  void Run(std::span<const InputBuffer> request_inputs,
           std::span<const OutputBuffer> request_outputs) {
    router.Resolve(request_inputs, request_outputs, route);
    const Branch& branch = image->payload.program.branches[route.branch];
    for (std::uint64_t batch = 0; batch < route.batches; ++batch) {
      if (batch > 0) Advance(branch);
      program->Run(route.branch, route.inputs, route.outputs, extents);
    }
    for (std::size_t i = 0; i < route.shapes.size(); ++i) {
      if (route.shapes[i] != nullptr) *route.shapes[i] = ResultShape(branch, i);
    }
  }

  /// Of output i of the request that has just run.
  std::vector<std::int64_t> ResultShape(const Branch& branch, std::size_t i) const {
    const Stream& stream = branch.outputs[i];
    std::vector<std::int64_t> shape = branch.slots[stream.slot].type.shape;
    if (stream.extent) {
      shape[stream.extent->axis] = extents[i];
    } else if (!shape.empty()) {
      shape[0] *= static_cast<std::int64_t>(route.batches);
    }
    return shape;
  }

  /// Moves every pointer to the next batch.
  void Advance(const Branch& branch) {
    for (std::size_t i = 0; i < route.inputs.size(); ++i) {
      route.inputs[i] = static_cast<const std::byte*>(route.inputs[i]) +
                        branch.slots[branch.inputs[i].slot].type.bytes();
    }
    for (std::size_t i = 0; i < route.outputs.size(); ++i) {
      if (route.outputs[i] == nullptr) continue;
      route.outputs[i] = static_cast<std::byte*>(route.outputs[i]) +
                         branch.slots[branch.outputs[i].slot].type.bytes();
    }
  }

  void ServeQueue() {
    std::unique_lock lock(queue_mutex);
    while (true) {
      arrived.wait(lock, [&] { return stopping || !queue.empty(); });
      if (stopping) return;
      const Request request = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      std::exception_ptr error;
      try {
        const std::lock_guard run_lock(running);
        Run(request.inputs, request.outputs);
      } catch (...) {
        error = std::current_exception();
      }
      request.done(error);
      lock.lock();
    }
  }

  void Stop() {
    {
      const std::lock_guard lock(queue_mutex);
      stopping = true;
    }
    arrived.notify_all();
    if (worker.joinable()) worker.join();
    const auto error =
        std::make_exception_ptr(Error("the runner was destroyed before the request ran"));
    for (const Request& request : queue) request.done(error);
  }

  std::shared_ptr<const Image> image;
  std::vector<DataDesc> inputs;
  std::vector<DataDesc> outputs;
  RequestRouter router;
  std::shared_ptr<poprt::device::Device> device;
  std::unique_ptr<poprt::device::LoadedProgram> program;

  std::mutex running;  ///< guards program, route, extents: a device runs one request at a time
  Route route;
  std::vector<std::int64_t> extents;  ///< for every output of the branch that has most

  std::mutex queue_mutex;
  std::condition_variable arrived;
  std::deque<Request> queue;
  bool stopping = false;
  std::thread worker;  ///< started by the first Submit
};

Engine::Engine(std::shared_ptr<const popef::Model> model,
               std::shared_ptr<poprt::device::Device> device, const EngineConfig& config) {
  if (model == nullptr) throw Error("there is no model");
  if (config.check_package_hash) CheckPackage(model->metadata);
  if (config.verify_weights) model->executable.verify();
  state_ = std::make_unique<State>(*model, std::move(device), config);
}

Engine::~Engine() { state_->Stop(); }

const std::vector<DataDesc>& Engine::inputs() const { return state_->inputs; }
const std::vector<DataDesc>& Engine::outputs() const { return state_->outputs; }

const DataDesc* Engine::Describe(std::string_view name) const {
  const std::string known(state_->router.CanonicalName(name));
  for (const auto* descs : {&state_->inputs, &state_->outputs}) {
    for (const DataDesc& desc : *descs) {
      if (desc.name == known) return &desc;
    }
  }
  return nullptr;
}

void Engine::Execute(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs) {
  const std::lock_guard lock(state_->running);
  state_->Run(inputs, outputs);
}

void Engine::Submit(std::vector<InputBuffer> inputs, std::vector<OutputBuffer> outputs, Done done) {
  {
    const std::lock_guard lock(state_->queue_mutex);
    state_->queue.push_back({std::move(inputs), std::move(outputs), std::move(done)});
    if (!state_->worker.joinable()) {
      state_->worker = std::thread([state = state_.get()] { state->ServeQueue(); });
    }
  }
  state_->arrived.notify_one();
}

std::vector<DataDesc> Engine::OutputsFor(std::span<const InputBuffer> inputs) const {
  Route route;
  state_->router.ResolveInputs(inputs, route);
  const Branch& branch = state_->image->payload.program.branches[route.branch];
  std::vector<DataDesc> result;
  for (const Stream& stream : branch.outputs) {
    const auto at = std::find_if(state_->outputs.begin(), state_->outputs.end(),
                                 [&](const DataDesc& desc) { return desc.name == stream.name; });
    DataDesc& desc = result.emplace_back(*at);
    desc.size_in_bytes *= static_cast<std::int64_t>(route.batches);
    if (!desc.shape.empty()) desc.shape[0] *= static_cast<std::int64_t>(route.batches);
  }
  return result;
}

}  // namespace model_runtime
