#pragma once

#include <functional>

#include "model_runtime/DeviceWaitConfig.hpp"
#include "popef/Types.hpp"

namespace model_runtime {

/// What an anchor is connected with.
enum class AnchorCallbackPolicy {
  /// What the user gives: a queue, a handler or memory. Tensor data of the container is not used.
  BIND_USER_CB,
  /// The container's data for it; without any an input reads zeros, and an output is dropped.
  BIND_EMPTY_CB,
  /// Nothing: the user must connect it by its name.
  SKIP_CB
};

/// Decides on an anchor. An empty one stands for the default of its user.
using AnchorCallbackPredicate = std::function<AnchorCallbackPolicy(const popef::Anchor&)>;

/// When a Session takes its device and loads the program.
enum class LaunchPolicy {
  Immediate,  ///< when it is made
  Deferred    ///< when it is bound to one, or else when it first needs one
};

/// Configuration of a Session.
struct SessionConfig {
  /// Refuse containers another version of the compiler has written.
  bool check_package_hash = true;
  LaunchPolicy policy = LaunchPolicy::Deferred;
  /// How to wait for the device if the session takes one by itself.
  DeviceWaitConfig wait_config;
  /// What anchors are connected with. By default data of the container serves its inputs, outputs
  /// of the save program are dropped, and all else is the user's.
  AnchorCallbackPredicate input_predicate;
  AnchorCallbackPredicate output_predicate;
};

}  // namespace model_runtime
