#pragma once

namespace poprt::runtime {

/// Runners a configuration can ask for.
enum class RunnerType { ModelRunner = 0, PackRunner, ModelFusionRunner };

}  // namespace poprt::runtime
