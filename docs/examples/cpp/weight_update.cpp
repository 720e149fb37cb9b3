// Other weights for a loaded model, without compiling or loading it again.
//   weight_update affine_variable.popef

#include <iostream>
#include <memory>
#include <vector>

#include "poprt/runtime/lightrunner.hpp"

int main(int, char** argv) {
  poprt::runtime::LightRunner runner(std::make_shared<poprt::Executable>(argv[1]), {});
  const std::vector<float> three(12, 3);
  const std::vector<float> seven(12, 7);
  std::vector<float> result(12);
  const std::size_t bytes = result.size() * sizeof(float);
  poprt::runtime::InputMemoryView inputs{{"tensor_A", {three.data(), bytes}},
                                         {"tensor_B", {three.data(), bytes}}};
  poprt::runtime::OutputMemoryView outputs{{"output", {result.data(), bytes}}};

  runner.execute(inputs, outputs);
  const float before = result[0];
  runner.setInputAnchor("weights", {seven.data(), bytes});
  runner.updateWeights();
  runner.execute(inputs, outputs);
  std::cout << before << ", with new weights " << result[0] << "\n";
  return before == 9 && result[0] == 24 ? EXIT_SUCCESS : EXIT_FAILURE;
}
