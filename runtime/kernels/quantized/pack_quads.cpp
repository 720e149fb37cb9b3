#include "runtime/kernels/quantized/pack_quads.hpp"

#include <algorithm>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/byte_quads.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::kernels {

TensorType PackedQuadsType(std::int64_t depth, std::int64_t n, ElementType element) {
  Require(depth >= 1 && n >= 1, "a matrix of " + std::to_string(depth) + " by " +
                                    std::to_string(n) + " cannot be packed");
  TensorType type{element, {(n - 1) / kQuadLanes + 1, (depth - 1) / 4 + 2, kQuadLanes, 4}};
  RequireCount(type.shape, "the packed matrix");
  return type;
}

Tensor PackQuads(const Tensor& b) {
  RequireElement(b.type(), kByteTypes, "the right operand");
  Require(b.shape().size() == 2, "the right operand is " + ToString(b.type()) + ", not a matrix");
  const std::int64_t depth = b.shape()[0];
  const std::int64_t n = b.shape()[1];
  Tensor packed(PackedQuadsType(depth, n, b.element()));
  const std::int64_t panel_quads = packed.shape()[1] * kQuadLanes;
  const std::uint8_t move = ValueMove(b.element());
  const auto* from = reinterpret_cast<const std::uint8_t*>(b.data());
  auto* to = reinterpret_cast<std::uint8_t*>(packed.mutable_data());
  std::fill_n(to, packed.bytes(), std::uint8_t{0});
  for (std::int64_t column = 0; column < n; ++column) {
    std::uint8_t* line = to + (column / kQuadLanes * panel_quads + column % kQuadLanes) * 4;
    Quad sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::uint8_t value = from[k * n + column] ^ move;
      line[k / 4 * kQuadLanes * 4 + k % 4] = value;
      sum += value;
    }
    std::uint8_t* end = line + (panel_quads - kQuadLanes) * 4;
    for (int i = 0; i < 4; ++i) end[i] = static_cast<std::uint8_t>(sum >> (8 * i));
  }
  return packed;
}

}  // namespace poprt::kernels
