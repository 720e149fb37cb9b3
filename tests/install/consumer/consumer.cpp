// Compiles the model Y = X + X (float32 [1, 2]) and runs it through every public library.
//
//   consumer MODEL.onnx EXECUTABLE.popef

#include <array>
#include <cstring>
#include <exception>
#include <iostream>
#include <model_runtime/ModelRunner.hpp>
#include <popef/Reader.hpp>
#include <poprt/compiler/compiler.hpp>
#include <poprt/runtime/device_manager.hpp>
#include <poprt/runtime/model_runner.hpp>
#include <stdexcept>
#include <string>

namespace {

using Pair = std::array<float, 2>;

void Expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("not true: " + what);
}

void ReadContainer(const std::string& path) {
  popef::Reader reader;
  reader.parseFile(path);
  reader.verifyPayloads();
  Expect(reader.metadata().size() == 1, "there is one metadata blob");
  for (const popef::Anchor& anchor : reader.metadata()[0].anchors()) std::cout << anchor << '\n';
  Expect(reader.metadata()[0].anchors().size() == 2, "there are two anchors");
}

void RunWithModelRuntime(const std::string& path) {
  const Pair input = {1.5F, -2.0F};
  model_runtime::ModelRunner runner(path);
  const model_runtime::OutputMemory outputs = runner.execute({{"X", {input.data(), sizeof input}}});
  Pair result = {};
  Expect(outputs.at("Y").data_size_bytes == sizeof result, "Y has two floats");
  std::memcpy(result.data(), outputs.at("Y").data.get(), sizeof result);
  Expect(result == Pair{3.0F, -4.0F}, "model_runtime computes X + X");
}

void RunWithPoprtRuntime(const std::string& path) {
  const Pair input = {0.25F, 8.0F};
  Pair result = {};
  poprt::runtime::ModelRunner runner(path);
  runner.execute({{"X", {input.data(), sizeof input}}}, {{"Y", {result.data(), sizeof result}}});
  Expect(result == Pair{0.5F, 16.0F}, "poprt::runtime computes X + X");
  Expect(poprt::runtime::DeviceManager().getNumDevices() > 0, "there are devices");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("usage: consumer MODEL.onnx EXECUTABLE.popef");
    poprt::compiler::Compiler::compileAndExport(argv[1], {}, std::string(argv[2]));
    ReadContainer(argv[2]);
    RunWithModelRuntime(argv[2]);
    RunWithPoprtRuntime(argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "consumer: " << error.what() << '\n';
    return 1;
  }
}
