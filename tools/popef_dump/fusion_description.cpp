#include "tools/popef_dump/fusion_description.hpp"

#include <nlohmann/json.hpp>

namespace poprt::dump {
namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 1;

[[noreturn]] void Refuse(const std::string& what) {
  throw std::runtime_error("not a description of fused graphs: " + what);
}

const json& Member(const json& object, const char* key, const std::string& where) {
  const auto member = object.is_object() ? object.find(key) : object.end();
  if (member == object.end()) Refuse(where + " has no \"" + key + "\"");
  return *member;
}

std::uint64_t Number(const json& object, const char* key, const std::string& where) {
  const json& value = Member(object, key, where);
  if (!value.is_number_unsigned()) {
    Refuse(where + " has a \"" + key + "\" that is no integer from 0 on");
  }
  return value.get<std::uint64_t>();
}

std::string Text(const json& value, const char* key, const std::string& where) {
  if (!value.is_string()) Refuse(where + " has a \"" + key + "\" that is no text");
  return value.get<std::string>();
}

const json& List(const json& object, const char* key, const std::string& where) {
  const json& value = Member(object, key, where);
  if (!value.is_array()) Refuse(where + " has a \"" + key + "\" that is no list");
  return value;
}

std::vector<std::string> Texts(const json& object, const char* key, const std::string& where) {
  std::vector<std::string> texts;
  for (const json& value : List(object, key, where)) texts.push_back(Text(value, key, where));
  return texts;
}

}  // namespace

std::vector<FusedGraph> ParseFusionDescription(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const json document = json::parse(text, text + bytes.size(), nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) Refuse("it is not JSON");
  const std::string top = "the document";
  if (const std::uint64_t version = Number(document, "version", top); version != kVersion) {
    Refuse("it has version " + std::to_string(version) + ", this tool reads version " +
           std::to_string(kVersion));
  }
  std::vector<FusedGraph> graphs;
  for (const json& graph : List(document, "graphs", top)) {
    const std::string where = "graph number " + std::to_string(graphs.size());
    graphs.push_back({.index = Number(graph, "index", where),
                      .name = Text(Member(graph, "name", where), "name", where),
                      .inputs = Texts(graph, "inputs", where),
                      .outputs = Texts(graph, "outputs", where)});
  }
  return graphs;
}

}  // namespace poprt::dump
