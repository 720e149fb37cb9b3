#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/shape.hpp"

namespace poprt::kernels {

/// An equation of Einsum together with the operands it is for. Every axis has a label, a number
/// below extents.size(); the axes that an ellipsis stands for have labels of their own.
struct EinsumEquation {
  std::vector<std::vector<std::size_t>> inputs;  ///< labels of the axes of every operand
  std::vector<std::size_t> output;               ///< no label twice
  /// Extent of each label. An operand has it or 1, in which case it is repeated.
  std::vector<std::int64_t> extents;

  Shape OutputShape() const;
};

/// More labels than this are refused.
inline constexpr std::size_t kMostEinsumLabels = 60;

/// Reads terms of letters and "..." separated by commas, then optionally "->" and the output.
/// Spaces mean nothing. Without output it has the ellipsis and then, in the order of ASCII, the
/// letters that occur once; an ellipsis that an explicit output leaves out is summed over. Throws
/// KernelError that shows equation and position.
EinsumEquation ResolveEinsum(std::string_view equation, std::span<const TensorType> operands);

/// The equation of one operand with such labels, e.g. "abb->ab". There are at most 52 labels.
std::string EinsumText(std::span<const std::size_t> input, std::span<const std::size_t> output);

}  // namespace poprt::kernels
