#include "compiler/frontend/opset_imports.hpp"

#include <onnx/onnx_pb.h>

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {
namespace {

/// Models of older versions of the file format do not say which opset they use: there was one.
constexpr std::int64_t kFirstIrVersionWithOpsets = 3;

struct KnownDomain {
  std::string_view name;
  int oldest;
  int newest;
};

constexpr KnownDomain kKnownDomains[] = {
    {"", ops::kOldestOpset, ops::kNewestOpset},
    {ops::kMlDomain, 1, 5},
    {ops::kTrainingDomain, 1, 1},
};

const KnownDomain* FindDomain(std::string_view name) {
  for (const KnownDomain& domain : kKnownDomains) {
    if (domain.name == name) return &domain;
  }
  return nullptr;
}

std::string TextOf(std::string_view domain) {
  return domain.empty() ? "the default domain" : "domain '" + std::string(domain) + "'";
}

using Imports = std::map<std::string, std::set<std::int64_t>>;

template <typename Proto>
Imports ImportsOf(const Proto& proto) {
  Imports imports;
  for (const onnx::OperatorSetIdProto& import : proto.opset_import()) {
    imports[std::string(NormalizedDomain(import.domain()))].insert(import.version());
  }
  return imports;
}

absl::Status Check(const Imports& imports, OpsetVersions* versions) {
  std::vector<std::string> problems;
  for (const auto& [name, numbers] : imports) {
    const KnownDomain* domain = FindDomain(name);
    // Operators of other domains are functions of the model, or reported where they are used.
    if (domain == nullptr) continue;
    // Of several, ONNX binds nodes to the highest (OperatorSetIdProto in onnx.proto).
    const std::int64_t version = *numbers.rbegin();
    if (version < domain->oldest || version > domain->newest) {
      problems.push_back("opset " + std::to_string(version) +
                         (name.empty() ? "" : " of " + TextOf(name)) +
                         " is not supported, allowed are " + std::to_string(domain->oldest) +
                         " to " + std::to_string(domain->newest) +
                         "; convert the model or export it again with such an opset");
    } else {
      (*versions)[name] = static_cast<int>(version);
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

}  // namespace

std::string_view NormalizedDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

bool IsKnownDomain(std::string_view domain) {
  return FindDomain(NormalizedDomain(domain)) != nullptr;
}

absl::Status ReadOpsetImports(const onnx::ModelProto& model, OpsetVersions* versions) {
  Imports imports = ImportsOf(model);
  if (imports.empty() && model.ir_version() < kFirstIrVersionWithOpsets) imports[""] = {1};
  return Check(imports, versions);
}

absl::Status ReadOpsetImports(const onnx::FunctionProto& function, OpsetVersions* versions) {
  return Check(ImportsOf(function), versions);
}

int NodeOpsets::Of(const onnx::NodeProto& node) const {
  const std::string_view domain = NormalizedDomain(node.domain());
  const auto other = others_.find(&node);
  if (other != others_.end()) {
    const auto version = other->second->find(domain);
    if (version != other->second->end()) return version->second;
  }
  const auto version = model_->find(domain);
  return version == model_->end() ? 0 : version->second;
}

void NodeOpsets::Set(const onnx::NodeProto& node, std::shared_ptr<const OpsetVersions> versions) {
  others_[&node] = std::move(versions);
}

}  // namespace poprt::frontend
