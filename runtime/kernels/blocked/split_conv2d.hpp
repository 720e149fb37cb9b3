#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/conv_micro_kernels.hpp"
#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/matrix_unit/split_blocking.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"

namespace poprt::kernels {

/// Filters that were transformed, see TransformedPanel, all of one form.
struct TransformedFilters {
  std::vector<TransformedTap> taps;
  std::int64_t elements;
  std::int64_t stride;  ///< words from one element to the next
  bool are_scaled;
  std::int64_t channels;  ///< of a group

  /// From tap `group` of the blocks on.
  TransformedPanel PanelAt(const std::byte* weights, std::int64_t panel, std::int64_t group) const {
    return {.elements = reinterpret_cast<const std::uint32_t*>(weights) + panel * elements * stride,
            .stride = stride,
            .are_scaled = are_scaled,
            .channels = channels,
            .taps = taps.data(),
            .tap_count = static_cast<std::int64_t>(taps.size()),
            .group = group};
  }
};

/// A convolution of images in blocks of channels.
struct SplitConvShape {
  BlockedImage in;
  BlockedImage out;
  std::int64_t group = 1;
  std::int64_t in_blocks = 0;           ///< of a group
  std::int64_t out_blocks = 0;          ///< of a group
  std::int64_t last_channels = kBlock;  ///< of the last block of a group that are not spare
  std::int64_t images = 1;              ///< whose pixels are rows of a product: 1 or all
  Window window;
  std::optional<TransformedFilters> transformed = {};  ///< which the panels are then
  /// Rows are [in_blocks][tap][16]; a pointwise filter has none of spare channels.
  StoredPanels panels;

  /// Of a product.
  std::int64_t Rows() const { return images * out.Pixels(); }
  PanelNumbers Numbers() const {
    return transformed.has_value() ? PanelNumbers::kTransformed : panels.Numbers();
  }
};

/// How many images of a batch are multiplied together: all, unless they are too far apart. Weights
/// are split once for them.
std::int64_t ImagesAtOnce(const BlockedImage& in);

/// Some pixels of an image and output blocks of a group.
struct ConvPart {
  std::int64_t image_group;  ///< image * group + the group
  std::int64_t first_pixel;
  std::int64_t last_pixel;
  std::int64_t first_out;  ///< of the group
  std::int64_t last_out;
};

/// Where the results of a part, or of some images, go.
struct ConvTarget {
  const float* residual;          ///< the first pixel of the first block, or null
  float* y;                       ///< the same
  std::int64_t block_floats;      ///< of both, from one block to the next
  std::int64_t image_floats = 0;  ///< and from one image to the next

  /// So many floats behind it.
  ConvTarget At(std::int64_t floats) const {
    return {residual == nullptr ? nullptr : residual + floats, y + floats, block_floats,
            image_floats};
  }
};

/// Convolution on the matrix unit: rows of its products are pixels, whose inputs are found as
/// tile_taps.hpp does, the depth is pairs of input blocks and taps, panels are output blocks.
class SplitConv2d {
 public:
  /// Larger filters are rare, and their tables would not stay near.
  static constexpr std::int64_t kMostTaps = 64;

  /// Null where `loops` have no matrix unit, or it is not faster.
  static std::optional<SplitConv2d> Plan(const InnerLoops& loops, const SplitConvShape& shape,
                                         const BlockedEpilogue& epilogue);

  /// `loops` have a matrix unit, and the window at most kMostTaps.
  SplitConv2d(const InnerLoops& loops, const SplitConvShape& shape,
              const BlockedEpilogue& epilogue);

  const SplitConvShape& shape() const { return shape_; }
  const BlockedEpilogue& epilogue() const { return epilogue_; }

  /// Of a worker, in bytes.
  std::size_t scratch_bytes() const { return scratch_bytes_; }

  /// compute(part, worker) has to compute what is not finite. A worker's scratch memory of this
  /// begins at `offset` of its `stride` bytes.
  using Compute = std::function<void(const ConvPart&, int worker)>;
  void Run(const KernelArguments& args, std::size_t offset, std::size_t stride,
           const Compute& compute) const;

  /// Computes a part, in a task of the pool, of images that are multiplied one by one. `scratch` is
  /// of its worker.
  using ComputePart = std::function<void(const ConvPart&)>;
  void RunPart(const KernelArguments& args, const ConvPart& part, const ConvTarget& target,
               std::byte* scratch, const ComputePart& compute) const;

 private:
  /// Images from `image_group` on, or a part of one, whose results begin with row `origin`.
  struct Product {
    std::int64_t image_group;
    std::int64_t origin;
    ConvTarget target;
  };
  void RunTask(const KernelArguments& args, const Product& product, const SplitTask& task,
               std::byte* scratch, const ComputePart& compute) const;

  const MatrixUnit* unit_;
  const ConvMicroKernels* kernels_;
  SplitConvShape shape_;
  BlockedEpilogue epilogue_;
  SplitBlocking blocking_;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace poprt::kernels
