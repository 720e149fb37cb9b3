#include "passes/lowering/subpixel_convolution.hpp"

#include <cstring>

#include "passes/lowering/hoist_activation.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::passes {
namespace {

constexpr const char* kShuffle = "SubpixelShuffle";

}  // namespace

Tensor RepeatedBias(const Tensor& bias, std::int64_t times, bool all) {
  Tensor repeated({bias.element(), {bias.count() * times}});
  const std::size_t size = ElementSize(bias.element());
  for (std::int64_t i = 0; i < repeated.count(); ++i) {
    const std::int64_t from = all ? i % bias.count() : i / times;
    std::memcpy(repeated.mutable_data() + static_cast<std::size_t>(i) * size,
                bias.data() + static_cast<std::size_t>(from) * size, size);
  }
  return repeated;
}

void MakeSubpixelShuffle(ir::Node& node, ir::ValueId convolution, const Ints& blocks,
                         const Ints& crops, bool phases_first) {
  node.op = kShuffle;
  node.inputs = {convolution};
  node.attributes = {
      {"blocks", blocks}, {"crops", crops}, {"phases_first", std::int64_t{phases_first ? 1 : 0}}};
}

absl::Status LowerToSubpixelConvolutions(ir::Graph& graph,
                                         bool (*lower)(Rewriter& rewriter, ir::Node& node)) {
  bool lowered = false;
  try {
    lowered = Rewrite(graph, lower);
  } catch (const kernels::KernelError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  if (lowered) HoistActivations(graph, {kShuffle}, ResultOf({"Conv"}));
  return absl::OkStatus();
}

}  // namespace poprt::passes
