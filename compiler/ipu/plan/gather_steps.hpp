#pragma once

#include <string>

#include "compiler/ipu/plan/step_builder.hpp"

namespace poprt::ipu {

/// Rows taken out of a table, or put into one (section 2.9).
struct RowLookup {
  std::uint64_t rows = 1;     ///< of the table
  std::uint64_t columns = 1;  ///< elements of a row
  std::uint64_t lookups = 1;
  std::uint64_t groups = 1;  ///< tables, with as many lookups each
  TensorType element = {};   ///< only its element type counts
  /// Tables that are smaller than all tiles start where this number says, and so does what is found
  /// in them.
  std::uint64_t place = 1;
};

enum class LookupKind : std::uint8_t { kSlice, kUpdate, kUpdateAdd };

/// How a lookup is divided: columns and rows of the table, lookups side by side and one after the
/// other.
struct LookupPlan {
  std::uint64_t groups = 1;
  std::uint64_t columns = 1;
  std::uint64_t rows = 1;
  std::uint64_t lookups = 1;
  std::uint64_t serial = 1;
  std::uint64_t cycles = 0;
  std::uint64_t temporary_bytes = 0;
  std::uint64_t table_bytes = 0;  ///< that lie on a tile

  std::uint64_t bytes() const { return temporary_bytes + table_bytes; }

  std::uint64_t tiles() const { return groups * columns * rows * lookups; }
};

/// The plan of least cycles whose temporaries and part of the table fit into
/// available_memory_proportion of a tile; the one that needs least when none does.
LookupPlan PlanLookup(const Target& target, const PlanOptions& options, std::uint64_t tiles,
                      const RowLookup& lookup);

/// Adds the steps of a lookup: offsets and, where lookups are split, the table are broadcast, every
/// tile looks for its rows, and what was found on tiles with different rows is brought together.
/// The result is laid out by columns and lookups.
Placed AddLookup(StepBuilder& steps, LookupKind kind, const RowLookup& lookup,
                 const TensorType& result);

/// Where a table that a plan divides lies.
Layout TableLayout(StepBuilder& steps, const RowLookup& lookup, const TensorType& table);

}  // namespace poprt::ipu
