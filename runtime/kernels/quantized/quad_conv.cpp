#include "runtime/kernels/quantized/quad_conv.hpp"

#include <utility>

#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

QuadConv::Cut::Cut(std::int64_t depth, const Window& window) {
  const std::int64_t row_taps = window.kernel.back();
  const std::int64_t row_quads = (row_taps + 3) / 4;
  const std::int64_t depth_quads = (depth + 3) / 4;
  is_along_rows = depth * row_quads < depth_quads * row_taps;
  images = is_along_rows ? depth : depth_quads;
  step = is_along_rows ? window.dilations.back() : 0;
}

PaddedConv QuadConv::ConvOfQuads(const Cut& cut, PaddedConv::Extents extents, Window window,
                                 Shape input, const Shape& output) {
  const std::size_t last = input.size() - 1;
  // Rows of quads begin and end with the padding, whose bytes are in them.
  input[last] = (output[last] - 1) * window.strides[last] + window.Reach(last);
  RequireCount({8, input[last]}, "a padded row in quads");
  window.pads_begin[last] = 0;
  if (cut.is_along_rows) {
    window.kernel[last] = (window.kernel[last] + 3) / 4;
    window.dilations[last] *= 4;
  }
  extents.depth = cut.images;
  return {extents, window, std::move(input), output};
}

QuadConv::QuadConv(const PaddedConv::Extents& extents, const Window& window, const Shape& input,
                   const Shape& output, ElementType x, ElementType w)
    : cut_(extents.depth, window),
      conv_(ConvOfQuads(cut_, extents, window, input, output)),
      depth_(extents.depth),
      taps_(ElementCount(window.kernel)),
      row_taps_(window.kernel.back()),
      pad_(window.pads_begin.back()),
      input_plane_(ElementCount(input)),
      input_width_(input.back()),
      output_plane_(ElementCount(output)),
      out_channels_(extents.groups * extents.per_group),
      x_move_(ValueMove(x)),
      w_move_(FactorMove(w)),
      absent_(static_cast<std::size_t>(taps_), w_move_),
      ones_(static_cast<std::size_t>(products()), std::byte{1} ^ std::byte{w_move_}) {}

void QuadConv::LoadWeights(const std::byte* from, Quad* to) const {
  // Along rows a quad takes neighbours of a row of taps, else the same tap of four channels.
  if (cut_.is_along_rows || taps_ == 1) {
    const std::int64_t line = cut_.is_along_rows ? row_taps_ : depth_;
    for (std::int64_t t = 0; t < products(); t += line) {
      to = LoadFactors(from + t, line, w_move_, to);
    }
    return;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
  for (std::int64_t c = 0; c < depth_; c += 4, to += taps_) {
    const std::uint8_t* rows[4];
    for (std::int64_t i = 0; i < 4; ++i) {
      rows[i] = c + i < depth_ ? bytes + (c + i) * taps_ : absent_.data();
    }
    BestQuadTiles().interleave(rows, taps_, w_move_ * kEveryByte, to);
  }
}

bool QuadConv::FindBases(ThreadPool* pool, const Operands& operands, std::int32_t* bases) const {
  const std::int32_t x_point = ValuePoint(operands.x_point, 0, x_move_);
  bool has_weight_points = false;
  for (std::int64_t c = 0; c < out_channels_; ++c) {
    has_weight_points = has_weight_points || WeightPoint(operands, c) != 0;
  }
  ForWideRanges(pool, out_channels_, GrainFor(products()),
                [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                  for (std::int64_t c = begin; c < end; ++c) {
                    const std::int32_t sum =
                        SumFactors(operands.w + c * products(), products(), w_move_);
                    const std::int32_t all = MultiplySums(static_cast<std::int32_t>(products()),
                                                          WeightPoint(operands, c));
                    bases[c] = AddSums(MultiplySums(x_point, AddSums(all, MultiplySums(-1, sum))),
                                       operands.bias == nullptr ? 0 : operands.bias[c]);
                  }
                });
  return has_weight_points;
}

}  // namespace poprt::kernels
