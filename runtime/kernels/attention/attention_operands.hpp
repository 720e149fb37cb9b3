#pragma once

#include <cstdint>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

struct AttentionSizes {
  std::int64_t batches;
  std::int64_t heads;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t depth;
  std::int64_t value_depth;
};

/// Where the elements [batch, head, row, channel] of an operand lie, in elements.
struct HeadView {
  std::int64_t offset = 0;
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  std::int64_t channel = 0;

  std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t r) const {
    return offset + b * batch + h * head + r * row;
  }
};

/// The operands and attributes of "attention", checked.
struct AttentionOperands {
  /// Throws KernelError.
  explicit AttentionOperands(const KernelCall& call);

  AttentionSizes sizes;
  HeadView q;
  HeadView k;
  HeadView v;
  HeadView y;
  HeadView mask;  ///< the channels are the keys
  HeadView keep;
  std::int64_t k_count;  ///< elements of K
  std::int64_t v_count;
  bool half;
  bool masked;
  bool has_keep;
  bool keep_if;
  float fill;
  float scale;
  std::int64_t visible;
};

}  // namespace poprt::kernels
