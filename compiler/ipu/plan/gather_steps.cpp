#include "compiler/ipu/plan/gather_steps.hpp"

#include <algorithm>
#include <limits>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/slice_vertex.hpp"
#include "compiler/ipu/plan/extents.hpp"

namespace poprt::ipu {
namespace {

constexpr std::uint64_t kOffsetBytes = 4;
constexpr std::uint64_t kLeastBytesOnTile = 128;
/// Serial steps that a plan may have.
constexpr std::uint64_t kMostSerialSteps = 256;
/// Plans that take a twentieth longer than the fastest are as good: the least memory decides.
constexpr std::uint64_t kAlike = 20;
/// More serial steps than leave so small a part of the limit are not tried.
constexpr std::uint64_t kRoomy = 4;

/// What a tile does in one serial step of a plan.
struct LookupCost {
  std::uint64_t table_bytes = 0;  ///< of the tile's part of the table
  std::uint64_t table_received = 0;
  std::uint64_t offsets = 0;      ///< that the tile looks for
  std::uint64_t in_range = 0;     ///< of those, found there if they are uniform
  std::uint64_t columns = 0;      ///< elements of a row on the tile
  std::uint64_t found_bytes = 0;  ///< of rows, before they are brought together
  std::uint64_t second_offsets = 0;
};

/// Columns come in multiples of what is stored at once (section 6).
std::uint64_t ColumnGrain(const Target& target, const RowLookup& lookup) {
  return std::max<std::uint64_t>(target.atomic_store_bytes / ElementBytes(lookup.element.element),
                                 1);
}

std::uint64_t ColumnsOnTile(const Target& target, const RowLookup& lookup, const LookupPlan& plan) {
  const std::uint64_t grain = ColumnGrain(target, lookup);
  return std::min(CeilDivide(CeilDivide(lookup.columns, grain), plan.columns) * grain,
                  lookup.columns);
}

LookupCost CostOf(const Target& target, const RowLookup& lookup, const LookupPlan& plan) {
  const std::uint64_t element = ElementBytes(lookup.element.element);
  LookupCost cost;
  const std::uint64_t groups = CeilDivide(lookup.groups, plan.groups);
  const std::uint64_t rows = CeilDivide(lookup.rows, plan.rows);
  cost.columns = ColumnsOnTile(target, lookup, plan);
  cost.table_bytes = groups * rows * cost.columns * element;
  cost.table_received = cost.table_bytes - cost.table_bytes / plan.lookups;
  cost.offsets = groups * CeilDivide(lookup.lookups, plan.lookups * plan.serial);
  cost.in_range = CeilDivide(cost.offsets, plan.rows);
  cost.found_bytes = cost.offsets * cost.columns * element;
  cost.second_offsets = plan.rows > 1 ? CeilDivide(cost.offsets, plan.rows) : 0;
  return cost;
}

std::uint64_t VertexCycles(const Target& target, LookupKind kind, const RowLookup& lookup,
                           const LookupCost& cost) {
  const MultiSliceVertex vertex{.format = FormatOf(lookup.element),
                                .offsets = cost.offsets,
                                .offsets_in_range = cost.in_range,
                                .row_elements = cost.columns};
  switch (kind) {
    case LookupKind::kSlice:
      return MultiSliceVertexCycles(target, vertex);
    case LookupKind::kUpdate:
      return MultiUpdateVertexCycles(target, vertex);
    case LookupKind::kUpdateAdd:
      return MultiUpdateAddVertexCycles(target, vertex);
  }
  return 0;
}

/// What all tiles receive alike is sent once.
TileExchange Receive(std::uint64_t bytes, std::uint64_t sources) {
  return {.bytes_received = bytes,
          .bytes_sent = bytes,
          .sends = 1,
          .receives = std::max<std::uint64_t>(sources, 1)};
}

/// Offsets lie linearly: on a tile as many as fill it at least (section 6).
TileExchange ReceiveOffsets(const Target& target, const LookupCost& cost) {
  const std::uint64_t bytes = cost.offsets * kOffsetBytes;
  return Receive(bytes,
                 std::min<std::uint64_t>(CeilDivide(bytes, kLeastBytesOnTile), target.tiles));
}

/// Every tile has other rows for each tile that shares the lookups.
TileExchange ReceiveCandidates(const LookupPlan& plan, const LookupCost& cost) {
  TileExchange exchange = Receive(cost.found_bytes, plan.rows);
  exchange.sends = exchange.receives;
  return exchange;
}

std::uint64_t TotalCycles(const Target& target, const RowLookup& lookup, const LookupPlan& plan,
                          const LookupCost& cost) {
  std::uint64_t step = ExchangeCycles(target, ReceiveOffsets(target, cost)) +
                       VertexCycles(target, LookupKind::kSlice, lookup, cost);
  if (plan.rows > 1) {
    step += ExchangeCycles(target, ReceiveCandidates(plan, cost));
    step += MultiSliceVertexCycles(target, {.format = FormatOf(lookup.element),
                                            .offsets = cost.second_offsets,
                                            .offsets_in_range = cost.second_offsets,
                                            .row_elements = cost.columns});
  }
  std::uint64_t total = step * plan.serial;
  if (plan.lookups > 1) total += ExchangeCycles(target, Receive(cost.table_received, plan.lookups));
  return total;
}

std::vector<LookupPlan> CandidatePlans(const Target& target, std::uint64_t tiles,
                                       std::uint64_t limit, const RowLookup& lookup) {
  std::vector<LookupPlan> plans;
  LookupPlan plan;
  plan.groups = std::min(lookup.groups, tiles);
  const std::uint64_t grain = ColumnGrain(target, lookup);
  for (const std::uint64_t columns :
       Parts(CeilDivide(lookup.columns, grain), tiles / plan.groups)) {
    plan.columns = columns;
    for (const std::uint64_t rows : Parts(lookup.rows, tiles / (plan.groups * columns))) {
      plan.rows = rows;
      const std::uint64_t left = tiles / (plan.groups * columns * rows);
      for (const std::uint64_t parts : {std::uint64_t{1}, std::min(left, lookup.lookups)}) {
        plan.lookups = parts;
        for (plan.serial = 1; plan.serial <= kMostSerialSteps; plan.serial *= 2) {
          const LookupCost cost = CostOf(target, lookup, plan);
          plan.temporary_bytes = cost.offsets * kOffsetBytes +
                                 (rows > 1 ? 2 * cost.found_bytes : 0) +
                                 (parts > 1 ? cost.table_bytes : 0);
          plan.table_bytes = cost.table_bytes / parts;
          plan.cycles = TotalCycles(target, lookup, plan, cost);
          plans.push_back(plan);
          if (plan.temporary_bytes <= limit / kRoomy) break;
        }
      }
    }
  }
  return plans;
}

}  // namespace

LookupPlan PlanLookup(const Target& target, const PlanOptions& options, std::uint64_t tiles,
                      const RowLookup& lookup) {
  const auto limit = static_cast<std::uint64_t>(options.available_memory_proportion *
                                                static_cast<double>(target.sram_bytes_per_tile));
  const std::vector<LookupPlan> plans = CandidatePlans(target, tiles, limit, lookup);
  const auto less_memory = [](const LookupPlan& a, const LookupPlan& b) {
    return a.bytes() < b.bytes();
  };
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const LookupPlan& plan : plans) {
    if (plan.bytes() <= limit) fewest = std::min(fewest, plan.cycles);
  }
  const LookupPlan* best = nullptr;
  for (const LookupPlan& plan : plans) {
    const bool fast = plan.bytes() <= limit && plan.cycles <= fewest + fewest / kAlike;
    if (fast && (best == nullptr || less_memory(plan, *best))) best = &plan;
  }
  return best != nullptr ? *best : *std::min_element(plans.begin(), plans.end(), less_memory);
}

Layout TableLayout(StepBuilder& steps, const RowLookup& lookup, const TensorType& table) {
  const LookupPlan plan = PlanLookup(steps.target(), steps.options(), steps.tiles().count, lookup);
  return GridLayout(steps.tiles(), table,
                    {.stride = 1,
                     .extent = lookup.columns,
                     .group = ColumnsOnTile(steps.target(), lookup, plan),
                     .parts = plan.columns,
                     .others = plan.rows * plan.groups,
                     .copies = plan.lookups,
                     .place = lookup.place});
}

Placed AddLookup(StepBuilder& steps, LookupKind kind, const RowLookup& lookup,
                 const TensorType& result) {
  const Target& target = steps.target();
  const LookupPlan plan = PlanLookup(target, steps.options(), steps.tiles().count, lookup);
  const LookupCost cost = CostOf(target, lookup, plan);
  const Layout layout = GridLayout(steps.tiles(), result,
                                   {.stride = 1,
                                    .extent = lookup.columns,
                                    .group = ColumnsOnTile(steps.target(), lookup, plan),
                                    .parts = plan.columns,
                                    .others = plan.lookups * plan.rows * plan.groups,
                                    .place = lookup.place});
  const TileRange tiles = layout.mapping.tiles;
  const std::string codelet = kind == LookupKind::kSlice    ? "popops::MultiSlice"
                              : kind == LookupKind::kUpdate ? "popops::MultiUpdate"
                                                            : "popops::MultiUpdateAdd";
  steps.Hold(plan.temporary_bytes);
  if (plan.lookups > 1) {
    steps.Exchange("broadcast table", tiles, Receive(cost.table_received, plan.lookups));
  }
  {
    const RepeatScope serial(steps, plan.serial);
    steps.Exchange("broadcast offsets", tiles, ReceiveOffsets(target, cost));
    steps.Compute({.name = "look up",
                   .vertex = codelet,
                   .tiles = tiles,
                   .vertex_cycles = VertexCycles(target, kind, lookup, cost),
                   .state = VertexState::kMultiSlice,
                   .edges = 3});
    if (plan.rows > 1 && kind == LookupKind::kSlice) {
      steps.Exchange("exchange candidates", tiles, ReceiveCandidates(plan, cost));
      steps.Compute(
          {.name = "second look up",
           .vertex = codelet,
           .tiles = tiles,
           .vertex_cycles = MultiSliceVertexCycles(target, {.format = FormatOf(lookup.element),
                                                            .offsets = cost.second_offsets,
                                                            .offsets_in_range = cost.second_offsets,
                                                            .row_elements = cost.columns}),
           .state = VertexState::kMultiSlice,
           .edges = 3});
    }
  }
  steps.Release(plan.temporary_bytes);
  return {result, layout, false, true};
}

}  // namespace poprt::ipu
