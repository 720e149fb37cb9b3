#include "runtime/kernels/quantized/quad_conv.hpp"

#include <utility>

#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {

namespace {

std::int64_t QuadsFor(std::int64_t bytes) { return (bytes + 3) / 4; }

}  // namespace

bool QuadConv::IsAlongRows(std::int64_t depth, const Window& window) {
  const std::int64_t row_taps = window.kernel.back();
  const std::int64_t quads = depth * QuadsFor(row_taps) * (ElementCount(window.kernel) / row_taps);
  return quads <= kMostRowQuads && quads < QuadsFor(depth) * ElementCount(window.kernel);
}

PaddedConv QuadConv::ConvOfQuads(bool is_along_rows, PaddedConv::Extents extents, Window window,
                                 const Shape& input, const Shape& output) {
  if (is_along_rows) {
    window.kernel.back() = 4 * QuadsFor(window.kernel.back());
  } else {
    extents.depth = QuadsFor(extents.depth);
  }
  return {extents, window, input, output};
}

QuadConv::QuadConv(const PaddedConv::Extents& extents, const Window& window, const Shape& input,
                   const Shape& output, ElementType x, ElementType w)
    : is_along_rows_(IsAlongRows(extents.depth, window)),
      conv_(ConvOfQuads(is_along_rows_, extents, window, input, output)),
      depth_(extents.depth),
      taps_(ElementCount(window.kernel)),
      row_taps_(window.kernel.back()),
      input_plane_(ElementCount(input)),
      input_width_(input.back()),
      output_plane_(ElementCount(output)),
      out_channels_(extents.groups * extents.per_group),
      x_move_(ValueMove(x)),
      w_move_(FactorMove(w)),
      absent_(static_cast<std::size_t>(depth_ % 4 == 0 ? 0 : taps_), w_move_),
      ones_(static_cast<std::size_t>(products()), std::byte{1} ^ std::byte{w_move_}) {}

void QuadConv::LoadWeights(const std::byte* from, Quad* to) const {
  // Along rows a quad takes neighbours of a row of taps, else the same tap of four channels.
  if (is_along_rows_ || taps_ == 1) {
    const std::int64_t line = is_along_rows_ ? row_taps_ : depth_;
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
    BestByteMicroKernels().interleave(rows, taps_, w_move_ * kEveryByte, to);
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
