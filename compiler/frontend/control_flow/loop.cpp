#include "compiler/frontend/control_flow/loop.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "compiler/frontend/control_flow/loop_form.hpp"
#include "compiler/frontend/control_flow/node_body.hpp"
#include "compiler/frontend/control_flow/node_values.hpp"

namespace poprt::frontend {
namespace {

/// Inputs before the carried values, of the node and of its body alike.
constexpr std::size_t kControls = 2;

absl::StatusOr<ir::ValueId> Control(const NodeImport& import, std::size_t i, ElementType element,
                                    const std::string& what) {
  if (!import.inputs[i]) return ir::kAbsent;
  return AsScalar(import.builder, *import.inputs[i], element, what);
}

}  // namespace

absl::Status ImportLoop(GraphImporter& importer, NodeImport& import) {
  const absl::StatusOr<Body> body = BodyOf(import, "body");
  if (!body.ok()) return body.status();
  import.inputs.resize(std::max(import.inputs.size(), kControls));
  const std::size_t carried = import.inputs.size() - kControls;
  const auto results = static_cast<std::size_t>(import.node.output_size());
  absl::Status counts = CheckCounts(*body, carried + kControls, results + 1, false);
  if (counts.ok() && results < carried) {
    counts = absl::InvalidArgumentError("has fewer outputs than the loop has carried values");
  }
  if (!counts.ok()) {
    return absl::InvalidArgumentError("attribute 'body' " + std::string(counts.message()));
  }
  LoopForm form{.name = import.name, .where = importer.Where(import.node, &import.builder)};
  const auto trip_count = Control(import, 0, ElementType::kInt64, "the trip count");
  if (!trip_count.ok()) return trip_count.status();
  form.trip_count = *trip_count;
  const auto condition = Control(import, 1, ElementType::kBool, "the condition");
  if (!condition.ok()) return condition.status();
  form.condition = *condition;
  for (std::size_t i = kControls; i < import.inputs.size(); ++i) {
    if (!import.inputs[i]) {
      return absl::InvalidArgumentError("input " + std::to_string(i) + " is missing");
    }
    form.carried.push_back(*import.inputs[i]);
    form.carried_names.push_back(body->graph.input(static_cast<int>(i)).name());
  }
  form.slices = results - carried;
  form.result_names = {import.node.output().begin(), import.node.output().end()};
  form.body = [&](GraphBuilder& builder, ir::ValueId iteration, ir::ValueId goes_on,
                  const std::vector<ImportValue>& values,
                  Problems& problems) -> std::optional<Iteration> {
    const Problems::Within within(problems, DescribeBody(import.node, "body"));
    std::vector<ImportValue> arguments{{iteration}, {goes_on}};
    arguments.insert(arguments.end(), values.begin(), values.end());
    const auto done =
        importer.ImportBody(body->graph, body->structure, arguments, builder, problems);
    if (!done) return std::nullopt;
    const auto next = AsScalar(builder, done->front(), ElementType::kBool, "output 0");
    if (!next.ok()) {
      problems.Add(next.status());
      return std::nullopt;
    }
    const auto slices = done->begin() + 1 + static_cast<std::ptrdiff_t>(carried);
    return Iteration{.condition = *next,
                     .carried = {done->begin() + 1, slices},
                     .slices = {slices, done->end()}};
  };
  if (const auto values = AddLoop(form, import.builder, import.problems)) {
    DefineOutputs(import, *values);
  }
  return absl::OkStatus();
}

}  // namespace poprt::frontend
