#pragma once

#include <memory>

#include "model_runtime/serving/engine.hpp"
#include "poprt/executable.hpp"
#include "poprt/runtime/lightrunner_config.hpp"
#include "poprt/runtime/pack_runner_config.hpp"
#include "poprt/runtime/runtime_config.hpp"

namespace poprt::runtime {

/// The model on the devices that the configuration asks for, waiting for them as it says. Throw
/// std::runtime_error that names every value of the configuration that cannot be served, and what
/// model_runtime::Engine throws.
std::unique_ptr<model_runtime::Engine> MakeEngine(const Executable& executable,
                                                  const RuntimeConfig& config);
std::unique_ptr<model_runtime::Engine> MakeEngine(const Executable& executable,
                                                  const PackRunnerConfig& config);
std::unique_ptr<model_runtime::Engine> MakeEngine(const std::shared_ptr<popef::Model>& model,
                                                  const LightRunnerConfig& config);

}  // namespace poprt::runtime
