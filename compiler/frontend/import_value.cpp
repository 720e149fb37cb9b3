#include "compiler/frontend/import_value.hpp"

#include <algorithm>
#include <cstddef>

namespace poprt::frontend {
namespace {

/// Elements of a sequence that messages list.
constexpr std::size_t kListed = 4;

template <typename TensorT, typename TypeOf>
std::string DescribeValue(const BasicValue<TensorT>& value, const TypeOf& type_of) {
  if (value.tensor() != nullptr) return ToString(type_of(*value.tensor()));
  if (value.strings() != nullptr) return ToString(*value.strings());
  if (const auto* optional = value.optional()) {
    return optional->element.empty()
               ? "empty optional"
               : "optional " + DescribeValue(optional->element.front(), type_of);
  }
  const auto& elements = value.sequence()->elements;
  if (elements.empty()) return "empty sequence";
  std::string text = "sequence of " + std::to_string(elements.size()) + " (";
  for (std::size_t i = 0; i < std::min(elements.size(), kListed); ++i) {
    if (i > 0) text += ", ";
    text += DescribeValue(elements[i], type_of);
  }
  return text + (elements.size() > kListed ? ", ...)" : ")");
}

}  // namespace

std::string ToString(const StringTensor& strings) { return "string" + ToString(strings.shape); }

std::string Describe(const HostValue& value) {
  return DescribeValue(value, [](const Tensor& tensor) { return tensor.type(); });
}

std::string Describe(const ImportValue& value, const ir::Graph& graph) {
  return DescribeValue(value, [&](ir::ValueId id) { return graph.type(id); });
}

}  // namespace poprt::frontend
