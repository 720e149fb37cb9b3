// Two copies of a model on two devices; their weights are in memory once.
//   replication affine.popef

#include "example.hpp"

int main(int, char** argv) {
  model_runtime::ModelRunnerConfig config;
  config.replication_factor = 2;
  config.device_wait_config = model_runtime::DeviceWaitConfig{std::chrono::seconds(60)};
  model_runtime::ModelRunner runner(argv[1], config);

  const model_runtime::InputMemory inputs = example::Filled(runner.getExecuteInputs(), 3);
  std::vector<model_runtime::OutputFutureMemory> results;
  for (unsigned replica = 0; replica < config.replication_factor; ++replica) {
    results.push_back(runner.executeAsync(example::InputViews(inputs), replica));
  }
  for (const model_runtime::OutputFutureMemory& result : results) {
    example::Expect("a replica", result.at("output").get().data.get(), 9);
  }
}
