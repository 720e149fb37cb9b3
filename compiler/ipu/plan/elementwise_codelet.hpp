#pragma once

#include <string>

#include "compiler/ipu/cost/elementwise_vertex.hpp"

namespace poprt::ipu {

/// What the vertex's code is called, for reports and to count code once: operation and format are
/// parameters of the codelet, as in popops. "popops::BinaryOpInPlace<ADD,half>".
std::string ElementwiseCodelet(const ElementwiseVertex& vertex);

}  // namespace poprt::ipu
