// Threads that share a runner.
//   multithreading affine.popef

#include <atomic>
#include <thread>

#include "example.hpp"

int main(int, char** argv) {
  model_runtime::ModelRunnerConfig config;
  config.thread_safe = true;
  model_runtime::ModelRunner runner(argv[1], config);

  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const auto value = static_cast<float>(thread);
      const model_runtime::InputMemory inputs = example::Filled(runner.getExecuteInputs(), value);
      for (int request = 0; request < 100; ++request) {
        const model_runtime::OutputMemory result = runner.execute(example::InputViews(inputs));
        right += *static_cast<const float*>(result.at("output").data.get()) == 3 * value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << right << " of 400 requests were right\n";
  return right == 400 ? EXIT_SUCCESS : EXIT_FAILURE;
}
