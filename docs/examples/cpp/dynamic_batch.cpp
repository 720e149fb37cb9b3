// Requests of any number of rows for a model that takes four at a time.
//   dynamic_batch affine.popef

#include "example.hpp"

int main(int, char** argv) {
  model_runtime::ModelRunnerConfig config;
  config.batching_dim = 0;
  config.timeout_ns = std::chrono::microseconds(300);
  model_runtime::ModelRunner runner(argv[1], config);

  for (const std::size_t rows : {1, 4, 7}) {
    const std::vector<float> a(rows * 3, 3);
    const std::vector<float> b(rows * 3, static_cast<float>(rows));
    std::vector<float> output(rows * 3);
    runner.execute({{"tensor_A", {a.data(), a.size() * sizeof(float)}},
                    {"tensor_B", {b.data(), b.size() * sizeof(float)}}},
                   {{"output", {output.data(), output.size() * sizeof(float)}}});
    example::Expect(std::to_string(rows) + " rows, the last element", &output.back(),
                    6 + static_cast<float>(rows));
  }
}
