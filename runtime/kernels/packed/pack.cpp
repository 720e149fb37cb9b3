#include "runtime/kernels/packed/pack.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/pack_elements.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"

namespace poprt::kernels {
namespace {

/// W [depth, n], or its transpose.
struct GemmWeights {
  GemmWeights(const Tensor& w, bool is_transposed) : transposed(is_transposed) {
    RequireWeights(w, 2);
    depth = w.shape()[transposed ? 1 : 0];
    n = w.shape()[transposed ? 0 : 1];
  }

  /// Columns behind the last one stay as they are.
  template <typename From, typename To>
  void PackPanel(const From* source, std::int64_t panel, To* to) const {
    const std::int64_t row_stride = transposed ? 1 : n;
    const std::int64_t column_stride = transposed ? depth : 1;
    const std::int64_t column = panel * kPanel;
    const std::int64_t columns = std::min(kPanel, n - column);
    for (std::int64_t k = 0; k < depth; ++k, to += kPanel) {
      const From* from = source + k * row_stride + column * column_stride;
      for (std::int64_t c = 0; c < columns; ++c)
        to[c] = ConvertElement<To>(from[c * column_stride]);
    }
  }

  bool transposed;
  std::int64_t depth = 0;
  std::int64_t n = 0;
};

}  // namespace

TensorType PackedGemmType(std::int64_t depth, std::int64_t n, ElementType stored) {
  RequireStored(stored);
  Require(depth >= 1 && n >= 1, "a packed matrix needs at least one row and one column");
  return {stored, {(n - 1) / kPanel + 1, depth, kPanel}};
}

Tensor PackGemmWeights(const Tensor& w, bool transposed, ElementType stored) {
  const GemmWeights weights(w, transposed);
  Tensor packed(PackedGemmType(weights.depth, weights.n, stored));
  WithElements(w, packed, [&]<typename From, typename To>(const From* source, To* target) {
    PackPanels(weights.n, [&](std::int64_t panel) {
      weights.PackPanel(source, panel, target + panel * weights.depth * kPanel);
    });
  });
  return packed;
}

std::optional<Tensor> PackScaledGemmWeights(const Tensor& w, bool transposed) {
  const GemmWeights weights(w, transposed);
  const std::int64_t depth = weights.depth;
  Tensor packed(ScaledPanelsType(PackedGemmType(depth, weights.n, w.element())));
  const auto source = w.as<float>();
  const auto lines = packed.as_mutable<std::int32_t>();
  RowLosses losses(packed.shape()[0], depth);
  std::atomic<bool> are_scaled = true;
  PackPanels(weights.n, [&](std::int64_t panel) {
    std::vector<float> numbers(static_cast<std::size_t>(depth * kPanel));
    weights.PackPanel(source.data(), panel, numbers.data());
    std::int32_t* const to = lines.data() + panel * ScaledLines(depth) * kPanel;
    if (!ScalePanel(numbers.data(), depth, to, losses.Of(panel))) are_scaled = false;
  });
  if (!are_scaled || !losses.AreSmall()) return {};
  return packed;
}

TensorType PackedConv2dType(std::int64_t out_channels, std::int64_t depth, std::int64_t group,
                            ElementType stored) {
  RequireStored(stored);
  Require(depth >= 1 && group >= 1 && out_channels >= 1 && out_channels % group == 0,
          "output channels (" + std::to_string(out_channels) + ") must be a multiple of group (" +
              std::to_string(group) + "), both at least 1");
  return {stored, {group, out_channels / group, depth}};
}

Tensor PackConv2dWeights(const Tensor& w, std::int64_t group, ElementType stored) {
  RequireWeights(w, 4);
  const std::int64_t channels = w.shape()[1];
  const std::int64_t taps = w.shape()[2] * w.shape()[3];
  Tensor packed(PackedConv2dType(w.shape()[0], channels * taps, group, stored));
  const RowTiles tiles(w.shape()[0] / group);
  WithElements(w, packed, [&]<typename From, typename To>(const From* source, To* target) {
    for (std::int64_t g = 0; g < group; ++g, source += tiles.rows() * channels * taps) {
      for (std::int64_t t = 0; t < tiles.count(); ++t) {
        const std::int64_t first = tiles.begin(t);
        const std::int64_t rows = tiles.size(t);
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          for (std::int64_t c = 0; c < channels; ++c) {
            for (std::int64_t r = 0; r < rows; ++r) {
              *target++ = ConvertElement<To>(source[((first + r) * channels + c) * taps + tap]);
            }
          }
        }
      }
    }
  });
  return packed;
}

TensorType PackedDepthwiseType(std::int64_t out_channels, std::int64_t taps, ElementType stored) {
  RequireStored(stored);
  Require(out_channels >= 1 && taps >= 1, "a depthwise filter needs channels and taps");
  return {stored, {out_channels, taps}};
}

Tensor PackDepthwiseWeights(const Tensor& w, ElementType stored) {
  RequireWeights(w, 4);
  Require(w.shape()[1] == 1, "weights of type " + ToString(w.type()) + " are not depthwise");
  Tensor packed(PackedDepthwiseType(w.shape()[0], w.shape()[2] * w.shape()[3], stored));
  const std::int64_t count = w.count();
  WithElements(w, packed, [count]<typename From, typename To>(const From* source, To* target) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = ConvertElement<To>(source[i]);
  });
  return packed;
}

}  // namespace poprt::kernels
