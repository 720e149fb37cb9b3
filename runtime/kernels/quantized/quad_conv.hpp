#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/byte_quads.hpp"
#include "runtime/kernels/window/padded_conv.hpp"

namespace poprt::kernels {

/// A convolution of 8-bit integers minus their zero points, modulo 2^32. The image are values, the
/// weights factors. The four products of a quad are of neighbouring channels, whose quads are what
/// is copied, or, where channels are few, of neighbouring taps of a row, and then bytes are copied.
class QuadConv {
 public:
  /// Of an output that has elements, for operands of these types. extents.depth counts channels.
  /// Throws KernelError where copies are too large.
  QuadConv(const PaddedConv::Extents& extents, const Window& window, const Shape& input,
           const Shape& output, ElementType x, ElementType w);

  struct Operands {
    const std::byte* x;
    const std::byte* x_point;  ///< null: zero
    const std::byte* w;
    const std::byte* w_points;  ///< null: zeros
    std::int64_t w_stride;      ///< 0: one zero point for all channels, 1: one for each
    const std::int32_t* bias;   ///< what is added to every channel; null: nothing
  };

  /// Scratch of a worker.
  std::size_t ScratchBytes() const {
    return BaseBytes() +
           conv_.ScratchBytes(is_along_rows_ ? 1 : sizeof(Quad), sizeof(std::int32_t));
  }

  /// Computes all, in blocks on the pool. Sink has
  /// * kBytes: bytes of an element of output 0;
  /// * Store(channel, count, const std::int32_t* sums, std::byte* to): writes up to kMost elements.
  ///   Sums can be read up to the next multiple of kQuadVector.
  template <typename Sink>
  void Run(const KernelArguments& args, const Operands& operands, const Sink& sink) const;

  static constexpr std::int64_t kMost = 256;

 private:
  template <typename Sink>
  struct Work;
  template <typename Sink>
  struct ChannelWork;
  template <typename Sink>
  struct RowWork;

  /// Quads of all taps, at most, where they are made of rows.
  static constexpr std::int64_t kMostRowQuads = 64;

  static bool IsAlongRows(std::int64_t depth, const Window& window);
  static PaddedConv ConvOfQuads(bool is_along_rows, PaddedConv::Extents extents, Window window,
                                const Shape& input, const Shape& output);

  const std::uint8_t* InputRow(const Operands& operands, std::int64_t channel,
                               std::int64_t row) const {
    return reinterpret_cast<const std::uint8_t*>(operands.x) + channel * input_plane_ +
           row * input_width_;
  }
  /// All of an output channel.
  void LoadWeights(const std::byte* from, Quad* to) const;
  std::int32_t WeightPoint(const Operands& operands, std::int64_t channel) const {
    return FactorPoint(operands.w_points, channel * operands.w_stride, w_move_);
  }
  /// Of all output channels; returns whether there are zero points among weights.
  bool FindBases(ThreadPool* pool, const Operands& operands, std::int32_t* bases) const;

  std::size_t BaseBytes() const {
    return kernels::ScratchBytes(static_cast<std::size_t>(out_channels_) * sizeof(std::int32_t));
  }
  std::int64_t products() const { return depth_ * taps_; }

  bool is_along_rows_;
  PaddedConv conv_;
  std::int64_t depth_;     // input channels of a group
  std::int64_t taps_;      // of one channel,
  std::int64_t row_taps_;  // and of a row of them
  std::int64_t input_plane_;
  std::int64_t input_width_;
  std::int64_t output_plane_;
  std::int64_t out_channels_;
  std::uint8_t x_move_;
  std::uint8_t w_move_;
  std::vector<std::uint8_t> absent_;  // weights of a channel that doesn't exist
  std::vector<std::byte> ones_;       // weights that sum what is read
};

/// What PaddedConv calls.
template <typename Sink>
struct QuadConv::Work {
  static constexpr std::int64_t kLanes = kQuadVector;

  void Store(std::int64_t image, std::int64_t channel, std::int64_t position,
             const PaddedConv::Rows& rows, const std::int32_t* sums,
             const std::int32_t* values) const {
    const std::int64_t index = (image * conv.out_channels_ + channel) * conv.output_plane_;
    std::byte* to = output + (index + position) * Sink::kBytes;
    if (rows.count == 1 || rows.pitch == rows.width) {
      return StoreSums(channel, rows.count * rows.width, sums, values, to);
    }
    // Gaps between rows cost less than starting anew behind them.
    std::byte line[PaddedConv::kLinePositions * Sink::kBytes];
    StoreSums(channel, (rows.count - 1) * rows.pitch + rows.width, sums, values, line);
    const std::size_t row_bytes = static_cast<std::size_t>(rows.width) * Sink::kBytes;
    for (std::int64_t r = 0; r < rows.count; ++r) {
      std::memcpy(to + r * rows.width * Sink::kBytes, line + r * rows.pitch * Sink::kBytes,
                  row_bytes);
    }
  }

  void StoreSums(std::int64_t channel, std::int64_t n, const std::int32_t* sums,
                 const std::int32_t* values, std::byte* to) const {
    const std::int32_t point = conv.WeightPoint(operands, channel);
    for (std::int64_t done = 0; done < n; done += kMost) {
      const std::int64_t count = std::min(kMost, n - done);
      const std::int64_t lanes = (count + kQuadVector - 1) / kQuadVector * kQuadVector;
      std::int32_t moved[kMost];
      for (std::int64_t i = 0; i < count; ++i) moved[i] = AddSums(sums[done + i], bases[channel]);
      for (std::int64_t i = 0; point != 0 && i < count; ++i) {
        moved[i] = AddSums(moved[i], MultiplySums(-point, values[done + i]));
      }
      std::fill(moved + count, moved + lanes, 0);
      sink.Store(channel, count, static_cast<const std::int32_t*>(moved), to + done * Sink::kBytes);
    }
  }

  void LoadFactors(std::int64_t channel, Quad* to) const {
    conv.LoadWeights(
        channel == PaddedConv::kExtra ? conv.ones_.data() : operands.w + channel * conv.products(),
        to);
  }

  const QuadConv& conv;
  const Operands& operands;
  const Sink& sink;
  std::byte* output;
  const std::int32_t* bases;  // p (n q - sum f) + bias of every output channel, see byte_quads.hpp
  std::int64_t extra;         // 1 where weights have zero points
};

/// Copies are quads of channels.
template <typename Sink>
struct QuadConv::ChannelWork : Work<Sink> {
  using Work<Sink>::conv;

  void LoadRow(std::int64_t image, std::int64_t row, std::int64_t n, Quad* to) const {
    const std::int64_t images = (conv.depth_ - 1) / 4 + 1;
    const std::uint8_t* rows[4];
    for (std::int64_t i = 0; i < 4; ++i) {
      // Channels that don't exist meet weights of zero.
      const std::int64_t channel = std::min(image % images * 4 + i, conv.depth_ - 1);
      rows[i] = conv.InputRow(this->operands, image / images * conv.depth_ + channel, row);
    }
    BestByteMicroKernels().interleave(rows, n, conv.x_move_ * kEveryByte, to);
  }

  void LoadWeights(std::int64_t channel, Quad* to) const { this->LoadFactors(channel, to); }

  void Multiply(std::int64_t rows, std::int64_t lanes, const Quad* in, const std::int64_t* taps,
                const Quad* weights, std::int64_t count, std::int32_t* out,
                std::int64_t pitch) const {
    BestByteMicroKernels().multiply(rows, lanes, in, taps, weights, count, out, pitch);
  }

  Quad padding;
};

/// Copies are bytes, of which quads of taps are made for the positions that are computed next.
template <typename Sink>
struct QuadConv::RowWork : Work<Sink> {
  using Work<Sink>::conv;
  using Work<Sink>::kLanes;

  void LoadRow(std::int64_t image, std::int64_t row, std::int64_t n, std::uint8_t* to) const {
    const std::uint8_t* from = conv.InputRow(this->operands, image, row);
    const std::uint8_t move = conv.x_move_;
    if (move == 0) {
      std::memcpy(to, from, static_cast<std::size_t>(n));
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] ^ move;
    }
  }

  void LoadWeights(std::int64_t channel, std::uint8_t* to) const {
    this->LoadFactors(channel, reinterpret_cast<Quad*>(to));
  }

  void Multiply(std::int64_t rows, std::int64_t lanes, const std::uint8_t* in,
                const std::int64_t* taps, const std::uint8_t* weights, std::int64_t count,
                std::int32_t* out, std::int64_t pitch) const {
    Quad quads[kMostRowQuads * kQuadLanes];
    std::int64_t offsets[kMostRowQuads];
    // As many positions as there is room for: reading what has just been written would wait.
    const std::int64_t room = kMostRowQuads * kQuadLanes / (count / 4) / kLanes * kLanes;
    for (std::int64_t i = 0; i < lanes; i += room) {
      const std::int64_t some = std::min(room, lanes - i);
      for (std::int64_t t = 0; t < count / 4; ++t) {
        offsets[t] = t * room;
        const std::int64_t* tap = taps + 4 * t;
        const std::uint8_t* const columns[] = {in + i + tap[0], in + i + tap[1], in + i + tap[2],
                                               in + i + tap[3]};
        BestByteMicroKernels().interleave(columns, some, 0, quads + offsets[t]);
      }
      BestByteMicroKernels().multiply(rows, some, quads, offsets,
                                      reinterpret_cast<const Quad*>(weights), count / 4, out + i,
                                      pitch);
    }
  }

  std::uint8_t padding;
};

template <typename Sink>
void QuadConv::Run(const KernelArguments& args, const Operands& operands, const Sink& sink) const {
  auto* bases = reinterpret_cast<std::int32_t*>(args.scratch);
  const bool has_weight_points = FindBases(args.pool, operands, bases);
  KernelArguments rest = args;
  rest.scratch += BaseBytes();
  const auto point = static_cast<std::uint8_t>(ValuePoint(operands.x_point, 0, x_move_));
  const Work<Sink> work{.conv = *this,
                        .operands = operands,
                        .sink = sink,
                        .output = args.outputs[0],
                        .bases = bases,
                        .extra = has_weight_points ? 1 : 0};
  if (is_along_rows_) {
    conv_.Run<std::uint8_t, std::int32_t>(rest, RowWork<Sink>{{work}, point});
  } else {
    conv_.Run<Quad, std::int32_t>(rest, ChannelWork<Sink>{{work}, point * kEveryByte});
  }
}

}  // namespace poprt::kernels
