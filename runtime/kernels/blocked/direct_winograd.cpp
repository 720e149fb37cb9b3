#include "runtime/kernels/blocked/direct_winograd.hpp"

#include <algorithm>

#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/packed/stored_panels.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kSide = 3;
constexpr std::int64_t kTaps = kSide * kSide;
/// Floats of a tap of 16 input channels and as many outputs.
constexpr std::int64_t kTapFloats = kBlock * kBlock;

// Cycles for making 32 rows of a panel of what was transformed, beside what the unit takes. Without
// it the kernel takes about as long as if it summed all products: it multiplies 2.25 times less,
// but transforms images of few tiles and reads nearly twice as many weights. Measured on images of
// 7x7 and 14x14 pixels.
constexpr double kReadCycles = 300;

bool Pays(const SplitConvShape& shape) {
  const std::int64_t pixels = shape.out.Pixels();
  const auto steps = static_cast<double>(CeilDiv(shape.depth, kSplitStep));
  const auto panels = static_cast<double>(shape.out_blocks);
  return pixels >= kSplitRows &&
         SplitBlocking::UnitCycles(pixels, shape.out_blocks, shape.depth) +
                 kReadCycles * steps * panels *
                     static_cast<double>(SplitBlocking::RowBlocks(pixels)) <
             SplitBlocking::OrdinaryCycles(pixels, shape.out_blocks, shape.depth,
                                           PanelNumbers::kFloat);
}

}  // namespace

std::optional<DirectWinograd> DirectWinograd::Plan(const InnerLoops& loops, SplitConvShape shape,
                                                   const Attributes& attributes) {
  if (loops.matrix_unit == nullptr || !Pays(shape)) return std::nullopt;
  shape.weights = PanelNumbers::kTransformed;
  return DirectWinograd(loops, shape, attributes);
}

DirectWinograd::DirectWinograd(const InnerLoops& loops, const SplitConvShape& shape,
                               const Attributes& attributes)
    : loops_(&loops), epilogue_(attributes), shape_(shape), conv_(loops, shape, epilogue_) {}

void DirectWinograd::Run(const KernelArguments& args) const {
  conv_.Run(args, 0, scratch_bytes(),
            [&](const ConvPart& part, int /*worker*/) { ComputePixel(args, part); });
}

void DirectWinograd::ReadTap(const std::byte* weights, std::int64_t out, std::int64_t block,
                             std::int64_t tap, float* to) const {
  constexpr float kR[kSide][4] = {{-1, 0, 0, 0}, {0, 1, -1, 0}, {0, 0, 0, 1}};
  const StoredPanels panels{.element = ElementType::kUint32, .depth = shape_.in_blocks * kBlock};
  std::fill_n(to, kTapFloats, 0.0F);
  for (std::int64_t element = 0; element < kTransformedElements; ++element) {
    const float factor = kR[tap / kSide][element / 4] * kR[tap % kSide][element % 4];
    if (factor == 0) continue;
    float numbers[kTapFloats];
    panels.Widen(loops_->gemm, weights, out * kTransformedElements + element, block * kBlock,
                 kBlock, numbers);
    for (std::int64_t i = 0; i < kTapFloats; ++i) to[i] += factor * numbers[i];
  }
}

void DirectWinograd::ComputePixel(const KernelArguments& args, const ConvPart& part) const {
  const Window& window = shape_.window;
  const std::int64_t image = part.image_group / shape_.group;
  const std::int64_t out = part.image_group % shape_.group * shape_.out_blocks + part.first_out;
  const std::int64_t row = part.first_pixel / shape_.out.width - window.pads_begin[0];
  const std::int64_t column = part.first_pixel % shape_.out.width - window.pads_begin[1];
  const float* const x =
      args.in<float>(0) + part.image_group * shape_.in_blocks * shape_.in.BlockFloats();
  float sums[kBlock];
  std::copy_n(BiasOfBlock(args, out), kBlock, sums);
  for (std::int64_t i = 0; i < shape_.in_blocks * kTaps; ++i) {
    const std::int64_t at_row = row + i % kTaps / kSide * window.dilations[0];
    const std::int64_t at_column = column + i % kSide * window.dilations[1];
    if (at_row < 0 || at_row >= shape_.in.height || at_column < 0 || at_column >= shape_.in.width) {
      continue;
    }
    float weights[kTapFloats];
    ReadTap(args.inputs[1], out, i / kTaps, i % kTaps, weights);
    const float* const pixel =
        x + i / kTaps * shape_.in.BlockFloats() + (at_row * shape_.in.width + at_column) * kBlock;
    for (std::int64_t j = 0; j < kTapFloats; ++j)
      sums[j % kBlock] += pixel[j / kBlock] * weights[j];
  }
  const std::int64_t at =
      (image * shape_.out.blocks + out) * shape_.out.BlockFloats() + part.first_pixel * kBlock;
  const float* const residual = OptionalInput(args, 3);
  loops_->conv.finish(epilogue_.WithResidual(residual == nullptr ? nullptr : residual + at), sums,
                      1, args.out<float>(0) + at);
}

}  // namespace poprt::kernels
