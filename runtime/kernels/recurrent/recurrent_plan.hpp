#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/kernels/inner_loops.hpp"
#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/matrix_unit/split_blocking.hpp"
#include "runtime/kernels/packed/rows_in_parts.hpp"
#include "runtime/kernels/recurrent/recurrent_options.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"

namespace poprt::kernels {

/// One use of a recurrent kernel: what it computes, how time is cut, where its scratch memory is.
///
/// The input's part of all gates is computed for a chunk of time steps at once, as one matrix
/// product; then each step adds the state's part. Gate values stand in tiles: for every direction
/// and gate and panel of 16 units, (steps of the chunk * sequences) x 16.
struct RecurrentPlan {
  RecurrentPlan(RecurrentKind which, const KernelCall& call, const InnerLoops& loops);

  RecurrentKind kind;
  RecurrentOptions options;
  RecurrentShape shape;
  RecurrentStrides x_strides;  ///< of X, and of Y
  RecurrentStrides y_strides;
  const InnerLoops* loops;
  /// The processor's own forms of these, null where results are the same on every processor.
  ElementLoop sigmoid = nullptr;
  ElementLoop tanh = nullptr;
  /// The same, if all functions are those by default.
  const RecurrentCells* cells = nullptr;
  bool packed = false;         ///< W and R come packed
  bool half_weights = false;   ///< and hold float16
  bool scaled_inputs = false;  ///< and W holds scaled panels
  /// And R does: what it is multiplied by then.
  std::optional<RowsInParts> state_in_parts = std::nullopt;
  std::int64_t gates = 0;
  /// Of the part of a batch that one thread computes alone, without waiting for others at each
  /// step; the last part may have fewer. All of them where threads share panels instead.
  std::int64_t sequences = 0;
  /// The same where there is one thread: all that fit a tile of the matrix unit.
  std::int64_t sequences_alone = 0;
  std::int64_t panels = 0;      ///< of 16 hidden units
  RecurrentPanelLayout layout;  ///< of W and R
  std::int64_t unit = 0;    ///< panels that are computed one after the other, most of them at once
  std::int64_t padded = 0;  ///< hidden units up to a whole panel
  std::int64_t chunk = 0;   ///< steps whose input part is computed at once: the only block size
  /// Into which the panels of one step are cut evenly; 1 when steps are too small to share them
  /// out.
  std::int64_t tasks = 1;
  /// The same for the input's part of the gates of a chunk: `tasks`, so that who ends a gate has
  /// computed all of it, unless computing takes longer than reading what another core has computed.
  /// On the matrix unit there are as many as workers instead, where they are shared out.
  std::int64_t input_tasks = 1;
  /// Null where the processor has none, and for float64.
  const MatrixUnit* matrix_unit = nullptr;
  /// For the input's part, where the unit is faster.
  std::optional<SplitBlocking> split = std::nullopt;
  /// For the state's part: steps of the unit's depth that R has. It is split once for all steps of
  /// time. 0 where the unit is not faster.
  std::int64_t state_steps = 0;
  bool SplitsState() const { return state_steps > 0; }

  /// Parts of the scratch memory, counted in numbers of the type computed with.
  struct Parts {
    std::int64_t w = 0;               ///< as PackRecurrentWeights, unless `packed`
    std::int64_t r = 0;               ///< the same
    std::int64_t bias = 0;            ///< [directions, gates, padded]
    std::int64_t recurrent_bias = 0;  ///< [directions, padded]: that of R, GRU's gate h
    std::int64_t peepholes = 0;       ///< [directions, 3, padded]
    std::int64_t rows = 0;    ///< [directions, chunk, sequences_alone, inputs]: X in order of steps
    std::int64_t tiles = 0;   ///< [directions, gates, panels, chunk, sequences_alone, 16]
    std::int64_t shared = 0;  ///< [directions, shared panels, chunk, sequences_alone, 16]
    std::int64_t hidden = 0;  ///< [directions, 2, sequences_alone, padded]: before and after a step
    std::int64_t cell = 0;    ///< [directions, sequences_alone, padded]
    std::int64_t reset = 0;   ///< GRU: [directions, sequences_alone, padded], or tiles of one step
    /// [threads of a step, directions] of state_in_parts, each thread's own
    std::int64_t in_parts = 0;
    /// Tiles of the matrix unit: [directions, gates, panels] of R, and of the state, [threads of a
    /// step, directions, tiles of rows].
    std::int64_t split_r = 0;
    std::int64_t split_state = 0;
    std::int64_t end = 0;
  };
  Parts parts;
  std::size_t lengths_at = 0;  ///< byte offset of int64[sequences_alone]
  std::size_t split_at = 0;    ///< byte offset of what `split` needs, of each worker its own
  std::size_t scratch_bytes = 0;

 private:
  void ChooseFunctions();
  void CutSequences(const KernelCall& call);
  void CutIntoTasks();
  void PlaceParts(const KernelCall& call);
};

}  // namespace poprt::kernels
