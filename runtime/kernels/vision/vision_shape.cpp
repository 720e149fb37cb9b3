#include "runtime/kernels/vision/vision_shape.hpp"

#include <string>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

Ints ReadExtents(const Attributes& attributes, std::string_view name) {
  constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;
  const Ints extents = attributes.get_ints(name);
  Require(!extents.empty(), "attribute '" + std::string(name) + "' is missing");
  for (const std::int64_t extent : extents) {
    if (extent >= 0 && extent <= kMaxExtent) continue;
    throw KernelError("attribute '" + std::string(name) + "' holds " + std::to_string(extent) +
                      ", allowed are 0 to " + std::to_string(kMaxExtent));
  }
  return extents;
}

std::int64_t RequireProduct(const Shape& shape, std::string_view what) {
  const auto count = CheckedElementCount(shape);
  if (!count) throw KernelError(std::string(what) + " " + ToString(shape) + " is too large");
  return *count;
}

}  // namespace

BlockGeometry ResolveBlocks(const Attributes& attributes, const Shape& input) {
  Require(input.size() == 3, "the input has rank " + std::to_string(input.size()) +
                                 ", expected [N, C * block, number of blocks]");
  const Ints image = ReadExtents(attributes, "image_shape");
  const Ints block = ReadExtents(attributes, "block_shape");
  BlockGeometry geometry;
  geometry.window = ResolveWindow(attributes, image, block);
  geometry.blocks = WindowOutputExtents(geometry.window, image, false);
  const std::int64_t elements = RequireProduct(block, "the block");
  const std::int64_t count = RequireProduct(geometry.blocks, "the grid of blocks");
  if (input[1] % elements != 0) {
    throw KernelError("the input " + ToString(input) + " has " + std::to_string(input[1]) +
                      " rows, expected a multiple of the " + std::to_string(elements) +
                      " elements of a block " + ToString(block));
  }
  if (input[2] != count) {
    throw KernelError("the input " + ToString(input) + " has " + std::to_string(input[2]) +
                      " blocks, the image " + ToString(image) + " has " +
                      ToString(geometry.blocks));
  }
  geometry.output = {input[0], input[1] / elements};
  geometry.output.insert(geometry.output.end(), image.begin(), image.end());
  return geometry;
}

UnpoolGeometry ResolveUnpool(const Attributes& attributes, const Shape& input) {
  Require(input.size() >= 3,
          "the input has rank " + std::to_string(input.size()) + ", expected [N, C, spatial...]");
  const Shape spatial(input.begin() + 2, input.end());
  const Ints kernel = ReadExtents(attributes, "kernel_shape");
  const Attributes window{{"strides", attributes.get_ints("strides")},
                          {"pads", attributes.get_ints("pads")}};
  const Ints stated = attributes.get_ints("output_shape");
  UnpoolGeometry geometry;
  geometry.indexed = {input[0], input[1]};
  const Shape inverse = ResolveTransposedWindow(window, spatial, kernel).output;
  geometry.indexed.insert(geometry.indexed.end(), inverse.begin(), inverse.end());
  geometry.output = geometry.indexed;
  if (stated.empty()) return geometry;
  geometry.output = ReadExtents(attributes, "output_shape");
  if (geometry.output.size() != input.size() || geometry.output[0] != input[0] ||
      geometry.output[1] != input[1]) {
    throw KernelError("attribute 'output_shape' is " + ToString(geometry.output) + ", the input " +
                      ToString(input) + " needs [" + std::to_string(input[0]) + ", " +
                      std::to_string(input[1]) + ", spatial...]");
  }
  bool is_smaller = false;
  for (std::size_t i = 0; i < input.size(); ++i) {
    is_smaller = is_smaller || geometry.output[i] < geometry.indexed[i];
  }
  if (is_smaller) geometry.indexed = geometry.output;
  return geometry;
}

}  // namespace poprt::kernels
