#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/import_time/utf8_case.hpp"

namespace poprt::frontend {
namespace {

using Strings = std::vector<std::string>;

/// Elements that a small file may make a tensor have.
constexpr std::int64_t kMostElements = std::int64_t{1} << 25;

/// The element of a tensor that broadcasts to `shape`, by the row-major position in that shape.
class BroadcastElement {
 public:
  BroadcastElement(const StringTensor& tensor, const Shape& shape)
      : tensor_(tensor), shape_(shape), strides_(shape.size(), 0) {
    const Shape own = Strides(tensor.shape);
    const std::size_t offset = shape.size() - own.size();
    for (std::size_t d = 0; d < own.size(); ++d) {
      strides_[offset + d] = tensor.shape[d] == 1 ? 0 : own[d];
    }
  }

  const std::string& operator[](std::int64_t position) const {
    std::int64_t at = 0;
    for (std::size_t d = shape_.size(); d-- > 0;) {
      at += position % shape_[d] * strides_[d];
      position /= shape_[d];
    }
    return tensor_.elements[static_cast<std::size_t>(at)];
  }

 private:
  const StringTensor& tensor_;
  const Shape& shape_;
  Shape strides_;
};

std::vector<ImportValue> StringConcat(ImportTimeCall& call) {
  call.RequireInputs(2, 2);
  const StringTensor& a = call.strings(0);
  const StringTensor& b = call.strings(1);
  const std::optional<Shape> shape = Broadcast(a.shape, b.shape);
  RequireImport(shape.has_value(), "the shapes " + ToString(a.shape) + " and " + ToString(b.shape) +
                                       " do not broadcast");
  const std::optional<std::int64_t> count = CheckedElementCount(*shape);
  RequireImport(count && *count <= kMostElements, "its result is too large");
  const BroadcastElement left(a, *shape);
  const BroadcastElement right(b, *shape);
  std::uint64_t bytes = 0;
  for (std::int64_t i = 0; i < *count; ++i) {
    bytes += sizeof(std::string) + left[i].size() + right[i].size();
  }
  call.CountStringBytes(bytes);
  StringTensor result{*shape, {}};
  for (std::int64_t i = 0; i < *count; ++i) result.elements.push_back(left[i] + right[i]);
  return {{std::move(result)}};
}

/// The parts between runs of white space; as in Python, what is left after the last split keeps
/// the white space at its end.
Strings SplitAtSpace(std::string_view text, std::int64_t most_splits) {
  constexpr std::string_view space = " \t\n\v\f\r";
  Strings parts;
  std::size_t at = text.find_first_not_of(space);
  while (at != std::string_view::npos) {
    std::size_t end = text.find_first_of(space, at);
    if (static_cast<std::int64_t>(parts.size()) == most_splits) end = std::string_view::npos;
    parts.emplace_back(text.substr(at, end - at));
    if (end == std::string_view::npos) break;
    at = text.find_first_not_of(space, end);
  }
  return parts;
}

Strings SplitAt(std::string_view text, std::string_view delimiter, std::int64_t most_splits) {
  Strings parts;
  while (static_cast<std::int64_t>(parts.size()) < most_splits) {
    const std::size_t end = text.find(delimiter);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::vector<ImportValue> StringSplit(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const StringTensor& input = call.strings(0);
  const std::string delimiter = call.attributes.get_string("delimiter", "");
  const std::int64_t given = call.attributes.get_int("maxsplit", -1);
  const std::int64_t most = given < 0 ? std::numeric_limits<std::int64_t>::max() : given;
  std::vector<Strings> split;
  Ints counts;
  for (const std::string& text : input.elements) {
    split.push_back(delimiter.empty() ? SplitAtSpace(text, most) : SplitAt(text, delimiter, most));
    counts.push_back(static_cast<std::int64_t>(split.back().size()));
  }
  const std::int64_t width = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  RequireImport(width == 0 || static_cast<std::int64_t>(counts.size()) <= kMostElements / width,
                "its result is too large");
  StringTensor parts{input.shape, {}};
  parts.shape.push_back(width);
  for (Strings& row : split) {
    row.resize(static_cast<std::size_t>(width));
    std::move(row.begin(), row.end(), std::back_inserter(parts.elements));
  }
  call.CountStrings(parts.elements);
  const Tensor lengths = Tensor::Of<std::int64_t>(ElementType::kInt64, input.shape, counts);
  return {{std::move(parts)}, {call.AddConstant("lengths", lengths)}};
}

std::vector<ImportValue> RegexFullMatch(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const StringTensor& input = call.strings(0);
  const std::string pattern = call.attributes.get_string("pattern", "");
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 regex(pattern, options);
  RequireImport(regex.ok(),
                "attribute 'pattern' is no regular expression of RE2: " + regex.error());
  Tensor matches({ElementType::kBool, input.shape});
  const auto elements = matches.as_mutable<std::uint8_t>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = re2::RE2::FullMatch(input.elements[i], regex) ? 1 : 0;
  }
  return {{call.AddConstant("matches", std::move(matches))}};
}

std::vector<ImportValue> StringNormalizer(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const StringTensor& input = call.strings(0);
  const Shape& shape = input.shape;
  const bool is_row = shape.size() == 2 && shape[0] == 1;
  RequireImport(shape.size() == 1 || is_row,
                "input 0 is " + ToString(input) + ", it must have the shape [C] or [1, C]");
  const std::string action = call.attributes.get_string("case_change_action", "NONE");
  RequireImport(
      action == "NONE" || action == "LOWER" || action == "UPPER",
      "attribute 'case_change_action' is '" + action + "', allowed are LOWER, UPPER and NONE");
  const bool is_sensitive = call.attributes.get_int("is_case_sensitive", 0) != 0;
  const auto compared = [&](const std::string& text) {
    return is_sensitive ? text : LowerCase(text);
  };
  std::set<std::string> stops;
  for (const std::string& stop : call.attributes.get_strings("stopwords")) {
    stops.insert(compared(stop));
  }
  StringTensor result;
  for (const std::string& text : input.elements) {
    if (stops.count(compared(text)) > 0) continue;
    result.elements.push_back(action == "LOWER"   ? LowerCase(text)
                              : action == "UPPER" ? UpperCase(text)
                                                  : text);
  }
  if (result.elements.empty()) result.elements.emplace_back();
  result.shape = {static_cast<std::int64_t>(result.elements.size())};
  if (is_row) result.shape.insert(result.shape.begin(), 1);
  call.CountStrings(result.elements);
  return {{std::move(result)}};
}

constexpr ImportTimeOp kRows[] = {
    {"RegexFullMatch", "", Always, RegexFullMatch},
    {"StringConcat", "", Always, StringConcat},
    {"StringNormalizer", "", Always, StringNormalizer},
    {"StringSplit", "", Always, StringSplit},
};

}  // namespace

std::span<const ImportTimeOp> StringImportOps() { return kRows; }

}  // namespace poprt::frontend
