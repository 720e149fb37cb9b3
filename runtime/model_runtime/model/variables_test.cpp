#include "model_runtime/model/variables.hpp"

#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "model_runtime/Errors.hpp"
#include "popef/Writer.hpp"
#include "runtime/device/model_device.hpp"
#include "runtime/program/executable_payload.hpp"

namespace model_runtime {
namespace {

using poprt::ElementType;
using poprt::TensorType;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Space;

using Vector = std::array<float, 4>;

/// y = x * resnet/scale + resnet/bias, both variables.
Program ScaleAndShift() {
  const TensorType type{ElementType::kFloat32, {4}};
  const Branch branch{.name = "resnet",
                      .slots = {{type, Space::kArena, 0},
                                {type, Space::kVariables, 0},
                                {type, Space::kArena, 64},
                                {type, Space::kVariables, 64},
                                {type, Space::kArena, 128}},
                      .inputs = {{"resnet/x", 0}},
                      .outputs = {{"resnet/y", 4}},
                      .steps = {{"mul", "Mul", {0, 1}, {2}, {}}, {"add", "Add", {2, 3}, {4}, {}}},
                      .arena_bytes = 192};
  return {.branches = {branch},
          .batches_per_step = 1,
          .ipu_version = "ipu2",
          .tiles = 1472,
          .io_tiles = 0,
          .variables = {{"resnet/scale", type, 0}, {"resnet/bias", type, 64}}};
}

popef::Anchor AnchorOf(const std::string& name, popef::TensorType direction, std::uint32_t program,
                       popef::DataType type = popef::DataType::F32) {
  popef::Anchor anchor;
  anchor.setName(name);
  anchor.setTensorInfo({type, {4}});
  anchor.setType(direction);
  anchor.setPrograms({program});
  return anchor;
}

std::string Executable(const Program& program, popef::DataType scale_type = popef::DataType::F32) {
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.programFlow().setLoad({0});
  metadata.programFlow().setMain({1});
  metadata.programFlow().setSave({2});
  metadata.setAnchors({AnchorOf("resnet/x", popef::TensorType::INPUT, 1),
                       AnchorOf("resnet/y", popef::TensorType::OUTPUT, 1),
                       AnchorOf("resnet/scale", popef::TensorType::INPUT, 0, scale_type),
                       AnchorOf("resnet/scale", popef::TensorType::OUTPUT, 2, scale_type),
                       AnchorOf("resnet/bias", popef::TensorType::INPUT, 0),
                       AnchorOf("resnet/bias", popef::TensorType::OUTPUT, 2)});
  std::ostringstream out;
  popef::Writer writer(out);
  writer.write(metadata);
  const std::string head = poprt::program::SerializeHead(program, 0);
  writer.createExecutable("exe", false)->write(head.data(), head.size());
  writer.close();
  return out.str();
}

std::string TensorData(const std::string& name, const Vector& values) {
  popef::TensorDataInfo info;
  info.setName(name);
  info.setTensorInfo({popef::DataType::F32, {4}});
  std::ostringstream out;
  popef::Writer writer(out);
  writer.writeTensorData(info, std::as_bytes(std::span(values)));
  writer.close();
  return out.str();
}

const Vector kScale{2, 3, 4, 5};
const Vector kBias{10, 20, 30, 40};

/// A model from an executable and files of weights.
class VariablesTest : public testing::Test {
 protected:
  explicit VariablesTest() : program_(ScaleAndShift()) {}

  void Read(const std::vector<std::string>& files) {
    auto reader = std::make_shared<popef::Reader>();
    for (const std::string& file : files) {
      reader->parseStream(std::make_shared<std::istringstream>(file));
    }
    model_ = popef::ModelBuilder(reader).createModel();
  }

  void ReadAll() {
    Read({Executable(program_), TensorData("resnet/bias", kBias),
          TensorData("resnet/scale", kScale)});
  }

  std::unique_ptr<poprt::device::LoadedProgram> OnDevice() const {
    const popef::PayloadView view = model_->executable.view();
    return poprt::device::MakeModelDevice(0)->Load(
        std::make_shared<poprt::device::Image>(poprt::device::Image{
            .owner = view.owner, .payload = poprt::program::ParsePayload(view.bytes())}));
  }

  template <typename Call>
  static std::string ErrorOf(Call call) {
    try {
      call();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  static Vector Run(poprt::device::LoadedProgram& loaded) {
    const Vector x{1, 1, 2, 2};
    Vector y{};
    const std::array<const void*, 1> inputs{x.data()};
    const std::array<void*, 1> outputs{y.data()};
    std::array<std::int64_t, 1> extents{};
    loaded.Run(0, inputs, outputs, extents);
    return y;
  }

  Program program_;
  std::unique_ptr<popef::Model> model_;
};

TEST_F(VariablesTest, LoadsTensorDataOfOtherFiles) {
  ReadAll();
  const Variables variables(*model_, program_);
  const auto loaded = OnDevice();
  EXPECT_EQ(ErrorOf([&] { Run(*loaded); }),
            "the load program has not given a value to the variables 'resnet/scale' "
            "'resnet/bias'");
  variables.Load(*loaded);
  EXPECT_EQ(Run(*loaded), (Vector{12, 23, 38, 50}));
}

TEST_F(VariablesTest, DescribesVariables) {
  Read({Executable(program_), TensorData("resnet/bias", kBias)});
  const std::vector<DataDesc> descs = Variables(*model_, program_).Describe();
  ASSERT_EQ(descs.size(), 2U);
  EXPECT_EQ(descs[0].name, "resnet/scale");
  EXPECT_FALSE(descs[0].popef_contains_tensor_data);
  EXPECT_EQ(descs[1].name, "resnet/bias");
  EXPECT_TRUE(descs[1].popef_contains_tensor_data);
  EXPECT_EQ(descs[1].size_in_bytes, 16);
  EXPECT_EQ(descs[1].shape, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(descs[1].data_type, popef::DataType::F32);
}

TEST_F(VariablesTest, UserMemoryReplacesTensorDataUntilItIsTakenBack) {
  ReadAll();
  Variables variables(*model_, program_);
  const auto loaded = OnDevice();
  Vector bias{1, 2, 3, 4};
  variables.Override("graph0/bias", {bias.data(), sizeof(bias)});
  variables.Load(*loaded);
  EXPECT_EQ(Run(*loaded), (Vector{3, 5, 11, 14}));
  bias = {0, 0, 0, 1};
  EXPECT_EQ(Run(*loaded), (Vector{3, 5, 11, 14}));  // the device has a copy
  variables.Load(*loaded);
  EXPECT_EQ(Run(*loaded), (Vector{2, 3, 8, 11}));
  variables.Override("resnet/bias", ConstTensorMemoryView());
  variables.Load(*loaded);
  EXPECT_EQ(Run(*loaded), (Vector{12, 23, 38, 50}));
}

TEST_F(VariablesTest, SavesWhatWasLoaded) {
  ReadAll();
  const Variables variables(*model_, program_);
  const auto loaded = OnDevice();
  variables.Load(*loaded);
  Vector scale{};
  Vector bias{};
  variables.Save(*loaded, {{"resnet/scale", TensorMemoryView(scale.data(), sizeof(scale))}});
  EXPECT_EQ(scale, kScale);
  EXPECT_EQ(bias, Vector{});
  variables.Save(*loaded, {{"graph0/bias", TensorMemoryView(bias.data(), sizeof(bias))}});
  EXPECT_EQ(bias, kBias);
}

TEST_F(VariablesTest, NamesEveryVariableWithoutData) {
  ReadAll();
  Variables variables(*model_, program_);
  const auto loaded = OnDevice();
  variables.Exclude("resnet/scale");
  variables.Exclude("resnet/bias");
  EXPECT_EQ(ErrorOf([&] { variables.Load(*loaded); }),
            "there is no data for the variables 'resnet/scale' 'resnet/bias': read the file with "
            "their tensor data together with the executable, or give memory for them");
  variables.Override("resnet/scale", {kScale.data(), sizeof(kScale)});
  EXPECT_EQ(ErrorOf([&] { variables.Load(*loaded); }).find("variables 'resnet/bias':"), 25U);
  variables.Override("resnet/bias", {kBias.data(), sizeof(kBias)});
  variables.Load(*loaded);
  EXPECT_EQ(Run(*loaded), (Vector{12, 23, 38, 50}));
}

TEST_F(VariablesTest, RefusesUnknownNamesAndOtherSizes) {
  ReadAll();
  Variables variables(*model_, program_);
  EXPECT_EQ(ErrorOf([&] {
              variables.Override("scale", {kScale.data(), sizeof(kScale)});
            }),
            "there is no variable 'scale', the variables are 'resnet/scale' 'resnet/bias'");
  EXPECT_EQ(ErrorOf([&] {
              variables.Override("resnet/scale", {kScale.data(), 12});
            }),
            "variable 'resnet/scale' has 16 bytes, the memory given for it has 12");
  const auto loaded = OnDevice();
  Vector memory{};
  EXPECT_EQ(ErrorOf([&] {
              variables.Save(*loaded, {{"resnet/scale", TensorMemoryView(memory.data(), 4)},
                                       {"bias", TensorMemoryView(memory.data(), sizeof(memory))}});
            }),
            "there is no variable 'bias', the variables are 'resnet/scale' 'resnet/bias'\n"
            "variable 'resnet/scale' has 16 bytes, the memory given for it has 4");
  Program constant = program_;
  constant.variables.clear();
  Variables none(*model_, constant);
  EXPECT_EQ(ErrorOf([&] { none.Override("w", {}); }),
            "there is no variable 'w': the weights of the model are constants, compile it with "
            "the compiler option constant_weights = false");
}

TEST_F(VariablesTest, RefusesMetadataThatDoesNotFitTheProgram) {
  Read({Executable(program_, popef::DataType::F16)});
  program_.variables[1].name = "resnet/shift";
  EXPECT_EQ(ErrorOf([&] { Variables(*model_, program_); }),
            "the metadata has no input anchor 'resnet/scale' of type float32[4], a variable of the "
            "program: the container is damaged\n"
            "the metadata has no input anchor 'resnet/shift' of type float32[4], a variable of the "
            "program: the container is damaged");
}

TEST_F(VariablesTest, TellsVariablesFromWhatRequestsGive) {
  ReadAll();
  std::vector<bool> found;
  for (const popef::Anchor& anchor : model_->metadata.anchors()) {
    found.push_back(IsVariable(anchor, model_->metadata));
  }
  EXPECT_EQ(found, (std::vector<bool>{false, false, true, true, true, true}));
}

}  // namespace
}  // namespace model_runtime
