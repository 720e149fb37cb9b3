#include <cstdint>
#include <vector>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

namespace poprt::frontend {
namespace {

using ir::ValueId;

/// The log of the probabilities, which may be an output too, then their loss.
absl::Status UpgradeSoftmaxCrossEntropy(const UpgradeCall& call) {
  if (call.type(0).shape.size() < 2) {
    return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                      ", it must have at least 2 dimensions");
  }
  const std::vector<ValueId> inputs = call.node.inputs;
  UpgradeSteps steps(call);
  const ValueId log = steps.Do("LogSoftmax", {inputs[0]}, {{"axis", std::int64_t{1}}});
  std::vector<ValueId> operands = inputs;
  operands[0] = log;
  const ValueId loss = steps.Do("NegativeLogLikelihoodLoss", operands, call.node.attributes);
  return steps.FinishWith(std::vector{loss, log});
}

constexpr UpgradeRow kRows[] = {
    {"SoftmaxCrossEntropyLoss", kAlways, UpgradeSoftmaxCrossEntropy, true},
};

}  // namespace

std::span<const UpgradeRow> LossUpgrades() { return kRows; }

}  // namespace poprt::frontend
