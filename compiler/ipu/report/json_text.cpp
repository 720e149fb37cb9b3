#include "compiler/ipu/report/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace poprt::ipu {
namespace {

bool IsLine(const Json& value) {
  if (value.empty() || value.is_primitive()) return true;
  return value.is_array() && std::any_of(value.begin(), value.end(), [](const Json& element) {
           return element.is_primitive();
         });
}

void Write(const Json& value, std::size_t indent, std::string& text) {
  if (IsLine(value)) {
    text += JsonText(value);
    return;
  }
  const bool is_object = value.is_object();
  text += is_object ? '{' : '[';
  const char* separator = "\n";
  for (const auto& [key, element] : value.items()) {
    text += separator;
    text.append(indent + 2, ' ');
    if (is_object) text += JsonText(Json(key)) + ": ";
    Write(element, indent + 2, text);
    separator = ",\n";
  }
  text += '\n';
  text.append(indent, ' ');
  text += is_object ? '}' : ']';
}

}  // namespace

Json EmptyTable(std::initializer_list<const char*> columns) {
  Json names = Json::array();
  for (const char* column : columns) names.push_back(column);
  return {{"columns", std::move(names)}, {"rows", Json::array()}};
}

std::string JsonText(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string IndentedJsonText(const Json& value) {
  std::string text;
  Write(value, 0, text);
  return text;
}

}  // namespace poprt::ipu
