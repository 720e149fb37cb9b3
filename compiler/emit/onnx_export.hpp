#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "compiler/emit/file_pieces.hpp"
#include "compiler/ir/graph.hpp"

/// ir::Graph to ONNX, so that what the passes made can be looked at and run elsewhere.
namespace poprt::emit {

/// Opset written unless another is asked for: the newest that Debian's ONNX checks.
inline constexpr int kDefaultExportOpset = 17;
inline constexpr int kOldestExportOpset = 11;

/// One graph as an ONNX model of that opset. Unimplemented, naming every node, when an operator has
/// no form in that opset; InvalidArgument when the opset is not one of kOldestExportOpset to
/// ops::kNewestOpset or the model would be larger than 2 GB. A few newer operators (Gelu,
/// LayerNormalization, ...) are decomposed. The bytes depend on the graph and the opset only.
absl::StatusOr<FilePieces> ExportOnnx(const ir::Graph& graph, int opset = kDefaultExportOpset);

/// Several graphs as one model: inputs of all graphs and `index` (uint32[1]), nested If on `index`;
/// outputs of graphs that do not run are zeros. An index beyond the last graph runs the last. Equal
/// constants are written once. Names of inputs and outputs must be distinct over all graphs, as
/// FuseModels makes them. At most 30 graphs: readers of ONNX bound the depth of nesting.
absl::StatusOr<FilePieces> ExportFusedOnnx(std::span<const ir::Graph> graphs,
                                           int opset = kDefaultExportOpset);

}  // namespace poprt::emit
