#pragma once

#include <string>
#include <string_view>

#include "compiler/ipu/cost/elementwise_vertex.hpp"

namespace poprt::ipu {

/// What the vertex's code is called, for reports and to count code once: operation and format are
/// parameters of the codelet, as in popops. "popops::BinaryOpInPlace<ADD,half>".
std::string ElementwiseCodelet(const ElementwiseVertex& vertex);

/// "popops::Cast<float,half>".
std::string CastCodelet(NumberFormat from, NumberFormat to);

/// As poplar calls the type: "half".
std::string_view FormatName(NumberFormat format);

}  // namespace poprt::ipu
