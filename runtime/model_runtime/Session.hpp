#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model_runtime/DeviceManager.hpp"
#include "model_runtime/Errors.hpp"
#include "model_runtime/Executable.hpp"
#include "model_runtime/QueueManager.hpp"
#include "model_runtime/SessionConfig.hpp"
#include "model_runtime/SessionUtils.hpp"
#include "model_runtime/Tensor.hpp"
#include "popef/Model.hpp"

namespace model_runtime {

/// Supplies an input: fills the memory with the next tensor. Runs on the thread of the program.
using UserInputHandler = std::function<void(const popef::Anchor&, const TensorMemoryView&)>;
/// Takes an output: the memory is the library's and valid during the call; its size is that of the
/// result. Runs on the thread of the program.
using UserOutputHandler = std::function<void(const popef::Anchor&, const ConstTensorMemoryView&)>;

/// A model on a device, with its inputs and outputs connected to queues, handlers, memory, or data
/// of the container: Executable with everything that connects it.
///
///     Session session(model);
///     QueueManager* queues = session.createQueueManager();
///     session.runLoadPrograms();                       // once
///     std::thread main([&] { while (!stop) session.runMainPrograms(); });
///     queues->inputQueue("x").enqueue(x, x_bytes);
///     queues->outputQueue("y").enqueue(y, y_bytes, [] { /* y is there */ });
///     ...
///     stop = true;
///     queues->disconnectAll();
///     main.join();
///
/// What an anchor is connected with, the first that applies: the handler or memory set for its
/// name; its queue; the handler for all, if predicates make it the user's; what
/// AnchorCallbackPolicy says.
///
/// Thread-safe; programs, loading and connecting take turns, which means that a program which waits
/// for data makes others wait. stop(), QueueManager::disconnectAll() and unloading end it.
/// Functions throw Error, those of Errors.hpp for faults of the device, and
/// poprt::device::DeviceError when no device gets free.
class Session {
 public:
  /// Throws also if the model is not for this runtime.
  explicit Session(std::shared_ptr<popef::Model> model, const SessionConfig& config = {});
  /// A model spread over several files, or in one.
  explicit Session(const std::vector<std::string>& popef_paths, const SessionConfig& config = {});
  /// Stops, waits for the programs that run, drops what is queued and releases the device. No other
  /// thread may call functions of the session any more; those in its programs get out of them.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::shared_ptr<popef::Model>& model() const;

  /// Loads the programs on this device and releases the one before. A session that is bound to it
  /// is unloaded first. Variables must be loaded again.
  void bindToDevice(std::shared_ptr<Device> device);
  /// Loads the programs again, or for the first time; takes a device if there is none.
  void loadToDevice();
  /// Stops and unloads, and keeps the device for loadToDevice().
  void unloadFromDevice();
  bool isLoaded() const;
  /// Null if there is none.
  std::shared_ptr<Device> device() const;

  /// Supplies an input, or all that are the user's. Handlers may be replaced.
  void setUserInputHandler(const std::string& anchor, UserInputHandler handler);
  void setUserInputHandler(UserInputHandler handler);
  void setUserOutputHandler(const std::string& anchor, const UserOutputHandler& handler);
  void setUserOutputHandler(UserOutputHandler handler);
  /// Memory that each run of a program reads or writes; of the size of the tensor, an output's the
  /// largest. It must stay valid. Replaces tensor data of the container.
  void setUserInputMemory(const std::string& anchor, const ConstTensorMemoryView& memory);
  void setUserOutputMemory(const std::string& anchor, const TensorMemoryView& memory);

  /// The anchors that predicates make the user's, in the order of the metadata.
  std::vector<popef::Anchor> getUserInputAnchors() const;
  std::vector<popef::Anchor> getUserOutputAnchors() const;

  /// Throws Error that lists every anchor without source or sink.
  void verify() const;

  /// A queue for each anchor that the predicates make the user's; they replace those of the
  /// configuration. Once only, and before programs run. The session owns the queues.
  ///
  /// num_buffers: elements each queue has room for. timeout_callback: called on the thread of the
  /// program when it has waited for an element of an input queue as long as timeout_ns, and again
  /// after each further timeout_ns; it may flush. With timeout_ns 0 it is never called.
  QueueManager* createQueueManager(std::size_t num_buffers = 64,
                                   TimeoutCallback timeout_callback = {},
                                   std::chrono::nanoseconds timeout_ns = {},
                                   AnchorCallbackPredicate input_predicate = {},
                                   AnchorCallbackPredicate output_predicate = {});
  /// Null if there is none.
  QueueManager* queueManager() const;

  /// See Executable. The first of them loads the programs if the session has not been bound to a
  /// device; that alone does not undo a stop().
  void runLoadPrograms();
  void runMainPrograms();
  void runSavePrograms();
  void stop();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace model_runtime
