#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/frontend/upgrade.hpp"
#include "compiler/ops/op.hpp"

namespace poprt::frontend {

/// Puts nodes of newest form into an ir::Graph one after the other: makes static inputs attributes,
/// infers types and computes what is constant.
class GraphBuilder final : public NodeSink {
 public:
  /// `used` holds the names that are read; it must outlive the builder. `max_tensor_size` as in
  /// ImportOptions.
  GraphBuilder(const std::unordered_set<std::string>& used, std::int64_t max_tensor_size)
      : used_(used), max_tensor_size_(max_tensor_size) {}

  const ir::Graph& graph() const override { return graph_; }
  ir::ValueId AddConstant(const std::string& name, Tensor tensor) override;
  absl::StatusOr<ir::ValueId> Add(const std::string& name, const std::string& op,
                                  std::vector<ir::ValueId> inputs, Attributes attributes) override;
  void Define(const std::string& name, ir::ValueId value) override;
  bool IsUsed(const std::string& name) const override { return used_.count(name) > 0; }

  /// Values that are to be called exactly that later on; made-up names avoid them.
  void Reserve(const std::string& name) { reserved_.insert(name); }
  /// A value of the file, under exactly that name.
  void AddInput(const std::string& name, TensorType type);
  void DefineConstant(const std::string& name, Tensor tensor);

  /// The node, whose outputs become defined. Errors do not name it.
  absl::Status Place(SourceNode node);

  /// The value of that name, or null when it is not known.
  const ir::ValueId* Find(const std::string& name) const;

  /// The graph; the builder is empty then.
  ir::Graph Take() { return std::move(graph_); }

 private:
  absl::Status ExtractStaticInputs(const ops::OpDef& def, SourceNode& node) const;
  absl::Status NotConstant(const ops::StaticInput& input, ir::ValueId value) const;
  absl::StatusOr<bool> Fold(const ops::OpDef& def, const SourceNode& node,
                            const std::vector<TensorType>& types);
  bool MayFold(const ops::OpDef& def, const SourceNode& node,
               const std::vector<TensorType>& types) const;
  std::string FreeName(const std::string& wanted) const;

  const std::unordered_set<std::string>& used_;
  std::int64_t max_tensor_size_;
  ir::Graph graph_;
  std::unordered_set<std::string> reserved_;
  std::unordered_map<std::string, ir::ValueId> values_;
  std::uint64_t folded_bytes_ = 0;
};

}  // namespace poprt::frontend
