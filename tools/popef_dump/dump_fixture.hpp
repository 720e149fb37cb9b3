#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "popef/Types.hpp"

/// Containers for the tests and what the tool says of them.
namespace poprt::dump::testing {

/// What goes into a container: by default the fused program of two graphs that kPayloads shows.
struct Blobs {
  Blobs();

  popef::Metadata metadata;
  std::string executable;  ///< payload of "exe"
  bool compress = false;
  std::string fusion;  ///< payload of "poprt.fusion"
  std::string note_name = "note";
  std::string note = "hello";
};

/// The dump of the default container, from the heading to the anchors.
std::string MetadataText(const std::string& path);
/// Opaques and executables.
extern const char* const kPayloads;
/// The steps that follow kPayloads.
extern const char* const kSteps;

/// A folder that is removed with its content, and the tool.
class DumpTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  /// Both return the path.
  std::string Write(const std::string& name, const Blobs& blobs) const;
  std::string Write(const std::string& name) const { return Write(name, Blobs()); }

  /// Changes the byte behind the first `text` in the file.
  static void Alter(const std::string& path, const std::string& text);

  /// Returns the exit code and sets out_ and err_.
  int Run(const std::vector<std::string>& arguments);

  std::filesystem::path folder_;
  std::string out_;
  std::string err_;
};

}  // namespace poprt::dump::testing
