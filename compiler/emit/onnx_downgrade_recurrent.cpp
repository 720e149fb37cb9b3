#include "compiler/emit/onnx_downgrade_call.hpp"

namespace poprt::emit {
namespace {

absl::Status DowngradeRecurrent(const DowngradeCall& call) {
  if (call.node.attributes.get_int("layout", 0) != 0) {
    return absl::UnimplementedError("layout 1, the batch first, needs opset 14");
  }
  call.node.attributes.erase("layout");
  return absl::OkStatus();
}

constexpr DowngradeRow kRows[] = {
    {"GRU", 14, DowngradeRecurrent},
    {"LSTM", 14, DowngradeRecurrent},
    {"RNN", 14, DowngradeRecurrent},
};

}  // namespace

std::span<const DowngradeRow> RecurrentDowngrades() { return kRows; }

}  // namespace poprt::emit
