#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {

/// How a convolution of any rank, with any groups, computes several output channels at neighbouring
/// positions at once. The images of a group are copied with their padding, so that all taps are
/// inside, and with columns apart by the stride as neighbours, and rows likewise, so that the
/// outputs of several rows read neighbours too. Columns with the same remainder by the stride, a
/// phase, are a plane of their own; there are those that taps read.
class PaddedConv {
 public:
  struct Extents {
    std::int64_t batch = 1;
    std::int64_t groups = 1;
    std::int64_t depth = 0;      ///< input channels of a group
    std::int64_t per_group = 0;  ///< output channels of a group
  };

  /// Rows of sums. The rows of the output have no gaps.
  struct Rows {
    std::int64_t count;
    std::int64_t width;
    std::int64_t pitch;
  };
  /// Positions from the first to the last of several rows, at most.
  static constexpr std::int64_t kLinePositions = 256;

  /// Of an output that has elements. Throws KernelError where the copies are too large.
  PaddedConv(const Extents& extents, const Window& window, Shape input, Shape output);

  const Extents& extents() const { return extents_; }
  /// Elements of the input that are summed for one of the output.
  std::int64_t sums() const { return static_cast<std::int64_t>(offsets_.size()); }
  /// Scratch of a worker.
  std::size_t ScratchBytes(std::size_t acc_bytes, std::size_t sum_bytes) const;

  /// Runs all of it on the pool, with elements of type Acc. Work has
  /// * Acc padding: what is outside of the input;
  /// * LoadRow(image, row, n, Acc* to): the elements [0, n) of a row; images count channels;
  /// * LoadWeights(channel, Acc* to): all that is summed;
  /// * extra: 0, or 1 for weights of a channel more, kExtra, which every block computes;
  /// * kLanes: positions that are computed together, at most kMostLanes;
  /// * Multiply(rows, lanes, const Acc* in, offsets, const Acc* weights, count, Sum* out, pitch):
  ///   out[r * pitch + lane] = sum over t < count of in[offsets[t] + lane] * weights[r * count + t]
  ///   for up to kBlockChannels + extra rows, and lanes that are a multiple of kLanes;
  /// * Store(image, channel, position, rows, const Sum* sums, const Sum* extra): rows of the
  ///   output, from a position of the channel on, and, if there are any, those of the extra
  ///   channel.
  template <typename Acc, typename Sum, typename Work>
  void Run(const KernelArguments& args, const Work& work) const {
    const std::int64_t groups = extents_.batch * extents_.groups;
    const std::int64_t blocks = (extents_.per_group - 1) / kBlockChannels + 1;
    const std::int64_t parts = (lines() - 1) / kPartLines + 1;
    const auto scratch = [&](int worker) {
      return Scratch<Acc, Sum>(*this, args.scratch + static_cast<std::size_t>(worker) *
                                                         ScratchBytes(sizeof(Acc), sizeof(Sum)));
    };
    if (groups >= kManyGroups) {
      ForWideRanges<Acc>(args.pool, groups, 1, [&](std::int64_t group, std::int64_t, int worker) {
        const Scratch<Acc, Sum> own = scratch(worker);
        for (std::int64_t c = 0; c < extents_.depth; ++c) CopyImage(group, c, work, own);
        for (std::int64_t b = 0; b < blocks; ++b) {
          RunBlock(group, b * kBlockChannels, 0, lines(), work, own.copies, own);
        }
      });
      return;
    }
    for (std::int64_t group = 0; group < groups; ++group) {
      Scratch<Acc, Sum> shared = scratch(0);
      ForWideRanges<Acc>(args.pool, extents_.depth, 1,
                         [&](std::int64_t c, std::int64_t, int worker) {
                           Scratch<Acc, Sum> own = scratch(worker);
                           own.copies = shared.copies;
                           CopyImage(group, c, work, own);
                         });
      ForWideRanges<Acc>(
          args.pool, blocks * parts, 1, [&](std::int64_t i, std::int64_t, int worker) {
            const std::int64_t line = i % parts * kPartLines;
            RunBlock(group, i / parts * kBlockChannels, line, std::min(line + kPartLines, lines()),
                     work, shared.copies, scratch(worker));
          });
    }
  }

  /// The channel of extra weights.
  static constexpr std::int64_t kExtra = -1;

 private:
  /// Output channels whose weights are loaded at once.
  static constexpr std::int64_t kBlockChannels = 16;
  /// Lines of a task, at most.
  static constexpr std::int64_t kPartLines = 16;
  /// So many keep the pool busy: one task each. For fewer the workers share copies.
  static constexpr std::int64_t kManyGroups = 8;

  static constexpr std::int64_t kMostLanes = 32;

  /// A row of the input that taps read, and where it begins in a copy.
  struct CopiedRow {
    std::int64_t row;
    std::int64_t offset;
  };

  std::int64_t LinePitch() const { return (line_ + kMostLanes - 1) / kMostLanes * kMostLanes; }
  /// What the lanes behind the last line read is there.
  std::int64_t Copies() const { return extents_.depth * plane_ + kMostLanes; }
  /// Of one plane, or of all that the leading axes count.
  std::int64_t PlaneRows() const { return output_.size() < 2 ? 1 : output_[output_.size() - 2]; }
  std::int64_t PlaneLines() const { return (PlaneRows() - 1) / line_rows_ + 1; }
  std::int64_t lines() const { return output_rows_ / PlaneRows() * PlaneLines(); }

  template <typename Acc, typename Sum>
  struct Scratch {
    Scratch(const PaddedConv& conv, std::byte* memory)
        : lines(reinterpret_cast<Sum*>(memory)),
          weights(reinterpret_cast<Acc*>(lines + (kBlockChannels + 1) * conv.LinePitch())),
          copies(weights + (kBlockChannels + 1) * conv.sums()),
          row(copies + conv.Copies()) {}
    Sum* lines;
    Acc* weights;
    Acc* copies;
    Acc* row;
  };

  template <typename Work, typename Acc, typename Sum>
  void CopyImage(std::int64_t group, std::int64_t channel, const Work& work,
                 const Scratch<Acc, Sum>& scratch) const {
    const std::size_t last = input_.size() - 1;
    const std::int64_t image = group * extents_.depth + channel;
    const std::int64_t pad = window_.pads_begin[last];
    const std::int64_t stride = window_.strides[last];
    const std::int64_t n = std::min(input_[last], padded_[last] - pad);
    Acc* to = scratch.copies + channel * plane_;
    if (is_padded_) std::fill_n(to, plane_, work.padding);
    if (n <= 0) return;
    for (const auto& [row, offset] : rows_) {
      if (stride == 1) {
        work.LoadRow(image, row, n, to + offset + pad);
        continue;
      }
      work.LoadRow(image, row, n, scratch.row);
      for (const std::int64_t phase : phases_[last]) {
        const std::int64_t first = ((phase - pad) % stride + stride) % stride;
        if (first >= n) continue;
        Acc* out = to + offset + PhaseOffset(last, pad + first);
        const std::int64_t count = (n - first - 1) / stride + 1;
        const auto take = [&](std::int64_t step) {
          for (std::int64_t i = 0; i < count; ++i) out[i] = scratch.row[first + i * step];
        };
        stride == 2 ? take(2) : take(stride);
      }
    }
  }

  /// The lines [begin, end) of kBlockChannels output channels from `first` of a group on.
  template <typename Work, typename Acc, typename Sum>
  void RunBlock(std::int64_t group, std::int64_t first, std::int64_t begin, std::int64_t end,
                const Work& work, const Acc* copies, const Scratch<Acc, Sum>& scratch) const {
    const std::int64_t channels = std::min(kBlockChannels, extents_.per_group - first);
    const std::int64_t rows = channels + work.extra;
    const std::int64_t channel = group % extents_.groups * extents_.per_group + first;
    for (std::int64_t r = 0; r < rows; ++r) {
      work.LoadWeights(r < channels ? channel + r : kExtra, scratch.weights + r * sums());
    }
    const std::int64_t width = output_.back();
    const std::int64_t pitch = LinePitch();
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t y = line % PlaneLines() * line_rows_;
      const std::int64_t row = line / PlaneLines() * PlaneRows() + y;
      const std::int64_t count = std::min(line_rows_, PlaneRows() - y);
      const std::int64_t lanes =
          ((count - 1) * pitch_ + width + Work::kLanes - 1) / Work::kLanes * Work::kLanes;
      const Acc* from = copies + TapsOffset(row);
      work.Multiply(rows, lanes, from, offsets_.data(), static_cast<const Acc*>(scratch.weights),
                    sums(), scratch.lines, pitch);
      for (std::int64_t c = 0; c < channels; ++c) {
        work.Store(group / extents_.groups, channel + c, row * width, Rows{count, width, pitch_},
                   static_cast<const Sum*>(scratch.lines + c * pitch),
                   static_cast<const Sum*>(scratch.lines + channels * pitch));
      }
    }
  }

  void LayOutCopies();
  /// Where a row or column of the padded input is in a copy; -1 if no tap reads it.
  std::int64_t PhaseOffset(std::size_t axis, std::int64_t at) const;
  /// Where a row of the input begins in a copy; -1 if no tap reads it.
  std::int64_t RowOffset(std::int64_t row) const;
  /// Where the taps of an output row begin in a copy.
  std::int64_t TapsOffset(std::int64_t row) const {
    std::int64_t offset = 0;
    for (std::size_t i = output_.size() - 1; i-- > 0;) {
      offset += row % output_[i] * strides_[i];
      row /= output_[i];
    }
    return offset;
  }

  Extents extents_;
  Window window_;
  Shape input_;
  Shape output_;
  std::int64_t output_rows_ = 0;
  Shape padded_;  // extents of what taps read
  bool is_padded_ = true;
  std::vector<Ints> phases_;  // by axis, the remainders of what taps read, in their order
  Ints strides_;              // of the axes in a phase of a copy,
  Ints phase_strides_;        // and of their phases
  std::int64_t pitch_ = 0;    // of a row in a copy
  std::int64_t plane_ = 0;    // elements of a copy
  std::vector<CopiedRow> rows_;
  std::vector<std::int64_t> offsets_;  // of all that is summed, in the copies
  std::int64_t line_ = 0;              // positions that are computed in one go, at most,
  std::int64_t line_rows_ = 1;         // in so many rows of the output
};

}  // namespace poprt::kernels
