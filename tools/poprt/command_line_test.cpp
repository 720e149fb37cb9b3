#include "tools/poprt/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace poprt::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> Messages(const std::vector<std::string>& arguments) {
  Problems problems;
  ParseCommandLine(arguments, problems);
  return problems.messages();
}

CommandLine Parse(const std::vector<std::string>& arguments) {
  Problems problems;
  CommandLine line = ParseCommandLine(arguments, problems);
  EXPECT_THAT(problems.messages(), IsEmpty());
  return line;
}

std::vector<std::string> WordsOf(const CommandLine& line, std::string_view name) {
  for (const OptionValue& value : line.values) {
    if (value.def->name == name) return value.words;
  }
  return {};
}

TEST(CommandLine, ReadsEachKindOfOption) {
  const CommandLine line =
      Parse({"-i", "a.onnx", "-i", "b=b.onnx", "--input_shape", "a/x:0=1,512", "b=2", "--passes",
             "p,q", "--export_popef", "--max_tensor_size", "-1", "--popart_options", "num_ipus=1"});
  EXPECT_THAT(WordsOf(line, "input_model"), ElementsAre("a.onnx", "b=b.onnx"));
  EXPECT_THAT(WordsOf(line, "input_shape"), ElementsAre("a/x:0=1,512", "b=2"));
  EXPECT_THAT(WordsOf(line, "passes"), ElementsAre("p,q"));
  EXPECT_THAT(WordsOf(line, "export_popef"), ElementsAre("true"));
  EXPECT_THAT(WordsOf(line, "max_tensor_size"), ElementsAre("-1"));
  EXPECT_THAT(WordsOf(line, "compiler_options"), ElementsAre("num_ipus=1"));
}

TEST(CommandLine, EqualsSignsInValuesStay) {
  const CommandLine line = Parse({"--input_shape=a=b=1,2", "--compiler_options", "a=b=c"});
  EXPECT_THAT(WordsOf(line, "input_shape"), ElementsAre("a=b=1,2"));
  EXPECT_THAT(WordsOf(line, "compiler_options"), ElementsAre("a=b=c"));
}

TEST(CommandLine, AllUnknownWordsAtOnce) {
  EXPECT_THAT(
      Messages({"--ouput_dir=x", "--run", "model.onnx", "--zzzzzzzzzz"}),
      ElementsAre("unknown option '--ouput_dir'; did you mean '--output_dir'?",
                  "unexpected word 'model.onnx' behind --run, which takes no value; a model "
                  "is given with --input_model, the folder of results with --output_dir",
                  "unknown option '--zzzzzzzzzz'"));
  EXPECT_THAT(Messages({"model.onnx", "--run"}),
              ElementsAre("unexpected word 'model.onnx'; a model is given with --input_model, the "
                          "folder of results with --output_dir"));
}

TEST(CommandLine, ValuesOfMisspeltOptionsAreNoProblemOfTheirOwn) {
  EXPECT_THAT(
      Messages({"--batch-size", "4", "-i", "a.onnx", "--ouput_dir=x", "b.onnx"}),
      ElementsAre("unknown option '--batch-size'; did you mean '--batch_size'?",
                  "unknown option '--ouput_dir'; did you mean '--output_dir'?",
                  "unexpected word 'b.onnx'; a model is given with --input_model, the folder "
                  "of results with --output_dir"));
}

TEST(CommandLine, BeginningsOfOptionsAreUnderstoodButNotTaken) {
  EXPECT_THAT(Messages({"--config", "c.yaml"}),
              ElementsAre("unknown option '--config'; did you mean '--config_yaml'?"));
  EXPECT_THAT(Messages({"-o", "out"}),
              ElementsAre("unknown option '-o'; did you mean '--only_manual_sharding' or "
                          "'--output_dir' or '--output_model'?"));
}

TEST(CommandLine, OptionsThatAreNotThereYetAreRefusedWithTheirValues) {
  EXPECT_THAT(Messages({"--check", "--fp8_params", "F143,F143,-1,-1", "--merge_matmul", "a", "b"}),
              ElementsAre("--check: this option of PopRT is not there yet",
                          "--fp8_params: this option of PopRT is not there yet",
                          "--merge_matmul: this option of PopRT is not there yet"));
}

TEST(CommandLine, MissingAndRepeatedValues) {
  EXPECT_THAT(Messages({"--precision"}), SizeIs(1));
  EXPECT_THAT(Messages({"--precision", "fp16", "--precision", "fp32", "--run", "--run", "--run"}),
              ElementsAre("--precision is given twice: give it once",
                          "--run is given 3 times: give it once"));
}

TEST(CommandLine, HelpListsWhatWorksAndOnlyThat) {
  const CommandLine line = Parse({"--help"});
  ASSERT_TRUE(line.help.has_value());
  for (const OptionDef& def : Options()) {
    if (FindFlag(def.name) != &def) continue;
    const std::string flag = "--" + std::string(def.name);
    if (IsLater(def)) {
      EXPECT_THAT(*line.help, Not(HasSubstr(flag + " ")));
    } else {
      EXPECT_THAT(*line.help, HasSubstr(flag));
    }
  }
}

TEST(CliOptions, EveryRowIsCompleteAndNamedOnce) {
  for (const OptionDef& def : Options()) {
    EXPECT_EQ(FindFlag(def.name) == &def || FindKey(def.name, true) == &def ||
                  FindKey(def.name, false) == &def,
              true)
        << def.name;
    if (IsLater(def)) continue;
    const bool special = def.kind == Kind::kModels || def.name == "config_yaml";
    EXPECT_EQ((def.set != nullptr) + (def.set_model != nullptr), special ? 0 : 1) << def.name;
    EXPECT_EQ(def.set_model != nullptr,
              !special && (def.scope == Scope::kModel || def.scope == Scope::kFileModel))
        << def.name;
  }
}

}  // namespace
}  // namespace poprt::cli
