#include "compiler/frontend/supported_operators.hpp"

#include <onnx/onnx_pb.h>

#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/control_flow/control_flow.hpp"
#include "compiler/frontend/graph_structure.hpp"
#include "compiler/frontend/import_time/import_time_op.hpp"
#include "compiler/frontend/upgrade/upgrade.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {
namespace {

/// Operators that cannot be compiled by their nature.
constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
    {"ImageDecoder",
     "images are decoded before they come to the device; feed the model the decoded pixels"},
    {"ZipMap",
     "a container holds tensors, no maps; export the classifier with the option zipmap=False, "
     "which makes the probabilities a tensor"},
};

/// The operators of one domain: how often each is used, and by which node first.
struct Use {
  int nodes = 0;
  std::string first;
};
using DomainUses = std::map<std::string, std::map<std::string, Use>>;

void CountForeign(const onnx::NodeProto& node, const NodeOpsets& opsets, DomainUses& uses);

void CountForeign(const onnx::GraphProto& graph, const NodeOpsets& opsets, DomainUses& uses) {
  for (const onnx::NodeProto& node : graph.node()) CountForeign(node, opsets, uses);
}

void CountForeign(const onnx::NodeProto& node, const NodeOpsets& opsets, DomainUses& uses) {
  if (HasForeignDomain(node, opsets)) {
    Use& use = uses[std::string(NormalizedDomain(node.domain()))][node.op_type()];
    if (use.nodes++ == 0) use.first = Describe(node);
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) CountForeign(attribute.g(), opsets, uses);
    for (const onnx::GraphProto& graph : attribute.graphs()) CountForeign(graph, opsets, uses);
  }
}

}  // namespace

std::string WhyUnsupported(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  for (const auto& [name, reason] : kReasons) {
    if (op == name) return std::string(reason);
  }
  const std::string_view domain = NormalizedDomain(node.domain());
  const ops::OpDef* def = ops::FindOp(op);
  const bool is_row = def != nullptr && def->domain == domain && def->since <= ops::kNewestOpset;
  const bool is_constant = op == "Constant" && domain.empty();
  if (is_row || is_constant || IsImportTimeOp(op, domain) || IsControlFlow(node) ||
      IsReplaced(op, domain))
    return "";
  return "the operator is not supported; replace it by operators listed in docs/operators.md";
}

bool HasForeignDomain(const onnx::NodeProto& node, const NodeOpsets& opsets) {
  return !IsKnownDomain(node.domain()) || opsets.Of(node) == 0;
}

void ReportDomains(const onnx::GraphProto& graph, const std::vector<bool>& counts,
                   const NodeOpsets& opsets, Problems& problems) {
  DomainUses uses;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (counts.empty() || counts[static_cast<std::size_t>(i)]) {
      CountForeign(graph.node(i), opsets, uses);
    }
  }
  for (const auto& [domain, operators] : uses) {
    if (IsKnownDomain(domain)) {
      problems.AddInvalid("the model does not say which opset of " +
                          (domain.empty() ? "the default domain" : "domain '" + domain + "'") +
                          " it uses");
      continue;
    }
    const std::string used =
        absl::StrJoin(operators, ", ", [](std::string* out, const auto& entry) {
          const auto& [op, use] = entry;
          absl::StrAppend(out, op, " (",
                          use.nodes == 1 ? "" : absl::StrCat(use.nodes, " nodes, the first is "),
                          use.first.substr(0, use.first.rfind(" (")), ")");
        });
    problems.Add(absl::UnimplementedError(
        absl::StrCat("operators of domain '", domain, "' are not supported, the model uses ", used,
                     "; export the model with operators of ONNX only")));
  }
}

}  // namespace poprt::frontend
