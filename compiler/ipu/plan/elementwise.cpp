#include "compiler/ipu/plan/elementwise.hpp"

#include <algorithm>
#include <numeric>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/elementwise_codelet.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"

namespace poprt::ipu {
namespace {

bool Whole(const Placed& operand, const TensorType& result) {
  return Elements(operand.type) == Elements(result);
}

Layout At(const Layout& layout, const Placed& from, const TensorType& result) {
  return WithElementBytes(layout, ElementBytes(from.type.element), ElementBytes(result.element));
}

/// What the first operand gives the result: its place, and its memory where it works in place.
Placed ResultAt(const Placed& first, const TensorType& result, bool in_place) {
  return {result, At(first.layout, first, result), false, true,
          in_place ? first.origin : std::nullopt};
}

/// How many times a tile combines a run of the first operand with a row or column of the second.
struct BroadcastRows {
  std::uint64_t rows = 1;
  std::uint64_t elements = 0;  ///< of all rows: a multiple
  bool aligned = true;
};

BroadcastRows RowsOnTile(const Target& target, const Placed& base) {
  const std::uint64_t elements = std::max<std::uint64_t>(ElementsPerTile(base), 1);
  const std::uint64_t columns = std::clamp<std::uint64_t>(
      std::min(base.layout.run, InnerExtent(base.layout, base.type.shape)), 1, elements);
  BroadcastRows rows;
  rows.rows = CeilDivide(elements, columns);
  rows.elements = rows.rows * columns;
  rows.aligned = columns * ElementBytes(base.type.element) % target.vector_bytes == 0;
  return rows;
}

/// Whether the operand has more than one element along the axis that is inner in the base.
bool VariesAlongRows(const Placed& base, const Placed& other) {
  const auto axis = InnerAxis(base.layout, base.type.shape);
  if (!axis) return true;
  const std::size_t from_end = base.type.shape.size() - *axis;
  const Shape& shape = other.type.shape;
  return from_end <= shape.size() && shape[shape.size() - from_end] > 1;
}

/// Elements of a broadcast operand that a tile needs: those of the rows and columns it has.
std::uint64_t NeededElements(const Placed& base, const Placed& other) {
  const std::uint64_t whole = Elements(other.type);
  const std::uint64_t extent = InnerExtent(base.layout, base.type.shape);
  const std::uint64_t columns = CeilDivide(extent, std::max<std::uint64_t>(base.layout.parts, 1));
  const std::uint64_t rows = CeilDivide(ElementsPerTile(base), std::max<std::uint64_t>(columns, 1));
  const std::uint64_t all_rows = std::max<std::uint64_t>(Elements(base.type) / extent, 1);
  const bool along = VariesAlongRows(base, other);
  const std::uint64_t others = along ? CeilDivide(whole, extent) : whole;
  const std::uint64_t needed_rows =
      std::clamp<std::uint64_t>(CeilDivide(others * std::min(rows, all_rows), all_rows), 1, others);
  return std::clamp<std::uint64_t>(needed_rows * (along ? columns : 1), 1, whole);
}

/// Pointers to the operands and to a result of its own, and one length; or, for a vector that is
/// broadcast to a region, its counts.
VertexState StateOf(std::uint64_t pointers, bool counts) {
  const std::uint64_t words = pointers + (counts ? 2 : 1);
  if (words <= 2) return VertexState::kUnaryInPlace;
  if (words == 3) return VertexState::kThreeWords;
  return words == 4 ? VertexState::kFourWords : VertexState::kFiveWords;
}

/// `operands` of the vertex; their number and that of its results are its connections.
void ComputeElementwise(StepBuilder& steps, const std::string& name, const Placed& base,
                        ElementwiseVertex vertex, std::uint64_t operands) {
  const std::uint64_t edges = operands + (vertex.in_place ? 0 : 1);
  const bool broadcast = vertex.form != ElementwiseForm::kWhole;
  // One vertex whose workers share a region, or one for each worker, with regions of its own.
  const std::uint64_t regions = RegionsPerTile(base);
  if (regions > 1 && !broadcast) {
    vertex.form = ElementwiseForm::kRegions;
    vertex.rows = regions;
  }
  steps.Compute(
      {.name = name,
       .vertex = ElementwiseCodelet(vertex, regions > 1),
       .tiles = base.layout.mapping.tiles,
       .vertex_cycles = ElementwiseVertexCycles(steps.target(), vertex),
       .state = StateOf(edges, vertex.form == ElementwiseForm::kBroadcastVector && regions == 1),
       .vertices = regions > 1 ? steps.target().worker_threads : 1,
       .edges = edges});
}

/// The second operand on every tile that needs it, and the vertex that combines them.
void AddBroadcast(StepBuilder& steps, const std::string& name, ElementwiseVertex vertex,
                  const Placed& base, const Placed& other) {
  const std::uint64_t needed = NeededElements(base, other);
  const std::uint64_t bytes = needed * ElementBytes(other.type.element);
  const bool local = other.layout.home != 0 && other.layout.home == base.layout.signature;
  if (!local && (Elements(other.type) > 1 || !other.constant)) {
    steps.Hold(bytes);
    Broadcast(steps, "broadcast " + name, base.layout.mapping.tiles, bytes, other);
  }
  if (Elements(other.type) == 1) {
    vertex.form = ElementwiseForm::kBroadcastScalar;
  } else {
    const BroadcastRows rows = RowsOnTile(steps.target(), base);
    vertex.form = ElementwiseForm::kBroadcastVector;
    vertex.rows = rows.rows;
    vertex.elements = rows.elements;
    vertex.aligned = rows.aligned;
    vertex.along_rows = VariesAlongRows(base, other);
  }
  ComputeElementwise(steps, name, base, vertex, 2);
}

/// The operand spread to the result's shape where the result lies.
Placed Expanded(StepBuilder& steps, const std::string& name, const Placed& operand,
                const TensorType& result, const Layout& layout) {
  const TensorType type{operand.type.element, result.shape};
  const Layout to =
      WithElementBytes(layout, ElementBytes(result.element), ElementBytes(operand.type.element));
  if (!operand.constant) {
    steps.Hold(to.mapping.bytes_per_tile);
    Broadcast(steps, "broadcast " + name, to.mapping.tiles, to.mapping.bytes_per_tile, operand);
    steps.Copy("expand " + name, to.mapping.tiles, to.mapping.bytes_per_tile,
               std::max<std::uint64_t>(std::gcd(operand.layout.run, to.run), 1) *
                   ElementBytes(operand.type.element));
  }
  return {type, to, operand.constant, true};
}

/// popops' order of preference: least on the fullest tile, most tiles, fewest regions.
bool BetterSpread(const Placed& a, const Placed& b) {
  const std::uint64_t most_a = ElementsPerTile(a);
  const std::uint64_t most_b = ElementsPerTile(b);
  if (most_a != most_b) return most_a < most_b;
  const std::uint32_t tiles_a = a.layout.mapping.tiles.count;
  const std::uint32_t tiles_b = b.layout.mapping.tiles.count;
  if (tiles_a != tiles_b) return tiles_a > tiles_b;
  return a.layout.run > b.layout.run;
}

/// May be computed on in place: whole, in memory of its own that nobody reads later.
bool Replaceable(const Placed& operand, const TensorType& result) {
  return Whole(operand, result) && operand.overwrite && !operand.constant &&
         ElementBytes(operand.type.element) == ElementBytes(result.element);
}

Placed Brought(StepBuilder& steps, const std::string& name, const Placed& operand,
               const TensorType& result, const Layout& layout) {
  const Layout to =
      WithElementBytes(layout, ElementBytes(result.element), ElementBytes(operand.type.element));
  return Rearrange(steps, "operand of " + name, operand, to);
}

}  // namespace

Layout ElementwiseLayout(StepBuilder& steps, const std::vector<Placed>& operands,
                         const TensorType& result) {
  for (const Placed& operand : operands) {
    if (Replaceable(operand, result)) return At(operand.layout, operand, result);
  }
  const Placed* chosen = nullptr;
  for (const Placed& operand : operands) {
    if (!operand.type.defined() || !Whole(operand, result) || operand.constant) continue;
    if (chosen == nullptr || BetterSpread(operand, *chosen)) chosen = &operand;
  }
  if (chosen == nullptr) return LinearLayout(steps.target(), steps.tiles(), result);
  return At(chosen->layout, *chosen, result);
}

Placed AddUnary(StepBuilder& steps, const std::string& name, ElementwiseOp op, const Placed& x,
                const TensorType& result) {
  const bool same_size = ElementBytes(x.type.element) == ElementBytes(result.element);
  const bool in_place = x.overwrite && same_size;
  Placed base = x;
  if (x.constant) base.layout = LinearLayout(steps.target(), steps.tiles(), x.type);
  ComputeElementwise(steps, name, base,
                     {.op = op,
                      .format = FormatOf(x.type),
                      .elements = ElementsPerTile(base),
                      .in_place = in_place},
                     1);
  return ResultAt(base, result, in_place);
}

Placed AddBinary(StepBuilder& steps, const std::string& name, ElementwiseOp op, const Placed& a,
                 const Placed& b, const TensorType& result) {
  const Layout layout = ElementwiseLayout(steps, {a, b}, result);
  const bool first_whole = Whole(a, result);
  const bool second_whole = Whole(b, result);
  Placed base = first_whole    ? Brought(steps, name, a, result, layout)
                : second_whole ? Brought(steps, name, b, result, layout)
                               : Expanded(steps, name, a, result, layout);
  const ElementwiseVertex vertex{
      .op = op,
      .format = FormatOf(base.type),
      .elements = ElementsPerTile(base),
      .in_place = base.overwrite && !base.constant &&
                  ElementBytes(base.type.element) == ElementBytes(result.element)};
  if (first_whole && second_whole) {
    Brought(steps, name, b, result, layout);
    ComputeElementwise(steps, name, base, vertex, 2);
  } else {
    AddBroadcast(steps, name, vertex, base, first_whole ? b : second_whole ? a : b);
  }
  return ResultAt(base, result, vertex.in_place);
}

Placed AddScalar(StepBuilder& steps, const std::string& name, ElementwiseOp op, const Placed& x,
                 const TensorType& result) {
  Placed number{{x.type.element, {}}, {}, true, false};
  return AddBinary(steps, name, op, x, number, result);
}

Placed AddTernary(StepBuilder& steps, const std::string& name, ElementwiseOp op,
                  const std::vector<Placed>& operands, const TensorType& result) {
  const Layout layout = ElementwiseLayout(steps, operands, result);
  const Placed base{result, layout, false, true};
  for (const Placed& operand : operands) {
    if (!operand.type.defined()) continue;
    if (Whole(operand, result)) {
      Brought(steps, name, operand, result, layout);
    } else if (Elements(operand.type) > 1) {
      Expanded(steps, name, operand, result, layout);
    } else if (!operand.constant) {
      Broadcast(steps, "broadcast " + name, layout.mapping.tiles,
                ElementBytes(operand.type.element), operand);
    }
  }
  ComputeElementwise(steps, name, base,
                     {.op = op, .format = FormatOf(result), .elements = ElementsPerTile(base)}, 3);
  return base;
}

Placed AddCast(StepBuilder& steps, const Placed& x, ElementType to) {
  Placed base = x;
  if (x.constant) base.layout = LinearLayout(steps.target(), steps.tiles(), x.type);
  const TensorType result{to, x.type.shape};
  const std::uint64_t cycles =
      CastVertexCycles(steps.target(), FormatOf(x.type), FormatOf(result), ElementsPerTile(base));
  steps.Compute({.name = "cast",
                 .vertex = CastCodelet(FormatOf(x.type), FormatOf(result)),
                 .tiles = base.layout.mapping.tiles,
                 .vertex_cycles = cycles});
  Placed cast = ResultAt(base, result, cycles == 0);
  if (cycles == 0) cast.overwrite = x.overwrite;
  return cast;
}

Placed AddFill(StepBuilder& steps, const std::string& name, const TensorType& result) {
  Placed filled{result, LinearLayout(steps.target(), steps.tiles(), result), false, true};
  steps.Compute(
      {.name = name,
       .vertex = "popops::Fill<" + std::string(FormatName(FormatOf(result))) + ">",
       .tiles = filled.layout.mapping.tiles,
       .vertex_cycles = FillVertexCycles(steps.target(), FormatOf(result), ElementsPerTile(filled)),
       .edges = 1});
  return filled;
}

}  // namespace poprt::ipu
