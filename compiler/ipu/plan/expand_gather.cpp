#include <algorithm>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/extents.hpp"
#include "compiler/ipu/plan/gather_steps.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"

/// Lookups of rows (section 2.9). Other axes than the first are brought to the front by how the
/// table is laid out; the result's rows are the operand's elements behind the axis.
namespace poprt::ipu {
namespace {

std::size_t AxisOf(const Operation& operation) {
  const auto axis = NormalizeAxis(operation.node().attributes.get_int("axis", 0),
                                  operation.input(0).type.shape.size());
  return axis ? static_cast<std::size_t>(*axis) : 0;
}

/// A row of the table is everything but the axis.
RowLookup GatherLookup(const Operation& operation) {
  const TensorType& table = operation.input(0).type;
  const std::size_t axis = AxisOf(operation);
  RowLookup lookup;
  lookup.rows = Volume(table.shape, axis, axis + 1);
  lookup.columns = Volume(table.shape, 0, axis) * Volume(table.shape, axis + 1, table.shape.size());
  lookup.lookups = std::max<std::uint64_t>(Elements(operation.input(1).type), 1);
  lookup.element = table;
  return lookup;
}

/// The table is where the plan wants it: constants from the start, others after a rearrangement.
/// Constants of equal size, as the tables of a recommender, are spread over the tiles.
void PlaceTable(Operation& operation, RowLookup& lookup) {
  if (operation.input(0).constant) {
    lookup.place += static_cast<std::uint64_t>(operation.node().inputs[0]);
  }
  StepBuilder& steps = operation.steps();
  const Layout wanted = TableLayout(steps, lookup, operation.input(0).type);
  operation.PlaceConstant(0, wanted);
  Rearrange(steps, "table", operation.input(0), wanted);
}

/// Known offsets need no lookup: the elements are taken from where they are.
void ExpandKnownGather(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const TensorType& type = operation.output_type(0);
  Layout to = LinearLayout(steps.target(), steps.tiles(), type);
  to.run = x.layout.run;
  to.stride = x.layout.stride;
  to.signature = MixSignature(to.signature, x.layout.signature);
  Placed part{type, x.layout, false, true};
  part.layout.signature = MixSignature(x.layout.signature, Elements(type));
  operation.SetOutput(0, Rearrange(steps, "Gather", part, to, MovedAs::kResult));
}

void ExpandGather(Operation& operation) {
  if (operation.input(1).constant && !operation.input(0).constant) {
    ExpandKnownGather(operation);
    return;
  }
  RowLookup lookup = GatherLookup(operation);
  PlaceTable(operation, lookup);
  operation.SetOutput(
      0, AddLookup(operation.steps(), LookupKind::kSlice, lookup, operation.output_type(0)));
}

/// Lookups of single elements, of as many tables as there are rows besides the axis.
void ExpandGatherElements(Operation& operation) {
  const TensorType& table = operation.input(0).type;
  const std::size_t axis = table.shape.empty() ? 0 : AxisOf(operation);
  RowLookup lookup;
  lookup.rows = Volume(table.shape, axis, axis + 1);
  lookup.groups = std::max<std::uint64_t>(Elements(table) / lookup.rows, 1);
  lookup.lookups = std::max<std::uint64_t>(Elements(operation.input(1).type) / lookup.groups, 1);
  lookup.element = table;
  PlaceTable(operation, lookup);
  operation.SetOutput(
      0, AddLookup(operation.steps(), LookupKind::kSlice, lookup, operation.output_type(0)));
}

/// Rows that the last axis of the indices names.
RowLookup TupleLookup(const Operation& operation) {
  const TensorType& table = operation.input(0).type;
  const TensorType& indices = operation.input(1).type;
  const auto tuple = static_cast<std::size_t>(
      indices.shape.empty() ? 1 : std::max<std::int64_t>(indices.shape.back(), 1));
  const auto batch = static_cast<std::size_t>(operation.node().attributes.get_int("batch_dims", 0));
  RowLookup lookup;
  lookup.groups = Volume(table.shape, 0, batch);
  lookup.rows = Volume(table.shape, batch, batch + tuple);
  lookup.columns = Volume(table.shape, batch + tuple, table.shape.size());
  lookup.lookups = std::max<std::uint64_t>(Elements(indices) / (tuple * lookup.groups), 1);
  lookup.element = table;
  return lookup;
}

void ExpandGatherNd(Operation& operation) {
  RowLookup lookup = TupleLookup(operation);
  PlaceTable(operation, lookup);
  operation.SetOutput(
      0, AddLookup(operation.steps(), LookupKind::kSlice, lookup, operation.output_type(0)));
}

LookupKind KindOf(const Operation& operation) {
  const std::string reduction = operation.node().attributes.get_string("reduction", "none");
  return reduction == "none" ? LookupKind::kUpdate : LookupKind::kUpdateAdd;
}

/// A copy of the operand, in which rows are replaced or added to.
void ExpandUpdate(Operation& operation, const RowLookup& lookup) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const Layout table = TableLayout(steps, lookup, x.type);
  const Placed copy = Rearrange(steps, "table", x, table, MovedAs::kResult);
  if (operation.has_input(2)) {
    Broadcast(steps, "exchange updates", table.mapping.tiles,
              DeviceBytes(operation.input(2).type) / std::max(table.mapping.tiles.count, 1U) + 1,
              operation.input(2));
  }
  AddLookup(steps, KindOf(operation), lookup, operation.output_type(0));
  operation.SetOutput(0, {operation.output_type(0), copy.layout, false, true, copy.origin});
}

void ExpandScatterNd(Operation& operation) { ExpandUpdate(operation, TupleLookup(operation)); }

void ExpandScatterElements(Operation& operation) {
  const TensorType& table = operation.input(0).type;
  const std::size_t axis = table.shape.empty() ? 0 : AxisOf(operation);
  RowLookup lookup;
  lookup.rows = Volume(table.shape, axis, axis + 1);
  lookup.groups = std::max<std::uint64_t>(Elements(table) / lookup.rows, 1);
  lookup.lookups = std::max<std::uint64_t>(Elements(operation.input(1).type) / lookup.groups, 1);
  lookup.element = table;
  ExpandUpdate(operation, lookup);
}

/// Every position is compared with the index of its row, then selected.
void ExpandOneHot(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const TensorType& type = operation.output_type(0);
  const Placed& indices = operation.input(0);
  const Placed same = AddBinary(steps, "compare index", ElementwiseOp::kCompare, indices, indices,
                                {ElementType::kBool, type.shape});
  operation.SetOutput(0, AddTernary(steps, "select value", ElementwiseOp::kSelect, {same}, type));
}

constexpr ExpandRow kRows[] = {
    {"Gather", ExpandGather},
    {"GatherElements", ExpandGatherElements},
    {"GatherND", ExpandGatherNd},
    {"ScatterND", ExpandScatterNd},
    {"ScatterElements", ExpandScatterElements},
    {"Scatter", ExpandScatterElements},
    {"OneHot", ExpandOneHot},
};

}  // namespace

std::span<const ExpandRow> GatherRules() { return kRows; }

}  // namespace poprt::ipu
