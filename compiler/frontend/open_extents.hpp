#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.hpp"
#include "compiler/ops/fill_open_axis.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/ops/open_axis.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::frontend {

/// A value's extent along one axis depends on data; its type gives the bound.
struct OpenExtent {
  std::size_t axis = 0;
  ir::ValueId count = ir::kAbsent;  ///< int64 scalar: how long the value is
  std::string source;               ///< the node that decides it, as messages call it
  std::int64_t least = 0;           ///< whatever the data is
};

/// What the builder of a graph knows of values with open axes.
class OpenExtents {
 public:
  void Set(ir::ValueId value, OpenExtent extent) { extents_[value] = std::move(extent); }
  /// Null for values whose type says all. Valid until the next Set.
  const OpenExtent* Find(ir::ValueId value) const;
  bool AnyOf(const std::vector<ir::ValueId>& values) const;

  /// What `value` counts: at most how many there are, and the node that decides it. Nothing if it
  /// is the count of no value.
  struct Count {
    std::int64_t bound;
    std::string source;
  };
  std::optional<Count> CountOf(const ir::Graph& graph, ir::ValueId value) const;

  /// How the outputs of a call are open whose inputs, some of which are open, are `values`.
  /// `skipped` and the types of inputs and outputs tell how their count follows from the inputs'
  /// (ops::CarriedAxis). InvalidArgument if the operator cannot take such inputs.
  struct Carried {
    const OpenExtent* from;
    ops::CarriedAxis to;
  };
  absl::StatusOr<Carried> Carry(const ir::Graph& graph, const std::vector<ir::ValueId>& values,
                                const ops::InferenceCall& call,
                                const std::vector<TensorType>& outputs) const;

  /// The same for calls that Carry refuses: what lets them fold over all of the open axes
  /// (ops::FillOpenAxis). Nothing if the operator cannot.
  struct Filled {
    const OpenExtent* from;
    ops::FilledAxis how;
  };
  std::optional<Filled> Fill(const std::vector<ir::ValueId>& values,
                             const ops::InferenceCall& call) const;

  absl::Status Refusal(const ir::Graph& graph, const std::vector<ir::ValueId>& values) const;

 private:
  /// The open axes of values, which all have the count of `from`; nothing if the counts differ.
  struct Axes {
    const OpenExtent* from = nullptr;
    std::vector<std::optional<std::size_t>> axes;
  };
  std::optional<Axes> AxesOf(const std::vector<ir::ValueId>& values) const;

  std::unordered_map<ir::ValueId, OpenExtent> extents_;
};

/// The first `count` slices of the tensor along the axis.
Tensor Truncate(const Tensor& tensor, std::size_t axis, std::int64_t count);

}  // namespace poprt::frontend
