#include "compiler/driver/sharding_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace poprt::driver {
namespace {

class ShardingFileTest : public testing::Test {
 protected:
  ShardingFileTest() {
    path_ = (std::filesystem::path(testing::TempDir()) / "sharding_file_test.yaml").string();
  }
  ~ShardingFileTest() override { std::filesystem::remove(path_); }

  absl::StatusOr<std::vector<passes::ShardingNode>> Read(const std::string& text) {
    std::ofstream(path_) << text;
    return ReadShardingFile(path_);
  }

  /// The message without the path.
  std::string ErrorOf(const std::string& text) {
    const auto nodes = Read(text);
    std::string message(nodes.status().message());
    for (std::size_t at = message.find(path_); at != std::string::npos; at = message.find(path_)) {
      message.erase(at, path_.size());
    }
    return message;
  }

  std::string path_;
};

TEST_F(ShardingFileTest, ListsNodes) {
  const auto nodes =
      Read("- {node: a, device: 0, stage: 0}\n- node: b/c\n  device: 3\n  stage: 1\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[0].node, "a");
  EXPECT_EQ((*nodes)[1].node, "b/c");
  EXPECT_EQ((*nodes)[1].device, 3U);
  EXPECT_EQ((*nodes)[1].stage, 1U);
  EXPECT_FALSE((*Read("- {node: a, device: 0}"))[0].stage.has_value());
}

TEST_F(ShardingFileTest, AllProblemsAreTold) {
  EXPECT_EQ(ErrorOf("- {node: a, devise: 0}\n"
                    "- {node: [b], device: -1, stage: 1.5}\n"
                    "- c\n"
                    "- {node: d, device: 1, device: 2}\n"),
            ":1: unknown key 'devise', did you mean 'device'?\n"
            ":1: key 'device' is missing\n"
            ":2: node: found a list, allowed is the name of a node\n"
            ":2: device: found '-1', allowed is an integer from 0 to 1022\n"
            ":2: stage: found '1.5', allowed is an integer from 0 to 1022\n"
            ":3: found 'c', allowed is {node, device, stage}\n"
            ":4: key 'device' stands twice");
}

TEST_F(ShardingFileTest, StagesAreForAllOrNone) {
  EXPECT_EQ(ErrorOf("- {node: a, device: 0, stage: 0}\n- {node: b, device: 1}\n"),
            ":1: 1 of 2 nodes have a stage: give all of them one, or none");
}

TEST_F(ShardingFileTest, OtherFilesAreRefused) {
  EXPECT_EQ(ErrorOf("node: a"), ":1: found a map, allowed is a list of {node, device, stage}");
  EXPECT_EQ(ErrorOf("[a"), ":1: end of sequence flow not found");
  EXPECT_EQ(ReadShardingFile("no/such.yaml").status(),
            absl::NotFoundError("sharding file 'no/such.yaml' can't be read: No such file or "
                                "directory"));
  EXPECT_EQ(ReadShardingFile(".").status(),
            absl::NotFoundError("sharding file '.' can't be read: Is a directory"));
}

}  // namespace
}  // namespace poprt::driver
