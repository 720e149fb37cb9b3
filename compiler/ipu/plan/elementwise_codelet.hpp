#pragma once

#include <string>
#include <string_view>

#include "compiler/ipu/cost/elementwise_vertex.hpp"

namespace poprt::ipu {

/// What the vertex's code is called, for reports and to count code once: operation and format are
/// parameters of the codelet, as in popops. "popops::BinaryOpInPlace<ADD,half>".
/// With several `regions` on a tile it is another one, "popops::BinaryOp2DInPlace<ADD,half>".
std::string ElementwiseCodelet(const ElementwiseVertex& vertex, bool regions);

/// "popops::Cast<float,half>".
std::string CastCodelet(NumberFormat from, NumberFormat to);

/// As poplar calls the type: "half".
std::string_view FormatName(NumberFormat format);

}  // namespace poprt::ipu
