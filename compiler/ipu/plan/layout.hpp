#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ipu/cost/number_format.hpp"
#include "compiler/ipu/plan/plan.hpp"
#include "runtime/tensor/shape.hpp"

/// How the elements of a tensor lie on the tiles, as far as it decides what moving them costs.
namespace poprt::ipu {

/// Elements are counted in row-major order of the tensor, so that a layout survives every reshape.
struct Layout {
  TileMapping mapping = {};
  /// Equal layouts of tensors of the same shape have the same elements on the same tiles.
  std::uint64_t signature = 0;
  std::uint64_t run = 1;     ///< elements that are adjacent in memory
  std::uint64_t stride = 1;  ///< their distance from each other in row-major order
  /// Parts into which the axis of that stride is cut: tiles that share a row of it.
  std::uint64_t parts = 1;
  /// Of what was reduced: the layout whose rows have their results on the same tiles; else 0.
  std::uint64_t home = 0;
  /// Runs that follow each other in memory: positions of a field, of which a tile may have several
  /// rows. 0: all that a tile has.
  std::uint64_t runs_together = 0;
};

/// A tensor and where it lies.
struct Placed {
  TensorType type;
  Layout layout = {};
  bool constant = false;   ///< there before the program runs: laid out as whoever reads it wants
  bool overwrite = false;  ///< nobody reads it afterwards: may be computed on in place
  std::optional<std::size_t> origin = {};  ///< input of the operator in whose memory it is
};

/// poputil's linear mapping (section 6): grains of a vector, at least 128 bytes on a tile, tiles
/// filled in order. Tensors that need fewer than all tiles start where a hash of the shape says.
Layout LinearLayout(const Target& target, TileRange tiles, const TensorType& type);

/// The linear mapping whose tiles hold whole rows of `row` elements.
Layout RowLayout(const Target& target, TileRange tiles, const TensorType& type, std::uint64_t row);

/// How a tensor of `type` is cut into a grid: `parts` pieces of the axis whose elements are
/// `stride` apart, `others` of everything else. Elements of that axis lie together in groups of
/// `group`.
struct Grid {
  std::uint64_t stride = 1;
  std::uint64_t extent = 1;  ///< of that axis
  std::uint64_t group = 1;
  std::uint64_t parts = 1;
  std::uint64_t others = 1;
  std::uint64_t copies = 1;         ///< tiles among which the elements of a cell are divided
  std::uint64_t runs_together = 0;  ///< of the layout
  /// Of grids on fewer than all tiles: those of one number start at one tile. 0: hash of the size.
  std::uint64_t place = 0;
};
Layout GridLayout(TileRange tiles, const TensorType& type, const Grid& grid);

/// The layout after a transposition that leaves every element where it is.
Layout TransposedLayout(const Layout& layout, const Shape& shape,
                        const std::vector<std::int64_t>& permutation);

/// A part or a multiple of what lies like `layout`, still spread as that: `count` elements instead
/// of `whole`. `salt` tells different parts from each other.
Layout ResizedLayout(const Layout& layout, std::uint64_t count, std::uint64_t whole,
                     std::uint64_t element_bytes, std::uint64_t salt);

/// What a part of a tensor takes of one of its axes.
struct AxisPart {
  std::uint64_t first = 0;
  bool in_order = true;  ///< neighbours follow each other: no step, not reversed
};

/// Where the part of a tensor lies that has `type`, while every element stays where it is: it may
/// be on fewer tiles than the whole. `parts` has one for every axis.
Layout PartLayout(const Placed& whole, const TensorType& type, const std::vector<AxisPart>& parts);

/// Whether elementwise work needs no exchange between tensors of one shape that lie so.
bool SamePlace(const Layout& a, const Layout& b);

/// Bytes of an element in tile memory: 64-bit numbers are kept as 32-bit ones.
std::uint64_t ElementBytes(ElementType type);

/// Elements, and their bytes in tile memory.
std::uint64_t Elements(const TensorType& type);
std::uint64_t DeviceBytes(const TensorType& type);

/// The format the tiles compute with; absent operands count as float16.
NumberFormat FormatOf(const TensorType& type);

/// The same layout of elements of another size.
Layout WithElementBytes(const Layout& layout, std::uint64_t before, std::uint64_t after);

/// Elements on the fullest tile.
std::uint64_t ElementsPerTile(const Placed& placed);

/// Pieces of memory that the elements on the fullest tile are in.
std::uint64_t RegionsPerTile(const Placed& placed);

/// The axis along which the elements of a tensor of that shape are adjacent in memory; nothing when
/// no axis has more than one element. Its extent, else 1.
std::optional<std::size_t> InnerAxis(const Layout& layout, const Shape& shape);
std::uint64_t InnerExtent(const Layout& layout, const Shape& shape);

/// Mixes a number into a signature.
std::uint64_t MixSignature(std::uint64_t signature, std::uint64_t number);

}  // namespace poprt::ipu
