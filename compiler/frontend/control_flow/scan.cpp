#include "compiler/frontend/control_flow/scan.hpp"

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/control_flow/loop_form.hpp"
#include "compiler/frontend/control_flow/node_body.hpp"
#include "compiler/frontend/control_flow/node_values.hpp"
#include "compiler/frontend/control_flow/scan_form.hpp"

namespace poprt::frontend {
namespace {

using ir::ValueId;

/// Opset from which a Scan has no batch dimension.
constexpr int kUnbatched = 9;

/// The problems of what is made here; those of bodies say where they are themselves.
class Reporter {
 public:
  Reporter(std::string where, Problems& problems) : where_(std::move(where)), problems_(problems) {}

  /// The value, or nothing and a problem.
  template <typename T>
  std::optional<T> Check(absl::StatusOr<T> value) const {
    if (value.ok()) return *std::move(value);
    problems_.Add(value.status(), where_);
    return std::nullopt;
  }

 private:
  std::string where_;
  Problems& problems_;
};

ValueId NumberConstant(GraphBuilder& builder, const std::string& name, std::int64_t value) {
  return builder.AddConstant(name, Tensor({ElementType::kInt64, {}}, &value));
}

/// Imports one Scan node as a Loop that gathers slices, with a Loop over the batch around it for
/// the oldest form.
class ScanImport {
 public:
  ScanImport(GraphImporter& importer, NodeImport& import, const Body& body, ScanForm form)
      : importer_(importer),
        import_(import),
        body_(body),
        form_(std::move(form)),
        where_(importer.Where(import.node, &import.builder)) {}

  /// Operands in the graph of `builder`: states, then what is scanned. `length` is the number of
  /// iterations whose results count, absent for all.
  std::optional<std::vector<ImportValue>> Scan(const std::vector<ImportValue>& operands,
                                               ValueId length, GraphBuilder& builder,
                                               Problems& problems) {
    const Reporter reporter(where_, problems);
    std::vector<ValueId> scanned;
    for (std::size_t i = 0; i < form_.inputs; ++i) {
      const ImportValue& operand = operands[form_.states + i];
      if (operand.tensor() != nullptr) {
        scanned.push_back(*operand.tensor());
        continue;
      }
      problems.AddInvalid(where_ + "what is scanned must be tensors, found " +
                          Describe(operand, builder.graph()));
      return std::nullopt;
    }
    const auto iterations = reporter.Check(Iterations(scanned, builder.graph()));
    if (!iterations) return std::nullopt;
    LoopForm loop{.name = import_.name, .where = where_};
    loop.trip_count = NumberConstant(builder, import_.name + "/trip_count", *iterations);
    loop.carried = {operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(form_.states)};
    for (std::size_t i = 0; i < form_.states; ++i) {
      loop.carried_names.push_back(body_.graph.input(static_cast<int>(i)).name());
    }
    loop.slices = form_.results;
    loop.body = [&](GraphBuilder& inner, ValueId iteration, ValueId,
                    const std::vector<ImportValue>& states, Problems& inner_problems) {
      return Iterate(builder, inner, scanned, *iterations, length, iteration, states,
                     inner_problems);
    };
    std::optional<std::vector<ImportValue>> results = AddLoop(loop, builder, problems);
    if (!results) return std::nullopt;
    for (std::size_t i = 0; i < form_.results; ++i) {
      ImportValue& result = (*results)[form_.states + i];
      const auto placed = reporter.Check(Arrange(builder, *result.tensor(), i));
      if (!placed) return std::nullopt;
      result = {*placed};
    }
    return results;
  }

  /// The form with a batch: a loop over its items without states, whose results are stacked.
  std::optional<std::vector<ImportValue>> ScanBatch(const std::vector<ImportValue>& operands,
                                                    ValueId lengths) {
    GraphBuilder& builder = import_.builder;
    Problems& problems = import_.problems;
    const Reporter reporter(where_, problems);
    std::vector<ValueId> tensors;
    for (const ImportValue& operand : operands) {
      if (operand.tensor() != nullptr) tensors.push_back(*operand.tensor());
    }
    const auto batch = reporter.Check(BatchOf(tensors, operands.size(), lengths));
    if (!batch) return std::nullopt;
    LoopForm loop{.name = import_.name + "/batch", .where = where_};
    loop.trip_count = NumberConstant(builder, import_.name + "/batch_size", *batch);
    loop.slices = form_.states + form_.results;
    loop.body = [&](GraphBuilder& inner, ValueId iteration, ValueId,
                    const std::vector<ImportValue>&,
                    Problems& inner_problems) -> std::optional<Iteration> {
      const Reporter inner_reporter(where_, inner_problems);
      std::vector<ImportValue> items;
      for (const ValueId tensor : tensors) {
        const auto item =
            inner_reporter.Check(Pick(inner, Inside(builder, inner, tensor), iteration, 0));
        if (!item) return std::nullopt;
        items.push_back({*item});
      }
      ValueId length = ir::kAbsent;
      if (lengths != ir::kAbsent) {
        const auto item =
            inner_reporter.Check(Pick(inner, Inside(builder, inner, lengths), iteration, 0));
        if (!item) return std::nullopt;
        length = *item;
      }
      auto results = Scan(items, length, inner, inner_problems);
      if (!results) return std::nullopt;
      return Iteration{.condition = ir::kAbsent, .carried = {}, .slices = *std::move(results)};
    };
    return AddLoop(loop, builder, problems);
  }

 private:
  /// A value of `outer` in the graph of `inner`, which may be the same.
  static ValueId Inside(const GraphBuilder& outer, GraphBuilder& inner, ValueId value) {
    return &outer == &inner ? value : inner.Capture(value);
  }

  absl::StatusOr<ValueId> Pick(GraphBuilder& builder, ValueId from, ValueId index,
                               std::int64_t axis) const {
    return builder.Add(import_.name + "/Gather", "Gather", {from, index}, {{"axis", axis}});
  }

  absl::StatusOr<std::int64_t> Iterations(const std::vector<ValueId>& scanned,
                                          const ir::Graph& graph) const {
    std::optional<std::int64_t> iterations;
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      const TensorType& type = graph.type(scanned[i]);
      const auto axis = NormalizeAxis(form_.input_axes[i], type.shape.size());
      if (!axis) {
        return absl::InvalidArgumentError(absl::StrCat("scans axis ", form_.input_axes[i], " of ",
                                                       ToString(type), ", which has none"));
      }
      const std::int64_t extent = type.shape[static_cast<std::size_t>(*axis)];
      if (iterations.value_or(extent) != extent) {
        return absl::InvalidArgumentError(
            absl::StrCat("scans inputs of different lengths, ", *iterations, " and ", extent));
      }
      iterations = extent;
    }
    return *iterations;
  }

  absl::StatusOr<std::int64_t> BatchOf(const std::vector<ValueId>& tensors, std::size_t operands,
                                       ValueId lengths) const {
    const ir::Graph& graph = import_.builder.graph();
    if (tensors.size() != operands) {
      return absl::InvalidArgumentError("its inputs must be tensors");
    }
    std::vector<ValueId> batched = tensors;
    if (lengths != ir::kAbsent) batched.push_back(lengths);
    std::optional<std::int64_t> batch;
    for (const ValueId tensor : batched) {
      const TensorType& type = graph.type(tensor);
      if (type.shape.empty() || batch.value_or(type.shape[0]) != type.shape[0]) {
        return absl::InvalidArgumentError(
            absl::StrCat("has inputs of different batch sizes; one of them is ", ToString(type)));
      }
      batch = type.shape[0];
    }
    if (lengths != ir::kAbsent &&
        graph.type(lengths) != TensorType{ElementType::kInt64, {*batch}}) {
      return absl::InvalidArgumentError(absl::StrCat("input 0 is ", ToString(graph.type(lengths)),
                                                     ", it must be int64[", *batch, "]"));
    }
    return *batch;
  }

  std::optional<Iteration> Iterate(const GraphBuilder& outer, GraphBuilder& inner,
                                   const std::vector<ValueId>& scanned, std::int64_t iterations,
                                   ValueId length, ValueId iteration,
                                   const std::vector<ImportValue>& states, Problems& problems) {
    const Reporter reporter(where_, problems);
    std::vector<ImportValue> arguments = states;
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      ValueId index = iteration;
      if (form_.input_reversed[i]) {
        const ValueId last = NumberConstant(inner, import_.name + "/last", iterations - 1);
        const auto reversed =
            reporter.Check(inner.Add(import_.name + "/Sub", "Sub", {last, iteration}, {}));
        if (!reversed) return std::nullopt;
        index = *reversed;
      }
      const auto slice =
          reporter.Check(Pick(inner, Inside(outer, inner, scanned[i]), index, form_.input_axes[i]));
      if (!slice) return std::nullopt;
      arguments.push_back({*slice});
    }
    std::optional<std::vector<ImportValue>> done;
    {
      const Problems::Within within(problems, DescribeBody(import_.node, "body"));
      done = importer_.ImportBody(body_.graph, body_.structure, arguments, inner, problems);
    }
    if (!done) return std::nullopt;
    if (length != ir::kAbsent &&
        !Mask(inner, iteration, Inside(outer, inner, length), states, *done, reporter)) {
      return std::nullopt;
    }
    const auto slices = done->begin() + static_cast<std::ptrdiff_t>(form_.states);
    return Iteration{.condition = ir::kAbsent,
                     .carried = {done->begin(), slices},
                     .slices = {slices, done->end()}};
  }

  /// From iteration `length` on states stay and results are zero.
  bool Mask(GraphBuilder& builder, ValueId iteration, ValueId length,
            const std::vector<ImportValue>& states, std::vector<ImportValue>& done,
            const Reporter& reporter) {
    const auto counts =
        reporter.Check(builder.Add(import_.name + "/Less", "Less", {iteration, length}, {}));
    if (!counts) return false;
    for (std::size_t i = 0; i < done.size(); ++i) {
      const ValueId* result = done[i].tensor();
      if (result == nullptr) continue;  // AddLoop refuses it
      const TensorType& type = builder.graph().type(*result);
      const ValueId otherwise = i < form_.states ? *states[i].tensor()
                                                 : builder.AddConstant(import_.name + "/zero",
                                                                       Tensor({type.element, {}}));
      const auto masked = reporter.Check(
          builder.Add(import_.name + "/Where", "Where", {*counts, *result, otherwise}, {}));
      if (!masked) return false;
      done[i] = {*masked};
    }
    return true;
  }

  /// Turns a result that is stacked forwards along axis 0 as the attributes ask.
  absl::StatusOr<ValueId> Arrange(GraphBuilder& builder, ValueId stacked, std::size_t i) const {
    const std::size_t rank = builder.graph().type(stacked).shape.size();
    const auto axis = NormalizeAxis(form_.output_axes[i], rank);
    if (!axis) {
      return absl::InvalidArgumentError(
          absl::StrCat("stacks output ", form_.states + i, " of rank ", rank, " along axis ",
                       form_.output_axes[i], ", which it does not have"));
    }
    if (form_.output_reversed[i]) {
      const auto reversed = builder.Add(import_.name + "/Slice", "Slice", {stacked},
                                        {{"starts", Ints{-1}},
                                         {"ends", Ints{std::numeric_limits<std::int64_t>::min()}},
                                         {"axes", Ints{0}},
                                         {"steps", Ints{-1}}});
      if (!reversed.ok()) return reversed.status();
      stacked = *reversed;
    }
    if (*axis == 0) return stacked;
    Ints permutation;
    for (std::size_t dimension = 1; dimension < rank; ++dimension) {
      permutation.push_back(static_cast<std::int64_t>(dimension));
    }
    permutation.insert(permutation.begin() + *axis, 0);
    return builder.Add(import_.name + "/Transpose", "Transpose", {stacked},
                       {{"perm", permutation}});
  }

  GraphImporter& importer_;
  NodeImport& import_;
  const Body& body_;
  ScanForm form_;
  std::string where_;
};

}  // namespace

absl::Status ImportScan(GraphImporter& importer, NodeImport& import) {
  const bool has_batch = importer.opsets().Of(import.node) < kUnbatched;
  const absl::StatusOr<Body> body = BodyOf(import, "body");
  if (!body.ok()) return body.status();
  absl::StatusOr<ScanForm> form = ReadScanForm(import, has_batch);
  if (!form.ok()) return form.status();
  const absl::Status counts =
      CheckCounts(*body, form->states + form->inputs, form->states + form->results, false);
  if (!counts.ok()) {
    return absl::InvalidArgumentError("attribute 'body' " + std::string(counts.message()));
  }
  std::vector<ImportValue> operands;
  for (std::size_t i = has_batch ? 1 : 0; i < import.inputs.size(); ++i) {
    if (!import.inputs[i]) {
      return absl::InvalidArgumentError("input " + std::to_string(i) + " is missing");
    }
    operands.push_back(*import.inputs[i]);
  }
  ScanImport scan(importer, import, *body, *std::move(form));
  std::optional<std::vector<ImportValue>> results;
  if (!has_batch) {
    results = scan.Scan(operands, ir::kAbsent, import.builder, import.problems);
  } else {
    const auto& lengths = import.inputs[0];
    if (lengths && lengths->tensor() == nullptr) {
      return absl::InvalidArgumentError("input 0 is no tensor");
    }
    results = scan.ScanBatch(operands, lengths ? *lengths->tensor() : ir::kAbsent);
  }
  if (results) DefineOutputs(import, *results);
  return absl::OkStatus();
}

}  // namespace poprt::frontend
