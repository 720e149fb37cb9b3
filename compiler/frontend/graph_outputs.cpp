#include "compiler/frontend/graph_outputs.hpp"

#include <cstddef>

namespace poprt::frontend {

void GraphOutputs::Add(const std::string& name, const ImportValue& value) {
  if (value.tensor() != nullptr) {
    values.push_back(*value.tensor());
    names.push_back(name);
  } else if (value.strings() != nullptr) {
    host.emplace_back(name, HostValue{*value.strings()});
  } else if (value.optional() != nullptr) {
    for (const ImportValue& element : value.optional()->element) Add(name, element);
  } else {
    const auto& elements = value.sequence()->elements;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      Add(name + "/" + std::to_string(i), elements[i]);
    }
  }
}

}  // namespace poprt::frontend
