// The four ways to run a request: now or queued, in memory of the library or of the user.
//   execution_modes affine.popef

#include "example.hpp"

int main(int, char** argv) {
  model_runtime::ModelRunner runner(argv[1]);
  const model_runtime::InputMemory inputs = example::Filled(runner.getExecuteInputs(), 3);
  const model_runtime::InputMemoryView input_views = example::InputViews(inputs);
  model_runtime::OutputMemory outputs = example::Filled(runner.getExecuteOutputs(), 0);
  const model_runtime::OutputMemoryView output_views = example::OutputViews(outputs);

  const model_runtime::OutputMemory result = runner.execute(input_views);
  example::Expect("synchronous, memory of the library", result.at("output").data.get(), 9);

  runner.execute(input_views, output_views);
  example::Expect("synchronous, memory of the user", outputs.at("output").data.get(), 9);

  const model_runtime::OutputFutureMemory futures = runner.executeAsync(input_views);
  example::Expect("queued, memory of the library", futures.at("output").get().data.get(), 9);

  const model_runtime::OutputFutureMemoryView views =
      runner.executeAsync(input_views, output_views);
  example::Expect("queued, memory of the user", views.at("output").get().data, 9);
}
