#include "runtime/kernels/recurrent/recurrent_weights.hpp"

#include <algorithm>
#include <string>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

/// Sums in shared panels are added to the gates' one by one, which takes as long as so many
/// products of 16 columns.
constexpr std::int64_t kProductsOfSum = 2;

/// A panel, whose column c is row_of(c) of a matrix of rows of `depth`; negative for zeros.
template <typename C, typename T, typename RowOf>
void PackPanel(const T* from, std::int64_t depth, RowOf row_of, C* to) {
  for (std::int64_t k = 0; k < depth; ++k, to += kPanel) {
    for (std::int64_t c = 0; c < kPanel; ++c) {
      const std::int64_t row = row_of(c);
      to[c] = row < 0 ? C{} : static_cast<C>(from[row * depth + k]);
    }
  }
}

}  // namespace

RecurrentPanelLayout::RecurrentPanelLayout(std::int64_t gate_count, std::int64_t hidden)
    : gates(gate_count), of_gate(CeilDiv(hidden, kPanel)) {
  const std::int64_t units = hidden % kPanel;
  const std::int64_t panels = CeilDiv(gates * units, kPanel);
  const bool pays = (gates - panels) * hidden > kProductsOfSum * gates * units;
  if (gates != GatesOf(RecurrentKind::kLstm) || units == 0 || !pays) return;
  --of_gate;
  rest = units;
  shared = panels;
}

TensorType PackedRecurrentType(std::int64_t directions, const RecurrentPanelLayout& layout,
                               std::int64_t depth, ElementType stored) {
  return {stored, {directions * layout.count(), depth, kPanel}};
}

template <typename C, typename T>
void PackRecurrentDirection(const T* from, std::int64_t gates, std::int64_t hidden,
                            std::int64_t depth, C* to) {
  const RecurrentPanelLayout layout(gates, hidden);
  for (std::int64_t gate = 0; gate < gates; ++gate) {
    for (std::int64_t panel = 0; panel < layout.of_gate; ++panel, to += depth * kPanel) {
      const auto row_of = [&](std::int64_t c) -> std::int64_t {
        const std::int64_t unit = panel * kPanel + c;
        return unit < hidden ? gate * hidden + unit : -1;
      };
      PackPanel(from, depth, row_of, to);
    }
  }
  for (std::int64_t panel = 0; panel < layout.shared; ++panel, to += depth * kPanel) {
    const auto row_of = [&](std::int64_t c) -> std::int64_t {
      const std::int64_t column = panel * kPanel + c;
      const std::int64_t unit = layout.of_gate * kPanel + column % layout.rest;
      return column < gates * layout.rest ? column / layout.rest * hidden + unit : -1;
    };
    PackPanel(from, depth, row_of, to);
  }
}

template void PackRecurrentDirection(const float*, std::int64_t, std::int64_t, std::int64_t,
                                     float*);
template void PackRecurrentDirection(const double*, std::int64_t, std::int64_t, std::int64_t,
                                     double*);
template void PackRecurrentDirection(const Float16*, std::int64_t, std::int64_t, std::int64_t,
                                     float*);
template void PackRecurrentDirection(const Float16*, std::int64_t, std::int64_t, std::int64_t,
                                     Float16*);
template void PackRecurrentDirection(const BFloat16*, std::int64_t, std::int64_t, std::int64_t,
                                     float*);

Tensor PackRecurrentWeights(const Tensor& weights, std::int64_t gates) {
  const Shape& shape = weights.shape();
  const bool is_half = weights.element() == ElementType::kFloat16;
  Require((is_half || weights.element() == ElementType::kFloat32) && shape.size() == 3 &&
              gates >= 1 && weights.count() > 0 && shape[1] % gates == 0,
          "recurrent weights of type " + ToString(weights.type()) + " cannot be packed");
  const std::int64_t hidden = shape[1] / gates;
  const RecurrentPanelLayout layout(gates, hidden);
  Tensor packed(PackedRecurrentType(shape[0], layout, shape[2], weights.element()));
  const std::int64_t step = layout.count() * shape[2] * kPanel;
  const auto pack = [&](const auto* from, auto* to) {
    for (std::int64_t d = 0; d < shape[0]; ++d) {
      PackRecurrentDirection(from + d * shape[1] * shape[2], gates, hidden, shape[2],
                             to + d * step);
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
