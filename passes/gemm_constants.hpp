#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace poprt::passes {

/// What is constant in a Gemm, with alpha and beta multiplied in.
struct GemmConstants {
  Tensor weights;            ///< [K, N], or [N, K] if `transposed`
  bool transposed = false;   ///< transB
  std::vector<double> bias;  ///< one value for each of the N columns; empty if there is none
};

/// The weights of a Gemm of floats without transA; nothing when B is not constant or empty.
std::optional<Tensor> GemmWeightsOf(const ir::Graph& graph, const ir::Node& gemm);

/// The constants of a Gemm; nothing when GemmWeightsOf gives nothing or C is something else than
/// absent or a constant that is the same in all rows.
std::optional<GemmConstants> GemmConstantsOf(const ir::Graph& graph, const ir::Node& gemm);

}  // namespace poprt::passes
