#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/rewrite.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::passes {

/// A ConvTranspose of images as one convolution for every phase of its result: positions phase,
/// phase + stride, ... of both axes. None multiplies by zeros, all have results of one size.
class PhaseConvolutions {
 public:
  /// For images of `input` extents. Nothing if a phase has no weights, or would have to skip some
  /// of its input.
  static std::optional<PhaseConvolutions> Of(const kernels::TransposedWindow& window,
                                             const Shape& input);

  /// For each pair of an input and an output channel of one image.
  std::int64_t Multiplications() const;

  /// Inserts them before `node`, with its image and bias and `weights`, [C, O, kh, kw], and joins
  /// their results: [B, phases * O, height, width], phases of rows first.
  ir::ValueId Insert(Rewriter& rewriter, const ir::Node& node, const Tensor& weights) const;

 private:
  struct Phase {
    std::int64_t weight = 0;  ///< of its last tap: a convolution runs through its window backwards
    std::int64_t taps = 1;
    std::int64_t pad_begin = 0;
    std::int64_t pad_end = 0;
  };
  struct Axis {
    std::int64_t stride = 1;
    std::int64_t extent = 1;  ///< of the result of a phase
    std::vector<Phase> phases = {};
  };

  static std::optional<Axis> AxisOf(const kernels::TransposedWindow& window, const Shape& input,
                                    std::size_t i);
  Tensor WeightsOf(const Tensor& weights, const Phase& row, const Phase& column) const;

  Axis rows_;
  Axis columns_;
};

}  // namespace poprt::passes
