#include "runtime/kernels/recurrent/recurrent_weights.hpp"

#include <algorithm>
#include <string>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {

TensorType PackedRecurrentType(std::int64_t matrices, std::int64_t hidden, std::int64_t depth,
                               ElementType stored) {
  return {stored, {matrices * ((hidden - 1) / kPanel + 1), depth, kPanel}};
}

template <typename C, typename T>
void PackRecurrentGate(const T* from, std::int64_t hidden, std::int64_t depth, C* to) {
  for (std::int64_t first = 0; first < hidden; first += kPanel) {
    const std::int64_t units = std::min(kPanel, hidden - first);
    for (std::int64_t k = 0; k < depth; ++k, to += kPanel) {
      for (std::int64_t c = 0; c < units; ++c) {
        to[c] = static_cast<C>(from[(first + c) * depth + k]);
      }
      std::fill(to + units, to + kPanel, C{});
    }
  }
}

template void PackRecurrentGate(const float*, std::int64_t, std::int64_t, float*);
template void PackRecurrentGate(const double*, std::int64_t, std::int64_t, double*);
template void PackRecurrentGate(const Float16*, std::int64_t, std::int64_t, float*);
template void PackRecurrentGate(const Float16*, std::int64_t, std::int64_t, Float16*);
template void PackRecurrentGate(const BFloat16*, std::int64_t, std::int64_t, float*);

Tensor PackRecurrentWeights(const Tensor& weights, std::int64_t gates) {
  const Shape& shape = weights.shape();
  const bool is_half = weights.element() == ElementType::kFloat16;
  Require((is_half || weights.element() == ElementType::kFloat32) && shape.size() == 3 &&
              gates >= 1 && weights.count() > 0 && shape[1] % gates == 0,
          "recurrent weights of type " + ToString(weights.type()) + " cannot be packed");
  const std::int64_t hidden = shape[1] / gates;
  const std::int64_t matrices = shape[0] * gates;
  Tensor packed(PackedRecurrentType(matrices, hidden, shape[2], weights.element()));
  const std::int64_t step = packed.count() / matrices;
  const auto pack = [&](const auto* from, auto* to) {
    for (std::int64_t i = 0; i < matrices; ++i) {
      PackRecurrentGate(from + i * hidden * shape[2], hidden, shape[2], to + i * step);
    }
  };
  if (is_half) {
    pack(weights.as<Float16>().data(), packed.as_mutable<Float16>().data());
  } else {
    pack(weights.as<float>().data(), packed.as_mutable<float>().data());
  }
  return packed;
}

}  // namespace poprt::kernels
