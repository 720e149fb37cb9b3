#include "tools/poprt/resolve_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace poprt::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// A folder with empty model files; what they declare comes from a fake reader: a.onnx has inputs X
// and Y, b.onnx has X.
class ResolveSettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "resolve-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const char* file : {"a.onnx", "b.onnx"}) std::ofstream(folder_ / file) << "x";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& file) const { return (folder_ / file).string(); }

  Settings Resolve(const std::vector<std::string>& arguments, const std::string& yaml = "") {
    problems_ = {};
    const CommandLine line = ParseCommandLine(arguments, problems_);
    ConfigFile config;
    if (!yaml.empty()) config = ParseConfig(Path("c.yaml"), yaml, problems_);
    return ResolveSettings(line, config, ReadFake, problems_);
  }

  std::vector<std::string> Messages() const {
    std::vector<std::string> messages = problems_.messages();
    for (std::string& message : messages) {
      for (std::size_t at; (at = message.find(folder_.string() + "/")) != std::string::npos;) {
        message.erase(at, folder_.string().size() + 1);
      }
    }
    return messages;
  }

  static absl::StatusOr<ModelInterface> ReadFake(const std::string& path) {
    ModelInterface model;
    model.inputs.push_back({"X", "float32", {1}, true});
    model.external_files = {"weights.bin"};
    if (path.ends_with("a.onnx")) model.inputs.push_back({"Y", "float32", {1}, true});
    return model;
  }

  fs::path folder_;
  Problems problems_;
};

constexpr char kTwoModels[] = R"(
precision: fp16
input_shape: ['X=7']
max_tensor_size: 10
model_fusion:
  - input_model: a.onnx
    precision: fp32
    input_shape: ['Y=1']
  - input_model: b.onnx
    name: second
)";

TEST_F(ResolveSettingsTest, NearestValueOfAModelCounts) {
  const Settings settings = Resolve({}, kTwoModels);
  EXPECT_THAT(Messages(), IsEmpty());
  ASSERT_EQ(settings.models.size(), 2U);
  EXPECT_TRUE(settings.fuse);
  EXPECT_TRUE(settings.compiler.enableModelFusion);
  EXPECT_EQ(settings.output_model, "model_fusion.onnx");
  EXPECT_EQ(settings.models[0].path, Path("a.onnx"));
  EXPECT_EQ(settings.models[0].precision, "fp32");
  EXPECT_EQ(settings.models[0].max_tensor_size, 10);
  EXPECT_THAT(settings.models[0].input_shape, ElementsAre(Pair("Y", Shape{1})));
  EXPECT_EQ(settings.models[1].name, "second");
  EXPECT_EQ(settings.models[1].precision, "fp16");
  EXPECT_THAT(settings.models[1].input_shape, ElementsAre(Pair("X", Shape{7})));
}

TEST_F(ResolveSettingsTest, CommandLineOverridesTheFile) {
  const Settings settings =
      Resolve({"--precision", "fp16", "--input_shape", "X=2", "second/X=3", "--num_io_tiles", "64"},
              std::string("num_io_tiles: 32\n") + kTwoModels);
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_EQ(settings.compiler.numIoTiles, 64);
  EXPECT_EQ(settings.models[0].precision, "fp16");
  EXPECT_THAT(settings.models[0].input_shape,
              UnorderedElementsAre(Pair("X", Shape{2}), Pair("Y", Shape{1})));
  EXPECT_THAT(settings.models[1].input_shape, ElementsAre(Pair("X", Shape{3})));
}

TEST_F(ResolveSettingsTest, ShapesGoToTheModelsThatHaveTheInput) {
  const Settings settings = Resolve(
      {"-i", Path("a.onnx"), Path("b.onnx"), "--input_shape", "X=1,2", "Y=3", "graph1/X=4"});
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_THAT(settings.models[0].input_shape,
              UnorderedElementsAre(Pair("X", Shape{1, 2}), Pair("Y", Shape{3})));
  Resolve({"-i", Path("a.onnx"), Path("b.onnx"), "--input_shape", "Z=1"});
  EXPECT_THAT(Messages(), ElementsAre("--input_shape: no model has an input 'Z'"));
  EXPECT_EQ(problems_.exit_code(), kWrongInput);
}

TEST_F(ResolveSettingsTest, QualifiedShapeWinsOverTheGeneralOne) {
  const Settings settings =
      Resolve({"-i", "A=" + Path("a.onnx"), Path("b.onnx"), "--input_shape", "A/X=4", "X=1"});
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_THAT(settings.models[0].input_shape, ElementsAre(Pair("X", Shape{4})));
  EXPECT_THAT(settings.models[1].input_shape, ElementsAre(Pair("X", Shape{1})));
}

std::vector<std::string> FrozenIn(const driver::ModelOptions& model) {
  std::vector<std::string> frozen;
  for (const auto& [name, value] : model.freeze_input) {
    const fs::path path = std::get<frontend::FrozenFile>(value).path;
    frozen.push_back(name + "=" + path.filename().string());
  }
  return frozen;
}

TEST_F(ResolveSettingsTest, FrozenInputsGoToTheModelsThatHaveThem) {
  for (const char* file : {"x.pb", "y.npy"}) std::ofstream(folder_ / file) << "x";
  Settings settings =
      Resolve({"-i", Path("a.onnx"), Path("b.onnx"), "--freeze_input", "X=" + Path("x.pb"),
               "--freeze_input", "graph0/Y=" + Path("y.npy"), "graph1/X=" + Path("y.npy")});
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_THAT(FrozenIn(settings.models[0]), ElementsAre("X=x.pb", "Y=y.npy"));
  EXPECT_THAT(FrozenIn(settings.models[1]), ElementsAre("X=y.npy"));

  settings = Resolve({},
                     "freeze_input: {X: x.pb}\n"
                     "model_fusion:\n"
                     "  - input_model: a.onnx\n"
                     "    freeze_input: ['Y=y.npy']\n"
                     "  - input_model: b.onnx\n");
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_THAT(FrozenIn(settings.models[0]), ElementsAre("Y=y.npy"));
  EXPECT_THAT(FrozenIn(settings.models[1]), ElementsAre("X=x.pb"));
  EXPECT_EQ(std::get<frontend::FrozenFile>(settings.models[1].freeze_input.at("X")).path,
            Path("x.pb"));
}

TEST_F(ResolveSettingsTest, FrozenInputsThatAreWrongAreReported) {
  Resolve({"-i", Path("a.onnx"), "--freeze_input", "X=" + Path("x.pb"), "Y=" + Path("y.npy")});
  EXPECT_THAT(Messages(), ElementsAre("--freeze_input: there is no file 'x.pb' for input 'X'",
                                      "--freeze_input: there is no file 'y.npy' for input 'Y'"));
  EXPECT_EQ(problems_.exit_code(), kWrongInput);
  Resolve({"-i", Path("a.onnx"), "--freeze_input", "X=x.txt", "Y", "=y.pb"});
  EXPECT_THAT(Messages(),
              ElementsAre("--freeze_input: 'X=x.txt' is not NAME=FILE.pb or NAME=FILE.npy\n"
                          "--freeze_input: 'Y' is not NAME=FILE.pb or NAME=FILE.npy\n"
                          "--freeze_input: '=y.pb' is not NAME=FILE.pb or NAME=FILE.npy"));
  Resolve({}, "input_model: a.onnx\nfreeze_input: {X: x.pb}\n");
  EXPECT_THAT(Messages(),
              ElementsAre("c.yaml:2: freeze_input: there is no file 'x.pb' for input 'X', neither "
                          "in the working directory nor beside the configuration file"));
}

TEST_F(ResolveSettingsTest, OneModelKeepsItsNamesAndIsNotFused) {
  const Settings settings =
      Resolve({"-i", Path("a.onnx"), "--input_shape", "unknown/name=1", "--output_dir", "out"});
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_FALSE(settings.fuse);
  EXPECT_EQ(settings.output_model, "a.optimized.onnx");
  EXPECT_THAT(settings.models[0].input_shape, ElementsAre(Pair("unknown/name", Shape{1})));
}

TEST_F(ResolveSettingsTest, ANameAsksForAFusedContainer) {
  EXPECT_TRUE(Resolve({"-i", "only=" + Path("a.onnx")}).fuse);
  EXPECT_THAT(Messages(), IsEmpty());
}

TEST_F(ResolveSettingsTest, AllProblemsAtOnce) {
  Resolve({"--precision", "fp8", "--num_io_tiles", "33", "--convert_version", "23",
           "--compiler_options", "num_ipus=65", "partials=half", "-i", "missing.onnx",
           "--available_memory_proportion", "2", "--batch_axis", "1", "--framework", "tensorflow"});
  EXPECT_THAT(
      Messages(),
      UnorderedElementsAre(
          "--framework: 'tensorflow' is not allowed; allowed: onnx",
          "--convert_version: '23' is not allowed; allowed: 11, 12, 13, 14, 15, 16, 17, 18, 19, "
          "20, 21, 22",
          "--num_io_tiles: '33' is not even; allowed: auto, 0, or an even integer from 32 to 1470",
          "--available_memory_proportion: '2' is out of range; allowed: a number in (0, 1]",
          "--compiler_options: compiler option 'num_ipus' is '65', out of range; allowed: an "
          "integer from 1 to 64\n--compiler_options: unknown compiler option 'partials'",
          "--precision: 'fp8' is not there yet; allowed: fp32, fp16",
          "--input_model: there is no file 'missing.onnx'", "--batch_axis: needs batch_size"));
  EXPECT_EQ(problems_.exit_code(), kWrongUsage);
}

TEST_F(ResolveSettingsTest, MissingModelsOfAFileAreInputProblems) {
  Resolve({}, "model_fusion:\n  - input_model: no.onnx\n  - precision: fp16\n");
  EXPECT_THAT(Messages(),
              ElementsAre("c.yaml:2: input_model: there is no file 'no.onnx', neither in the "
                          "working directory nor beside the configuration file",
                          "c.yaml: entry 2 of model_fusion has no input_model"));
}

TEST_F(ResolveSettingsTest, FoldersAreNoFiles) {
  fs::create_directories(folder_ / "exported.npy");
  Resolve({"-i", Path("exported.npy"), "-i", Path("a.onnx"), "--freeze_input",
           "X=" + Path("exported.npy")});
  EXPECT_THAT(Messages(),
              UnorderedElementsAre(
                  "--input_model: 'exported.npy' is a folder; give a file in it, e.g. "
                  "'exported.npy/model.onnx'",
                  "--freeze_input: 'exported.npy' for input 'X' is a folder; give a file in "
                  "it, e.g. 'exported.npy/value.npy'"));
  EXPECT_EQ(problems_.exit_code(), kWrongInput);
  Resolve({}, "input_model: exported.npy\n");
  EXPECT_THAT(Messages(),
              ElementsAre("c.yaml:1: input_model: 'exported.npy' is a folder; give a file "
                          "in it, e.g. 'exported.npy/model.onnx'"));
}

TEST_F(ResolveSettingsTest, ContradictionsAreRefused) {
  Resolve({"-i", Path("a.onnx")}, kTwoModels);
  EXPECT_THAT(Messages(), ElementsAre("--input_model: the models are those of model_fusion in "
                                      "c.yaml; give one of the two"));
  Resolve({"-i", Path("a.onnx"), "--num_io_tiles", "32", "--compiler_options", "num_io_tiles=64"});
  EXPECT_THAT(Messages(), ElementsAre("--num_io_tiles: stands in compiler_options as well; give "
                                      "'num_io_tiles' once"));
  Resolve({"-i", "g=" + Path("a.onnx"), "g=" + Path("b.onnx")});
  EXPECT_THAT(Messages(), ElementsAre("two graphs are called 'g'"));
  Resolve({"-i", Path("a.onnx"), "--output_dir", folder_.string(), "--output_model", "a.onnx"});
  EXPECT_THAT(Messages(),
              ElementsAre("the converted model would overwrite its input 'a.onnx'; choose another "
                          "--output_dir or --output_model"));
  Resolve(
      {"-i", Path("a.onnx"), Path("b.onnx"), "--compiler_options", "enable_model_fusion=false"});
  EXPECT_THAT(Messages(),
              ElementsAre("compiler_options: enable_model_fusion is false, but models are fused"));
}

TEST_F(ResolveSettingsTest, NoInputIsOverwritten) {
  std::ofstream(folder_ / "weights.bin") << "x";
  const std::vector<std::string> base = {"-i",           Path("a.onnx"),   "--export_popef",
                                         "--output_dir", folder_.string(), "--output_model"};
  const auto messages_with = [&](const std::string& output) {
    std::vector<std::string> arguments = base;
    arguments.push_back(output);
    Resolve(arguments);
    return Messages();
  };
  EXPECT_THAT(messages_with("weights.bin"),
              ElementsAre("the converted model would overwrite data of its input 'weights.bin'; "
                          "choose another --output_dir or --output_model"));
  EXPECT_EQ(problems_.exit_code(), kWrongUsage);
  EXPECT_THAT(messages_with("./executable.popef"),
              ElementsAre("the converted model and the container would both be "
                          "'executable.popef'; choose another --output_model"));
  fs::create_symlink("a.onnx", folder_ / "executable.popef");
  EXPECT_THAT(messages_with("m.onnx"),
              ElementsAre("the container would overwrite its input 'a.onnx'; choose another "
                          "--output_dir"));
}

TEST_F(ResolveSettingsTest, OptionsThatDoNothingAloneAreRefused) {
  Resolve({"-i", Path("a.onnx"), "--fp16_skip_op_types", "Softmax", "--batch_axis", "0"});
  EXPECT_THAT(Messages(), ElementsAre("--batch_axis: needs batch_size",
                                      "--fp16_skip_op_types: needs precision fp16"));
  Resolve({"-i", Path("a.onnx"), "--precision", "fp16", "--skip_passes", "float_to_half"});
  EXPECT_THAT(Messages(),
              ElementsAre("precision fp16 of 'a.onnx' is made by the pass 'float_to_half', which "
                          "skip_passes leaves out: choose precision fp32 or keep the pass"));
  Resolve({"-i", Path("a.onnx"), "--passes", "gelu_pattern"});
  EXPECT_THAT(Messages(),
              ElementsAre("passes: 'gelu_pattern' runs when the model is compiled: give "
                          "--export_popef or --run, or leave it out"));
  Resolve({"-i", Path("a.onnx"), "--passes", "gelu_pattern", "--run"});
  EXPECT_THAT(Messages(), IsEmpty());
  const std::string entries =
      "model_fusion:\n  - input_model: a.onnx\n    precision: fp16\n  - input_model: b.onnx\n";
  Resolve({}, "fp16_skip_op_types: [Softmax]\n" + entries);
  EXPECT_THAT(Messages(), IsEmpty());
  Resolve({}, entries + "    fp16_skip_op_types: [Softmax]\n");
  EXPECT_THAT(Messages(), ElementsAre("c.yaml:5: fp16_skip_op_types: needs precision fp16"));
}

TEST_F(ResolveSettingsTest, TheTunerNeedsACompilation) {
  const Settings settings = Resolve(
      {"-i", Path("a.onnx"), "--export_popef", "--perf_tuner", "--perf_tuner_cache", "t.json"});
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_TRUE(settings.perf_tuner);
  EXPECT_EQ(settings.perf_tuner_cache, "t.json");

  Resolve({"-i", Path("a.onnx"), "--perf_tuner"});
  EXPECT_THAT(Messages(), ElementsAre("--perf_tuner: measures when the model is compiled: give "
                                      "--export_popef or --run"));
  Resolve({"-i", Path("a.onnx"), "--run"}, "perf_tuner: false\nperf_tuner_cache: t.json\n");
  EXPECT_THAT(Messages(), ElementsAre("c.yaml:2: perf_tuner_cache: needs perf_tuner"));
  Resolve({"-i", Path("a.onnx"), "--run", "--perf_tuner", "--output_dir", folder_.string(),
           "--perf_tuner_cache", Path("a.onnx")});
  EXPECT_THAT(Messages(),
              ElementsAre("the cache of --perf_tuner would overwrite its input 'a.onnx'; choose "
                          "another --perf_tuner_cache"));
}

TEST_F(ResolveSettingsTest, AutoShardingNeedsAPlan) {
  Resolve({"-i", Path("a.onnx"), "--auto_sharding", "2"});
  EXPECT_THAT(Messages(), ElementsAre("--auto_sharding: finds stages in the plan for the IPU: give "
                                      "--report, --profile_dir, --export_popef or --run"));
  for (const char* option : {"--report", "--run", "--export_popef", "--show"}) {
    Resolve({"-i", Path("a.onnx"), "--auto_sharding", "2", option});
    EXPECT_THAT(Messages(), IsEmpty()) << option;
  }
  Resolve({"-i", Path("a.onnx"), "--auto_sharding", "0"});
  EXPECT_THAT(Messages(), IsEmpty());
}

TEST_F(ResolveSettingsTest, NamesOfPassesAndOperatorsAreChecked) {
  Resolve({"-i", Path("a.onnx"), "--passes", "gelu_patern,fused_attention", "--precision", "fp16",
           "--fp16_skip_op_types", "Softmaxx", "--export_popef", "--num_io_tiles", "31"});
  EXPECT_THAT(
      Messages(),
      UnorderedElementsAre(
          "--num_io_tiles: '31' is not even; allowed: auto, 0, or an even integer from 32 to 1470",
          "--fp16_skip_op_types: unknown operator 'Softmaxx'; did you mean 'Softmax'?",
          "--passes: unknown pass 'gelu_patern'; did you mean 'gelu_pattern'?\n"
          "--passes: pass 'fused_attention' of PopRT is not there yet; --list_all_passes "
          "shows those that are"));
  EXPECT_EQ(problems_.exit_code(), kWrongUsage);
}

TEST_F(ResolveSettingsTest, OneMistakeMakesOneMessage) {
  Resolve({"--input_shape", "Q=1"}, "model_fusion:\n  - input_modle: a.onnx\n");
  EXPECT_THAT(Messages(),
              ElementsAre("c.yaml:2: unknown key 'input_modle'; did you mean 'input_model'?"));
  Resolve({"-i", Path("a.onnx"), "no.onnx", "--input_shape", "Q=1"});
  EXPECT_THAT(Messages(), ElementsAre("--input_model: there is no file 'no.onnx'"));
  EXPECT_TRUE(problems_.only_missing_models());
  Resolve({}, "model_fusion:\n  - input_model: a.onnx\n    input_shape: [X=9,64]\n");
  EXPECT_THAT(Messages(),
              ElementsAre("c.yaml:3: input_shape: '64' is not NAME=1,512 with extents >= 0; all of "
                          "a shape is one word, in quotes in a configuration file"));
}

TEST_F(ResolveSettingsTest, NothingToDoSaysWhatToGive) {
  Resolve({});
  EXPECT_THAT(Messages(), ElementsAre("there is no model: give --input_model or --config_yaml"));
  EXPECT_TRUE(Resolve({"--list_all_passes"}).list_all_passes);
  EXPECT_THAT(Messages(), IsEmpty());
}

}  // namespace
}  // namespace poprt::cli
