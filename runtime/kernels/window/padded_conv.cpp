#include "runtime/kernels/window/padded_conv.hpp"

#include <utility>

#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {

PaddedConv::PaddedConv(const Extents& extents, const Window& window, Shape input, Shape output)
    : extents_(extents),
      window_(window),
      input_(std::move(input)),
      output_(std::move(output)),
      output_rows_(ElementCount(output_) / output_.back()) {
  const std::size_t last = input_.size() - 1;
  input_rows_ = ElementCount(Shape(input_.begin(), input_.end() - 1));
  for (std::size_t i = 0; i <= last; ++i) {
    padded_.push_back((output_[i] - 1) * window_.strides[i] + window_.Reach(i));
  }
  const std::int64_t stride = window_.strides[last];
  phase_ = (padded_[last] - 1) / stride + 1;
  pitch_ = phase_ * stride;
  Shape copies = padded_;
  copies[last] = pitch_;
  copies.push_back(extents_.depth);
  RequireCount(copies, "the padded input of a group");
  plane_ = pitch_;
  strides_.assign(last, 0);
  for (std::size_t i = last; i-- > 0;) {
    strides_[i] = plane_;
    plane_ *= padded_[i];
  }
  line_ = output_[last];
  if (last > 0 && stride == 1 && window_.strides[last - 1] == 1) {
    line_rows_ = std::clamp<std::int64_t>(kLinePositions / pitch_, 1, output_[last - 1]);
    line_ += (line_rows_ - 1) * pitch_;
  }
  const std::int64_t taps = ElementCount(window_.kernel);
  for (std::int64_t t = 0; t < extents_.depth * taps; ++t) {
    std::int64_t rest = t;
    const std::int64_t column = rest % window_.kernel[last] * window_.dilations[last];
    rest /= window_.kernel[last];
    std::int64_t offset = column % stride * phase_ + column / stride;
    for (std::size_t i = last; i-- > 0;) {
      offset += rest % window_.kernel[i] * window_.dilations[i] * strides_[i];
      rest /= window_.kernel[i];
    }
    offsets_.push_back(rest * plane_ + offset);
  }
}

std::size_t PaddedConv::ScratchBytes(std::size_t acc_bytes, std::size_t sum_bytes) const {
  constexpr std::int64_t kRows = kBlockChannels + 1;
  const auto elements = static_cast<std::size_t>(Copies() + kRows * sums() + input_.back());
  return kernels::ScratchBytes(static_cast<std::size_t>(kRows * LinePitch()) * sum_bytes +
                               elements * acc_bytes);
}

}  // namespace poprt::kernels
