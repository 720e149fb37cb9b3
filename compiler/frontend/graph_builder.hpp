#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/frontend/import_value.hpp"
#include "compiler/frontend/open_extents.hpp"
#include "compiler/frontend/upgrade/upgrade.hpp"
#include "compiler/ir/placement.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {

/// Puts nodes of newest form into an ir::Graph one after the other: makes static inputs attributes,
/// infers types and computes what is constant. Names of the file stand for values, which need not
/// be tensors.
class GraphBuilder final : public NodeSink {
 public:
  /// `used` holds the names that are read; it must outlive the builder. `max_tensor_size` as in
  /// ImportOptions.
  GraphBuilder(const std::unordered_set<std::string>& used, std::int64_t max_tensor_size)
      : max_tensor_size_(max_tensor_size) {
    OpenScope(used);
  }
  /// Builds a region of a node that is to follow in the graph of `outer`, which must outlive it:
  /// sees all names of `outer` and captures what is read of them.
  GraphBuilder(GraphBuilder& outer, const std::unordered_set<std::string>& used)
      : max_tensor_size_(outer.max_tensor_size_), outer_(&outer) {
    OpenScope(used);
  }

  const ir::Graph& graph() const override { return graph_; }
  ir::ValueId AddConstant(const std::string& name, Tensor tensor) override;
  absl::StatusOr<ir::ValueId> Add(const std::string& name, const std::string& op,
                                  std::vector<ir::ValueId> inputs, Attributes attributes) override;
  void Define(const std::string& name, ir::ValueId value) override;
  bool IsUsed(const std::string& name) const override {
    return scopes_.back().used->count(name) > 0;
  }
  void Warn(const std::string& message) override {
    if (outer_ != nullptr) return outer_->Warn(message);
    if (warn_) warn_(message);
  }
  /// Who hears of warnings of this builder and of those inside it.
  void set_warn(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }

  /// From here to CloseScope names are those of a body that becomes part of the same graph. They
  /// hide equal ones around them; nodes and values are called differently where names are taken.
  void OpenScope(const std::unordered_set<std::string>& used) {
    scopes_.push_back({.used = &used, .values = {}});
  }
  void CloseScope() { scopes_.pop_back(); }

  /// Values that are to be called exactly that later on; made-up names avoid them.
  void Reserve(const std::string& name) { reserved_.insert(name); }
  /// A value of the file, under exactly that name.
  ir::ValueId AddInput(const std::string& name, TensorType type);
  void DefineConstant(const std::string& name, Tensor tensor);

  /// The node, whose outputs become defined. Errors do not name it.
  absl::Status Place(SourceNode node);

  /// The input of a region that stands for what no name of the file does.
  ir::ValueId AddRegionInput(const std::string& name, TensorType type);
  /// A node with regions, whose outputs become values of these types, called `names` if those are
  /// not empty and free.
  std::vector<ir::ValueId> PlaceRegions(ir::Node node, const std::vector<TensorType>& types,
                                        const std::vector<std::string>& names);

  /// The value of that name if it is a tensor, otherwise null.
  const ir::ValueId* Find(const std::string& name);
  /// The value of that name, or null when it is not known.
  const ImportValue* FindValue(const std::string& name);
  /// Makes `name` a name of the value in the innermost scope.
  void DefineValue(const std::string& name, ImportValue value);

  /// A value of the outer graph as this region reads it: a constant of its own or a captured input.
  ir::ValueId Capture(ir::ValueId outer);
  ImportValue Capture(const ImportValue& outer);
  /// Values of the outer graph and the inputs of this one that stand for them.
  const std::vector<std::pair<ir::ValueId, ir::ValueId>>& captured() const { return captured_; }

  /// A value's extent along an axis depends on data: null if its type says all. Place keeps track
  /// of the values of operators; what defines values by other means calls SetOpen for them.
  const OpenExtent* FindOpen(ir::ValueId value) const { return open_.Find(value); }
  void SetOpen(ir::ValueId value, OpenExtent extent) { open_.Set(value, std::move(extent)); }

  /// How many nodes there are, and back to when there were so many: forgets what an attempt added.
  std::size_t node_count() const { return graph_.nodes.size(); }
  void DropNodesFrom(std::size_t count) { graph_.nodes.resize(count); }

  /// Makes the nodes from there on that do not say where they run say that.
  void PlaceNodesFrom(std::size_t count, const ir::Placement& placement);

  /// The graph; the builder is empty then.
  ir::Graph Take() { return std::move(graph_); }

 private:
  void CaptureExtent(ir::ValueId outer, ir::ValueId inner);
  /// The element of a static input that is a count instead of a number.
  struct OpenElement {
    std::size_t index = 0;
    ir::ValueId count = ir::kAbsent;
  };
  /// Static inputs become attributes. Of shapes, one extent may be a count, whose bound is taken.
  absl::Status ExtractStaticInputs(const ops::OpDef& def, SourceNode& node,
                                   std::optional<OpenElement>* open) const;
  absl::Status NotConstant(const ops::StaticInput& input, ir::ValueId value) const;
  absl::StatusOr<bool> Fold(const ops::OpDef& def, const SourceNode& node,
                            const ops::InferenceCall& call, const std::vector<TensorType>& types);
  bool MayFold(const ops::OpDef& def, const SourceNode& node, const std::vector<TensorType>& types);
  /// Place for a node with inputs whose types say all and outputs of these types; its outputs.
  std::vector<ir::ValueId> PlaceTyped(SourceNode node, const ops::OpDef& def,
                                      const ops::InferenceCall& call,
                                      const std::vector<TensorType>& types);

  /// The node that defines the value, or null. Valid until the next one.
  const ir::Node* ProducerOf(ir::ValueId value) const;

  // In graph_builder_open_axes.cpp:
  /// Makes a static input whose value is put together from numbers and at most one count an
  /// attribute, with the bound for the count. False if it is something else.
  bool TakeOpenExtent(const ops::StaticInput& input, ir::ValueId value, SourceNode& node,
                      std::optional<OpenElement>* open) const;
  /// A node that computes what this one will from the same values, or null.
  const ir::Node* TwinOf(const SourceNode& node) const;
  /// Whether both values are the same, or computed alike from the same ones some nodes back.
  bool AreEqual(ir::ValueId a, ir::ValueId b, int nodes_back) const;
  /// Place for a node some of whose inputs have open axes and whose outputs have these types.
  absl::Status PlaceOpen(SourceNode node, const ops::OpDef& def, const ops::InferenceCall& call,
                         const std::vector<TensorType>& types);
  /// Place for a node that was told how long its output is along an axis by a count.
  absl::Status PlaceOfOpenShape(SourceNode node, const ops::OpDef& def,
                                const ops::InferenceCall& call,
                                const std::vector<TensorType>& types, const OpenElement& open);
  /// Makes of a Shape or Size of a value with an open axis what computes it from the count.
  absl::Status PlaceShape(SourceNode node);
  absl::Status PlaceSize(SourceNode node);
  /// Place for a node that folds over open axes, once what lies beyond the extents changes nothing.
  /// False, with nothing added, if there is no such form.
  absl::StatusOr<bool> PlaceFilled(SourceNode node, const ops::OpDef& def,
                                   const ops::InferenceCall& call,
                                   const std::vector<TensorType>& types);
  absl::StatusOr<bool> PlaceMean(SourceNode node);
  absl::StatusOr<bool> PlaceGather(SourceNode node, const ops::OpDef& def,
                                   const ops::InferenceCall& call,
                                   const std::vector<TensorType>& types);
  absl::StatusOr<bool> PlaceScatter(SourceNode node);
  absl::StatusOr<bool> PlaceConcat(SourceNode node, const std::vector<TensorType>& types);
  absl::Status FillInputs(SourceNode& node, const std::vector<ops::Fill>& fills);
  /// The value with `fill` beyond its extent, without an open axis.
  absl::StatusOr<ir::ValueId> Filled(const std::string& name, ir::ValueId value, ops::Fill fill);
  /// The value without an open axis: whatever lies beyond belongs to it.
  ir::ValueId Closed(const std::string& name, ir::ValueId value);
  /// Which elements of a value of that shape lie within its extent: broadcasts to it.
  absl::StatusOr<ir::ValueId> IsWithin(const std::string& name, const OpenExtent& extent,
                                       const Shape& shape);
  /// Indices, of which the negative ones have been added to lengths.
  absl::StatusOr<ir::ValueId> CountedFrom(const std::string& name, ir::ValueId indices,
                                          ir::ValueId lengths);
  /// The smaller one of a count, which is at most `longest`, and `bound`.
  absl::StatusOr<ir::ValueId> AtMost(const std::string& name, ir::ValueId count,
                                     std::int64_t longest, std::int64_t bound);
  /// How long the outputs are; their types give `bound`.
  absl::StatusOr<ir::ValueId> CarriedCount(const std::string& name, const OpenExtents::Carried& to,
                                           std::int64_t longest, std::int64_t bound);
  /// The new values of a node's outputs, in `graph_`.
  std::vector<ir::ValueId> Append(SourceNode node, const std::vector<TensorType>& types);
  std::string FreeName(const std::string& wanted);
  /// What a value or node of the file is called in the graph.
  std::string GraphName(const std::string& name);
  std::string SourceOf(ir::ValueId value) const;
  std::uint64_t& folded_bytes() { return outer_ ? outer_->folded_bytes() : folded_bytes_; }

  struct Scope {
    const std::unordered_set<std::string>* used;
    std::unordered_map<std::string, ImportValue> values;
  };

  std::vector<Scope> scopes_;
  std::int64_t max_tensor_size_;
  GraphBuilder* outer_ = nullptr;
  std::function<void(const std::string&)> warn_;
  ir::Graph graph_;
  std::unordered_set<std::string> reserved_;
  std::unordered_map<std::string, int> last_suffixes_;
  std::vector<std::pair<ir::ValueId, ir::ValueId>> captured_;
  std::unordered_map<ir::ValueId, ir::ValueId> inner_values_;  ///< of outer ones
  std::uint64_t folded_bytes_ = 0;
  OpenExtents open_;
  std::unordered_map<ir::ValueId, std::size_t> producers_;  ///< positions in graph_.nodes
};

}  // namespace poprt::frontend
