#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

namespace poprt::ipu {

using Json = nlohmann::ordered_json;

/// {"columns": [...], "rows": []}, to append rows to.
Json EmptyTable(std::initializer_list<const char*> columns);

/// Without white space. Bytes of strings that are not UTF-8 become U+FFFD: nothing is thrown.
std::string JsonText(const Json& value);

/// With two blanks a level; a list that has plain values or is empty stays on one line, so that a
/// row of a table is a line.
std::string IndentedJsonText(const Json& value);

}  // namespace poprt::ipu
