#include "compiler/frontend/proto/external_data.hpp"

#include <onnx/onnx_pb.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/status/status.h"

namespace poprt::frontend {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> ParseNumber(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// True if no link or ".." leads from `folder` to a place outside it.
bool IsInside(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder, error);
  if (error) return false;
  const fs::path target = fs::weakly_canonical(file, error);
  if (error) return false;
  const fs::path relative = target.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

absl::StatusOr<std::string_view> ExternalData::File(const std::string& location) {
  if (const auto known = files_.find(location); known != files_.end()) {
    return known->second.bytes();
  }
  const std::string quoted = "external data file '" + location + "'";
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute()) {
    return absl::InvalidArgumentError(
        quoted + " is no relative path; it must be relative to the model's folder");
  }
  const fs::path folder = folder_.empty() ? fs::path(".") : fs::path(folder_);
  if (!IsInside(folder, folder / relative)) {
    return absl::InvalidArgumentError(
        quoted + " leads outside the model's folder; put the file beside the model");
  }
  absl::StatusOr<MappedFile> file = MappedFile::Open((folder / relative).string());
  if (!file.ok()) {
    return absl::Status(file.status().code(),
                        "external data file " + std::string(file.status().message()));
  }
  return files_.emplace(location, *std::move(file)).first->second.bytes();
}

absl::StatusOr<std::string_view> ExternalData::Find(const onnx::TensorProto& tensor) {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      const std::optional<std::uint64_t> number = ParseNumber(entry.value());
      if (!number) {
        return absl::InvalidArgumentError("external data " + entry.key() + " '" + entry.value() +
                                          "' is no number of bytes");
      }
      if (entry.key() == "offset") {
        offset = *number;
      } else {
        length = number;
      }
    }
  }
  absl::StatusOr<std::string_view> file = File(location);
  if (!file.ok()) return file.status();
  if (offset > file->size() || length.value_or(0) > file->size() - offset) {
    return absl::InvalidArgumentError(
        "external data file '" + location + "' has " + std::to_string(file->size()) +
        " bytes, but offset " + std::to_string(offset) + " with length " +
        (length ? std::to_string(*length) : "to the end") + " is asked for");
  }
  return file->substr(offset, length.value_or(file->size() - offset));
}

}  // namespace poprt::frontend
