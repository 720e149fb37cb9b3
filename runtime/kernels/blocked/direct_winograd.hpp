#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/split_conv2d.hpp"
#include "runtime/kernels/blocked/winograd_filter.hpp"
#include "runtime/kernels/inner_loops.hpp"

namespace poprt::kernels {

/// "blocked_winograd_conv2d" on a matrix unit, which computes it directly: it multiplies so fast
/// that transforms, and more weights, often cost more than they save. What is not finite reaches
/// only what it touches.
class DirectWinograd {
 public:
  /// A convolution whose filters were transformed as `filter` says.
  struct Call {
    BlockedImage in;
    BlockedImage out;
    std::int64_t group;
    std::int64_t channels;  ///< input channels of a group
    Window window;
    WinogradFilter filter;
    bool are_scaled;
    std::int64_t tiles;  ///< of an image
  };

  /// Null where `loops` have no matrix unit, it is not faster, the filter has too many taps or
  /// scaled weights spare channels.
  static std::optional<DirectWinograd> Plan(const InnerLoops& loops, const Call& call,
                                            const Attributes& attributes);

  /// Of a worker, in bytes.
  std::size_t scratch_bytes() const { return conv_.scratch_bytes(); }

  void Run(const KernelArguments& args) const;

 private:
  DirectWinograd(const InnerLoops& loops, const SplitConvShape& shape,
                 const Attributes& attributes);

  /// Of a tap the weights of 16 input channels and the outputs of a block, as they were before they
  /// were transformed.
  void ReadTap(const std::byte* weights, std::int64_t out, std::int64_t block, std::int64_t tap,
               float* to) const;
  /// What is not finite: a pixel of an output block.
  void ComputePixel(const KernelArguments& args, const ConvPart& part) const;

  const InnerLoops* loops_;
  SplitConv2d conv_;
};

}  // namespace poprt::kernels
