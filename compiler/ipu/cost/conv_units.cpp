#include "compiler/ipu/cost/conv_units.hpp"

#include <algorithm>

namespace poprt::ipu {

std::uint64_t ConvUnits(const Target& target, ProductFormat format) {
  switch (format.input) {
    case NumberFormat::kFloat32:
      return target.conv_units_fp32;
    case NumberFormat::kFloat16:
      return format.half_partials ? target.conv_units_fp16_to_fp16 : target.conv_units_fp16_to_fp32;
    case NumberFormat::kFloat8:
      return target.conv_units_fp8;
    default:
      return 0;
  }
}

std::uint64_t ConvInputGroup(const Target& target, ProductFormat format) {
  switch (format.input) {
    case NumberFormat::kFloat32:
      return target.weights_per_conv_unit_fp32;
    case NumberFormat::kFloat16:
      return target.weights_per_conv_unit_fp16;
    case NumberFormat::kFloat8:
      return target.weights_per_conv_unit_fp8;
    default:
      return 0;
  }
}

std::uint64_t PeakMacsPerCycle(const Target& target, ProductFormat format) {
  switch (format.input) {
    case NumberFormat::kFloat32:
      return ConvUnits(target, format) * target.conv_load_elements_fp32;
    case NumberFormat::kFloat16:
      return ConvUnits(target, format) * target.conv_load_elements_fp16;
    case NumberFormat::kFloat8:
      return ConvUnits(target, format) * target.conv_load_elements_fp8;
    default:
      return 0;
  }
}

std::uint64_t ConvOutputGroup(const Target& target, ProductFormat format) {
  const std::uint64_t inputs = ConvInputGroup(target, format);
  if (inputs == 0) return 0;
  // Of one position (section 2.1).
  const std::uint64_t cycles = format.input == NumberFormat::kFloat32 ? 8 : 4;
  return std::max<std::uint64_t>(PeakMacsPerCycle(target, format) * cycles / inputs, 1);
}

std::uint64_t CoefficientLoadCycles(const Target& target, ProductFormat format, bool load_128bit) {
  const std::uint64_t bytes =
      ConvOutputGroup(target, format) * ConvInputGroup(target, format) * FormatBytes(format.input);
  return bytes / (load_128bit ? target.coefficient_load_128bit_bytes_per_cycle
                              : target.coefficient_load_bytes_per_cycle);
}

}  // namespace poprt::ipu
