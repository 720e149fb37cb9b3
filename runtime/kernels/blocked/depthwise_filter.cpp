#include "runtime/kernels/blocked/depthwise_filter.hpp"

namespace poprt::kernels {

DepthwiseFilter::DepthwiseFilter(const BlockedTiles& tiles, const Window& window,
                                 const BlockedImage& in, const BlockedImage& out, bool half_weights,
                                 const Attributes& activation)
    : tiles_(&tiles),
      window_(window),
      in_(in),
      out_(out),
      taps_(window.kernel[0] * window.kernel[1]),
      half_weights_(half_weights),
      epilogue_(activation),
      areas_(window, in, out),
      takes_lines_(TakesLines()) {}

/// Whether the window is 3x3, moves by single columns, and leaves the image by no more than a
/// column on either side.
bool DepthwiseFilter::TakesLines() const {
  const Ints three{3, 3};
  const Ints one{1, 1};
  return window_.kernel == three && window_.dilations == one && window_.strides[1] == 1 &&
         window_.pads_begin[1] <= 1 && window_.pads_end[1] <= 1;
}

void DepthwiseFilter::RunLine(const BlockRows& rows, const std::byte* weights, const float* bias,
                              std::int64_t row, const float* residual, float* y) const {
  DepthwiseLine line{.left_padding = window_.pads_begin[1],
                     .columns = in_.width,
                     .pixels = out_.width,
                     .weights = weights,
                     .bias = bias,
                     .epilogue = epilogue_.WithResidual(
                         residual == nullptr ? nullptr : residual + row * out_.width * kBlock),
                     .y = y + row * out_.width * kBlock};
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t at = row * window_.strides[0] - window_.pads_begin[0] + i;
    if (at < 0 || at >= in_.height) continue;
    line.rows[i] = rows.x + (at - rows.first) * in_.width * kBlock;
  }
  (half_weights_ ? tiles_->depthwise_line_f16 : tiles_->depthwise_line_f32)(line);
}

void DepthwiseFilter::RunAreas(const BlockRows& rows, const std::byte* weights, const float* bias,
                               std::int64_t first_row, std::int64_t last_row, const float* residual,
                               float* y) const {
  const auto depthwise = half_weights_ ? tiles_->depthwise_f16 : tiles_->depthwise_f32;
  areas_.ForAreas(first_row, last_row, rows.x, y,
                  [&](WindowArea area, const TapSpan& row_taps, const TapSpan& column_taps) {
                    const std::int64_t tap =
                        row_taps.first_tap * window_.kernel[1] + column_taps.first_tap;
                    area.x -= rows.first * in_.width * kBlock;
                    depthwise({.window = area,
                               .weights = weights + tap * TapBytes(),
                               .weights_row = window_.kernel[1] * kBlock,
                               .bias = bias,
                               .epilogue = epilogue_.WithResidual(
                                   residual == nullptr ? nullptr : residual + (area.y - y))});
                  });
}

void DepthwiseFilter::Run(const BlockRows& rows, const std::byte* weights, const float* bias,
                          std::int64_t first_row, std::int64_t last_row, const float* residual,
                          float* y) const {
  if (!takes_lines_) {
    return RunAreas(rows, weights, bias, first_row, last_row, residual, y);
  }
  for (std::int64_t row = first_row; row < last_row; ++row) {
    RunLine(rows, weights, bias, row, residual, y);
  }
}

}  // namespace poprt::kernels
