#include "passes/conversion/double_to_float.hpp"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "passes/conversion/change_element_type.hpp"

namespace poprt::passes {

absl::Status DoubleToFloat(ir::Graph& graph, const PassContext& context) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const auto convert = [&](const std::string& name, const Tensor& constant) {
    Tensor result({ElementType::kFloat32, constant.shape()});
    const std::span<float> target = result.as_mutable<float>();
    double clipped = 0;
    std::size_t i = 0;
    for (double value : constant.as<double>()) {
      if (std::isfinite(value) && std::abs(value) > kLargest) {
        clipped = value;
        value = std::copysign(kLargest, value);
      }
      target[i++] = static_cast<float>(value);
    }
    if (clipped != 0) {
      context.warn(absl::StrCat("model '", graph.name, "': constant '", name, "' holds ", clipped,
                                ", clipped to the range of float32"));
    }
    return result;
  };
  ChangeElementType(graph, {.from = ElementType::kFloat64,
                            .to = ElementType::kFloat32,
                            .convert = convert,
                            .keep = {},
                            .keep_interface = context.in_region});
  return absl::OkStatus();
}

}  // namespace poprt::passes
