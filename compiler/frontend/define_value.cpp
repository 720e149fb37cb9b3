#include "compiler/frontend/define_value.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace poprt::frontend {
namespace {

ImportValue AddConstants(const std::string& name, const HostValue& value, GraphBuilder& builder) {
  if (value.tensor() != nullptr) return {builder.AddConstant(name, *value.tensor())};
  if (value.strings() != nullptr) return {*value.strings()};
  if (const HostValue::Optional* optional = value.optional()) {
    ImportValue::Optional added;
    for (const HostValue& element : optional->element) {
      added.element.push_back(AddConstants(name, element, builder));
    }
    return {std::move(added)};
  }
  ImportValue::Sequence added;
  for (const HostValue& element : value.sequence()->elements) {
    added.elements.push_back(
        AddConstants(name + "/" + std::to_string(added.elements.size()), element, builder));
  }
  return {std::move(added)};
}

std::optional<std::vector<HostValue>> ConstantValues(const std::vector<ImportValue>& values,
                                                     const ir::Graph& graph) {
  std::vector<HostValue> constants;
  for (const ImportValue& value : values) {
    std::optional<HostValue> constant = ConstantValue(value, graph);
    if (!constant) return std::nullopt;
    constants.push_back(*std::move(constant));
  }
  return constants;
}

}  // namespace

void DefineValue(const std::string& name, const HostValue& value, GraphBuilder& builder) {
  if (value.tensor() != nullptr) {
    builder.DefineConstant(name, *value.tensor());
  } else {
    builder.DefineValue(name, AddConstants(name, value, builder));
  }
}

std::optional<HostValue> ConstantValue(const ImportValue& value, const ir::Graph& graph) {
  if (value.strings() != nullptr) return HostValue{*value.strings()};
  if (value.tensor() != nullptr) {
    const Tensor* tensor = graph.ConstantOf(*value.tensor());
    if (tensor == nullptr) return std::nullopt;
    return HostValue{*tensor};
  }
  const bool is_sequence = value.sequence() != nullptr;
  std::optional<std::vector<HostValue>> elements =
      ConstantValues(is_sequence ? value.sequence()->elements : value.optional()->element, graph);
  if (!elements) return std::nullopt;
  if (is_sequence) return HostValue{HostValue::Sequence{*std::move(elements)}};
  return HostValue{HostValue::Optional{*std::move(elements)}};
}

}  // namespace poprt::frontend
