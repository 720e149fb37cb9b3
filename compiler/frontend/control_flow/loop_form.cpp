#include "compiler/frontend/control_flow/loop_form.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/frontend/control_flow/loop_count.hpp"
#include "compiler/ir/control_flow.hpp"

namespace poprt::frontend {
namespace {

using ir::kAbsent;
using ir::ValueId;
using Values = std::vector<ImportValue>;

constexpr std::int64_t kMostIterations = 10'000;
/// The most slices of a loop that may stack fewer.
constexpr std::int64_t kMostStacked = 1'000'000;
/// Operands of one Concat.
constexpr std::size_t kMostJoined = 1000;

const TensorType kNumber{ElementType::kInt64, {}};
const TensorType kTruth{ElementType::kBool, {}};

std::optional<std::int64_t> KnownNumber(const ir::Graph& graph, ValueId id) {
  const Tensor* constant = graph.ConstantOf(id);
  if (constant == nullptr) return std::nullopt;
  return constant->as<std::int64_t>()[0];
}

std::optional<bool> KnownTruth(const ir::Graph& graph, ValueId id) {
  if (id == kAbsent) return true;
  const Tensor* constant = graph.ConstantOf(id);
  if (constant == nullptr) return std::nullopt;
  return constant->as<std::uint8_t>()[0] != 0;
}

Tensor Truth(bool value) {
  Tensor tensor(kTruth);
  tensor.as_mutable<std::uint8_t>()[0] = value ? 1 : 0;
  return tensor;
}

/// The value that Identity hands on as `id`: bodies of ONNX copy what they only pass.
ValueId SourceOfCopy(const ir::Graph& graph, ValueId id) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (node->op == "Identity" && node->outputs[0] == id) id = node->inputs[0];
  }
  return id;
}

/// One loop, in several attempts.
class LoopBuilder {
 public:
  LoopBuilder(const LoopForm& form, GraphBuilder& builder, Problems& problems)
      : form_(form), builder_(builder), problems_(problems) {}

  std::optional<Values> Run() {
    const ir::Graph& graph = builder_.graph();
    trip_count_ = KnownNumber(graph, form_.trip_count);
    if (trip_count_) trip_count_ = std::max<std::int64_t>(*trip_count_, 0);
    const std::optional<bool> starts = KnownTruth(graph, form_.condition);
    if (starts && !*starts) trip_count_ = 0;
    is_counted_ = trip_count_.has_value() || form_.trip_count == kAbsent;

    const std::size_t nodes = builder_.node_count();
    if (is_counted_ && starts && IsWorthFolding()) {
      Problems attempt = problems_.Attempt();
      if (auto results = Unroll(/*fold_only=*/trip_count_ != 1, attempt)) return results;
      builder_.DropNodesFrom(nodes);
    }
    Problems region_problems = problems_.Attempt();
    if (auto results = AddNode(region_problems)) return results;
    Problems unroll_problems = problems_.Attempt();
    if (is_counted_ && starts && trip_count_ != 0 && !is_endless_) {
      builder_.DropNodesFrom(nodes);
      if (auto results = Unroll(/*fold_only=*/false, unroll_problems)) return results;
    }
    const bool may_unroll = !unroll_problems.empty() && !is_endless_;
    problems_.Append(may_unroll ? unroll_problems : region_problems);
    return std::nullopt;
  }

 private:
  void Fail(const std::string& message, Problems& problems) const {
    problems.AddInvalid(form_.where + message);
  }

  bool IsWorthFolding() const {
    if (trip_count_ == 0) return false;
    if (trip_count_ == 1) return true;
    return std::all_of(form_.carried.begin(), form_.carried.end(), [&](const ImportValue& value) {
      return value.tensor() == nullptr || builder_.graph().ConstantOf(*value.tensor());
    });
  }

  // ---- Unrolling ------------------------------------------------------------------------------

  std::optional<Values> Unroll(bool fold_only, Problems& problems) {
    const std::size_t nodes = builder_.node_count();
    Values carried = form_.carried;
    std::vector<std::vector<ValueId>> slices(form_.slices);
    std::optional<bool> goes_on = true;
    std::int64_t i = 0;
    for (; goes_on.value_or(false) && (!trip_count_ || i < *trip_count_); ++i) {
      if (i == kMostIterations) {
        Fail("takes more than " + std::to_string(kMostIterations) +
                 " iterations, which are too many to unroll; make what it carries tensors that "
                 "keep their types",
             problems);
        return std::nullopt;
      }
      const ValueId number = builder_.AddConstant(form_.name + "/iteration", Tensor(kNumber, &i));
      const ValueId truth = builder_.AddConstant(form_.name + "/condition", Truth(true));
      std::optional<Iteration> done = form_.body(builder_, number, truth, carried, problems);
      if (!done || (fold_only && builder_.node_count() > nodes)) return std::nullopt;
      carried = std::move(done->carried);
      for (std::size_t s = 0; s < slices.size(); ++s) {
        const ValueId* tensor = done->slices[s].tensor();
        if (tensor == nullptr) {
          Fail(ResultName(carried.size() + s) + " would be stacked of values that are no tensors",
               problems);
          return std::nullopt;
        }
        slices[s].push_back(*tensor);
      }
      goes_on = KnownTruth(builder_.graph(), done->condition);
    }
    if (!goes_on && i != trip_count_) {
      is_endless_ = true;
      Fail("decides at run time when to end", problems);
      return std::nullopt;
    }
    for (std::size_t s = 0; s < slices.size(); ++s) {
      const absl::StatusOr<ValueId> stacked = Stack(slices[s]);
      if (!stacked.ok()) {
        Fail(ResultName(carried.size() + s) +
                 " cannot be stacked: " + std::string(stacked.status().message()),
             problems);
        return std::nullopt;
      }
      carried.push_back({*stacked});
    }
    return carried;
  }

  absl::StatusOr<ValueId> Stack(const std::vector<ValueId>& slices) {
    std::vector<ValueId> parts;
    for (const ValueId slice : slices) {
      auto part =
          builder_.Add(form_.name + "/Unsqueeze", "Unsqueeze", {slice}, {{"axes", Ints{0}}});
      if (!part.ok()) return part.status();
      parts.push_back(*part);
    }
    while (parts.size() > 1) {
      std::vector<ValueId> joined;
      for (std::size_t first = 0; first < parts.size(); first += kMostJoined) {
        const std::size_t last = std::min(parts.size(), first + kMostJoined);
        auto part = builder_.Add(form_.name + "/Concat", "Concat",
                                 {parts.begin() + static_cast<std::ptrdiff_t>(first),
                                  parts.begin() + static_cast<std::ptrdiff_t>(last)},
                                 {{"axis", std::int64_t{0}}});
        if (!part.ok()) return part.status();
        joined.push_back(*part);
      }
      parts = std::move(joined);
    }
    return parts.front();
  }

  // ---- A node with a region --------------------------------------------------------------------

  std::optional<Values> AddNode(Problems& problems) {
    const std::string advice =
        ", which a loop at run time cannot; freeze the inputs that its trip count and condition "
        "are computed from";
    const ir::Graph& graph = builder_.graph();
    for (std::size_t i = 0; i < form_.carried.size(); ++i) {
      if (form_.carried[i].tensor() != nullptr) continue;
      Fail(CarriedName(i) + " is " + Describe(form_.carried[i], graph) + advice, problems);
    }
    if (!problems.empty()) return std::nullopt;

    static const std::unordered_set<std::string> none;
    GraphBuilder region(builder_, none);
    const ValueId iteration = region.AddRegionInput("iteration", kNumber);
    const ValueId condition = region.AddRegionInput("condition", kTruth);
    Values carried;
    for (std::size_t i = 0; i < form_.carried.size(); ++i) {
      const TensorType& type = graph.type(*form_.carried[i].tensor());
      carried.push_back({region.AddRegionInput(form_.carried_names[i], type)});
    }
    // Counts the iterations, if there is something to be stacked that may end before the bound.
    const ValueId counter =
        form_.slices > 0 && trip_count_ ? region.AddRegionInput("iterations", kNumber) : kAbsent;
    std::optional<Iteration> done = form_.body(region, iteration, condition, carried, problems);
    if (!done) return std::nullopt;
    for (std::size_t i = 0; i < form_.carried.size(); ++i) {
      const std::string before = Describe(form_.carried[i], graph);
      const std::string after = Describe(done->carried[i], region.graph());
      if (before == after) continue;
      std::string change = CarriedName(i);
      change.append(" is ").append(before).append(" at first and ").append(after);
      Fail(change.append(" after an iteration").append(advice), problems);
    }
    for (std::size_t i = 0; i < done->slices.size(); ++i) {
      if (done->slices[i].tensor() != nullptr) continue;
      Fail(ResultName(carried.size() + i) + " would be stacked of " +
               Describe(done->slices[i], region.graph()),
           problems);
    }
    CheckExtents(region, *done, problems);
    if (!problems.empty()) return std::nullopt;
    bool ends_early = !AlwaysGoesOn(region.graph(), *done, condition);
    if (ends_early && Count(region.graph(), iteration, condition, carried, *done)) {
      done->condition = kAbsent;
      ends_early = false;
    }
    if (absl::Status status = CheckEnd(ends_early); !status.ok()) {
      problems.Add(status, form_.where);
      return std::nullopt;
    }
    return Place(region, *done, counter, ends_early);
  }

  /// What is carried or stacked must be as long as its type says.
  void CheckExtents(const GraphBuilder& region, const Iteration& done, Problems& problems) const {
    const auto check = [&](const GraphBuilder& builder, const ImportValue& value,
                           const std::string& what) {
      const ValueId* tensor = value.tensor();
      const OpenExtent* open = tensor == nullptr ? nullptr : builder.FindOpen(*tensor);
      if (open == nullptr) return;
      Fail(what + " has an extent along axis " + std::to_string(open->axis) +
               " that depends on data, from " + open->source +
               ", which a loop at run time cannot take; freeze the inputs that it is computed from",
           problems);
    };
    for (std::size_t i = 0; i < form_.carried.size(); ++i) {
      check(builder_, form_.carried[i], CarriedName(i));
      check(region, done.carried[i], CarriedName(i));
    }
    for (std::size_t i = 0; i < done.slices.size(); ++i) {
      check(region, done.slices[i], ResultName(form_.carried.size() + i));
    }
  }

  bool AlwaysGoesOn(const ir::Graph& region, const Iteration& done, ValueId condition) const {
    // A condition that is false at first leaves a trip count of 0.
    const bool starts =
        trip_count_ == 0 || KnownTruth(builder_.graph(), form_.condition).value_or(false);
    const ValueId next = SourceOfCopy(region, done.condition);
    return starts && (next == condition || KnownTruth(region, next).value_or(false));
  }

  /// Makes the trip count what the condition comes to, if that is known.
  bool Count(const ir::Graph& region, ValueId iteration, ValueId condition, const Values& carried,
             const Iteration& done) {
    const ir::Graph& graph = builder_.graph();
    if (!is_counted_ || !KnownTruth(graph, form_.condition).value_or(false)) return false;
    LoopBody body{.graph = &region,
                  .iteration = iteration,
                  .condition = condition,
                  .goes_on = done.condition};
    for (std::size_t i = 0; i < carried.size(); ++i) {
      body.carried.push_back(*carried[i].tensor());
      body.first.push_back(graph.ConstantOf(*form_.carried[i].tensor()));
      body.next.push_back(*done.carried[i].tensor());
    }
    const std::optional<std::int64_t> count = IterationsOf(body, trip_count_);
    if (count) trip_count_ = count;
    return count.has_value();
  }

  absl::Status CheckEnd(bool ends_early) {
    if (!trip_count_ && form_.trip_count == kAbsent && !ends_early) {
      is_endless_ = true;
      return absl::InvalidArgumentError("never ends: it has no trip count and its condition holds");
    }
    if (form_.slices == 0) return absl::OkStatus();
    if (!trip_count_) {
      return absl::InvalidArgumentError(
          "stacks values of a number of iterations that is not known when compiling; freeze the "
          "input that the trip count comes from");
    }
    if (ends_early && *trip_count_ > kMostStacked) {
      return absl::InvalidArgumentError("stacks values of up to " + std::to_string(*trip_count_) +
                                        " iterations, allowed are " + std::to_string(kMostStacked) +
                                        "; give it a smaller trip count or freeze the inputs that "
                                        "the condition is computed from");
    }
    return absl::OkStatus();
  }

  /// If the loop may end early the counter is carried, too, and says how many slices there are.
  Values Place(GraphBuilder& region, const Iteration& done, ValueId counter, bool ends_early) {
    const bool counts = ends_early && form_.slices > 0;
    const std::size_t count = form_.carried.size() + (counts ? 1 : 0);
    ir::Node node{.name = form_.name,
                  .op = "Loop",
                  .inputs = {form_.trip_count, form_.condition},
                  .outputs = {},
                  .attributes = {{std::string(ir::kNumCarried), static_cast<std::int64_t>(count)}}};
    if (trip_count_) {
      node.inputs[0] =
          builder_.AddConstant(form_.name + "/trip_count", Tensor(kNumber, &*trip_count_));
      if (*trip_count_ == 0) node.inputs[1] = kAbsent;
    }
    std::vector<TensorType> types;
    for (const ImportValue& value : form_.carried) {
      node.inputs.push_back(*value.tensor());
      types.push_back(builder_.graph().type(*value.tensor()));
    }
    if (counts) {
      node.inputs.push_back(builder_.AddConstant(form_.name + "/zero", Tensor(kNumber)));
      types.push_back(kNumber);
    }
    for (const auto& [outer, inner] : region.captured()) node.inputs.push_back(outer);

    const ValueId goes_on = done.condition != kAbsent
                                ? done.condition
                                : region.AddConstant("condition_out", Truth(true));
    std::vector<ValueId> outputs{goes_on};
    for (const ImportValue& value : done.carried) outputs.push_back(*value.tensor());
    if (counts) outputs.push_back(AddOne(region, counter));
    for (const ImportValue& slice : done.slices) {
      outputs.push_back(*slice.tensor());
      TensorType type = region.graph().type(*slice.tensor());
      type.shape.insert(type.shape.begin(), *trip_count_);
      types.push_back(std::move(type));
    }
    ir::Graph body = region.Take();
    body.name = "body";
    body.outputs = std::move(outputs);
    if (!counts) std::erase(body.inputs, counter);
    for (const ValueId id : body.outputs) body.output_names.push_back(body.value(id).name);
    node.regions.push_back(std::move(body));

    std::vector<std::string> names = form_.result_names;
    if (counts) {
      names.resize(types.size() - 1);
      names.insert(names.begin() + static_cast<std::ptrdiff_t>(count - 1), "");
    }
    std::vector<ValueId> ids = builder_.PlaceRegions(std::move(node), types, names);
    if (counts) {
      const OpenExtent extent{
          .axis = 0, .count = ids[count - 1], .source = "node '" + form_.name + "' (Loop)"};
      for (std::size_t i = count; i < ids.size(); ++i) builder_.SetOpen(ids[i], extent);
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(count - 1));
    }
    Values results;
    for (const ValueId id : ids) results.push_back({id});
    return results;
  }

  /// The counter after an iteration.
  static ValueId AddOne(GraphBuilder& region, ValueId counter) {
    const std::int64_t one = 1;
    const ValueId number = region.AddConstant("one", Tensor(kNumber, &one));
    return *region.Add("iterations_out", "Add", {counter, number}, {});
  }

  std::string CarriedName(std::size_t i) const {
    return "carried value " + std::to_string(i) + " ('" + form_.carried_names[i] + "')";
  }

  static std::string ResultName(std::size_t i) { return "result " + std::to_string(i); }

  const LoopForm& form_;
  GraphBuilder& builder_;
  Problems& problems_;
  std::optional<std::int64_t> trip_count_;  ///< if it is known
  bool is_counted_ = false;                 ///< the trip count is known or absent
  bool is_endless_ = false;                 ///< there is no end, or none that unrolling could find
};

}  // namespace

std::optional<Values> AddLoop(const LoopForm& form, GraphBuilder& builder, Problems& problems) {
  return LoopBuilder(form, builder, problems).Run();
}

}  // namespace poprt::frontend
