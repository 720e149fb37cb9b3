#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model_runtime/DataDesc.hpp"
#include "popef/Model.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

/// A request or a model that cannot be served; says which tensor, what was found and what is
/// allowed.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A tensor of a request in user memory.
struct InputBuffer {
  std::string_view name;
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};
struct OutputBuffer {
  std::string_view name;
  void* data = nullptr;
  std::uint64_t bytes = 0;
  /// If not null, gets the shape of the result. An output with an open axis needs memory for its
  /// largest shape; the result takes the first bytes of it, densely packed.
  std::vector<std::int64_t>* shape = nullptr;
};

struct EngineConfig {
  /// A request must give exactly the tensors of the graph it runs. If not set, outputs may be left
  /// out and tensors no graph knows are ignored.
  bool validate_io_params = true;
  /// Refuse containers another version of the compiler has written.
  bool check_package_hash = true;
  /// Read the whole executable and compare its hash before it is loaded.
  bool verify_weights = false;
};

/// A model on a device, served one request at a time: what ModelRunner and the runners of poprt
/// have in common. Thread-safe.
///
/// A request for a fused model runs one graph: the one `index` selects, or the one its tensors
/// belong to. Tensors of graph i may be called by the name of the graph, "resnet/x", or by its
/// number, "graph0/x". A request whose tensors are N times the size of the model's runs N times,
/// unless an output of the graph has an open axis.
class Engine {
 public:
  /// Loads the model. Throws Error when the container is not for this runtime, popef::Error when it
  /// is damaged; the latter names the file.
  Engine(std::shared_ptr<const popef::Model> model, std::shared_ptr<poprt::device::Device> device,
         const EngineConfig& config);
  /// Finishes the request that runs; requests that wait get an Error.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::vector<DataDesc>& inputs() const;
  const std::vector<DataDesc>& outputs() const;

  /// The input or output a request may call by `name`, or null. Lives as long as the engine.
  const DataDesc* Describe(std::string_view name) const;

  /// Runs on the calling thread and returns when the outputs are written. Throws Error; nothing is
  /// written then.
  void Execute(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs);

  /// Queues a request and returns. `done` is called on a thread of the engine, with null after
  /// success; memory and names must live until then. Requests run in the order of their submission.
  using Done = std::function<void(std::exception_ptr error)>;
  void Submit(std::vector<InputBuffer> inputs, std::vector<OutputBuffer> outputs, Done done);

  /// Descriptions of the outputs the request would produce, at its multiple of the batch: what to
  /// allocate for it. Sizes and shapes are of the whole request. Throws Error as Execute does.
  std::vector<DataDesc> OutputsFor(std::span<const InputBuffer> inputs) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace model_runtime
