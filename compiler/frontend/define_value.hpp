#pragma once

#include <optional>
#include <string>

#include "compiler/frontend/graph_builder.hpp"
#include "compiler/frontend/import_value.hpp"

namespace poprt::frontend {

/// Makes `name` a name of the value, whose tensors become constants of the graph: a tensor is
/// called `name`, those of a sequence "NAME/0", "NAME/1" and so on.
void DefineValue(const std::string& name, const HostValue& value, GraphBuilder& builder);

/// The value if all its tensors are constants.
std::optional<HostValue> ConstantValue(const ImportValue& value, const ir::Graph& graph);

}  // namespace poprt::frontend
