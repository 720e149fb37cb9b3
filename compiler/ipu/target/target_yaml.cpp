#include "compiler/ipu/target/target_yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ipu/target/embedded_targets.hpp"
#include "compiler/ipu/target/target_fields.hpp"
#include "compiler/ir/nearest_name.hpp"

namespace poprt::ipu {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::string_view kBase = "base";
constexpr std::string_view kPlatforms = "platforms";

std::string Quoted(std::string_view text) {
  const std::string shown(text.substr(0, kLongestName));
  return absl::StrCat("'", absl::CEscape(shown), text.size() > kLongestName ? "...'" : "'");
}

std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "nothing";
  return Quoted(node.Scalar());
}

// Limits are whole numbers but for a few small fractions.
std::string LimitText(double limit) {
  if (limit == std::floor(limit)) return absl::StrCat(static_cast<std::uint64_t>(limit));
  return absl::StrCat(limit);
}

template <typename Owner>
std::string Allowed(const Field<Owner>& field) {
  if (std::holds_alternative<std::string Owner::*>(field.member)) {
    return absl::StrCat("a name of up to ", kLongestName,
                        " letters, digits, '_', '-', '.' and spaces");
  }
  const bool real = std::holds_alternative<double Owner::*>(field.member);
  return absl::StrCat(real ? "a number" : "an integer", " from ", LimitText(field.least), " to ",
                      LimitText(field.most));
}

/// "ipu21": containers hold the number.
bool IsIpuVersion(std::string_view text) {
  constexpr std::string_view kStart = "ipu";
  constexpr std::size_t kMostDigits = 4;
  if (!text.starts_with(kStart)) return false;
  const std::string_view digits = text.substr(kStart.size());
  return !digits.empty() && digits.size() <= kMostDigits && digits.front() != '0' &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view("_-. ").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  std::from_chars_result result{};
  if constexpr (std::is_integral_v<Number>) {
    const bool hexadecimal = text.size() > 2 && text[0] == '0' && text[1] == 'x';
    if (hexadecimal) text.remove_prefix(2);
    result = std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), number);
  }
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

template <typename Owner, typename Value>
bool SetMember(const Field<Owner>& field, Value Owner::*member, const std::string& text,
               Owner& owner) {
  if constexpr (std::is_same_v<Value, std::string>) {
    if (!IsName(text)) return false;
    owner.*member = text;
  } else {
    const std::optional<Value> number = ParseNumber<Value>(text);
    if (!number.has_value()) return false;
    const auto value = static_cast<double>(*number);
    // So written, "not a number" is refused.
    if (!(value >= field.least && value <= field.most)) return false;
    owner.*member = *number;
  }
  return true;
}

/// Reads one file into a target and collects what is wrong with it.
class TargetReader {
 public:
  explicit TargetReader(std::string_view file) : file_(file) {}

  absl::StatusOr<Target> Read(const YAML::Node& root) {
    if (!root.IsMap()) {
      Problem(YAML::Mark::null_mark(),
              absl::StrCat("found ", Describe(root), ", allowed is a map of keys to values"));
      return Failure();
    }
    Target target;
    const bool has_base = ReadBase(root, target);
    std::vector<std::string> known{std::string(kBase), std::string(kPlatforms)};
    ReadFields(root, "", TargetFields(), std::move(known), has_base, target);
    ReadPlatforms(root[std::string(kPlatforms)], has_base, target);
    if (problems_.empty()) CheckTogether(root, target);
    if (!problems_.empty()) return Failure();
    return target;
  }

  void Problem(const YAML::Mark& mark, const std::string& text) {
    const std::string line = mark.is_null() ? "" : absl::StrCat(mark.line + 1, ":");
    problems_.push_back(absl::StrCat(file_, ":", line, " ", text));
  }

  absl::Status Failure() const {
    return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
  }

 private:
  bool ReadBase(const YAML::Node& root, Target& target) {
    const YAML::Node base = root[std::string(kBase)];
    if (!base.IsDefined()) return false;
    const absl::StatusOr<Target> found = FindTarget(base.IsScalar() ? base.Scalar() : "");
    if (found.ok()) {
      target = *found;
      return true;
    }
    std::vector<std::string> known;
    for (const EmbeddedTarget& embedded : EmbeddedTargets()) {
      known.emplace_back(embedded.ipu_version);
    }
    Problem(base.Mark(), absl::StrCat("base: found ", Describe(base), ", allowed are ",
                                      absl::StrJoin(known, ", ")));
    return true;
  }

  // `prefix` names the map in messages: "platforms.c600.". Keys in `known` are read elsewhere.
  template <typename Owner>
  void ReadFields(const YAML::Node& map, const std::string& prefix,
                  std::span<const Field<Owner>> fields, std::vector<std::string> known,
                  bool has_base, Owner& owner) {
    for (const Field<Owner>& field : fields) known.emplace_back(field.key);
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!seen.insert(key).second) {
        Problem(entry.first.Mark(),
                absl::StrCat("key ", prefix, Describe(entry.first), " stands here again"));
        continue;
      }
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&](const Field<Owner>& f) { return f.key == key; });
      if (field != fields.end()) {
        ReadField(entry.first.Mark(), entry.second, prefix, *field, owner);
      } else if (std::find(known.begin(), known.end(), key) == known.end()) {
        UnknownKey(entry.first, prefix, known);
      }
    }
    if (has_base) return;
    std::vector<std::string> missing;
    for (const Field<Owner>& field : fields) {
      if (!seen.contains(std::string(field.key))) {
        missing.push_back(absl::StrCat(prefix, std::string(field.key), " (", Allowed(field), ")"));
      }
    }
    MissingKeys(map, missing);
  }

  template <typename Owner>
  void ReadField(const YAML::Mark& mark, const YAML::Node& value, const std::string& prefix,
                 const Field<Owner>& field, Owner& owner) {
    const bool good =
        value.IsScalar() &&
        std::visit([&](auto member) { return SetMember(field, member, value.Scalar(), owner); },
                   field.member);
    if (good) return;
    Problem(mark, absl::StrCat(prefix, std::string(field.key), ": found ", Describe(value),
                               ", allowed is ", Allowed(field)));
  }

  void UnknownKey(const YAML::Node& key, const std::string& prefix,
                  const std::vector<std::string>& known) {
    const std::string text = key.IsScalar() ? key.Scalar() : "";
    const auto nearest = ir::NearestName(text, known);
    Problem(key.Mark(),
            absl::StrCat("unknown key ", prefix, Describe(key),
                         nearest.has_value()
                             ? absl::StrCat(", did you mean '", *nearest, "'?")
                             : absl::StrCat(", allowed are ", absl::StrJoin(known, ", "))));
  }

  void MissingKeys(const YAML::Node& map, const std::vector<std::string>& missing) {
    if (missing.empty()) return;
    Problem(map.Mark(), absl::StrCat("missing ", absl::StrJoin(missing, ", "),
                                     "; add them, or start from a known target with base: ipu21"));
  }

  void ReadPlatforms(const YAML::Node& platforms, bool has_base, Target& target) {
    if (!platforms.IsDefined()) {
      if (!has_base)
        Problem(YAML::Mark::null_mark(),
                "platforms: missing, allowed is a map of names to platforms");
      return;
    }
    if (!platforms.IsMap() || platforms.size() == 0) {
      Problem(platforms.Mark(), absl::StrCat("platforms: found ", Describe(platforms),
                                             ", allowed is a map of names to platforms"));
      return;
    }
    std::set<std::string> seen;
    for (const auto& entry : platforms) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!IsName(name) || !seen.insert(name).second || !entry.second.IsMap()) {
        Problem(entry.first.Mark(),
                absl::StrCat("platforms: found ", Describe(entry.first), " with ",
                             Describe(entry.second), ", allowed are different names with maps"));
        continue;
      }
      ReadPlatform(name, entry.second, target);
    }
  }

  void ReadPlatform(const std::string& name, const YAML::Node& map, Target& target) {
    auto& all = target.platforms;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Platform& p) { return p.name == name; });
    const bool has_base = found != all.end();
    Platform platform = has_base ? *found : Platform{.name = name};
    ReadFields(map, absl::StrCat("platforms.", name, "."), PlatformFields(), {}, has_base,
               platform);
    if (has_base) {
      *found = platform;
    } else {
      all.push_back(platform);
    }
  }

  // What several keys must agree on.
  void CheckTogether(const YAML::Node& root, const Target& target) {
    if (!IsIpuVersion(target.ipu_version)) {
      Disagree(root, "ipu_version",
               absl::StrCat("ipu_version: found ", Quoted(target.ipu_version),
                            ", allowed is ipu and a number from 1 to 9999, which containers hold; "
                            "a name of your own goes to architecture"));
    }
    if (target.executable_bytes + target.interleaved_bytes != target.sram_bytes_per_tile) {
      Disagree(
          root, "executable_bytes",
          absl::StrCat("executable_bytes and interleaved_bytes are ", target.executable_bytes,
                       " and ", target.interleaved_bytes,
                       ", their sum must be sram_bytes_per_tile, ", target.sram_bytes_per_tile));
    }
    if (target.unloadable_bytes >= target.sram_bytes_per_tile) {
      Disagree(
          root, "unloadable_bytes",
          absl::StrCat("unloadable_bytes is ", target.unloadable_bytes,
                       ", it must be less than sram_bytes_per_tile, ", target.sram_bytes_per_tile));
    }
    if (target.shared_exchange_bytes_per_cycle < target.exchange_bytes_per_cycle) {
      Disagree(root, "shared_exchange_bytes_per_cycle",
               absl::StrCat("shared_exchange_bytes_per_cycle is ",
                            target.shared_exchange_bytes_per_cycle,
                            ", it must be at least exchange_bytes_per_cycle, ",
                            target.exchange_bytes_per_cycle));
    }
    const bool multiplies_fp8 = target.conv_units_fp8 > 0;
    if (multiplies_fp8 != (target.conv_load_elements_fp8 > 0) ||
        multiplies_fp8 != (target.weights_per_conv_unit_fp8 > 0)) {
      Disagree(root, "conv_units_fp8",
               "conv_units_fp8, conv_load_elements_fp8 and weights_per_conv_unit_fp8 must be all 0 "
               "or none");
    }
    const absl::StatusOr<Platform> platform = FindPlatform(target, target.default_platform);
    if (!platform.ok()) {
      Disagree(root, "default_platform",
               absl::StrCat("default_platform: ", std::string(platform.status().message())));
    }
  }

  void Disagree(const YAML::Node& root, const std::string& key, const std::string& text) {
    const YAML::Node node = root[key];
    Problem(node.IsDefined() ? node.Mark() : YAML::Mark::null_mark(), text);
  }

  std::string file_;
  std::vector<std::string> problems_;
};

}  // namespace

absl::StatusOr<Target> ParseTargetYaml(std::string_view yaml, std::string_view file) {
  TargetReader reader(file);
  try {
    return reader.Read(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& error) {
    reader.Problem(error.mark, absl::StrCat("not valid YAML: ", error.msg));
    return reader.Failure();
  }
}

}  // namespace poprt::ipu
