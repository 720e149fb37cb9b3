#include "compiler/ipu/plan/layout.hpp"

#include <algorithm>
#include <numeric>

#include "compiler/ipu/cost/ceil_divide.hpp"

namespace poprt::ipu {
namespace {

/// Least bytes of a tensor on a tile (section 6).
constexpr std::uint64_t kMinimumBytes = 128;
/// poputil's seed (section 6).
constexpr std::uint64_t kSeed = 0x9e3779b9;

std::uint64_t LastExtent(const Shape& shape) {
  return shape.empty() ? 1 : std::max<std::uint64_t>(static_cast<std::uint64_t>(shape.back()), 1);
}

/// Where a tensor on `used` tiles starts: a hash of its size spreads small ones over the tiles.
TileRange PlaceOn(TileRange tiles, std::uint64_t used, std::uint64_t salt) {
  const auto count =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(used, 1, std::max(tiles.count, 1U)));
  const std::uint64_t free = tiles.count - std::min(count, tiles.count);
  const std::uint64_t offset = free == 0 ? 0 : MixSignature(kSeed, salt) % (free + 1);
  return {tiles.first + static_cast<std::uint32_t>(offset), count};
}

/// A linear layout in chunks of `chunk` elements.
Layout ChunkedLayout(TileRange tiles, const TensorType& type, std::uint64_t chunk,
                     std::uint64_t row) {
  const std::uint64_t count = Elements(type);
  const std::uint64_t element = ElementBytes(type.element);
  Layout layout;
  layout.mapping.tiles = PlaceOn(tiles, CeilDivide(count, chunk), count * element);
  layout.mapping.bytes_per_tile = std::min(chunk, count) * element;
  layout.run = std::min(row, chunk);
  layout.parts = chunk >= row ? 1 : CeilDivide(row, chunk);
  layout.mapping.grain_bytes = layout.run * element;
  layout.signature = MixSignature(MixSignature(kSeed, chunk), layout.mapping.tiles.first);
  return layout;
}

struct Axes {
  std::vector<std::uint64_t> extents;
  std::vector<std::size_t> order;  ///< new axis i was axis order[i]
};

/// Without axes of extent 1; axes that stay together become one.
Axes MergeAxes(const Shape& shape, const std::vector<std::int64_t>& permutation) {
  std::vector<std::size_t> kept;
  for (const std::int64_t axis : permutation) {
    if (shape[static_cast<std::size_t>(axis)] != 1) kept.push_back(static_cast<std::size_t>(axis));
  }
  std::vector<std::vector<std::size_t>> blocks;
  const auto follows = [&](std::size_t before, std::size_t axis) {
    if (axis <= before) return false;
    return std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(before) + 1,
                       shape.begin() + static_cast<std::ptrdiff_t>(axis),
                       [](std::int64_t extent) { return extent == 1; });
  };
  for (const std::size_t axis : kept) {
    if (!blocks.empty() && follows(blocks.back().back(), axis)) {
      blocks.back().push_back(axis);
    } else {
      blocks.push_back({axis});
    }
  }
  std::vector<std::size_t> sorted(blocks.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(),
            [&](std::size_t a, std::size_t b) { return blocks[a][0] < blocks[b][0]; });
  Axes axes{std::vector<std::uint64_t>(blocks.size()), std::vector<std::size_t>(blocks.size())};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    std::uint64_t extent = 1;
    for (const std::size_t axis : blocks[sorted[i]]) {
      extent *= static_cast<std::uint64_t>(shape[axis]);
    }
    axes.extents[i] = extent;
    axes.order[sorted[i]] = i;
  }
  return axes;
}

Axes Inverse(const Axes& axes) {
  Axes inverse = axes;
  for (std::size_t i = 0; i < axes.order.size(); ++i) {
    inverse.extents[i] = axes.extents[axes.order[i]];
    inverse.order[axes.order[i]] = i;
  }
  return inverse;
}

std::uint64_t Hash(const Axes& axes) {
  std::uint64_t hash = kSeed;
  for (const std::uint64_t extent : axes.extents) hash = MixSignature(hash, extent);
  for (const std::size_t axis : axes.order) hash = MixSignature(hash, axis);
  return hash;
}

std::vector<std::uint64_t> StridesOf(const std::vector<std::uint64_t>& extents) {
  std::vector<std::uint64_t> strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

std::uint64_t Extent(const Shape& shape, std::size_t axis) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(shape[axis], 1));
}

/// Of tiles that share an axis those that have `kept` indices of it from `first` on.
TileRange Share(TileRange tiles, std::uint64_t first, std::uint64_t kept, std::uint64_t extent) {
  const std::uint64_t left = CeilDivide(tiles.count * std::min(kept, extent), extent);
  const std::uint64_t before =
      std::min<std::uint64_t>(tiles.count * first / extent, tiles.count - left);
  return {tiles.first + static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(left)};
}

}  // namespace

std::uint64_t MixSignature(std::uint64_t signature, std::uint64_t number) {
  // The finaliser of splitmix64: deterministic and the same everywhere.
  std::uint64_t z = signature * 0x9e3779b97f4a7c15U + number + 0x632be59bd9b4e019U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

Layout LinearLayout(const Target& target, TileRange tiles, const TensorType& type) {
  const std::uint64_t element = ElementBytes(type.element);
  const std::uint64_t grain = std::max<std::uint64_t>(target.vector_bytes / element, 1);
  const std::uint64_t count = std::max<std::uint64_t>(Elements(type), 1);
  std::uint64_t chunk = CeilDivide(CeilDivide(count, tiles.count), grain) * grain;
  chunk = std::max(chunk, kMinimumBytes / element);
  return ChunkedLayout(tiles, type, chunk, LastExtent(type.shape));
}

Layout RowLayout(const Target& target, TileRange tiles, const TensorType& type, std::uint64_t row) {
  const std::uint64_t rows = CeilDivide(std::max<std::uint64_t>(Elements(type), 1), row);
  if (rows == 0) return LinearLayout(target, tiles, type);
  return ChunkedLayout(tiles, type, row * CeilDivide(rows, tiles.count), row);
}

Layout GridLayout(TileRange tiles, const TensorType& type, const Grid& grid) {
  const std::uint64_t element = ElementBytes(type.element);
  const std::uint64_t used =
      std::min<std::uint64_t>(grid.parts * grid.others * grid.copies, tiles.count);
  Layout layout;
  std::uint64_t signature = kSeed;
  for (const std::uint64_t n : {grid.stride, grid.extent, grid.group, grid.parts, grid.others,
                                grid.copies, Elements(type)}) {
    signature = MixSignature(signature, n);
  }
  layout.mapping.tiles =
      PlaceOn(tiles, used, grid.place != 0 ? grid.place : Elements(type) * element);
  layout.mapping.bytes_per_tile =
      CeilDivide(Elements(type), std::max<std::uint64_t>(used, 1)) * element;
  layout.run = std::min(grid.group, grid.extent);  // the last group is padded
  layout.stride = grid.extent == 1 ? 1 : grid.stride;
  layout.parts = grid.parts;
  layout.runs_together = grid.runs_together;
  layout.mapping.grain_bytes = layout.run * element;
  layout.signature = MixSignature(signature, layout.mapping.tiles.first);
  return layout;
}

Layout TransposedLayout(const Layout& layout, const Shape& shape,
                        const std::vector<std::int64_t>& permutation) {
  const Axes axes = MergeAxes(shape, permutation);
  if (axes.order.size() < 2) return layout;  // only axes of extent 1 moved
  Layout result = layout;
  result.home = 0;
  // A transposition and its inverse cancel, so that a tensor that comes back is found in its place.
  const std::uint64_t there = Hash(axes);
  const std::uint64_t back = Hash(Inverse(axes));
  result.signature = there == back ? layout.signature ^ there : layout.signature + there - back;

  const std::vector<std::uint64_t> strides = StridesOf(axes.extents);
  const std::vector<std::uint64_t> new_strides = StridesOf(Inverse(axes).extents);
  for (std::size_t i = 0; i < axes.order.size(); ++i) {
    const std::size_t axis = axes.order[i];
    const std::uint64_t stride = strides[axis];
    if (layout.stride < stride || layout.stride >= stride * axes.extents[axis]) continue;
    result.stride = new_strides[i] * (layout.stride / stride);
    const std::uint64_t grain = layout.mapping.grain_bytes / std::max<std::uint64_t>(layout.run, 1);
    result.run = std::gcd(layout.run, axes.extents[axis]);
    result.mapping.grain_bytes = result.run * grain;
    break;
  }
  return result;
}

Layout ResizedLayout(const Layout& layout, std::uint64_t count, std::uint64_t whole,
                     std::uint64_t element_bytes, std::uint64_t salt) {
  Layout result = layout;
  const std::uint64_t tiles = std::max(layout.mapping.tiles.count, 1U);
  if (count < tiles)
    result.mapping.tiles.count = static_cast<std::uint32_t>(std::max<std::uint64_t>(count, 1));
  result.mapping.bytes_per_tile = CeilDivide(count, result.mapping.tiles.count) * element_bytes;
  result.mapping.grain_bytes = layout.run * element_bytes;
  result.home = 0;
  if (count != whole) {
    result.signature = MixSignature(MixSignature(layout.signature, count), salt);
  }
  return result;
}

Layout PartLayout(const Placed& whole, const TensorType& type, const std::vector<AxisPart>& parts) {
  const Shape& shape = whole.type.shape;
  const bool all_of_it = shape == type.shape && std::all_of(parts.begin(), parts.end(),
                                                            [](AxisPart p) { return p.in_order; });
  if (all_of_it) return whole.layout;
  Layout layout = whole.layout;
  layout.home = 0;
  const std::size_t inner = InnerAxis(layout, shape).value_or(shape.size());
  const std::uint64_t cut = std::max<std::uint64_t>(layout.parts, 1);
  const std::uint64_t columns = CeilDivide(InnerExtent(layout, shape), cut);
  const std::uint64_t rows =
      CeilDivide(ElementsPerTile(whole), std::max<std::uint64_t>(columns, 1));
  std::uint64_t behind = 1;  // rows from one index of the axis to the next
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::uint64_t extent = Extent(shape, i);
    const std::uint64_t kept = Extent(type.shape, i);
    // Indices of the axis that a tile has.
    const std::uint64_t on_tile = i == inner ? columns : std::max<std::uint64_t>(rows / behind, 1);
    if (i != inner) behind *= extent;
    if (kept == extent && parts[i].in_order) continue;
    layout.signature = MixSignature(MixSignature(layout.signature, i), kept);
    if (i == inner) {
      layout.run = parts[i].in_order ? std::gcd(layout.run, std::gcd(kept, parts[i].first)) : 1;
      layout.parts = std::min(cut, CeilDivide(kept, std::max<std::uint64_t>(columns, 1)));
    }
    if (on_tile >= extent || !parts[i].in_order) continue;  // every tile has some of it
    layout.signature = MixSignature(layout.signature, parts[i].first);
    layout.mapping.tiles = Share(layout.mapping.tiles, parts[i].first, kept, extent);
  }
  // What is behind the inner axis may have become shorter.
  for (std::size_t i = inner + 1; i < shape.size(); ++i) {
    layout.stride = layout.stride / Extent(shape, i) * Extent(type.shape, i);
  }
  const std::uint64_t element = ElementBytes(type.element);
  layout.mapping.bytes_per_tile =
      CeilDivide(Elements(type), std::max(layout.mapping.tiles.count, 1U)) * element;
  layout.mapping.grain_bytes = layout.run * element;
  return layout;
}

std::uint64_t ElementBytes(ElementType type) {
  const auto format = poprt::ipu::FormatOf(type);
  return format ? FormatBytes(*format) : 1;
}

std::uint64_t Elements(const TensorType& type) {
  return type.defined() ? static_cast<std::uint64_t>(ElementCount(type.shape)) : 0;
}

std::uint64_t DeviceBytes(const TensorType& type) {
  return Elements(type) * ElementBytes(type.element);
}

NumberFormat FormatOf(const TensorType& type) {
  return FormatOf(type.element).value_or(NumberFormat::kFloat16);
}

Layout WithElementBytes(const Layout& layout, std::uint64_t before, std::uint64_t after) {
  Layout result = layout;
  result.mapping.bytes_per_tile = layout.mapping.bytes_per_tile / before * after;
  result.mapping.grain_bytes = layout.run * after;
  return result;
}

std::optional<std::size_t> InnerAxis(const Layout& layout, const Shape& shape) {
  std::uint64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1));
    if (extent > 1 && layout.stride >= stride && layout.stride < stride * extent) return i;
    stride *= extent;
  }
  return std::nullopt;
}

std::uint64_t InnerExtent(const Layout& layout, const Shape& shape) {
  const auto axis = InnerAxis(layout, shape);
  return axis ? static_cast<std::uint64_t>(shape[*axis]) : 1;
}

bool SamePlace(const Layout& a, const Layout& b) { return a.signature == b.signature; }

std::uint64_t ElementsPerTile(const Placed& placed) {
  return placed.layout.mapping.bytes_per_tile / ElementBytes(placed.type.element);
}

std::uint64_t RegionsPerTile(const Placed& placed) {
  const std::uint64_t region = placed.layout.run * placed.layout.runs_together;
  return region == 0 ? 1 : std::max<std::uint64_t>(CeilDivide(ElementsPerTile(placed), region), 1);
}

}  // namespace poprt::ipu
