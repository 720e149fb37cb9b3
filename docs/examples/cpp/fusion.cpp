// Two models in one container: a request gives the tensors of one of them.
//   fusion fused.popef

#include "example.hpp"

int main(int, char** argv) {
  model_runtime::ModelRunner runner(argv[1]);
  const std::vector<float> x(12, 3);
  std::vector<float> y(12);
  const model_runtime::ConstTensorMemoryView input{x.data(), x.size() * sizeof(float)};
  const model_runtime::TensorMemoryView output{y.data(), y.size() * sizeof(float)};

  runner.execute({{"graph0/x", input}}, {{"graph0/output", output}});
  example::Expect("3 + 3", y.data(), 6);

  const std::uint32_t index = 1;
  runner.execute({{"index", {&index, sizeof(index)}}, {"graph1/x", input}},
                 {{"graph1/output", output}});
  example::Expect("3 * 3", y.data(), 9);

  try {
    runner.execute({{"index", {&index, sizeof(index)}}, {"graph0/x", input}},
                   {{"graph0/output", output}});
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << "\n";
    return EXIT_SUCCESS;
  }
  std::cerr << "a request with tensors of another graph than its index must fail\n";
  return EXIT_FAILURE;
}
