#include "tools/poprt/output_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace poprt::cli {
namespace {

namespace fs = std::filesystem;

class OutputFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "output-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string In(const std::string& path) const { return (folder_ / path).string(); }

  fs::path folder_;
};

TEST_F(OutputFilesTest, NamesTheContainerOnlyIfItIsWritten) {
  Settings settings;
  settings.output_dir = "./out/";
  settings.output_model = "m.onnx";
  EXPECT_EQ(OutputFilesOf(settings).onnx, "out/m.onnx");
  EXPECT_EQ(OutputFilesOf(settings).popef, "");
  settings.export_popef = true;
  EXPECT_EQ(OutputFilesOf(settings).popef, "out/executable.popef");
}

TEST_F(OutputFilesTest, CheckLeavesNothingBehindAndMakeMakesFolders) {
  const OutputFiles files{In("a/b/m.onnx"), In("a/b/executable.popef")};
  EXPECT_TRUE(CheckWritable(files).ok());
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_TRUE(MakeFolders(files).ok());
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b"));
}

TEST_F(OutputFilesTest, AFileInTheWayIsNamed) {
  std::ofstream(folder_ / "file") << "x";
  const absl::Status status = CheckWritable({In("file/out/m.onnx"), ""});
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(std::string(status.message()), "cannot write to output folder '" + In("file/out") +
                                               "': '" + In("file") +
                                               "' is no folder; choose another --output_dir");
}

TEST_F(OutputFilesTest, AFolderInPlaceOfAResultIsNamed) {
  fs::create_directory(folder_ / "executable.popef");
  EXPECT_EQ(std::string(CheckWritable({In("m.onnx"), In("executable.popef")}).message()),
            "cannot write '" + In("executable.popef") +
                "': there is a folder of that name; choose another --output_dir");
  EXPECT_EQ(std::string(CheckWritable({folder_.string(), ""}).message()),
            "cannot write '" + folder_.string() +
                "': there is a folder of that name; choose another --output_dir or --output_model");
}

TEST_F(OutputFilesTest, ReportsAreResultsLikeOthers) {
  Settings settings;
  settings.profile_dir = "profile/";
  EXPECT_EQ(OutputFilesOf(settings).report, "profile/report.html");

  const OutputFiles files{.onnx = In("m.onnx"), .popef = "", .report = In("profile/report.html")};
  EXPECT_TRUE(CheckWritable(files).ok());
  EXPECT_TRUE(MakeFolders(files).ok());
  EXPECT_TRUE(fs::is_directory(folder_ / "profile"));
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(std::string(
                CheckWritable({.onnx = In("m.onnx"), .popef = "", .report = In("file/report.html")})
                    .message()),
            "cannot write to output folder '" + In("file") + "': '" + In("file") +
                "' is no folder; choose another --profile_dir");
}

TEST_F(OutputFilesTest, TheCacheOfTheTunerIsAResultLikeOthers) {
  Settings settings;
  settings.output_model = "m.onnx";
  settings.perf_tuner_cache = "cache/t.json";
  EXPECT_EQ(OutputFilesOf(settings).perf_tuner_cache, "cache/t.json");

  const OutputFiles files{In("m.onnx"), In("executable.popef"), In("a/t.json")};
  EXPECT_TRUE(CheckWritable(files).ok());
  EXPECT_TRUE(MakeFolders(files).ok());
  EXPECT_TRUE(fs::is_directory(folder_ / "a"));
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(std::string(CheckWritable({In("m.onnx"), "", In("file/t.json")}).message()),
            "cannot write to output folder '" + In("file") + "': '" + In("file") +
                "' is no folder; choose another --perf_tuner_cache");

  Problems problems;
  CheckOverwriting({In("m.onnx"), In("executable.popef"), In("x/../executable.popef")},
                   std::vector<InputFile>{{In("executable.popef"), "its input"}}, problems);
  EXPECT_EQ(problems.messages(),
            (std::vector<std::string>{
                "the container would overwrite its input '" + In("executable.popef") +
                    "'; choose another --output_dir",
                "the cache of --perf_tuner would overwrite its input '" + In("executable.popef") +
                    "'; choose another --perf_tuner_cache",
                "the container and the cache of --perf_tuner would both be '" +
                    In("x/../executable.popef") + "'; choose another --perf_tuner_cache"}));
}

}  // namespace
}  // namespace poprt::cli
