#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "poprt/compiler/compiler_options.hpp"
#include "poprt/compiler/model_inputs.hpp"
#include "poprt/executable.hpp"

namespace poprt::compiler {

/// Compiles ONNX models. `model` is the path of an ONNX file or the bytes of a ModelProto; its
/// shapes are static, or `inputs` makes them so. `outputs` names the outputs to keep, in any order;
/// empty keeps all. Every function throws std::runtime_error that lists all problems. Thread-safe.
class Compiler {
 public:
  static std::shared_ptr<Executable> compile(const std::string& model,
                                             const std::vector<std::string>& outputs = {},
                                             const CompilerOptions& options = {},
                                             const ModelInputs& inputs = {});

  /// Writes the container to a binary stream.
  static void compileAndExport(const std::string& model, const std::vector<std::string>& outputs,
                               std::ostream& out, const CompilerOptions& options = {},
                               const ModelInputs& inputs = {});

  /// Writes the container to a file, which appears only when it is complete.
  static void compileAndExport(const std::string& model, const std::vector<std::string>& outputs,
                               const std::string& filename, const CompilerOptions& options = {},
                               const ModelInputs& inputs = {});

  /// What the program does on the IPU, in the layout of Poplar's summary: memory by category and
  /// tile, predicted cycles and performance (docs/ipu_report.md). `resetProfile` is there for
  /// programs that pass it; every call reports on its own model.
  static std::string compileAndGetSummaryReport(const std::string& model,
                                                const std::vector<std::string>& outputs,
                                                const CompilerOptions& options = {},
                                                bool resetProfile = true,
                                                const ModelInputs& inputs = {});
};

}  // namespace poprt::compiler
