#include "passes/lowering/phase_convolutions.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "passes/lowering/fused_operator.hpp"

namespace poprt::passes {

std::optional<PhaseConvolutions::Axis> PhaseConvolutions::AxisOf(
    const kernels::TransposedWindow& window, const Shape& input, std::size_t i) {
  Axis axis{.stride = window.window.strides[i]};
  axis.extent = (window.output[i] + axis.stride - 1) / axis.stride;
  for (std::int64_t p = 0; p < axis.stride; ++p) {
    // Position x, counted with what the padding cuts off, sums weight[x % stride + stride * t] *
    // input[x / stride - t] over the taps t.
    const std::int64_t position = window.window.pads_begin[i] + p;
    const std::int64_t first = position / axis.stride;
    Phase phase{.weight = position % axis.stride};
    phase.taps = (window.window.kernel[i] - phase.weight + axis.stride - 1) / axis.stride;
    phase.pad_begin = phase.taps - 1 - first;
    phase.pad_end = first + axis.extent - input[i];
    if (phase.taps < 1 || phase.pad_begin < 0 || phase.pad_end < 0) return std::nullopt;
    axis.phases.push_back(phase);
  }
  return axis;
}

std::optional<PhaseConvolutions> PhaseConvolutions::Of(const kernels::TransposedWindow& window,
                                                       const Shape& input) {
  auto rows = AxisOf(window, input, 0);
  auto columns = AxisOf(window, input, 1);
  if (!rows || !columns) return std::nullopt;
  PhaseConvolutions convolutions;
  convolutions.rows_ = *std::move(rows);
  convolutions.columns_ = *std::move(columns);
  return convolutions;
}

std::int64_t PhaseConvolutions::Multiplications() const {
  std::int64_t taps = 0;
  for (const Phase& row : rows_.phases) {
    for (const Phase& column : columns_.phases) taps += row.taps * column.taps;
  }
  return taps * rows_.extent * columns_.extent;
}

/// [C, O, kh, kw] -> [O, C, taps, taps].
Tensor PhaseConvolutions::WeightsOf(const Tensor& weights, const Phase& row,
                                    const Phase& column) const {
  const Shape& shape = weights.shape();
  Tensor phase({weights.element(), {shape[1], shape[0], row.taps, column.taps}});
  const auto size = static_cast<std::int64_t>(ElementSize(weights.element()));
  std::byte* to = phase.mutable_data();
  for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
    const std::int64_t from = plane % shape[0] * shape[1] + plane / shape[0];
    for (std::int64_t tap = 0; tap < row.taps * column.taps; ++tap, to += size) {
      const std::int64_t y = row.weight + rows_.stride * (row.taps - 1 - tap / column.taps);
      const std::int64_t x =
          column.weight + columns_.stride * (column.taps - 1 - tap % column.taps);
      std::memcpy(to, weights.data() + ((from * shape[2] + y) * shape[3] + x) * size,
                  static_cast<std::size_t>(size));
    }
  }
  return phase;
}

ir::ValueId PhaseConvolutions::Insert(Rewriter& rewriter, const ir::Node& node,
                                      const Tensor& weights) const {
  ir::Graph& graph = rewriter.graph();
  const TensorType y = graph.type(node.outputs[0]);
  TensorType image{y.element, {y.shape[0], y.shape[1], rows_.extent, columns_.extent}};
  std::vector<ir::ValueId> results;
  for (const Phase& row : rows_.phases) {
    for (const Phase& column : columns_.phases) {
      const std::string name = node.name + "_phase" + std::to_string(results.size());
      std::vector<ir::ValueId> inputs = node.inputs;
      inputs[1] = rewriter.AddConstant(name, WeightsOf(weights, row, column));
      results.push_back(rewriter.Insert(graph.MakeNode(
          "Conv", std::move(inputs), image,
          {{"dilations", Ints{1, 1}},
           {"group", std::int64_t{1}},
           {"kernel_shape", Ints{row.taps, column.taps}},
           {"pads", Ints{row.pad_begin, column.pad_begin, row.pad_end, column.pad_end}},
           {"strides", Ints{1, 1}}},
          name)));
    }
  }
  image.shape[1] *= static_cast<std::int64_t>(results.size());
  return rewriter.Insert(graph.MakeNode("Concat", std::move(results), image,
                                        {{"axis", std::int64_t{1}}}, node.name + "_phases"));
}

}  // namespace poprt::passes
