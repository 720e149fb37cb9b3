#include "tools/popef_bench/kernel_work.hpp"

#include <array>
#include <numeric>
#include <string_view>
#include <vector>

namespace poprt::bench {
namespace {

using program::Branch;
using program::Step;

/// A step and the shapes of its operands.
struct Call {
  const Branch& branch;
  const Step& step;

  const Shape& in(std::size_t i) const { return branch.slots[step.inputs[i]].type.shape; }
  const Shape& out() const { return branch.slots[step.outputs[0]].type.shape; }
  std::int64_t Int(std::string_view name) const { return step.attributes.get_int(name, 1); }
};

double Product(const Shape& shape, std::size_t from = 0) {
  return std::accumulate(
      shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end(), 1.0,
      [](double product, std::int64_t extent) { return product * static_cast<double>(extent); });
}

/// Multiply-adds with each element of the result.
double TapsOf(const Call& call) { return Product(call.step.attributes.get_ints("kernel_shape")); }

double MatMul(const Call& call) {
  return 2 * Product(call.out()) * static_cast<double>(call.in(0).back());
}

double Gemm(const Call& call) {
  const bool transposed = call.step.attributes.get_int("transA", 0) != 0;
  return 2 * Product(call.out()) * static_cast<double>(call.in(0)[transposed ? 0 : 1]);
}

/// Weights [M, C / group, kernel...].
double Conv(const Call& call) { return 2 * Product(call.out()) * Product(call.in(1), 1); }

/// Weights [C, M / group, kernel...].
double ConvTranspose(const Call& call) { return 2 * Product(call.in(0)) * Product(call.in(1), 1); }

/// Of `channels` input channels.
double ChannelsOfGroup(const Call& call, std::int64_t channels) {
  const std::int64_t of_group = channels / call.Int("group");
  return static_cast<double>(of_group);
}

/// Packed weights; images [B, C, H, W].
double PackedConv(const Call& call) {
  const double channels = ChannelsOfGroup(call, call.in(0)[1]);
  return 2 * Product(call.out()) * channels * TapsOf(call);
}

double PackedDepthwise(const Call& call) { return 2 * Product(call.out()) * TapsOf(call); }

/// The result is blocked, [B, C / 16, H, W, 16], or [B, H, W, C].
double BlockedConv(const Call& call) {
  const Shape& out = call.out();
  const std::size_t height = call.step.attributes.get_int("channels_last", 0) != 0 ? 1 : 2;
  const double pixels = Product({out[0], out[height], out[height + 1]});
  const double channels = ChannelsOfGroup(call, call.Int("in_channels"));
  return 2 * pixels * static_cast<double>(call.Int("out_channels")) * channels * TapsOf(call);
}

/// The first on X blocked, the second on its result.
double PointwiseAndDepthwise(const Call& call) {
  const Shape& in = call.in(0);
  const double sums =
      Product({in[0], in[2], in[3]}) * static_cast<double>(call.Int("out_channels"));
  const double channels = ChannelsOfGroup(call, call.Int("in_channels"));
  const Shape& out = call.out();
  const double filtered =
      Product({out[0], out[2], out[3]}) * static_cast<double>(call.Int("out_channels"));
  return 2 * (sums * channels + filtered * TapsOf(call));
}

/// Scores and their sum over the values; sizes are B, H, S, T, D, E.
double Attention(const Call& call) {
  const Ints sizes = call.step.attributes.get_ints("sizes");
  const double scores = Product({sizes[0], sizes[1], sizes[2], sizes[3]});
  return 2 * scores * static_cast<double>(sizes[4] + sizes[5]);
}

struct Row {
  std::string_view kernel;
  double (*operations)(const Call& call);
};

constexpr std::array kRows{Row{"Conv", Conv},
                           Row{"ConvTranspose", ConvTranspose},
                           Row{"Gemm", Gemm},
                           Row{"MatMul", MatMul},
                           Row{"MatMulInteger", MatMul},
                           Row{"attention", Attention},
                           Row{"batch_matmul", MatMul},
                           Row{"blocked_byte_conv2d", BlockedConv},
                           Row{"blocked_byte_conv2d_planes", BlockedConv},
                           Row{"blocked_byte_depthwise_conv2d", BlockedConv},
                           Row{"blocked_conv2d", BlockedConv},
                           Row{"blocked_conv2d_planes", BlockedConv},
                           Row{"blocked_depthwise_conv2d", BlockedConv},
                           Row{"blocked_pointwise_conv2d", BlockedConv},
                           Row{"blocked_pointwise_depthwise", PointwiseAndDepthwise},
                           Row{"blocked_winograd_conv2d", BlockedConv},
                           Row{"conv2d", PackedConv},
                           Row{"depthwise_conv2d", PackedDepthwise},
                           Row{"gemm", MatMul},
                           Row{"integer_gemm", MatMul},
                           Row{"weight_only_gemm", MatMul}};

double BytesOf(const Branch& branch, const std::vector<program::SlotIndex>& slots) {
  double bytes = 0;
  for (const program::SlotIndex i : slots) {
    if (i != program::kNoSlot) bytes += static_cast<double>(branch.slots[i].type.bytes());
  }
  return bytes;
}

}  // namespace

std::optional<double> OperationsOf(const Branch& branch, const Step& step) {
  for (const Row& row : kRows) {
    if (row.kernel == step.kernel) return row.operations({branch, step});
  }
  return std::nullopt;
}

double OperandBytesOf(const Branch& branch, const Step& step) {
  return BytesOf(branch, step.inputs) + BytesOf(branch, step.outputs);
}

}  // namespace poprt::bench
