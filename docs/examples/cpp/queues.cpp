// The layer below ModelRunner: a session runs the main program on one thread, while another fills
// the queues of its inputs and outputs.
//   queues affine.popef

#include <array>
#include <atomic>
#include <thread>

#include "example.hpp"
#include "model_runtime/DeviceManager.hpp"
#include "model_runtime/Session.hpp"

int main(int, char** argv) {
  model_runtime::Session session({std::string(argv[1])});
  const model_runtime::DeviceManager devices;
  session.bindToDevice(devices.getDevice(
      session.model(), model_runtime::DeviceWaitConfig{std::chrono::seconds(60)}));
  model_runtime::QueueManager* queues = session.createQueueManager();
  session.verify();
  session.runLoadPrograms();

  std::atomic<bool> stop{false};
  std::thread main_program([&] {
    while (!stop) session.runMainPrograms();
  });

  const std::vector<float> a(12, 3);
  const std::vector<float> b(12, 1);
  std::array<std::vector<float>, 5> results;
  std::atomic<int> filled{0};
  for (std::vector<float>& result : results) {
    result.resize(12);
    queues->inputQueue("tensor_A").enqueue(a.data(), a.size() * sizeof(float));
    queues->inputQueue("tensor_B").enqueue(b.data(), b.size() * sizeof(float));
    queues->outputQueue("output").enqueue(result.data(), result.size() * sizeof(float),
                                          [&] { ++filled; });
  }
  while (filled < 5) std::this_thread::yield();

  stop = true;
  queues->disconnectAll();
  main_program.join();
  for (const std::vector<float>& result : results) example::Expect("a result", &result[0], 7);
}
