#include "runtime/kernels/blocked/direct_winograd.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/blocked/winograd_points.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"

namespace poprt::kernels {
namespace {

/// Floats of a tap of 16 input channels and as many outputs.
constexpr std::int64_t kTapFloats = kBlock * kBlock;

// What is estimated was measured on 60 convolutions: within a tenth of most, within a third of all
// but small ones.

/// Cycles of making 32 rows of a panel of what was transformed, of integers and of float32, beside
/// what the unit takes.
constexpr double kReadIntegerCycles = 300;
constexpr double kReadCycles = 200;
/// Until the unit has something to do, for each block of rows.
constexpr double kBlockCycles = 3000;
/// So many times what the unit takes where rows have to be found.
constexpr double kFindingRows = 1.3;
/// Without the unit: of transforming an element of a block of channels of a tile, in or out.
constexpr double kTransformCycles = 14;
/// Of a byte of weights beyond those that stay in the second-level cache.
constexpr double kByteCycles = 0.2;
constexpr double kNearBytes = 1 << 19;
/// What saves less is left, of float32.
constexpr double kWorthwhile = 1.12;

/// A tap of one axis as a sum of elements.
struct AxisTap {
  std::int64_t part;
  int count;
  std::array<std::int64_t, 2> elements;
  std::array<double, 2> factors;
};

/// The inverse of what pack_winograd.cpp multiplies with: with the values U(p) of w0 + w1 p + w2
/// p^2 at points p, each divided by the product D(p) of its distances from the others, w0 = D(0)
/// U(0), w1 = (D(p) U(p) - D(-p) U(-p)) / 2p, where D(-p) = D(p), and w2 is the value at infinity,
/// the last element.
AxisTap TapOf(const WinogradAxis& axis, std::int64_t tap) {
  const std::int64_t part = tap / axis.taps;
  if (axis.tile == 1) return {part, 1, {0}, {1}};
  constexpr double kNear = kWinogradPoint4Near * kWinogradPoint4Near;
  constexpr double kFar = kWinogradPoint4Far * kWinogradPoint4Far;
  const bool is_small = axis.tile == 2;
  if (tap % axis.taps == 0) return {part, 1, {0}, {is_small ? -1.0 : kNear * kFar}};
  if (tap % axis.taps == 2) return {part, 1, {axis.side - 1}, {1}};
  const double factor = is_small ? 1 : kWinogradPoint4Near * (kNear - kFar);
  return {part, 2, {1, 2}, {factor, -factor}};
}
static_assert(kWinogradPoint2 == 1);

std::vector<TransformedTap> TapsOf(const WinogradFilter& filter, const Ints& kernel,
                                   std::int64_t channels) {
  std::vector<TransformedTap> taps;
  for (std::int64_t tap = 0; tap < kernel[0] * kernel[1]; ++tap) {
    const AxisTap row = TapOf(filter.rows, tap / kernel[1]);
    const AxisTap column = TapOf(filter.columns, tap % kernel[1]);
    TransformedTap sum{.count = row.count * column.count,
                       .elements = {},
                       .factors = {},
                       .first_row = (row.part * filter.columns.parts + column.part) * channels};
    for (int i = 0; i < sum.count; ++i) {
      const auto r = static_cast<std::size_t>(i / column.count);
      const auto c = static_cast<std::size_t>(i % column.count);
      sum.elements[i] =
          static_cast<int>(row.elements[r] * filter.columns.side + column.elements[c]);
      sum.factors[i] = static_cast<float>(row.factors[r] * column.factors[c]);
    }
    taps.push_back(sum);
  }
  return taps;
}

SplitConvShape ShapeOf(const DirectWinograd::Call& call) {
  const Ints& kernel = call.window.kernel;
  const std::int64_t in_blocks = BlocksOf(call.channels);
  const std::int64_t rows = call.filter.parts() * call.channels;
  const std::int64_t lines = call.are_scaled ? ScaledLines(rows) : rows;
  return {.in = call.in,
          .out = call.out,
          .group = call.group,
          .in_blocks = in_blocks,
          .out_blocks = call.out.blocks / call.group,
          .last_channels = call.channels - (in_blocks - 1) * kBlock,
          .images = ImagesAtOnce(call.in),
          .window = call.window,
          .transformed = TransformedFilters{.taps = TapsOf(call.filter, kernel, call.channels),
                                            .elements = call.filter.elements(),
                                            .stride = lines * kBlock,
                                            .are_scaled = call.are_scaled,
                                            .channels = call.channels},
          .panels = {ElementType::kFloat32, kernel[0] * kernel[1] * in_blocks * kBlock}};
}

double ReadingCycles(double bytes) { return kByteCycles * std::max(0.0, bytes - kNearBytes); }

/// Of a group.
double BytesOfElements(const DirectWinograd::Call& call, std::int64_t elements) {
  const std::int64_t panels = call.out.blocks / call.group * elements;
  return static_cast<double>(panels * kBlock) *
         static_cast<double>(call.filter.parts() * call.channels) * sizeof(float);
}

/// Of an axis that taps are sums of.
std::int64_t ElementsRead(const WinogradAxis& axis) { return std::min<std::int64_t>(axis.side, 4); }

double UnitCycles(const DirectWinograd::Call& call, const SplitConvShape& shape) {
  const std::int64_t rows = shape.Rows();
  const auto row_blocks = static_cast<double>(SplitBlocking::RowBlocks(rows));
  const double read = static_cast<double>(CeilDiv(shape.panels.depth, kSplitStep)) *
                      static_cast<double>(shape.out_blocks) * row_blocks;
  const double product = SplitBlocking::UnitCycles(rows, shape.out_blocks, shape.panels.depth,
                                                   PanelNumbers::kTransformed);
  if (call.are_scaled) return product + kReadIntegerCycles * read;
  const std::int64_t elements = ElementsRead(call.filter.rows) * ElementsRead(call.filter.columns);
  return kFindingRows * product + kReadCycles * read + kBlockCycles * (row_blocks - 1) +
         ReadingCycles(BytesOfElements(call, elements));
}

/// Cycles without a unit. Scaled weights of few tiles take about as long as if all products were
/// summed, since there are nearly twice as many weights: measured on images of 7x7 and 14x14
/// pixels.
double OrdinaryCycles(const DirectWinograd::Call& call, const SplitConvShape& shape) {
  if (call.are_scaled) {
    return SplitBlocking::OrdinaryCycles(shape.Rows(), shape.out_blocks, shape.panels.depth,
                                         PanelNumbers::kFloat);
  }
  const std::int64_t parts = call.filter.parts();
  const std::int64_t tiles = shape.images * call.tiles;
  const double transformed = static_cast<double>(tiles * call.filter.elements()) *
                             static_cast<double>(shape.in_blocks * parts + shape.out_blocks);
  return SplitBlocking::OrdinaryCycles(tiles * call.filter.elements(), shape.out_blocks,
                                       parts * call.channels, PanelNumbers::kFloat) +
         kTransformCycles * transformed +
         ReadingCycles(BytesOfElements(call, call.filter.elements()));
}

bool Pays(const DirectWinograd::Call& call, const SplitConvShape& shape) {
  const double worthwhile = call.are_scaled ? 1 : kWorthwhile;
  return shape.Rows() >= kSplitRows &&
         worthwhile * UnitCycles(call, shape) < OrdinaryCycles(call, shape);
}

}  // namespace

std::optional<DirectWinograd> DirectWinograd::Plan(const InnerLoops& loops, const Call& call,
                                                   const Attributes& attributes) {
  const auto taps = CheckedElementCount(call.window.kernel);
  const bool fits = taps.has_value() && *taps <= SplitConv2d::kMostTaps &&
                    (!call.are_scaled || call.channels % kBlock == 0);
  if (loops.matrix_unit == nullptr || !fits) return std::nullopt;
  const SplitConvShape shape = ShapeOf(call);
  if (!Pays(call, shape)) return std::nullopt;
  return DirectWinograd(loops, shape, attributes);
}

DirectWinograd::DirectWinograd(const InnerLoops& loops, const SplitConvShape& shape,
                               const Attributes& attributes)
    : loops_(&loops), conv_(loops, shape, BlockedEpilogue(attributes)) {}

void DirectWinograd::Run(const KernelArguments& args) const {
  conv_.Run(args, 0, scratch_bytes(),
            [&](const ConvPart& part, int /*worker*/) { ComputePixel(args, part); });
}

void DirectWinograd::ReadTap(const std::byte* weights, std::int64_t out, std::int64_t block,
                             std::int64_t tap, float* to) const {
  const TransformedFilters& filters = *conv_.shape().transformed;
  const TransformedPanel panel = filters.PanelAt(weights, out, 0);
  const TransformedTap& terms = filters.taps[static_cast<std::size_t>(tap)];
  const std::int64_t row = terms.first_row + block * kBlock;
  const std::int64_t rows = std::min(kBlock, filters.channels - block * kBlock);
  std::fill_n(to, kTapFloats, 0.0F);
  for (int term = 0; term < terms.count; ++term) {
    const std::uint32_t* const element = panel.elements + terms.elements[term] * panel.stride;
    float widened[kScaledBlock * kBlock];
    const auto* numbers = reinterpret_cast<const float*>(element) + row * kBlock;
    if (filters.are_scaled) {
      const std::int64_t begin = row / kScaledBlock * kScaledBlock;
      const StoredPanels stored{.element = ElementType::kInt32, .depth = row + rows};
      stored.Widen(loops_->gemm, reinterpret_cast<const std::byte*>(element), 0, begin,
                   row - begin + rows, widened);
      numbers = widened + (row - begin) * kBlock;
    }
    for (std::int64_t i = 0; i < rows * kBlock; ++i) to[i] += terms.factors[term] * numbers[i];
  }
}

void DirectWinograd::ComputePixel(const KernelArguments& args, const ConvPart& part) const {
  const SplitConvShape& shape = conv_.shape();
  const Window& window = shape.window;
  const std::int64_t image = part.image_group / shape.group;
  const std::int64_t out = part.image_group % shape.group * shape.out_blocks + part.first_out;
  const std::int64_t row = part.first_pixel / shape.out.width - window.pads_begin[0];
  const std::int64_t column = part.first_pixel % shape.out.width - window.pads_begin[1];
  const float* const x =
      args.in<float>(0) + part.image_group * shape.in_blocks * shape.in.BlockFloats();
  const std::int64_t taps = window.kernel[0] * window.kernel[1];
  float sums[kBlock];
  std::copy_n(BiasOfBlock(args, out), kBlock, sums);
  for (std::int64_t i = 0; i < shape.in_blocks * taps; ++i) {
    const std::int64_t block = i / taps;
    const std::int64_t tap = i % taps;
    const std::int64_t at_row = row + tap / window.kernel[1] * window.dilations[0];
    const std::int64_t at_column = column + tap % window.kernel[1] * window.dilations[1];
    if (at_row < 0 || at_row >= shape.in.height || at_column < 0 || at_column >= shape.in.width) {
      continue;
    }
    float weights[kTapFloats];
    ReadTap(args.inputs[1], out, block, tap, weights);
    const float* const pixel =
        x + block * shape.in.BlockFloats() + (at_row * shape.in.width + at_column) * kBlock;
    const std::int64_t lanes = block + 1 < shape.in_blocks ? kBlock : shape.last_channels;
    for (std::int64_t j = 0; j < lanes * kBlock; ++j) {
      sums[j % kBlock] += pixel[j / kBlock] * weights[j];
    }
  }
  const std::int64_t at =
      (image * shape.out.blocks + out) * shape.out.BlockFloats() + part.first_pixel * kBlock;
  const float* const residual = OptionalInput(args, 3);
  loops_->conv.finish(conv_.epilogue().WithResidual(residual == nullptr ? nullptr : residual + at),
                      sums, 1, args.out<float>(0) + at);
}

}  // namespace poprt::kernels
