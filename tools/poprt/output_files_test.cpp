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
            "cannot write '" + In("executable.popef") + "': there is a folder of that name");
}

}  // namespace
}  // namespace poprt::cli
