#include "runtime/kernels/blocked/direct_winograd.hpp"

#include <algorithm>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kSide = 3;
constexpr std::int64_t kTaps = kTransformedTaps;
/// Floats of a tap of 16 input channels and as many outputs.
constexpr std::int64_t kTapFloats = kBlock * kBlock;

// Cycles for making 32 rows of a panel of what was transformed, beside what the unit takes. Without
// it the kernel takes about as long as if it summed all products: it multiplies 2.25 times less,
// but transforms images of few tiles and reads nearly twice as many weights. Measured on images of
// 7x7 and 14x14 pixels.
constexpr double kReadCycles = 300;

bool Pays(const SplitConvShape& shape) {
  const std::int64_t pixels = shape.out.Pixels();
  const auto steps = static_cast<double>(CeilDiv(shape.panels.depth, kSplitStep));
  const auto panels = static_cast<double>(shape.out_blocks);
  return pixels >= kSplitRows &&
         SplitBlocking::UnitCycles(pixels, shape.out_blocks, shape.panels.depth,
                                   PanelNumbers::kTransformed) +
                 kReadCycles * steps * panels *
                     static_cast<double>(SplitBlocking::RowBlocks(pixels)) <
             SplitBlocking::OrdinaryCycles(pixels, shape.out_blocks, shape.panels.depth,
                                           PanelNumbers::kFloat);
}

}  // namespace

std::optional<DirectWinograd> DirectWinograd::Plan(const InnerLoops& loops,
                                                   const SplitConvShape& shape,
                                                   const Attributes& attributes) {
  if (loops.matrix_unit == nullptr || !Pays(shape)) return std::nullopt;
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
  const StoredPanels panels{.element = ElementType::kInt32,
                            .depth = conv_.shape().in_blocks * kBlock};
  const TransformedTap& terms = kTapSums[tap];
  std::fill_n(to, kTapFloats, 0.0F);
  for (int term = 0; term < terms.count; ++term) {
    float numbers[kTapFloats];
    panels.Widen(loops_->gemm, weights, out * kTransformedElements + terms.elements[term],
                 block * kBlock, kBlock, numbers);
    for (std::int64_t i = 0; i < kTapFloats; ++i) to[i] += terms.signs[term] * numbers[i];
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
  float sums[kBlock];
  std::copy_n(BiasOfBlock(args, out), kBlock, sums);
  for (std::int64_t i = 0; i < shape.in_blocks * kTaps; ++i) {
    const std::int64_t at_row = row + i % kTaps / kSide * window.dilations[0];
    const std::int64_t at_column = column + i % kSide * window.dilations[1];
    if (at_row < 0 || at_row >= shape.in.height || at_column < 0 || at_column >= shape.in.width) {
      continue;
    }
    float weights[kTapFloats];
    ReadTap(args.inputs[1], out, i / kTaps, i % kTaps, weights);
    const float* const pixel =
        x + i / kTaps * shape.in.BlockFloats() + (at_row * shape.in.width + at_column) * kBlock;
    for (std::int64_t j = 0; j < kTapFloats; ++j)
      sums[j % kBlock] += pixel[j / kBlock] * weights[j];
  }
  const std::int64_t at =
      (image * shape.out.blocks + out) * shape.out.BlockFloats() + part.first_pixel * kBlock;
  const float* const residual = OptionalInput(args, 3);
  loops_->conv.finish(conv_.epilogue().WithResidual(residual == nullptr ? nullptr : residual + at),
                      sums, 1, args.out<float>(0) + at);
}

}  // namespace poprt::kernels
