#include "runtime/kernels/window/padded_conv.hpp"

#include <algorithm>
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
  Shape copies{extents_.depth};
  is_padded_ = false;
  for (std::size_t i = 0; i <= last; ++i) {
    if (output_[i] == 1) window_.strides[i] = 1;  // nothing is that far apart
    const std::int64_t stride = window_.strides[i];
    const std::int64_t reach = window_.Reach(i);
    padded_.push_back((output_[i] - 1) * stride + reach);
    phases_.push_back((padded_[i] - 1) / stride + 1);
    copies.push_back(phases_[i]);
    copies.push_back(stride);
    is_padded_ =
        is_padded_ || window_.pads_begin[i] > 0 || input_[i] + window_.pads_begin[i] < padded_[i];
    Ints& read = read_phases_.emplace_back();
    // Remainders repeat; without channels there are no weights that would bound the taps.
    const std::int64_t taps = extents_.depth == 0 ? 0 : std::min(window_.kernel[i], stride);
    for (std::int64_t t = 0; t < taps; ++t) {
      read.push_back(t * window_.dilations[i] % stride);
    }
    std::ranges::sort(read);
  }
  // Bytes of an element, and workers.
  copies.push_back(std::int64_t{1} << 12);
  RequireCount(copies, "the padded input of a group");
  pitch_ = phases_[last];
  phase_plane_ = pitch_;
  strides_.assign(last, 0);
  for (std::size_t i = last; i-- > 0;) {
    strides_[i] = phase_plane_;
    phase_plane_ *= phases_[i] * window_.strides[i];
  }
  plane_ = phase_plane_ * window_.strides[last];
  line_ = output_[last];
  if (last > 0) {
    line_rows_ = std::clamp<std::int64_t>(kLinePositions / pitch_, 1, output_[last - 1]);
    line_ += (line_rows_ - 1) * pitch_;
  }
  const std::int64_t taps = ElementCount(window_.kernel);
  for (std::int64_t t = 0; t < extents_.depth * taps; ++t) {
    std::int64_t rest = t;
    const auto position = [&](std::size_t i) {
      const std::int64_t at = rest % window_.kernel[i] * window_.dilations[i];
      rest /= window_.kernel[i];
      return at;
    };
    const std::int64_t column = position(last);
    const std::int64_t stride = window_.strides[last];
    std::int64_t offset = column % stride * phase_plane_ + column / stride;
    for (std::size_t i = last; i-- > 0;) offset += PhaseOffset(i, position(i));
    offsets_.push_back(rest * plane_ + offset);
  }
}

std::int64_t PaddedConv::CopyOffset(std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t i = input_.size() - 1; i-- > 0;) {
    const std::int64_t at = row % input_[i] + window_.pads_begin[i];
    if (!IsRead(i, at)) return -1;
    offset += PhaseOffset(i, at);
    row /= input_[i];
  }
  return offset;
}

std::size_t PaddedConv::ScratchBytes(std::size_t acc_bytes, std::size_t sum_bytes) const {
  constexpr std::int64_t kRows = kBlockChannels + 1;
  const auto elements = static_cast<std::size_t>(Copies() + kRows * sums() + input_.back());
  return kernels::ScratchBytes(static_cast<std::size_t>(kRows * LinePitch()) * sum_bytes +
                               elements * acc_bytes);
}

}  // namespace poprt::kernels
