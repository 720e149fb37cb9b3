#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/frozen_input.hpp"
#include "compiler/frontend/import_value.hpp"
#include "compiler/ir/graph.hpp"
#include "runtime/tensor/shape.hpp"

/// ONNX files to ir::Graph.
namespace poprt::frontend {

struct ImportOptions {
  /// What the model is called in messages; the graph's name. Empty: the path in messages, and the
  /// graph is called like the file without its extension ("model" for bytes).
  std::string model_name = {};
  /// Shapes of inputs by name. Fixes open dimensions; contradicting a known one is an error.
  std::map<std::string, Shape> input_shapes = {};
  /// Values of inputs by name: these inputs become constants, which fixes their open dimensions.
  std::map<std::string, FrozenInput> frozen_inputs = {};
  /// Extent given to dimension `batch_axis` of every input that is open there.
  std::optional<std::int64_t> batch_size = {};
  std::int64_t batch_axis = 0;
  /// Folding while importing makes no tensor larger than this, but for what shapes depend on;
  /// negative: no bound. Bytes.
  std::int64_t max_tensor_size = -1;
  /// Hears of things that do not stop the import, one message each.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// What is known of a model besides its graph.
struct ImportedModel {
  ir::Graph graph;
  int opset = 0;  ///< of the default domain, as found in the file; 0 if it has none
  std::string producer;
  /// Inputs that became constants, each with its value's type ("float32[3]"), ordered by name.
  std::vector<std::pair<std::string, std::string>> frozen_inputs = {};
  /// Outputs that are tensors of strings, by name (of the file, and like those of the graph for
  /// what sequences and optionals hold). They are no outputs of the graph.
  std::vector<std::pair<std::string, HostValue>> host_outputs = {};
};

/// Reads an ONNX file with its external data (relative to the file, never outside its folder).
///
/// The graph has static shapes, newest operator forms and no static inputs; what can be computed
/// from constants and shapes alone is computed. Nodes that no output depends on are left out,
/// whatever they are; values keep the names of the file. Every problem of the stage is reported in
/// one status, a line each: NotFound for missing files, InvalidArgument for all that is wrong with
/// the model or the options, Unimplemented when the only problems are unsupported operators.
absl::StatusOr<ImportedModel> ImportOnnxFile(const std::string& path, const ImportOptions& options);

/// As ImportOnnxFile for the bytes of a model; external data is looked for in `base_folder`.
absl::StatusOr<ImportedModel> ImportOnnxBytes(std::string_view bytes,
                                              const std::string& base_folder,
                                              const ImportOptions& options);

}  // namespace poprt::frontend
