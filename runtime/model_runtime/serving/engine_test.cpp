#include "model_runtime/serving/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <sstream>
#include <thread>

#include "model_runtime/ModelRunner.hpp"
#include "popef/Writer.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

namespace model_runtime {
namespace {

using poprt::ElementType;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Space;

using Vector = std::array<float, 4>;

/// y = x + (10, 20, 30, 40).
std::string Container(const std::string& package = poprt::program::PackageHash(),
                      const std::string& anchor_name = "x") {
  const poprt::TensorType type{ElementType::kFloat32, {4}};
  const Branch branch{
      .name = "model",
      .slots = {{type, Space::kArena, 0}, {type, Space::kWeights, 0}, {type, Space::kArena, 64}},
      .inputs = {{"x", 0}},
      .outputs = {{"y", 2}},
      .steps = {{"add", "Add", {0, 1}, {2}, {}}},
      .arena_bytes = 128};
  const Program program{.branches = {branch},
                        .batches_per_step = 1,
                        .ipu_version = "ipu2",
                        .tiles = 1472,
                        .io_tiles = 0};
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.engineOptions().emplace_back(poprt::program::kPackageHashOption, package);
  for (const auto& [name, direction] : {std::pair{anchor_name, popef::TensorType::INPUT},
                                        std::pair{std::string("y"), popef::TensorType::OUTPUT}}) {
    popef::Anchor& anchor = metadata.anchors().emplace_back();
    anchor.setName(name);
    anchor.setTensorInfo({popef::DataType::F32, {4}});
    anchor.setType(direction);
  }
  std::array<float, 16> weights{10, 20, 30, 40};
  std::ostringstream out;
  popef::Writer writer(out);
  writer.write(metadata);
  const auto blob = writer.createExecutable("exe", false);
  const std::string head = poprt::program::SerializeHead(program, sizeof(weights));
  blob->write(head.data(), head.size());
  blob->write(weights.data(), sizeof(weights));
  writer.close();
  return out.str();
}

std::shared_ptr<popef::Model> ModelOf(const std::string& container) {
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(std::make_shared<std::istringstream>(container));
  return popef::ModelBuilder(reader).createModel();
}

std::unique_ptr<Engine> MakeEngine(const std::string& container, const EngineConfig& config = {}) {
  return std::make_unique<Engine>(ModelOf(container),
                                  poprt::device::DeviceRegistry::Get().Acquire(), config);
}

std::string LoadError(const std::string& container) {
  try {
    MakeEngine(container);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<InputBuffer> In(const Vector& x) { return {{"x", x.data(), sizeof(x)}}; }
std::vector<OutputBuffer> Out(Vector& y) { return {{"y", y.data(), sizeof(y)}}; }

TEST(EngineTest, RunsARequest) {
  const auto engine = MakeEngine(Container());
  const Vector x{1, 2, 3, 4};
  Vector y{};
  engine->Execute(In(x), Out(y));
  EXPECT_EQ(y, (Vector{11, 22, 33, 44}));
}

TEST(EngineTest, RunsAMultipleOfTheBatch) {
  const auto engine = MakeEngine(Container());
  const std::array<float, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<float, 8> y{};
  engine->Execute(std::array{InputBuffer{"x", x.data(), sizeof(x)}},
                  std::array{OutputBuffer{"y", y.data(), sizeof(y)}});
  EXPECT_EQ(y, (std::array<float, 8>{11, 22, 33, 44, 15, 26, 37, 48}));
  EXPECT_EQ(engine->OutputsFor(std::array{InputBuffer{"x", x.data(), sizeof(x)}})[0].shape,
            (std::vector<std::int64_t>{8}));
}

TEST(EngineTest, QueuedRequestsRunInOrderAndReportTheirErrors) {
  const auto engine = MakeEngine(Container());
  const Vector x{1, 2, 3, 4};
  Vector y{};
  std::promise<void> good;
  std::promise<std::string> bad;
  engine->Submit(In(x), Out(y), [&](const std::exception_ptr& error) {
    EXPECT_EQ(error, nullptr);
    good.set_value();
  });
  engine->Submit({}, Out(y), [&](const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const Error& caught) {
      bad.set_value(caught.what());
    }
  });
  good.get_future().get();
  EXPECT_EQ(y, (Vector{11, 22, 33, 44}));
  EXPECT_EQ(bad.get_future().get(), "input 'x' of graph 'model' is missing");
}

TEST(EngineTest, ServesSeveralThreads) {
  const auto engine = MakeEngine(Container());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto value = static_cast<float>(1000 * t + i);
        const Vector x{value, value, value, value};
        Vector y{};
        engine->Execute(In(x), Out(y));
        ASSERT_EQ(y, (Vector{value + 10, value + 20, value + 30, value + 40}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(EngineTest, RefusesAnotherCompilersContainer) {
  EXPECT_EQ(LoadError(Container("poprt-9.9")),
            "the container was written by poprt-9.9, this runtime is " +
                poprt::program::PackageHash() +
                ": compile the model again or switch check_package_hash off");
  const Vector x{};
  Vector y{};
  MakeEngine(Container("poprt-9.9"), {.check_package_hash = false})->Execute(In(x), Out(y));
  EXPECT_EQ(y, (Vector{10, 20, 30, 40}));
}

TEST(EngineTest, RefusesMetadataThatContradictsTheProgram) {
  EXPECT_EQ(LoadError(Container(poprt::program::PackageHash(), "z")),
            "the metadata has no anchor 'x' of type float32[4], which the program needs: the "
            "container is damaged");
}

TEST(EngineTest, VerifiesWeightsWhenAsked) {
  std::string container = Container();
  const float ten = 10;
  const std::size_t at = container.find(std::string(reinterpret_cast<const char*>(&ten), 4));
  ASSERT_NE(at, std::string::npos);
  container[at + 3] = static_cast<char>(container[at + 3] ^ 1);
  MakeEngine(container);
  try {
    MakeEngine(container, {.verify_weights = true});
    ADD_FAILURE() << "loaded altered weights";
  } catch (const popef::Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("stream: byte "));
    EXPECT_THAT(error.what(), testing::EndsWith("the payload has been altered"));
  }
  MakeEngine(Container(), {.verify_weights = true});
}

TEST(ModelRunnerTest, VerifiesWeightsWhenAsked) {
  ModelRunnerConfig config;
  config.verify_weights = true;
  ModelRunner runner(ModelOf(Container()), config);
  EXPECT_EQ(runner.getExecuteInputs().size(), 1U);
}

TEST(ModelRunnerTest, AllocatesOutputsAndFillsUserMemory) {
  ModelRunner runner(ModelOf(Container()));
  const Vector x{1, 2, 3, 4};
  const InputMemoryView inputs{{"x", ConstTensorMemoryView(x.data(), sizeof(x))}};
  const OutputMemory outputs = runner.execute(inputs);
  EXPECT_EQ(static_cast<const float*>(outputs.at("y").data.get())[3], 44.0F);

  Vector y{};
  OutputMemoryView views{{"y", TensorMemoryView(y.data(), sizeof(y))}};
  auto futures = runner.executeAsync(inputs, views);
  EXPECT_EQ(futures.at("y").get().data, y.data());
  EXPECT_EQ(y, (Vector{11, 22, 33, 44}));
  EXPECT_THROW(runner.execute(inputs, views, 1), Error);
}

TEST(ModelRunnerTest, FrozenInputsAreAddedToEveryRequest) {
  const Vector x{1, 2, 3, 4};
  ModelRunnerConfig config;
  config.frozen_inputs = {{"x", ConstTensorMemoryView(x.data(), sizeof(x))}};
  ModelRunner runner(ModelOf(Container()), config);
  EXPECT_TRUE(runner.getExecuteInputs().empty());
  EXPECT_EQ(runner.getModelInputs().size(), 1U);
  EXPECT_EQ(static_cast<const float*>(runner.execute({}).at("y").data.get())[0], 11.0F);
}

TEST(ModelRunnerTest, ThrowsWhenNoDeviceIsFree) {
  std::vector<std::shared_ptr<poprt::device::Device>> all;
  for (int i = 0; i < poprt::device::DeviceRegistry::Get().size(); ++i) {
    all.push_back(poprt::device::DeviceRegistry::Get().Acquire());
  }
  EXPECT_THROW(ModelRunner(ModelOf(Container())), poprt::device::DeviceError);
}

}  // namespace
}  // namespace model_runtime
