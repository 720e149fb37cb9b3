#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/frozen_input.hpp"
#include "compiler/ir/graph.hpp"
#include "passes/pass.hpp"
#include "runtime/tensor/shape.hpp"

/// The compiler as a library: Convert() and Compile() are what the command line, the C++ and the
/// Python interface call.
namespace poprt::driver {

/// How one model is imported and converted.
struct ModelOptions {
  std::string path;   ///< ONNX file; empty if `bytes` holds the model
  std::string bytes;  ///< a serialised ModelProto
  std::string name;   ///< user's name of the graph in a fused container; may be empty
  std::map<std::string, Shape> input_shape;
  /// Inputs that become constants of the model: the file or value of each.
  std::map<std::string, frontend::FrozenInput> freeze_input;
  std::optional<std::int64_t> batch_size;
  std::int64_t batch_axis = 0;
  std::string precision = "fp32";  ///< "fp32" or "fp16"
  std::set<std::string> fp16_skip_op_types;
  std::int64_t max_tensor_size = -1;  ///< bytes; -1: no bound
  std::vector<std::string> passes;    ///< extra passes after the default ones
  std::set<std::string> skip_passes;
  std::vector<std::string> checkpoints;
  std::vector<std::string> remove_outputs;
  std::string manual_sharding_config;  ///< file for ReadShardingFile; empty: nodes stay placed
  bool only_manual_sharding = false;   ///< of the conversion passes only manual_sharding runs
  /// False: weights may change after compilation, so passes that calculate with their elements, or
  /// that take equal ones for one, do not run.
  bool constant_weights = true;
};

/// Called as work proceeds: a phase ("convert a.onnx (1/2)", "lower"), steps done, steps in all. Of
/// Convert() and of Compile*() each, steps done never decrease and steps in all stay the same.
using Progress = std::function<void(const std::string& phase, int done, int total)>;
/// One message each, without severity prefix.
using Log = std::function<void(const std::string& message)>;

/// What is said about a model: `poprt --json` prints it.
struct ModelReport {
  std::string name;  ///< "graph0", or the file's name without extension when nothing is fused
  std::string path;
  int opset = 0;  ///< of the file
  std::size_t nodes_imported = 0;
  std::size_t nodes = 0;        ///< after conversion
  std::int64_t parameters = 0;  ///< elements of constants
  std::uint64_t parameter_bytes = 0;
  double import_seconds = 0;
  double convert_seconds = 0;
  std::vector<std::string> narrowed_inputs = {};  ///< int64 in the file and int32 now
  /// Inputs that became constants, each with its value's type ("float32[3]"), ordered by name.
  std::vector<std::pair<std::string, std::string>> frozen_inputs = {};
  std::vector<passes::PassRecord> passes;
};

/// Models ready to be exported or compiled.
struct Converted {
  std::vector<ir::Graph> graphs;   ///< one, or with names prefixed by "<name>/" when fused
  std::vector<std::string> names;  ///< names of fused graphs; empty when nothing is fused
  std::vector<ModelReport> models;
  std::vector<passes::PipelineOptions> pipelines;  ///< of each model, for the lowering passes
  std::uint64_t constant_bytes_before = 0;         ///< of fusion
  std::uint64_t constant_bytes_after = 0;
  double fuse_seconds = 0;

  bool fused() const { return !names.empty(); }
};

/// Imports every model, runs the conversion passes and, if `fuse` is set, fuses them (fusing a
/// single model is allowed). Problems of all models are reported together. Status codes as in
/// frontend::ImportOnnxFile.
absl::StatusOr<Converted> Convert(const std::vector<ModelOptions>& models, bool fuse,
                                  const Progress& progress, const Log& warn);

}  // namespace poprt::driver
