#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/host/select_kernel.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/tensor.hpp"

/// What can be timed: kernel calls.
namespace poprt::tuner {

/// An operand of a kernel call. Of an absent one the type is undefined.
struct TimedInput {
  TensorType type;
  std::optional<Tensor> constant = {};  ///< what it holds if it is known; `type` is its type
};

/// Calls of a kernel with the same operands.
struct KernelUse {
  std::string kernel;
  std::vector<TimedInput> inputs;
  std::vector<TensorType> outputs;
  Attributes attributes;
  int count = 1;
};

/// One way to compute something.
struct Workload {
  std::string name;  ///< "direct", "with block_channels"
  std::vector<KernelUse> uses;
};

/// "gemm(float32[1, 64], constant float32[4, 64, 16]) {n=64} -> float32[1, 64]". What the kernel
/// does and how long it takes depends on nothing else that is known when compiling; `count` is left
/// out.
std::string Describe(const KernelUse& use);

/// The call that computes a node with the kernel chosen for it.
KernelUse UseOf(const ir::Graph& graph, const ir::Node& node, host::KernelChoice choice);

/// The call of a step without bodies.
KernelUse UseOf(const lower::Schedule& schedule, const lower::Step& step);

/// The calls of all steps, also of those inside steps, which count once. Equal ones are joined; in
/// the order in which they come first.
std::vector<KernelUse> UsesOf(const lower::Schedule& schedule);

/// Takes out of both what both have.
void CancelCommonUses(std::vector<KernelUse>& a, std::vector<KernelUse>& b);

}  // namespace poprt::tuner
