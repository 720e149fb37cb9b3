#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// How a convolution of any rank, with any groups, computes several output channels at neighbouring
/// positions at once. The images of a group are copied with their padding, so that all taps are
/// inside, and with columns apart by the stride as neighbours, so that the outputs of a line read
/// neighbours too.
class PaddedConv {
 public:
  /// Output channels, and positions of a line, that are computed together.
  static constexpr std::int64_t kChannels = 4;
  static constexpr std::int64_t kLanes = 32;
  /// Output channels of a task, which copies the images that they read.
  static constexpr std::int64_t kTaskChannels = 16;

  struct Extents {
    std::int64_t batch = 1;
    std::int64_t groups = 1;
    std::int64_t depth = 0;      ///< input channels of a group
    std::int64_t per_group = 0;  ///< output channels of a group
  };

  /// Of an output that has elements. Throws KernelError where the copies are too large.
  PaddedConv(const Extents& extents, const Window& window, Shape input, Shape output);

  const Extents& extents() const { return extents_; }
  std::int64_t tasks() const {
    return extents_.batch * extents_.groups * ((extents_.per_group - 1) / kTaskChannels + 1);
  }
  /// Elements of the input that are summed for one of the output.
  std::int64_t sums() const { return static_cast<std::int64_t>(offsets_.size()); }
  /// Scratch of a worker.
  std::size_t ScratchBytes(std::size_t acc_bytes, std::size_t sum_bytes) const;

  /// Runs a task. `scratch` is aligned to 64 bytes.
  /// * load_row(image, row, n, Acc* to): the elements [0, n) of a row; images count channels.
  /// * load_weights(channel, stride, Acc* to): to[i * stride] for all that is summed.
  /// * store(image, channel, position, n, const Sum* sums): n neighbours in one row of the output.
  /// With Sum other than Acc, up to kExact products are summed as Acc, and these sums as Sum.
  template <typename Acc, typename Sum, typename LoadRow, typename LoadWeights, typename Store>
  void RunTask(std::int64_t task, std::byte* scratch, const LoadRow& load_row,
               const LoadWeights& load_weights, const Store& store) const {
    const std::int64_t blocks = (extents_.per_group - 1) / kTaskChannels + 1;
    const std::int64_t group = task / blocks;  // of all images
    const std::int64_t first = task % blocks * kTaskChannels;
    auto* lines = reinterpret_cast<Sum*>(scratch);
    auto* copies = reinterpret_cast<Acc*>(lines + kChannels * LinePitch());
    Acc* weights = copies + Copies();
    std::fill_n(copies, Copies(), Acc{});
    for (std::int64_t c = 0; c < extents_.depth; ++c) {
      CopyImage(group * extents_.depth + c, load_row, copies + c * plane_,
                weights + kChannels * sums());
    }
    const std::int64_t end = std::min(extents_.per_group, first + kTaskChannels);
    const auto run = [&]<std::int64_t kCount>(std::integral_constant<std::int64_t, kCount>,
                                              std::int64_t inside) {
      const std::int64_t channel = group % extents_.groups * extents_.per_group + inside;
      for (std::int64_t i = 0; i < kCount; ++i) load_weights(channel + i, kCount, weights + i);
      RunChannels<kCount>(group / extents_.groups, channel, static_cast<const Acc*>(copies),
                          static_cast<const Acc*>(weights), lines, store);
    };
    std::int64_t inside = first;
    for (; inside + kChannels <= end; inside += kChannels) {
      run(std::integral_constant<std::int64_t, kChannels>{}, inside);
    }
    for (; inside < end; ++inside) run(std::integral_constant<std::int64_t, 1>{}, inside);
  }

  /// Products of differences of 8-bit numbers whose sum is exact in float.
  static constexpr std::int64_t kExact = 256;

 private:
  std::int64_t LinePitch() const { return (line_ + kLanes - 1) / kLanes * kLanes; }
  /// What the lanes behind the last line read is there.
  std::int64_t Copies() const { return extents_.depth * plane_ + kLanes; }

  template <typename Acc, typename LoadRow>
  void CopyImage(std::int64_t image, const LoadRow& load_row, Acc* to, Acc* row_buffer) const {
    const std::size_t last = input_.size() - 1;
    const std::int64_t pad = window_.pads_begin[last];
    const std::int64_t stride = window_.strides[last];
    const std::int64_t n = std::min(input_[last], padded_[last] - pad);
    if (n <= 0) return;
    for (std::int64_t row = 0; row < input_rows_; ++row) {
      std::int64_t offset = 0;
      bool is_read = true;
      std::int64_t rest = row;
      for (std::size_t i = last; i-- > 0;) {
        const std::int64_t at = rest % input_[i] + window_.pads_begin[i];
        is_read = is_read && at < padded_[i];
        offset += at * strides_[i];
        rest /= input_[i];
      }
      if (!is_read) continue;
      if (stride == 1) {
        load_row(image, row, n, to + offset + pad);
        continue;
      }
      load_row(image, row, n, row_buffer);
      for (std::int64_t first = 0; first < std::min(stride, n); ++first) {
        Acc* out = to + offset + (pad + first) % stride * phase_ + (pad + first) / stride;
        for (std::int64_t x = first; x < n; x += stride) *out++ = row_buffer[x];
      }
    }
  }

  /// kCount channels at kLanes neighbouring positions: the sums of `count` products.
  template <std::int64_t kCount, typename Acc>
  POPRT_INLINE static void ComputeTile(const Acc* in, const Acc* weights,
                                       const std::int64_t* offsets, std::int64_t count, Acc* out,
                                       std::int64_t pitch) {
    Acc sums[kCount][kLanes] = {};
    for (std::int64_t t = 0; t < count; ++t, weights += kCount) {
      const Acc* from = in + offsets[t];
      for (std::int64_t i = 0; i < kCount; ++i) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[i][lane] += weights[i] * from[lane];
      }
    }
    for (std::int64_t i = 0; i < kCount; ++i) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) out[i * pitch + lane] = sums[i][lane];
    }
  }

  template <std::int64_t kCount, typename Acc, typename Sum>
  POPRT_INLINE void ComputeLine(const Acc* in, const Acc* weights, Sum* lines) const {
    const std::int64_t pitch = LinePitch();
    for (std::int64_t x = 0; x < line_; x += kLanes) {
      if constexpr (std::is_same_v<Acc, Sum>) {
        ComputeTile<kCount>(in + x, weights, offsets_.data(), sums(), lines + x, pitch);
      } else {
        Sum totals[kCount * kLanes] = {};
        for (std::int64_t t = 0; t < sums(); t += kExact) {
          Acc part[kCount * kLanes];
          ComputeTile<kCount>(in + x, weights + t * kCount, offsets_.data() + t,
                              std::min(kExact, sums() - t), part, kLanes);
          // Modulo 2^32, as sums of integers are.
          using Unsigned = std::make_unsigned_t<Sum>;
          for (std::int64_t i = 0; i < kCount * kLanes; ++i) {
            totals[i] = static_cast<Sum>(static_cast<Unsigned>(totals[i]) +
                                         static_cast<Unsigned>(static_cast<Sum>(part[i])));
          }
        }
        for (std::int64_t i = 0; i < kCount; ++i) {
          std::copy_n(totals + i * kLanes, kLanes, lines + i * pitch + x);
        }
      }
    }
  }

  /// All positions of kCount output channels.
  template <std::int64_t kCount, typename Acc, typename Sum, typename Store>
  void RunChannels(std::int64_t image, std::int64_t channel, const Acc* copies, const Acc* weights,
                   Sum* lines, const Store& store) const {
    const std::size_t last = output_.size() - 1;
    const std::int64_t width = output_[last];
    for (std::int64_t row = 0; row < output_rows_; row += line_rows_) {
      const Acc* from = copies;
      std::int64_t rest = row;
      for (std::size_t i = last; i-- > 0;) {
        from += rest % output_[i] * window_.strides[i] * strides_[i];
        rest /= output_[i];
      }
      ComputeLine<kCount>(from, weights, lines);
      for (std::int64_t i = 0; i < kCount; ++i) {
        for (std::int64_t r = 0; r < line_rows_; ++r) {
          store(image, channel + i, (row + r) * width, width,
                static_cast<const Sum*>(lines + i * LinePitch() + r * pitch_));
        }
      }
    }
  }

  Extents extents_;
  Window window_;
  Shape input_;
  Shape output_;
  std::int64_t input_rows_ = 0;
  std::int64_t output_rows_ = 0;
  Shape padded_;                       // extents of a copy
  std::int64_t phase_ = 0;             // columns with the same remainder by the stride
  std::int64_t pitch_ = 0;             // of a row in a copy
  Ints strides_;                       // of the leading axes of a copy
  std::int64_t plane_ = 0;             // elements of a copy
  std::vector<std::int64_t> offsets_;  // of all that is summed, in the copies
  std::int64_t line_ = 0;              // positions that are computed in one go,
  std::int64_t line_rows_ = 1;         // in so many rows of the output
};

}  // namespace poprt::kernels
