#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/best_quad_tiles.hpp"
#include "runtime/kernels/quantized/byte_quads.hpp"
#include "runtime/kernels/window/padded_conv.hpp"

namespace poprt::kernels {

/// A convolution of 8-bit integers minus their zero points, modulo 2^32. The image are values, the
/// weights factors. The four products of a quad are of neighbouring channels or, where these are
/// too few, of neighbouring taps of a row.
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
    return BaseBytes() + conv_.ScratchBytes(sizeof(Quad), sizeof(std::int32_t));
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

  /// How the four bytes of quads of the image follow each other.
  struct Cut {
    Cut(std::int64_t depth, const Window& window);

    bool is_along_rows;
    std::int64_t images;  ///< of quads, of a group
    std::int64_t step;    ///< columns between the bytes of a quad
  };
  static PaddedConv ConvOfQuads(const Cut& cut, PaddedConv::Extents extents, Window window,
                                Shape input, const Shape& output);

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

  Cut cut_;
  PaddedConv conv_;
  std::int64_t depth_;     // input channels of a group
  std::int64_t taps_;      // of one channel,
  std::int64_t row_taps_;  // and of a row of them
  std::int64_t pad_;       // columns before a row
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

  void LoadRow(std::int64_t image, std::int64_t row, std::int64_t n, Quad* to) const {
    const Cut& cut = conv.cut_;
    const std::int64_t first = image % cut.images * (cut.is_along_rows ? 1 : 4);
    const std::uint8_t* rows[4];
    for (std::int64_t i = 0; i < 4; ++i) {
      // Channels that don't exist meet weights of zero.
      const std::int64_t channel = cut.is_along_rows ? first : std::min(first + i, conv.depth_ - 1);
      rows[i] = reinterpret_cast<const std::uint8_t*>(operands.x) +
                (image / cut.images * conv.depth_ + channel) * conv.input_plane_ +
                row * conv.input_width_;
    }
    // Where all four bytes are inside of the input.
    const std::int64_t begin = std::min(conv.pad_, n);
    const std::int64_t end = std::clamp(conv.pad_ + conv.input_width_ - 3 * cut.step, begin, n);
    LoadEdge(rows, 0, begin, to);
    LoadEdge(rows, end, n, to);
    if (begin == end) return;
    for (std::int64_t i = 0; i < 4; ++i) rows[i] += i * cut.step;
    BestQuadTiles().interleave(rows, end - begin, conv.x_move_ * kEveryByte, to + begin);
  }

  /// The quads [begin, end) of a row, some of whose bytes are padding.
  void LoadEdge(const std::uint8_t* const (&rows)[4], std::int64_t begin, std::int64_t end,
                Quad* to) const {
    if (!conv.cut_.is_along_rows) return std::fill(to + begin, to + end, padding);
    for (std::int64_t c = begin; c < end; ++c) {
      Quad quad = padding;
      for (std::int64_t i = 0; i < 4; ++i) {
        const std::int64_t from = c - conv.pad_ + i * conv.cut_.step;
        if (from < 0 || from >= conv.input_width_) continue;
        quad &= ~(Quad{0xFF} << (8 * i));
        quad |= Quad{static_cast<std::uint8_t>(rows[i][from] ^ conv.x_move_)} << (8 * i);
      }
      to[c] = quad;
    }
  }

  void LoadWeights(std::int64_t channel, Quad* to) const {
    conv.LoadWeights(
        channel == PaddedConv::kExtra ? conv.ones_.data() : operands.w + channel * conv.products(),
        to);
  }

  void Multiply(std::int64_t rows, std::int64_t lanes, const Quad* in, const std::int64_t* taps,
                const Quad* weights, std::int64_t count, std::int32_t* out,
                std::int64_t pitch) const {
    BestQuadTiles().multiply(rows, lanes, in, taps, weights, count, out, pitch);
  }

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

  const QuadConv& conv;
  const Operands& operands;
  const Sink& sink;
  std::byte* output;
  const std::int32_t* bases;  // p (n q - sum f) + bias of every output channel, see byte_quads.hpp
  Quad padding;
  std::int64_t extra;  // 1 where weights have zero points
};

template <typename Sink>
void QuadConv::Run(const KernelArguments& args, const Operands& operands, const Sink& sink) const {
  auto* bases = reinterpret_cast<std::int32_t*>(args.scratch);
  const bool has_weight_points = FindBases(args.pool, operands, bases);
  KernelArguments rest = args;
  rest.scratch += BaseBytes();
  const auto point = static_cast<Quad>(ValuePoint(operands.x_point, 0, x_move_));
  conv_.Run<Quad, std::int32_t>(rest, Work<Sink>{.conv = *this,
                                                 .operands = operands,
                                                 .sink = sink,
                                                 .output = args.outputs[0],
                                                 .bases = bases,
                                                 .padding = point * kEveryByte,
                                                 .extra = has_weight_points ? 1 : 0});
}

}  // namespace poprt::kernels
