#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
absl::StatusOr<std::string> ExportOnnx(const ir::Graph& graph, int opset = kDefaultExportOpset);

/// Several graphs as one model: inputs of all graphs and `index` (uint32[1]), nested If on `index`;
/// outputs of graphs that do not run are zeros. An index beyond the last graph runs the last. Equal
/// constants are written once. Names of inputs and outputs must be distinct over all graphs, as
/// FuseModels makes them. At most 30 graphs: readers of ONNX bound the depth of nesting.
absl::StatusOr<std::string> ExportFusedOnnx(std::span<const ir::Graph> graphs,
                                            int opset = kDefaultExportOpset);

/// A file that is written under a temporary name beside `path` and flushed, and takes that name
/// when it is committed: there is never a partial file under it, and nothing is left of a file that
/// is not committed.
class PendingFile {
 public:
  /// InvalidArgument says why it cannot be written.
  static absl::StatusOr<PendingFile> Write(const std::string& path, std::string_view bytes);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile();

  absl::Status Commit() &&;

 private:
  PendingFile(std::string path, std::string temporary);

  std::string path_;
  std::string temporary_;  ///< empty once it is committed or moved from
};

/// Writes and commits a PendingFile.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace poprt::emit
