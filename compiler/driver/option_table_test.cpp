#include "compiler/driver/option_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace poprt::driver {
namespace {

using compiler::CompilerOptions;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

CompilerOptions With(std::string_view name, std::string_view value) {
  CompilerOptions options;
  const absl::Status status = SetCompilerOption(options, name, value);
  EXPECT_TRUE(status.ok()) << name << "=" << value << ": " << Message(status);
  return options;
}

std::string Refusal(std::string_view name, std::string_view value) {
  CompilerOptions options;
  const absl::Status status = SetCompilerOption(options, name, value);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name << "=" << value;
  return Message(status);
}

TEST(OptionTable, IsOrderedByNameWithoutRepeats) {
  const auto table = CompilerOptionTable();
  EXPECT_EQ(table.size(), 40U);
  for (std::size_t i = 1; i < table.size(); ++i) EXPECT_LT(table[i - 1].name, table[i].name);
}

TEST(OptionTable, EveryDefaultReadsBackAsItself) {
  const CompilerOptions defaults;
  for (const CompilerOptionDef& def : CompilerOptionTable()) {
    const std::string text = def.get(defaults);
    CompilerOptions options;
    EXPECT_TRUE(def.set(options, text).ok()) << def.name << "=" << text;
    EXPECT_EQ(def.get(options), text) << def.name;
  }
}

TEST(OptionTable, SetsEachKindOfValue) {
  EXPECT_EQ(With("batches_per_step", "16").batchesPerStep, 16);
  EXPECT_EQ(With("enable_outlining", "False").enableOutlining, false);
  EXPECT_EQ(With("use_128bit_conv_unit_load", "true").use128bitConvUnitLoad, true);
  EXPECT_EQ(With("available_memory_proportion", "0.25").availableMemoryProportion, 0.25);
  EXPECT_EQ(With("partials_type", "float").partialsType, "float");
  EXPECT_EQ(With("num_io_tiles", "128").numIoTiles, 128);
  EXPECT_EQ(With("num_io_tiles", "auto").numIoTiles, compiler::kAutoIoTiles);
  EXPECT_EQ(With("cache_path", "a=b;c").cachePath, "a=b;c");
}

TEST(OptionTable, MapsAreJsonOrPairs) {
  EXPECT_THAT(With("engine_options", R"({"debug.level": "1", "n": 2, "on": true})").engineOptions,
              ElementsAre(Pair("debug.level", "1"), Pair("n", "2"), Pair("on", "true")));
  EXPECT_THAT(With("opaque_blobs", "b=x=y;a=").opaqueBlobs,
              ElementsAre(Pair("a", ""), Pair("b", "x=y")));
  EXPECT_THAT(With("custom_transform_applier_settings", "Fuse=true;Split=false")
                  .customTransformApplierSettings,
              ElementsAre(Pair("Fuse", true), Pair("Split", false)));
}

TEST(OptionTable, ListsAreJsonOrCommas) {
  EXPECT_THAT(With("custom_patterns", "A,B").customPatterns, ElementsAre("A", "B"));
  EXPECT_THAT(With("custom_patterns", R"(["A,B"])").customPatterns, ElementsAre("A,B"));
  EXPECT_THAT(With("virtual_graph_split_ratios", "[0.5, 2]").virtualGraphSplitRatios,
              ElementsAre(0.5, 2.0));
}

TEST(OptionTable, RefusalsNameKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(Refusal("batches_per_step", "0"),
            "compiler option 'batches_per_step' is '0', out of range; allowed: an integer >= 1");
  EXPECT_EQ(Refusal("partials_type", "double"),
            "compiler option 'partials_type' is 'double', not one of them; allowed: half or float");
  EXPECT_EQ(With("num_ipus", "64").numIpus, 64);
  EXPECT_EQ(Refusal("num_ipus", "65"),
            "compiler option 'num_ipus' is '65', out of range; allowed: an integer from 1 to 64");
  EXPECT_EQ(With("auto_sharding", "2").autoSharding, 2);
  EXPECT_EQ(Refusal("auto_sharding", "1"),
            "compiler option 'auto_sharding' is '1', out of range; allowed: 0, or an integer from "
            "2 to 64");
  EXPECT_THAT(Refusal("num_ipus", "0"), HasSubstr("out of range"));
  EXPECT_THAT(Refusal("num_io_tiles", "33"), HasSubstr("not even"));
  EXPECT_THAT(Refusal("num_io_tiles", "30"), HasSubstr("out of range"));
  EXPECT_THAT(Refusal("num_io_tiles", "-2"), HasSubstr("out of range"));
  EXPECT_THAT(Refusal("available_memory_proportion", "0"), HasSubstr("out of range"));
  EXPECT_THAT(Refusal("available_memory_proportion", "1.01"), HasSubstr("out of range"));
  EXPECT_THAT(Refusal("available_memory_proportion", "nan"), HasSubstr("not a number"));
  EXPECT_THAT(Refusal("stream_buffering_depth", "9999999999999999999"),
              HasSubstr("not an integer"));
  EXPECT_THAT(Refusal("enable_outlining", "maybe"), HasSubstr("not true or false"));
  EXPECT_THAT(Refusal("ipu_version", "ipu3"), HasSubstr("ipu1, ipu2 or ipu21"));
  EXPECT_THAT(Refusal("engine_options", "{\"a\": [1]}"), HasSubstr("the value of 'a'"));
  EXPECT_THAT(Refusal("engine_options", "{a"), HasSubstr("no JSON object"));
  EXPECT_THAT(Refusal("engine_options", "a"), HasSubstr("'a' is not KEY=VALUE"));
  EXPECT_THAT(Refusal("engine_options", "a=1;a=2"), HasSubstr("'a' stands there twice"));
}

TEST(OptionTable, UnknownKeySuggestsTheNearest) {
  EXPECT_EQ(Refusal("num_io_tile", "32"),
            "unknown compiler option 'num_io_tile'; did you mean 'num_io_tiles'?");
}

TEST(OptionTable, RefusedValueLeavesOptionsUnchanged) {
  CompilerOptions options;
  options.engineOptions = {{"a", "1"}};
  EXPECT_FALSE(SetCompilerOption(options, "engine_options", "b=2;c").ok());
  EXPECT_THAT(options.engineOptions, ElementsAre(Pair("a", "1")));
}

TEST(OptionTable, IneffectiveOptionsAreThoseThatDifferAndDoNothing) {
  CompilerOptions options;
  EXPECT_THAT(IneffectiveOptions(options), IsEmpty());
  options.opaqueBlobs = {{"a", "\xff"}};
  EXPECT_THAT(IneffectiveOptions(options), IsEmpty());
  options.partialsType = "float";
  options.groupHostSync = true;
  options.cachePath = "cache";
  EXPECT_THAT(IneffectiveOptions(options), ElementsAre("cache_path", "group_host_sync"));
}

}  // namespace
}  // namespace poprt::driver
