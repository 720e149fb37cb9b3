#include "compiler/frontend/upgrade/upgrade_call.hpp"

namespace poprt::frontend {
namespace {

/// Once said whether the output Y is wanted, which the node's outputs say as well.
absl::Status DropOutputSequence(const UpgradeCall& call) {
  call.node.attributes.erase("output_sequence");
  return absl::OkStatus();
}

constexpr UpgradeRow kRows[] = {
    {"GRU", 7, DropOutputSequence},
    {"LSTM", 7, DropOutputSequence},
    {"RNN", 7, DropOutputSequence},
};

}  // namespace

std::span<const UpgradeRow> RecurrentUpgrades() { return kRows; }

}  // namespace poprt::frontend
