#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace poprt::ir {

/// The candidate that `wanted` is most likely a misspelling of, for messages of the kind "did you
/// mean ...": the one with the smallest edit distance, letter case not counted; among equals the
/// first. Nothing when more than a third of the letters (but at least one) would have to change.
std::optional<std::string> NearestName(std::string_view wanted,
                                       std::span<const std::string> candidates);

}  // namespace poprt::ir
