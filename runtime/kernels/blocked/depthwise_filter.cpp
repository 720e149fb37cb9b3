#include "runtime/kernels/blocked/depthwise_filter.hpp"

#include <algorithm>

namespace poprt::kernels {

DepthwiseFilter::DepthwiseFilter(const ConvMicroKernels& kernels, const Window& window,
                                 const BlockedImage& in, const BlockedImage& out, bool half_weights,
                                 const Attributes& activation)
    : kernels_(&kernels),
      window_(window),
      in_(in),
      out_(out),
      taps_(window.kernel[0] * window.kernel[1]),
      half_weights_(half_weights),
      epilogue_(activation),
      areas_(window, in, out),
      takes_lines_(TakesLines()) {}

/// Whether the window is one of DepthwiseLine.
bool DepthwiseFilter::TakesLines() const {
  const std::int64_t taps = window_.kernel[1];
  const std::int64_t stride = window_.strides[1];
  return window_.kernel[0] <= kMostLineRows && window_.dilations[1] == 1 &&
         (((taps == 3 || taps == 5) && stride <= 2) || (taps == 7 && stride == 1)) &&
         std::max(window_.pads_begin[1], window_.pads_end[1]) <= taps / 2;
}

void DepthwiseFilter::RunLines(const BlockRows& rows, const std::byte* weights, const float* bias,
                               std::int64_t first_row, std::int64_t last_row, const float* residual,
                               float* y) const {
  const auto run = half_weights_ ? kernels_->depthwise_line_f16 : kernels_->depthwise_line_f32;
  const std::int64_t x_pitch = in_.width * kBlock;
  const std::int64_t y_pitch = out_.width * kBlock;
  const std::int64_t dilation = window_.dilations[0];
  DepthwiseLine line{.row_count = window_.kernel[0],
                     .taps = window_.kernel[1],
                     .stride = window_.strides[1],
                     .left_padding = window_.pads_begin[1],
                     .columns = in_.width,
                     .pixels = out_.width,
                     .weights = weights,
                     .bias = bias,
                     .epilogue = epilogue_.WithResidual(residual)};
  for (std::int64_t row = first_row; row < last_row; ++row) {
    std::int64_t at = row * window_.strides[0] - window_.pads_begin[0];
    for (std::int64_t i = 0; i < line.row_count; ++i, at += dilation) {
      const bool inside = at >= 0 && at < in_.height;
      line.rows[i] = inside ? rows.x + (at - rows.first) * x_pitch : nullptr;
    }
    if (residual != nullptr) line.epilogue.residual = residual + row * y_pitch;
    line.y = y + row * y_pitch;
    run(line);
  }
}

void DepthwiseFilter::RunAreas(const BlockRows& rows, const std::byte* weights, const float* bias,
                               std::int64_t first_row, std::int64_t last_row, const float* residual,
                               float* y) const {
  const auto depthwise = half_weights_ ? kernels_->depthwise_f16 : kernels_->depthwise_f32;
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
  const auto run = takes_lines_ ? &DepthwiseFilter::RunLines : &DepthwiseFilter::RunAreas;
  (this->*run)(rows, weights, bias, first_row, last_row, residual, y);
}

}  // namespace poprt::kernels
