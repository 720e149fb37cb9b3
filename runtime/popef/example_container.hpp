#pragma once

#include <string>
#include <vector>

#include "popef/Types.hpp"

/// Containers for the tests.
namespace popef::testing {

TensorInfo MakeInfo(DataType type, const std::vector<std::int64_t>& shape);
TensorDataInfo MakeTensorData(const std::string& name, const TensorInfo& info);
FeedDataInfo MakeFeedData(const std::string& name, const TensorInfo& info, std::uint32_t count);
Anchor MakeAnchor(const std::string& name, TensorType type, const TensorInfo& info);

/// Every field has a value of its own. Describes executable "exe", with anchors "in" F32 [2, 3],
/// "out" F16 [4] and "weights" U8 [3].
Metadata MakeMetadata();

/// Metadata, executable "exe" = "program", opaque "notes" = "hello", tensor data "weights" = {7, 8,
/// 9}, feed data "in" = two tensors of F32 [2, 3] counting from 0.
std::string MakeContainer(bool compress = false);

/// One opaque blob "o" of executable "e" with payload "abc": the example of docs/popef.md.
std::string MakeSmallContainer();

/// Fails the test that created it if it cannot be made; removes itself with all content.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  /// Sorted names of what is in it.
  std::vector<std::string> Names() const;

 private:
  std::string path_;
};

void WriteFile(const std::string& path, const std::string& bytes);
std::string ReadFile(const std::string& path);

/// The message of the Error that `action` throws; empty if it throws none.
template <typename Action>
std::string ErrorOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace popef::testing
