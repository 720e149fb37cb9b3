#include "compiler/ipu/target/target_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "compiler/ipu/target/embedded_targets.hpp"
#include "compiler/ipu/target/target_fields.hpp"

namespace poprt::ipu {
namespace {

using testing::HasSubstr;

std::string Problems(const std::string& yaml) {
  const absl::StatusOr<Target> target = ParseTargetYaml(yaml, "my.yaml");
  if (target.ok()) return "none";
  EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(target.status().message());
}

TEST(TargetYamlTest, TakesABaseAndWhatDiffers) {
  const auto target = ParseTargetYaml(
      "base: ipu21\n"
      "tiles: 8\n"
      "memory_base_address: 0x1000\n"
      "exchange_fragmented_efficiency: 0.5\n"
      "default_platform: lab\n"
      "platforms:\n"
      "  c600: {clock_hz: 1400000000}\n"
      "  lab: {clock_hz: 1000000000, host_load_bytes_per_second: 5,\n"
      "        host_store_bytes_per_second: 6, call_nanoseconds: 7}\n",
      "my.yaml");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->tiles, 8U);
  EXPECT_EQ(target->memory_base_address, 0x1000U);
  EXPECT_EQ(target->exchange_fragmented_efficiency, 0.5);
  EXPECT_EQ(target->ipu_version, "ipu21");
  EXPECT_EQ(target->sram_bytes_per_tile, 638976U);
  EXPECT_EQ(FindPlatform(*target, "c600")->clock_hz, 1400000000U);
  EXPECT_EQ(FindPlatform(*target, "c600")->call_nanoseconds,
            FindPlatform(*FindTarget("ipu21"), "c600")->call_nanoseconds);
  EXPECT_EQ(FindPlatform(*target, "")->name, "lab");
  EXPECT_EQ(FindPlatform(*target, "lab")->host_store_bytes_per_second, 6U);
}

TEST(TargetYamlTest, NamesEveryProblem) {
  EXPECT_EQ(Problems("base: ipu21\n"
                     "tile: 8\n"
                     "worker_threads: many\n"
                     "global_sync_cycles: -1\n"
                     "exchange_fragmented_efficiency: 1.5\n"
                     "copy_call_cycles: 1.5\n"
                     "vector_bytes: [8]\n"
                     "tiles: 8\n"
                     "tiles: 9\n"
                     "architecture: '<script>'\n"),
            "my.yaml:2: unknown key 'tile', did you mean 'tiles'?\n"
            "my.yaml:3: worker_threads: found 'many', allowed is an integer from 1 to 64\n"
            "my.yaml:4: global_sync_cycles: found '-1', allowed is an integer from 0 to 1048576\n"
            "my.yaml:5: exchange_fragmented_efficiency: found '1.5', allowed is a number from 0.01 "
            "to 1\n"
            "my.yaml:6: copy_call_cycles: found '1.5', allowed is an integer from 0 to 1048576\n"
            "my.yaml:7: vector_bytes: found a list, allowed is an integer from 4 to 1024\n"
            "my.yaml:9: key 'tiles' stands here again\n"
            "my.yaml:10: architecture: found '<script>', allowed is a name of up to 64 letters, "
            "digits, '_', '-', '.' and spaces");
}

TEST(TargetYamlTest, NamesProblemsOfPlatforms) {
  EXPECT_EQ(Problems("base: ipu21\n"
                     "platforms:\n"
                     "  c600: {clock_h: 5, call_nanoseconds: nan}\n"
                     "  lab: {clock_hz: 1000000000, call_nanoseconds: 7}\n"
                     "  lab: {}\n"
                     "  other: 3\n"),
            "my.yaml:3: unknown key platforms.c600.'clock_h', did you mean 'clock_hz'?\n"
            "my.yaml:3: platforms.c600.call_nanoseconds: found 'nan', allowed is an integer from 0 "
            "to 1000000000\n"
            "my.yaml:4: missing platforms.lab.host_load_bytes_per_second (an integer from 1 to "
            "1000000000000000), platforms.lab.host_store_bytes_per_second (an integer from 1 to "
            "1000000000000000); add them, or start from a known target with base: ipu21\n"
            "my.yaml:5: platforms: found 'lab' with a map, allowed are different names with maps\n"
            "my.yaml:6: platforms: found 'other' with '3', allowed are different names with maps");
}

TEST(TargetYamlTest, WantsAllKeysWithoutABase) {
  const std::string problems = Problems("ipu_version: mine\n");
  EXPECT_THAT(problems, HasSubstr("my.yaml:1: missing architecture (a name of up to 64"));
  EXPECT_THAT(problems, HasSubstr(", tiles (an integer from 1 to 65536), "));
  EXPECT_THAT(problems, HasSubstr("platforms: missing"));
}

TEST(TargetYamlTest, ContainersMustBeAbleToHoldTheVersion) {
  for (const std::string version : {"lab", "ipu", "ipu0", "ipu021", "ipu99999", "IPU2", "ipu2x"}) {
    EXPECT_EQ(Problems("base: ipu21\nipu_version: " + version + "\n"),
              "my.yaml:2: ipu_version: found '" + version +
                  "', allowed is ipu and a number from 1 to 9999, which containers hold; a name of "
                  "your own goes to architecture");
  }
}

TEST(TargetYamlTest, ChecksWhatKeysMustAgreeOn) {
  EXPECT_EQ(Problems("base: ipu21\n"
                     "sram_bytes_per_tile: 1000000\n"
                     "shared_exchange_bytes_per_cycle: 2\n"
                     "conv_units_fp8: 0\n"
                     "default_platform: m2000\n"),
            "my.yaml: executable_bytes and interleaved_bytes are 212992 and 425984, their sum must "
            "be sram_bytes_per_tile, 1000000\n"
            "my.yaml:3: shared_exchange_bytes_per_cycle is 2, it must be at least "
            "exchange_bytes_per_cycle, 4\n"
            "my.yaml:4: conv_units_fp8, conv_load_elements_fp8 and weights_per_conv_unit_fp8 must "
            "be all 0 or none\n"
            "my.yaml:5: default_platform: platform is 'm2000', allowed for ipu21 are c600");
}

TEST(TargetYamlTest, RefusesWhatIsNoTarget) {
  EXPECT_EQ(Problems("base: ipu3\n"),
            "my.yaml:1: base: found 'ipu3', allowed are ipu1, ipu2, ipu21");
  EXPECT_EQ(Problems(""), "my.yaml: found nothing, allowed is a map of keys to values");
  EXPECT_EQ(Problems("- 1\n"), "my.yaml: found a list, allowed is a map of keys to values");
  EXPECT_THAT(Problems("tiles: [8\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(Problems("tiles: 8\n? [1, 2]\n: 3\n"), HasSubstr("unknown key a list"));
  EXPECT_THAT(Problems(std::string(100000, '[')), HasSubstr("not valid YAML"));
}

// Every key of every file is read, and every value is checked against its limits.
TEST(TargetYamlTest, HoldsEachValueToItsLimits) {
  for (const Field<Target>& field : TargetFields()) {
    if (std::holds_alternative<std::string Target::*>(field.member)) continue;
    const std::string key(field.key);
    EXPECT_THAT(Problems("base: ipu21\n" + key + ": 1e300\n"), HasSubstr("my.yaml:2: " + key));
    EXPECT_THAT(Problems("base: ipu21\n" + key + ": -1\n"), HasSubstr("my.yaml:2: " + key));
    EXPECT_THAT(Problems("base: ipu21\n" + key + ": nan\n"), HasSubstr("my.yaml:2: " + key));
    EXPECT_THAT(Problems("base: ipu21\n" + key + ":\n"), HasSubstr("my.yaml:2: " + key));
  }
}

class TargetFileTest : public testing::Test {
 protected:
  ~TargetFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories(folder_);
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("poprt_target_" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(TargetFileTest, ReadsTheFilesOfTheProject) {
  for (const EmbeddedTarget& embedded : EmbeddedTargets()) {
    const auto target = LoadTargetFile(Write("target.yaml", embedded.yaml));
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->ipu_version, embedded.ipu_version);
    EXPECT_EQ(target->tiles, FindTarget(embedded.ipu_version)->tiles);
  }
}

TEST_F(TargetFileTest, SaysWhatCantBeRead) {
  const std::string missing = (folder_ / "missing.yaml").string();
  EXPECT_EQ(LoadTargetFile(missing).status().message(),
            "target file '" + missing + "' can't be read: No such file or directory");
  Write("x", "");
  EXPECT_EQ(LoadTargetFile(folder_.string()).status().message(),
            "target file '" + folder_.string() + "' can't be read: Is a directory");
  const std::string large = Write("large.yaml", std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(LoadTargetFile(large).status().message(),
            "target file '" + large + "' is larger than 1048576 bytes, the most allowed");
}

}  // namespace
}  // namespace poprt::ipu
