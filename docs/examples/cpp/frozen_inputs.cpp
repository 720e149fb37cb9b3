// output = tensor_A * weights + tensor_B of a container that holds data for `weights`: first with
// that data, then with other data that is the same for all requests.
//   frozen_inputs affine_variable.popef

#include "example.hpp"

int main(int, char** argv) {
  {
    model_runtime::ModelRunner runner(argv[1]);
    const model_runtime::InputMemory inputs = example::Filled(runner.getExecuteInputs(), 3);
    const model_runtime::OutputMemory result = runner.execute(example::InputViews(inputs));
    example::Expect("weights of the container", result.at("output").data.get(), 9);
  }

  const std::vector<float> weights(12, 5);
  const std::vector<float> offset(12, 1);
  model_runtime::ModelRunnerConfig config;
  config.frozen_inputs = {{"weights", {weights.data(), weights.size() * sizeof(float)}},
                          {"tensor_B", {offset.data(), offset.size() * sizeof(float)}}};
  model_runtime::ModelRunner runner(argv[1], config);
  for (const model_runtime::InputDesc& input : runner.getExecuteInputs()) {
    std::cout << "still to be given: " << input.name << "\n";
  }
  const model_runtime::InputMemory inputs = example::Filled(runner.getExecuteInputs(), 3);
  const model_runtime::OutputMemory result = runner.execute(example::InputViews(inputs));
  example::Expect("frozen weights and tensor_B", result.at("output").data.get(), 16);
}
