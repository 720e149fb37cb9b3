#include "compiler/ipu/plan/rearrangement.hpp"

#include <algorithm>
#include <numeric>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/copy.hpp"
#include "compiler/ipu/plan/transform_cost.hpp"

namespace poprt::ipu {
namespace {

/// The block of a tensor that a tile has: pieces of the inner axis of as many rows.
struct Block {
  std::uint64_t columns = 1;
  std::uint64_t rows = 1;
};

Block BlockOf(const Layout& layout, const TensorType& type) {
  const std::uint64_t extent = InnerExtent(layout, type.shape);
  const std::uint64_t elements = layout.mapping.bytes_per_tile / ElementBytes(type.element);
  Block block;
  block.columns =
      std::max<std::uint64_t>(CeilDivide(extent, std::max<std::uint64_t>(layout.parts, 1)), 1);
  block.rows = std::max<std::uint64_t>(CeilDivide(elements, block.columns), 1);
  return block;
}

/// Tiles from which one of the receiving tiles gets its part: those whose blocks meet its own.
std::uint64_t Sources(const TensorType& type, const Layout& from, const Layout& to) {
  const Block source = BlockOf(from, type);
  const Block result = BlockOf(to, type);
  const bool transposed = from.stride != to.stride;
  const std::uint64_t across =
      CeilDivide(result.columns, transposed ? source.rows : source.columns);
  const std::uint64_t along = CeilDivide(result.rows, transposed ? source.columns : source.rows);
  return std::clamp<std::uint64_t>(across * along, 1, std::max(from.mapping.tiles.count, 1U));
}

/// The exchange: pieces follow each other as they come, or where they belong.
void Receive(StepBuilder& steps, const std::string& name, const Placed& tensor, const Layout& to,
             bool fragmented) {
  const std::uint64_t sources = Sources(tensor.type, tensor.layout, to);
  steps.Exchange("exchange " + name, to.mapping.tiles,
                 {.bytes_received = to.mapping.bytes_per_tile,
                  .bytes_sent = tensor.layout.mapping.bytes_per_tile,
                  .sends = sources,
                  .receives = sources,
                  .fragmented = fragmented});
}

/// In memory of its own. What it was before is free if nobody reads it again.
Placed Moved(StepBuilder& steps, const Placed& tensor, const Layout& to, MovedAs moved) {
  const std::uint64_t freed =
      std::min(tensor.layout.mapping.bytes_per_tile, to.mapping.bytes_per_tile);
  if (tensor.overwrite && moved == MovedAs::kTemporary) steps.Release(freed);
  return {tensor.type, to, false, true};
}

}  // namespace

std::uint64_t CommonAtom(const Layout& from, const Layout& to) {
  return from.stride == to.stride ? std::gcd(from.run, to.run) : 1;
}

void Broadcast(StepBuilder& steps, const std::string& name, TileRange tiles, std::uint64_t bytes,
               const Placed& tensor) {
  const Layout& from = tensor.layout;
  const std::uint64_t sources = std::clamp<std::uint64_t>(
      CeilDivide(bytes, std::max<std::uint64_t>(from.mapping.bytes_per_tile, 1)), 1,
      std::max(from.mapping.tiles.count, 1U));
  steps.Exchange(name, tiles,
                 {.bytes_received = bytes,
                  .bytes_sent = from.mapping.bytes_per_tile,
                  .sends = 1,
                  .receives = sources,
                  .weights = tensor.constant});
}

Placed Move(StepBuilder& steps, const std::string& name, const Placed& tensor, const Layout& to) {
  if (tensor.constant || SamePlace(tensor.layout, to)) return tensor;
  steps.Hold(to.mapping.bytes_per_tile);
  Receive(steps, name, tensor, to, false);
  return Moved(steps, tensor, to, MovedAs::kTemporary);
}

Placed Rearrange(StepBuilder& steps, const std::string& name, const Placed& tensor,
                 const Layout& to, MovedAs moved) {
  if (tensor.constant) return {tensor.type, to, true, tensor.overwrite, tensor.origin};
  const bool in_place = SamePlace(tensor.layout, to);
  const bool in_order = tensor.layout.stride == to.stride && tensor.layout.run == to.run;
  if (in_place && in_order) return {tensor.type, to, false, tensor.overwrite, tensor.origin};
  const Target& target = steps.target();
  const std::uint64_t element = ElementBytes(tensor.type.element);
  const std::uint64_t bytes = to.mapping.bytes_per_tile;
  const std::uint64_t atom = CommonAtom(tensor.layout, to) * element;
  if (moved == MovedAs::kTemporary) steps.Hold(bytes);
  if (in_order && atom >= target.vector_bytes) {
    Receive(steps, name, tensor, to, false);
    return Moved(steps, tensor, to, moved);
  }
  steps.Hold(bytes);  // what was received, before it is in order
  if (!in_place) Receive(steps, name, tensor, to, atom < target.vector_bytes);
  const bool transposed = tensor.layout.stride != to.stride;
  const bool blocks = std::gcd(tensor.layout.run, to.run) * element % target.vector_bytes == 0;
  if (transposed && blocks) {
    steps.PricedCopy("transpose " + name, "popops::Transpose2d", to.mapping.tiles, bytes,
                     TransformCopyCycles(target, bytes, element, to.run));
  } else {
    steps.Copy("rearrange " + name, to.mapping.tiles, bytes, atom);
  }
  steps.Release(bytes);
  return Moved(steps, tensor, to, moved);
}

}  // namespace poprt::ipu
