#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Sharding at node b of y = C(b), b = B(a), a = A(x) for IPU 0: A and B run on IPU 0, C on IPU 1.
///
/// Places the nodes of context.sharding and, from each towards the inputs, all that no node listed
/// before it has placed; the rest goes on the highest IPU + 1 and, if stages are given, into the
/// highest stage + 1. What nodes have said before counts no more. InvalidArgument lists all nodes
/// that do not exist, that stand there twice and that are needed for one listed before them.
absl::Status ManualSharding(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
