#include "compiler/frontend/control_flow/if.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "compiler/frontend/control_flow/node_body.hpp"
#include "compiler/frontend/control_flow/node_values.hpp"
#include "compiler/ir/control_flow.hpp"

namespace poprt::frontend {
namespace {

/// A branch of an If whose condition is not known.
struct Branch {
  GraphBuilder builder;
  std::vector<ImportValue> results;
};

bool IsOpen(const Branch& branch, std::size_t i) {
  const ir::ValueId* tensor = branch.results[i].tensor();
  return tensor != nullptr && branch.builder.FindOpen(*tensor) != nullptr;
}

std::string TypeOf(const Branch& branch, std::size_t i) {
  const std::string type = Describe(branch.results[i], branch.builder.graph());
  return IsOpen(branch, i) ? type + " of an extent that depends on data" : type;
}

/// The values of the outer graph that either branch captures, in the order of their first use.
std::vector<ir::ValueId> AllCaptured(std::span<const Branch* const> branches) {
  std::vector<ir::ValueId> all;
  for (const Branch* branch : branches) {
    for (const auto& [outer, inner] : branch->builder.captured()) {
      if (std::find(all.begin(), all.end(), outer) == all.end()) all.push_back(outer);
    }
  }
  return all;
}

/// Gives the region one input for each of `captured`, in that order.
ir::Graph TakeRegion(Branch& branch, const std::string& name,
                     const std::vector<ir::ValueId>& captured) {
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId outer : captured) inputs.push_back(branch.builder.Capture(outer));
  ir::Graph region = branch.builder.Take();
  region.name = name;
  region.inputs = std::move(inputs);
  for (const ImportValue& result : branch.results) {
    region.outputs.push_back(*result.tensor());
    region.output_names.push_back(region.value(*result.tensor()).name);
  }
  return region;
}

absl::Status CheckBranches(const Branch& taken, const Branch& other) {
  std::string differing;
  for (std::size_t i = 0; i < taken.results.size(); ++i) {
    const bool are_tensors =
        taken.results[i].tensor() != nullptr && other.results[i].tensor() != nullptr;
    const std::string types[] = {TypeOf(taken, i), TypeOf(other, i)};
    if (are_tensors && types[0] == types[1] && !IsOpen(taken, i) && !IsOpen(other, i)) continue;
    differing += (differing.empty() ? "output " : ", output ") + std::to_string(i) + " is " +
                 types[0] + " from the then branch and " + types[1] + " from the else branch";
  }
  if (differing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      differing +
      ": an If that is decided at run time needs tensors of the same type from both; freeze the "
      "condition or what it is computed from");
}

class IfImport {
 public:
  IfImport(GraphImporter& importer, NodeImport& import) : importer_(importer), import_(import) {}

  absl::Status Run() {
    if (import_.inputs.size() != 1 || !import_.inputs[0]) {
      return absl::InvalidArgumentError("has " + std::to_string(import_.inputs.size()) +
                                        " inputs, allowed is 1: the condition");
    }
    for (const char* attribute : {"then_branch", "else_branch"}) {
      const absl::StatusOr<Body> body = BodyOf(import_, attribute);
      if (!body.ok()) return body.status();
      const auto outputs = static_cast<std::size_t>(import_.node.output_size());
      const absl::Status counts = CheckCounts(*body, 0, outputs, false);
      if (!counts.ok()) {
        return absl::InvalidArgumentError("attribute '" + std::string(attribute) + "' " +
                                          std::string(counts.message()));
      }
    }
    const auto condition =
        AsScalar(import_.builder, *import_.inputs[0], ElementType::kBool, "the condition");
    if (!condition.ok()) return condition.status();
    if (const Tensor* known = import_.builder.graph().ConstantOf(*condition)) {
      const bool is_true = known->as<std::uint8_t>()[0] != 0;
      const auto results = Import(is_true ? "then_branch" : "else_branch", import_.builder);
      if (results) DefineOutputs(import_, *results);
      return absl::OkStatus();
    }
    return PlaceNode(*condition);
  }

 private:
  std::optional<std::vector<ImportValue>> Import(const char* attribute, GraphBuilder& builder) {
    const Body body = *BodyOf(import_, attribute);
    const Problems::Within within(import_.problems, DescribeBody(import_.node, attribute));
    return importer_.ImportBody(body.graph, body.structure, {}, builder, import_.problems);
  }

  absl::Status PlaceNode(ir::ValueId condition) {
    static const std::unordered_set<std::string> none;
    Branch taken{.builder = GraphBuilder(import_.builder, none), .results = {}};
    Branch other{.builder = GraphBuilder(import_.builder, none), .results = {}};
    auto taken_results = Import("then_branch", taken.builder);
    auto other_results = Import("else_branch", other.builder);
    if (!taken_results || !other_results) return absl::OkStatus();  // the problems are known
    taken.results = *std::move(taken_results);
    other.results = *std::move(other_results);
    if (absl::Status status = CheckBranches(taken, other); !status.ok()) return status;

    std::vector<TensorType> types;
    for (const ImportValue& result : taken.results) {
      types.push_back(taken.builder.graph().type(*result.tensor()));
    }
    const Branch* branches[] = {&taken, &other};
    const std::vector<ir::ValueId> captured = AllCaptured(branches);
    ir::Node node{
        .name = import_.name, .op = "If", .inputs = {condition}, .outputs = {}, .attributes = {}};
    node.inputs.insert(node.inputs.end(), captured.begin(), captured.end());
    node.regions.push_back(TakeRegion(taken, "then_branch", captured));
    node.regions.push_back(TakeRegion(other, "else_branch", captured));
    const auto& names = import_.node.output();
    std::vector<ImportValue> results;
    for (const ir::ValueId id :
         import_.builder.PlaceRegions(std::move(node), types, {names.begin(), names.end()})) {
      results.push_back({id});
    }
    DefineOutputs(import_, results);
    return absl::OkStatus();
  }

  GraphImporter& importer_;
  NodeImport& import_;
};

}  // namespace

absl::Status ImportIf(GraphImporter& importer, NodeImport& import) {
  return IfImport(importer, import).Run();
}

}  // namespace poprt::frontend
