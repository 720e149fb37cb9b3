#pragma once

#include "compiler/frontend/opset_imports.hpp"
#include "compiler/frontend/problems.hpp"

namespace onnx {
class ModelProto;
}

namespace poprt::frontend {

/// Replaces every node that calls one of the model's functions, in subgraphs too, by the nodes of
/// the function, under names that nothing else has. `opsets` learns which versions these nodes
/// mean; the nodes must stay where they are from then on. Refuses functions that call themselves,
/// that are defined twice, and models that would become unreasonably large.
void InlineFunctions(onnx::ModelProto& model, NodeOpsets& opsets, Problems& problems);

}  // namespace poprt::frontend
