#include "compiler/frontend/model_file.hpp"

#include <onnx/onnx_pb.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {
namespace {

/// Newest version of the file format whose meaning is known: that of ONNX 1.20.
constexpr std::int64_t kNewestIrVersion = 13;

}  // namespace

bool IsDefaultDomain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

absl::Status ParseModel(std::string_view bytes, onnx::ModelProto* model) {
  if (bytes.empty()) return absl::InvalidArgumentError("the file is empty, expected an ONNX model");
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
  std::set<std::int64_t> opsets;
  for (const onnx::OperatorSetIdProto& import : model.opset_import()) {
    if (IsDefaultDomain(import.domain())) opsets.insert(import.version());
  }
  if (opsets.empty()) {
    problems.emplace_back("the model does not say which opset of the default domain it uses");
  } else if (opsets.size() > 1) {
    problems.push_back("the model imports several opsets of the default domain: " +
                       absl::StrJoin(opsets, ", "));
  } else if (*opsets.begin() < ops::kOldestOpset || *opsets.begin() > ops::kNewestOpset) {
    problems.push_back("opset " + std::to_string(*opsets.begin()) +
                       " is not supported, allowed are " + std::to_string(ops::kOldestOpset) +
                       " to " + std::to_string(ops::kNewestOpset) +
                       "; convert the model or export it again with such an opset");
  } else {
    header->opset = static_cast<int>(*opsets.begin());
  }
  if (model.functions_size() > 0) {
    problems.push_back("model functions are not supported (the first is '" +
                       model.functions(0).name() + "'); inline them before compiling");
  }
  if (model.training_info_size() > 0) {
    problems.emplace_back("training information is not supported; export the model for inference");
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

}  // namespace poprt::frontend
