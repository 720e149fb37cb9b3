#include "compiler/frontend/model_file.hpp"

#include <onnx/onnx_pb.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"

namespace poprt::frontend {
namespace {

/// Newest version of the file format whose meaning is known: that of ONNX 1.20.
constexpr std::int64_t kNewestIrVersion = 13;

/// How containers begin.
constexpr std::string_view kPopefMagic = "\x89PopEF";

}  // namespace

absl::Status ParseModel(std::string_view bytes, onnx::ModelProto* model) {
  if (bytes.empty()) return absl::InvalidArgumentError("the file is empty, expected an ONNX model");
  if (bytes.starts_with(kPopefMagic)) {
    return absl::InvalidArgumentError(
        "the file is a PopEF container, which is compiled already; popef_dump shows what it holds");
  }
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError(
        "the file has " + std::to_string(bytes.size()) +
        " bytes, an ONNX model at most 2147483647; store its tensors as external data");
  }
  if (!model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("the file is truncated or not an ONNX model");
  }
  if (!model->has_graph()) {
    return absl::InvalidArgumentError("the file is not an ONNX model: it holds no graph");
  }
  return absl::OkStatus();
}

absl::Status ReadHeader(const onnx::ModelProto& model, ModelHeader* header) {
  std::vector<std::string> problems;
  if (!model.has_ir_version() || model.ir_version() < 1) {
    problems.push_back("the model has no IR version");
  } else if (model.ir_version() > kNewestIrVersion) {
    problems.push_back("IR version " + std::to_string(model.ir_version()) +
                       " is newer than the newest supported, " + std::to_string(kNewestIrVersion) +
                       "; export the model with an older version of ONNX");
  }
  const absl::Status imports = ReadOpsetImports(model, &header->opsets);
  if (!imports.ok()) problems.emplace_back(imports.message());
  if (model.training_info_size() > 0) {
    problems.emplace_back("training information is not supported; export the model for inference");
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

}  // namespace poprt::frontend
