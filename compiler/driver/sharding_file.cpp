#include "compiler/driver/sharding_file.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ipu/target/text_file.hpp"
#include "compiler/ir/nearest_name.hpp"
#include "compiler/ir/placement.hpp"

namespace poprt::driver {
namespace {

/// What is not listed goes one further.
constexpr std::int64_t kMostNumber = ir::kMostPlacement - 1;

std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "nothing";
  return absl::StrCat("'", absl::CHexEscape(node.Scalar()), "'");
}

class ShardingReader {
 public:
  explicit ShardingReader(const std::string& path) : path_(path) {}

  absl::StatusOr<std::vector<passes::ShardingNode>> Read(const YAML::Node& root) {
    if (!root.IsSequence() || root.size() == 0) {
      Problem(root.Mark(), absl::StrCat("found ", Describe(root),
                                        ", allowed is a list of {node, device, stage}"));
    } else {
      for (const YAML::Node& item : root) ReadItem(item);
    }
    if (problems_.empty() && with_stage_ != 0 && with_stage_ != nodes_.size()) {
      Problem(root.Mark(), absl::StrCat(with_stage_, " of ", nodes_.size(),
                                        " nodes have a stage: give all of them one, or none"));
    }
    if (!problems_.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
    return std::move(nodes_);
  }

 private:
  void Problem(const YAML::Mark& mark, const std::string& text) {
    const std::string line = mark.is_null() ? "" : absl::StrCat(mark.line + 1, ":");
    problems_.push_back(absl::StrCat(path_, ":", line, " ", text));
  }

  void ReadItem(const YAML::Node& item) {
    if (!item.IsMap()) {
      Problem(item.Mark(),
              absl::StrCat("found ", Describe(item), ", allowed is {node, device, stage}"));
      return;
    }
    passes::ShardingNode result;
    std::set<std::string> seen;
    for (const auto& entry : item) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!seen.insert(key).second) {
        Problem(entry.first.Mark(), absl::StrCat("key ", Describe(entry.first), " stands twice"));
      } else if (key == "node") {
        ReadName(entry.second, result);
      } else if (key == "device") {
        result.device = ReadNumber(key, entry.second).value_or(0);
      } else if (key == "stage") {
        result.stage = ReadNumber(key, entry.second);
      } else {
        UnknownKey(entry.first, key);
      }
    }
    for (const char* key : {"node", "device"}) {
      if (!seen.contains(key)) Problem(item.Mark(), absl::StrCat("key '", key, "' is missing"));
    }
    if (result.stage) ++with_stage_;
    nodes_.push_back(std::move(result));
  }

  void ReadName(const YAML::Node& value, passes::ShardingNode& result) {
    if (value.IsScalar() && !value.Scalar().empty()) {
      result.node = value.Scalar();
    } else {
      Problem(value.Mark(),
              absl::StrCat("node: found ", Describe(value), ", allowed is the name of a node"));
    }
  }

  std::optional<std::uint32_t> ReadNumber(const std::string& key, const YAML::Node& value) {
    std::int64_t number = -1;
    if (value.IsScalar()) {
      const std::string& text = value.Scalar();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      const bool is_number = error == std::errc() && end == text.data() + text.size();
      if (is_number && number >= 0 && number <= kMostNumber) {
        return static_cast<std::uint32_t>(number);
      }
    }
    Problem(value.Mark(), absl::StrCat(key, ": found ", Describe(value),
                                       ", allowed is an integer from 0 to ", kMostNumber));
    return std::nullopt;
  }

  void UnknownKey(const YAML::Node& key, const std::string& text) {
    const std::vector<std::string> known = {"node", "device", "stage"};
    const auto nearest = ir::NearestName(text, known);
    Problem(key.Mark(), absl::StrCat("unknown key ", Describe(key),
                                     nearest ? absl::StrCat(", did you mean '", *nearest, "'?")
                                             : ", allowed are node, device, stage"));
  }

  const std::string& path_;
  std::vector<passes::ShardingNode> nodes_;
  std::size_t with_stage_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace

absl::StatusOr<std::vector<passes::ShardingNode>> ReadShardingFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ipu::ReadTextFile("sharding file", path);
  if (!text.ok()) return text.status();
  try {
    return ShardingReader(path).Read(YAML::Load(*text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", error.mark.line + 1, ": ", error.msg));
  }
}

}  // namespace poprt::driver
