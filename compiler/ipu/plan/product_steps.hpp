#pragma once

#include <string>

#include "compiler/ipu/plan/step_builder.hpp"

namespace poprt::ipu {

/// An operand of a product.
struct ProductOperand {
  Placed tensor = {};
  /// Elements between neighbouring input channels in row-major order.
  std::uint64_t channel_stride = 1;
  std::uint64_t channels = 1;  ///< extent of that axis
};

/// A product's result and what planning it decided.
struct PlannedProduct {
  Placed result = {};
  Layout input = {};    ///< where the first operand is wanted; constants lie there
  Layout weights = {};  ///< where the second one is
  std::string grid = {};
};

/// Where the result goes.
struct ProductResult {
  TensorType type = {};
  std::uint64_t channel_stride = 1;  ///< between neighbouring output channels
  std::uint64_t channels = 1;
};

/// Adds the steps of a product as it is planned (section 2.6): bring operands to the groups the
/// vertex takes, broadcast, calculate, add up partials, cast.
PlannedProduct AddProduct(StepBuilder& steps, const Product& product, const ProductOperand& input,
                          const ProductOperand& weights, const ProductResult& result);

}  // namespace poprt::ipu
