#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model_runtime/DeviceManager.hpp"
#include "model_runtime/Tensor.hpp"
#include "model_runtime/TensorStream.hpp"
#include "popef/Model.hpp"

namespace model_runtime {

/// The programs of a model: reads them from the container, loads them on a device and runs them.
///
///     load program   copies the variables of the model, if it has any, to the device
///     main program   reads inputs, computes, writes outputs: one batch, or as many as the model
///     was
///                    compiled for (batches per step)
///     save program   copies the variables back
///
/// Inputs that the container has data for are connected with it: tensor data is read by each run,
/// of feed data each run reads the next tensor, and the first after the last. All others must be
/// connected before the program runs that transfers them. The main program of a fused model first
/// reads `index` and then the inputs of that graph only.
///
/// Anchors may be called as in requests: "graph0/x" is "resnet/x" if that is the name of graph 0.
///
/// Thread-safe: programs, loading and connecting take turns, so sources, sinks and their callbacks
/// must do without them; stop() never waits. Functions throw Error. A run that fails on the device
/// throws what Errors.hpp says; the tensors it was to read and write are used up.
class Executable {
 public:
  /// Throws popef::Error when the container is damaged.
  explicit Executable(std::shared_ptr<popef::Model> model, bool check_package_hash = true);
  /// Stops, waits for the program that runs, and unloads.
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const std::shared_ptr<popef::Model>& model() const;

  /// Loads the programs on a device, which is kept until unload(), or until something else is
  /// loaded on it. Loading again, there or elsewhere, starts afresh: variables must be loaded
  /// again.
  void load(std::shared_ptr<Device> device);
  /// Stops and unloads; returns when no program runs. Not from a callback of a program.
  void unload();
  bool isLoaded() const;
  /// Null if there is none.
  std::shared_ptr<Device> device() const;

  /// Connects an input; null leaves it without a source. The last call counts.
  void connectInput(std::string_view anchor, std::shared_ptr<TensorSource> source);
  /// An input that is read from this memory by each run. It must stay valid.
  void connectInput(std::string_view anchor, const ConstTensorMemoryView& memory);
  /// An input that reads the data the container has for it. False if it has none.
  bool connectInputWithModelData(std::string_view anchor);
  /// Connects an output; null leaves it without a sink.
  void connectOutput(std::string_view anchor, std::shared_ptr<TensorSink> sink);
  /// An output that each run writes to this memory, of the size of the largest result.
  void connectOutput(std::string_view anchor, const TensorMemoryView& memory);

  /// The anchors that programs transfer, in the order of the metadata.
  std::vector<popef::Anchor> inputAnchors() const;
  std::vector<popef::Anchor> outputAnchors() const;
  /// Whether the main program transfers it, rather than load and save programs.
  bool isMainAnchor(const popef::Anchor& anchor) const;
  /// The axis along which the extent of an output depends on the data.
  std::optional<std::size_t> openAxis(std::string_view output) const;
  /// The container's name for an anchor that may be called `name`; `name` itself if there is none.
  std::string canonicalName(std::string_view name) const;

  /// Throws Error that lists every anchor without source or sink.
  void verify() const;

  /// Each throws Error if an anchor that it transfers is not connected, except that the save
  /// program leaves out what nobody wants. Programs that are stopped, or whose sources end, return
  /// early.
  void runLoadPrograms();
  void runMainPrograms();
  void runSavePrograms();

  /// Ends programs that wait for data, as soon as they do, and all later ones at once, until
  /// runLoadPrograms() or load(). Does not wait. A result is lost if there is no memory for it yet.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace model_runtime
