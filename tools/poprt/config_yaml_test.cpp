#include "tools/poprt/config_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace poprt::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Parsed {
  ConfigFile config;
  Problems problems;
};

Parsed Parse(const std::string& text) {
  Parsed parsed;
  parsed.config = ParseConfig("c.yaml", text, parsed.problems);
  return parsed;
}

std::vector<std::string> Messages(const std::string& text) {
  return Parse(text).problems.messages();
}

TEST(ConfigYaml, ReadsTheTwoModelExample) {
  const Parsed parsed = Parse(R"(output_dir: './'
output_model: 'model_fusion.onnx'
export_popef: True
max_tensor_size: -1
ipu_version: 'ipu21'
model_fusion:
  - input_model: 'model0.onnx'
    input_shape: ['X=1,2', 'Y=1,2']
    precision: 'fp32'
  - input_model: 'model1.onnx'
    name: second
    input_shape: ['X=1,1']
    precision: 'fp16'
)");
  EXPECT_THAT(parsed.problems.messages(), IsEmpty());
  ASSERT_THAT(parsed.config.values, SizeIs(5));
  EXPECT_EQ(parsed.config.values[3].def->name, "max_tensor_size");
  EXPECT_THAT(parsed.config.values[3].words, ElementsAre("-1"));
  EXPECT_EQ(parsed.config.values[3].where, "c.yaml:4: max_tensor_size");
  ASSERT_THAT(parsed.config.models, SizeIs(2));
  ASSERT_THAT(parsed.config.models[0], SizeIs(3));
  EXPECT_THAT(parsed.config.models[0][1].words, ElementsAre("X=1,2", "Y=1,2"));
  EXPECT_EQ(parsed.config.models[1][1].def->name, "name");
  EXPECT_EQ(parsed.config.models[1][3].where, "c.yaml:13: precision");
}

TEST(ConfigYaml, AllProblemsAtOnceWithLineAndSuggestion) {
  EXPECT_THAT(Messages("ouput_dir: x\n"
                       "batch_size: four\n"
                       "export_popef: 3\n"
                       "passes: {a: b}\n"
                       "input_model: [a, b]\n"
                       "output_model:\n"
                       "batch_size: 1\n"
                       "zzzzzzzzzzzz: 1\n"),
              ElementsAre("c.yaml:1: unknown key 'ouput_dir'; did you mean 'output_dir'?",
                          "c.yaml:2: batch_size: found 'four', expected an integer",
                          "c.yaml:3: export_popef: found '3', expected true or false",
                          "c.yaml:4: passes: found a map, expected a list of names",
                          "c.yaml:5: input_model: found a list, expected a path",
                          "c.yaml:6: output_model: found nothing, expected a path",
                          "c.yaml:7: batch_size: is given twice, first in line 2",
                          "c.yaml:8: unknown key 'zzzzzzzzzzzz'"));
}

TEST(ConfigYaml, KeysInTheWrongPlaceSayWhereTheyBelong) {
  EXPECT_THAT(
      Messages("name: x\nconfig_yaml: y\nmodel_fusion:\n  - output_dir: z\n"),
      ElementsAre("c.yaml:1: name: belongs to one model: move it into an entry of model_fusion",
                  "c.yaml:2: config_yaml: is for the command line only",
                  "c.yaml:4: output_dir: stands for all models: move it out of model_fusion"));
}

TEST(ConfigYaml, OptionsThatAreNotThereYetAreRefused) {
  EXPECT_THAT(Messages("check: true\nmodel_fusion:\n  - fp8_params: [a]\n"),
              ElementsAre("c.yaml:1: check: this option of PopRT is not there yet",
                          "c.yaml:3: fp8_params: this option of PopRT is not there yet"));
}

TEST(ConfigYaml, ModelFusionMustBeAListOfMaps) {
  EXPECT_THAT(
      Messages("model_fusion: a.onnx\n"),
      ElementsAre("c.yaml:1: model_fusion: found 'a.onnx', expected a list of maps, one for "
                  "each model"));
  EXPECT_THAT(
      Messages("model_fusion:\n  - a.onnx\n"),
      ElementsAre("c.yaml:2: model_fusion: found 'a.onnx', expected the keys of one model"));
}

TEST(ConfigYaml, CompilerOptionsAreAMapOrPairs) {
  const Parsed map = Parse("compiler_options:\n  num_ipus: 1\n  engine_options: {a: b}\n");
  EXPECT_THAT(map.problems.messages(), IsEmpty());
  EXPECT_THAT(map.config.values[0].words, ElementsAre("num_ipus=1", R"(engine_options={"a":"b"})"));
  const Parsed list = Parse("popart_options: ['num_ipus=1']\n");
  EXPECT_EQ(list.config.values[0].def->name, "compiler_options");
  EXPECT_THAT(list.config.values[0].words, ElementsAre("num_ipus=1"));
}

TEST(ConfigYaml, WhatIsNoYamlIsAnInputProblem) {
  const Parsed parsed = Parse("a: [1\nb: 2");
  ASSERT_THAT(parsed.problems.messages(), SizeIs(1));
  EXPECT_EQ(parsed.problems.exit_code(), kWrongInput);
  EXPECT_TRUE(parsed.problems.messages()[0].starts_with("c.yaml:2: this is no YAML: "))
      << parsed.problems.messages()[0];
  EXPECT_THAT(Messages(std::string("\x08\x08\0", 3)),
              ElementsAre("c.yaml: this is no YAML but a binary file; a model is given with "
                          "--input_model"));
  EXPECT_THAT(Messages(""), ElementsAre("c.yaml: found nothing, expected keys with values"));
  EXPECT_THAT(Messages("- a\n"), ElementsAre("c.yaml: found a list, expected keys with values"));
}

TEST(ConfigYaml, DeepNestingIsRefusedNotFollowed) {
  EXPECT_THAT(Messages(std::string(100000, '[')), SizeIs(1));
}

}  // namespace
}  // namespace poprt::cli
