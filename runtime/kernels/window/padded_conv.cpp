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
  LayOutCopies();
  const std::size_t last = input_.size() - 1;
  line_ = output_[last];
  if (last > 0) {
    line_rows_ = std::clamp<std::int64_t>(kLinePositions / pitch_, 1, output_[last - 1]);
    line_ += (line_rows_ - 1) * pitch_;
  }
  const std::int64_t taps = ElementCount(window_.kernel);
  for (std::int64_t t = 0; t < extents_.depth * taps; ++t) {
    std::int64_t rest = t;
    std::int64_t offset = 0;
    for (std::size_t i = last + 1; i-- > 0;) {
      offset += PhaseOffset(i, rest % window_.kernel[i] * window_.dilations[i]);
      rest /= window_.kernel[i];
    }
    offsets_.push_back(rest * plane_ + offset);
  }
  if (input_.back() == 0) return;
  const std::int64_t rows = ElementCount(Shape(input_.begin(), input_.end() - 1));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t offset = RowOffset(row);
    if (offset >= 0) rows_.push_back({.row = row, .offset = offset});
  }
}

void PaddedConv::LayOutCopies() {
  const std::size_t last = input_.size() - 1;
  Shape copies{extents_.depth};
  Shape in_phase;  // extents of what has the same remainder
  is_padded_ = false;
  for (std::size_t i = 0; i <= last; ++i) {
    if (output_[i] == 1) window_.strides[i] = 1;  // nothing is that far apart
    const std::int64_t stride = window_.strides[i];
    padded_.push_back((output_[i] - 1) * stride + window_.Reach(i));
    is_padded_ =
        is_padded_ || window_.pads_begin[i] > 0 || input_[i] + window_.pads_begin[i] < padded_[i];
    Ints& phases = phases_.emplace_back();
    // Remainders repeat; without channels there are no weights that would bound the taps.
    const std::int64_t taps = extents_.depth == 0 ? 0 : std::min(window_.kernel[i], stride);
    for (std::int64_t t = 0; t < taps; ++t) phases.push_back(t * window_.dilations[i] % stride);
    std::ranges::sort(phases);
    phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
    in_phase.push_back((padded_[i] - 1) / stride + 1);
    copies.push_back(in_phase[i]);
    copies.push_back(static_cast<std::int64_t>(phases.size()));
  }
  // Bytes of an element, and workers.
  copies.push_back(std::int64_t{1} << 12);
  RequireCount(copies, "the padded input of a group");
  strides_.assign(last + 1, 1);
  phase_strides_.assign(last + 1, 0);
  pitch_ = in_phase[last];
  plane_ = pitch_;
  const auto repeat = [&](std::size_t i) {
    phase_strides_[i] = plane_;
    plane_ *= static_cast<std::int64_t>(phases_[i].size());
  };
  for (std::size_t i = last; i-- > 0;) {
    strides_[i] = plane_;
    plane_ *= in_phase[i];
    repeat(i);
  }
  repeat(last);
}

std::int64_t PaddedConv::PhaseOffset(std::size_t axis, std::int64_t at) const {
  const std::int64_t stride = window_.strides[axis];
  const Ints& phases = phases_[axis];
  const auto phase = std::ranges::lower_bound(phases, at % stride);
  if (at >= padded_[axis] || phase == phases.end() || *phase != at % stride) return -1;
  return (phase - phases.begin()) * phase_strides_[axis] + at / stride * strides_[axis];
}

std::int64_t PaddedConv::RowOffset(std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t i = input_.size() - 1; i-- > 0;) {
    const std::int64_t part = PhaseOffset(i, row % input_[i] + window_.pads_begin[i]);
    if (part < 0) return -1;
    offset += part;
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
