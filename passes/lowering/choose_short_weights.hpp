#pragma once

#include "passes/pass.hpp"

namespace poprt::passes {

/// Products of one row take as long as their weights take to come from the caches or from memory;
/// for 128 rows and more weights are a small part of the time, and of memory the largest. Where
/// these are 64 KiB and 64 columns or more, of float32, and not integers by choose_integer_weights,
/// they are stored as integers of 16 bits with a scale for every 64 of a column
/// (scaled_panels.hpp): of random numbers results are 2.3e-5 off. So are those of 64 to 127 rows
/// from 1 MiB on, those of two to four rows from 4 MiB on, or from 1 MiB on where such products
/// have 8 MiB together, those of 16 to 63 rows from 1 MiB on where such products have 32 MiB
/// together, the weights of the state of recurrent operators with one sequence, where they are 64
/// KiB or more, and with them those of the inputs where there is one step. Where that would take
/// more than 2^-14 of a column, or 2^-13 of rows on average, they stay float32. Filters of 1 MiB or
/// more are stored so, too: those of direct convolutions over 49 pixels or more and those that were
/// transformed for Winograd's smaller tile. Without this pass all stay float32.
///
/// before: FusedMatMul(x, w)      after: FusedMatMul(x, w) short_weights=1
absl::Status ChooseShortWeights(ir::Graph& graph, const PassContext& context);

}  // namespace poprt::passes
