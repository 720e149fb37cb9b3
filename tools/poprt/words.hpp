#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/tensor/shape.hpp"

/// The small grammars inside option values.
namespace poprt::cli {

std::optional<std::int64_t> ParseInteger(std::string_view text);
std::optional<double> ParseNumber(std::string_view text);
/// "true", "yes", "on" and their opposites, in the spellings YAML 1.1 knows.
std::optional<bool> ParseBool(std::string_view text);

/// "NAME=1,512": split at the last '=', so that names may hold any other. "NAME=" is a scalar.
std::optional<std::pair<std::string, Shape>> ParseNamedShape(std::string_view text);

/// "NAME=path" when what stands before the first '=' is a graph name (letters, digits, '_', '-',
/// '.'); otherwise the name is empty and all of the text is the path.
std::pair<std::string, std::string> ParseNamedPath(std::string_view text);

/// Parts between separators, empty ones left out.
std::vector<std::string> Split(std::string_view text, char separator);

/// True for a name that can prefix the tensors of a fused graph.
bool IsGraphName(std::string_view name);

}  // namespace poprt::cli
