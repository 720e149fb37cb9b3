#include "runtime/kernels/packed/pack.hpp"

#include <algorithm>
#include <string>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::kernels {
namespace {

void RequireStored(ElementType stored) {
  Require(stored == ElementType::kFloat32 || stored == ElementType::kFloat16,
          "weights of type " + std::string(ElementName(stored)) +
              " cannot be packed, allowed are float32 and float16");
}

void RequireWeights(const Tensor& w, std::size_t rank) {
  RequireStored(w.element());
  Require(w.shape().size() == rank && w.count() > 0,
          "weights of type " + ToString(w.type()) + " cannot be packed, expected is rank " +
              std::to_string(rank) + " without a zero extent");
}

template <typename To, typename From>
To Convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else {
    return To(static_cast<float>(value));
  }
}

/// Calls pack(const From*, To*) with the element types of both tensors.
template <typename Pack>
void WithElements(const Tensor& from, Tensor& to, Pack pack) {
  const auto with_source = [&](const auto* source) {
    if (to.element() == ElementType::kFloat32) {
      pack(source, to.as_mutable<float>().data());
    } else {
      pack(source, to.as_mutable<Float16>().data());
    }
  };
  if (from.element() == ElementType::kFloat32) {
    with_source(from.as<float>().data());
  } else {
    with_source(from.as<Float16>().data());
  }
}

}  // namespace

TensorType PackedGemmType(std::int64_t depth, std::int64_t n, ElementType stored) {
  RequireStored(stored);
  Require(depth >= 1 && n >= 1, "a packed matrix needs at least one row and one column");
  return {stored, {n / kPanel + (n % kPanel != 0 ? 1 : 0), depth, kPanel}};
}

Tensor PackGemmWeights(const Tensor& w, bool transposed, ElementType stored) {
  RequireWeights(w, 2);
  const std::int64_t depth = w.shape()[transposed ? 1 : 0];
  const std::int64_t n = w.shape()[transposed ? 0 : 1];
  Tensor packed(PackedGemmType(depth, n, stored));
  WithElements(w, packed, [=]<typename From, typename To>(const From* source, To* target) {
    const std::int64_t row_stride = transposed ? 1 : n;
    const std::int64_t column_stride = transposed ? depth : 1;
    for (std::int64_t column = 0; column < n; column += kPanel) {
      const std::int64_t columns = std::min(kPanel, n - column);
      for (std::int64_t k = 0; k < depth; ++k, target += kPanel) {
        const From* from = source + k * row_stride + column * column_stride;
        for (std::int64_t c = 0; c < columns; ++c) target[c] = Convert<To>(from[c * column_stride]);
      }
    }
  });
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
              *target++ = Convert<To>(source[((first + r) * channels + c) * taps + tap]);
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
    for (std::int64_t i = 0; i < count; ++i) target[i] = Convert<To>(source[i]);
  });
  return packed;
}

}  // namespace poprt::kernels
