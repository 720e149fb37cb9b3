#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <future>
#include <sstream>

#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/serving/engine.hpp"
#include "popef/Writer.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/program/anchor_type.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

// Outputs whose extent along one axis depends on data.
namespace model_runtime {
namespace {

using poprt::ElementType;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Slot;
using poprt::program::Space;
using testing::ElementsAre;

using Input = std::array<float, 6>;
using Points = std::array<std::int64_t, 12>;

/// The places [2, up to 6] of what is not zero in x [2, 3], and how many there are.
Branch PointsBranch() {
  return {.name = "points",
          .slots = {{{ElementType::kFloat32, {2, 3}}, Space::kArena, 0},
                    {{ElementType::kInt64, {2, 6}}, Space::kArena, 64},
                    {{ElementType::kInt64, {}}, Space::kArena, 192}},
          .inputs = {{"points/x", 0}},
          .outputs = {{"points/y", 1, {{1, 2}}}, {"points/n", 2}},
          .steps = {{"find", "NonZero", {0}, {1, 2}, {}}},
          .arena_bytes = 256};
}

/// x [2, 3] again, of whose first axis as much is there as a weight says.
Branch CopyBranch() {
  return {.name = "copy",
          .slots = {{{ElementType::kFloat32, {2, 3}}, Space::kArena, 0},
                    {{ElementType::kInt64, {}}, Space::kWeights, 0}},
          .inputs = {{"copy/x", 0}},
          .outputs = {{"copy/y", 0, {{0, 1}}}},
          .steps = {},
          .arena_bytes = 64};
}

void AddAnchor(const Branch& branch, const poprt::program::Stream& stream,
               popef::TensorType direction, popef::Metadata& metadata) {
  const poprt::TensorType& type = branch.slots[stream.slot].type;
  popef::Anchor& anchor = metadata.anchors().emplace_back();
  anchor.setName(stream.name);
  anchor.setTensorInfo({*poprt::program::AnchorDataType(type.element), type.shape});
  anchor.setType(direction);
}

std::shared_ptr<popef::Model> MakeModel(std::int64_t weight = 1) {
  const Program program{.branches = {PointsBranch(), CopyBranch()},
                        .batches_per_step = 1,
                        .ipu_version = "ipu2",
                        .tiles = 1472,
                        .io_tiles = 0};
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.engineOptions().emplace_back(poprt::program::kPackageHashOption,
                                        poprt::program::PackageHash());
  for (const Branch& branch : program.branches) {
    for (const auto& stream : branch.inputs) {
      AddAnchor(branch, stream, popef::TensorType::INPUT, metadata);
    }
    for (const auto& stream : branch.outputs) {
      AddAnchor(branch, stream, popef::TensorType::OUTPUT, metadata);
    }
  }
  const std::array<std::int64_t, 8> weights{weight};
  std::ostringstream out;
  popef::Writer writer(out);
  writer.write(metadata);
  const auto blob = writer.createExecutable("exe", false);
  const std::string head = poprt::program::SerializeHead(program, sizeof(weights));
  blob->write(head.data(), head.size());
  blob->write(weights.data(), sizeof(weights));
  writer.close();
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(std::make_shared<std::istringstream>(out.str()));
  return popef::ModelBuilder(reader).createModel();
}

std::unique_ptr<Engine> MakeEngine(std::int64_t weight = 1) {
  return std::make_unique<Engine>(MakeModel(weight), poprt::device::DeviceRegistry::Get().Acquire(),
                                  EngineConfig{});
}

constexpr Input kThree{0, 5, 0, 6, 0, 7};

TEST(OpenAxisTest, WritesTheTruePartDenselyPacked) {
  const auto engine = MakeEngine();
  Points y;
  std::int64_t n = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> scalar{7};
  const auto run = [&](const Input& x) {
    y.fill(-1);
    engine->Execute(std::array{InputBuffer{"points/x", x.data(), sizeof(x)}},
                    std::array{OutputBuffer{"points/y", y.data(), sizeof(y), &shape},
                               OutputBuffer{"points/n", &n, sizeof(n), &scalar}});
  };
  run(kThree);
  EXPECT_THAT(shape, ElementsAre(2, 3));
  EXPECT_THAT(scalar, ElementsAre());
  EXPECT_EQ(n, 3);
  EXPECT_EQ(y, (Points{0, 1, 1, 1, 0, 2, -1, -1, -1, -1, -1, -1}));
  run({});
  EXPECT_THAT(shape, ElementsAre(2, 0));
  EXPECT_EQ(y[0], -1);
  run({1, 1, 1, 1, 1, 1});
  EXPECT_THAT(shape, ElementsAre(2, 6));
  EXPECT_EQ(y, (Points{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2}));
}

TEST(OpenAxisTest, DescribesTheLargestShape) {
  const auto engine = MakeEngine();
  const DataDesc* desc = engine->Describe("points/y");
  EXPECT_THAT(desc->shape, ElementsAre(2, 6));
  EXPECT_EQ(desc->size_in_bytes, 96);
  EXPECT_EQ(desc->open_axis, 1U);
  EXPECT_EQ(engine->Describe("points/n")->open_axis, std::nullopt);
  const auto outputs =
      engine->OutputsFor(std::array{InputBuffer{"points/x", kThree.data(), sizeof(kThree)}});
  EXPECT_EQ(outputs[0].open_axis, 1U);
  EXPECT_THAT(outputs[0].shape, ElementsAre(2, 6));
}

TEST(OpenAxisTest, RefusesSeveralBatchesAndSmallMemory) {
  const auto engine = MakeEngine();
  const std::array<Input, 2> x{};
  std::array<Points, 2> y{};
  std::array<std::int64_t, 2> n{};
  const auto error = [&](std::uint64_t x_bytes, std::uint64_t y_bytes, std::uint64_t n_bytes) {
    try {
      engine->Execute(std::array{InputBuffer{"points/x", x.data(), x_bytes}},
                      std::array{OutputBuffer{"points/y", y.data(), y_bytes},
                                 OutputBuffer{"points/n", n.data(), n_bytes}});
    } catch (const Error& caught) {
      return std::string(caught.what());
    }
    return std::string();
  };
  EXPECT_EQ(error(sizeof(x), sizeof(y), sizeof(n)),
            "the request has 2 batches, allowed is 1: the extent of output 'points/y' depends on "
            "the data");
  EXPECT_EQ(error(sizeof(Input), 48, 8),
            "output 'points/y' has 48 bytes, allowed are 96 (int64[2, 6]) or a multiple");
}

TEST(OpenAxisTest, ClampsImpossibleCounts) {
  for (const auto& [weight, wanted] :
       {std::pair{std::int64_t{99}, 2}, std::pair{std::int64_t{-1}, 0}, std::pair{INT64_MIN, 0}}) {
    const auto engine = MakeEngine(weight);
    Input y{};
    std::vector<std::int64_t> shape;
    engine->Execute(std::array{InputBuffer{"copy/x", kThree.data(), sizeof(kThree)}},
                    std::array{OutputBuffer{"copy/y", y.data(), sizeof(y), &shape}});
    EXPECT_THAT(shape, ElementsAre(wanted, 3)) << weight;
    EXPECT_EQ(y, wanted == 2 ? kThree : Input{}) << weight;
  }
}

TEST(OpenAxisTest, RunnersTellTheShapesOfResults) {
  ModelRunner runner(MakeModel());
  const InputMemoryView inputs{{"points/x", {kThree.data(), sizeof(kThree)}}};
  OutputShapes shapes;
  const OutputMemory outputs = runner.execute(inputs, shapes);
  EXPECT_EQ(outputs.at("points/y").data_size_bytes, 48U);
  EXPECT_THAT(shapes.at("points/y"), ElementsAre(2, 3));
  EXPECT_EQ(static_cast<const std::int64_t*>(outputs.at("points/y").data.get())[5], 2);

  Points y{};
  std::int64_t n = 0;
  const OutputMemoryView views{{"points/y", {y.data(), sizeof(y)}}, {"points/n", {&n, sizeof(n)}}};
  shapes.clear();
  runner.execute(inputs, views, shapes);
  EXPECT_THAT(shapes.at("points/y"), ElementsAre(2, 3));
  EXPECT_THAT(shapes.at("points/n"), ElementsAre());

  shapes.clear();
  EXPECT_EQ(runner.executeAsync(inputs, views).at("points/y").get().data_size_bytes, 48U);
  EXPECT_EQ(runner.executeAsync(inputs, shapes).at("points/y").get().data_size_bytes, 48U);
  EXPECT_THAT(shapes.at("points/y"), ElementsAre(2, 3));
}

TEST(OpenAxisTest, HasNoBatchingDimension) {
  ModelRunnerConfig config;
  config.batching_dim = 0;
  try {
    const ModelRunner runner(MakeModel(), config);
    ADD_FAILURE() << "batches of unknown length";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "batching_dim is 0, but 'points/y' of type int64[2, 6] has an extent that depends "
        "on the data: such models run without batching_dim\n"
        "batching_dim is 0, but 'points/n' of type int64[] has no dimensions: freeze it if "
        "it is an input that is the same for all requests\n"
        "batching_dim is 0, but 'copy/y' of type float32[2, 3] has an extent that depends "
        "on the data: such models run without batching_dim");
  }
}

}  // namespace
}  // namespace model_runtime
