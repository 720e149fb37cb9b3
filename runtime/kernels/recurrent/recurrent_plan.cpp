#include "runtime/kernels/recurrent/recurrent_plan.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/rounds.hpp"

namespace poprt::kernels {
namespace {

/// Rows of a chunk, of two threads' sequences: enough to read weights rarely, few enough that the
/// gates stay in a cache.
constexpr std::int64_t kRowsOfChunk = 256;
/// Multiplications of a task of one step, some 0.7 microseconds, and of a step that is worth
/// sharing out. Up to three rows are multiplied as fast as the weights come.
constexpr std::int64_t kWorkOfTask = 1 << 15;
constexpr std::int64_t kWorkOfStep = 3 << 13;
constexpr std::int64_t kRowsForFree = 3;
/// Inputs from which on 16 gates take longer to compute than to read from another core, and
/// multiplications of a task of such.
constexpr std::int64_t kFarInputs = 512;
constexpr std::int64_t kWorkOfInputTask = 1 << 20;
/// Numbers between the starts of two parts are a multiple of a cache line.
constexpr std::int64_t kAlignment = 16;

/// Gives out parts of the scratch memory, one behind the other.
class PartList {
 public:
  std::int64_t Add(const Shape& extents) {
    const auto count = CheckedElementCount(extents);
    constexpr std::int64_t kLimit = std::int64_t{1} << 56;
    Require(count && *count < kLimit && end_ < kLimit, "the operands are too large");
    const std::int64_t at = end_;
    end_ += (*count + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  std::int64_t end() const { return end_; }

 private:
  std::int64_t end_ = 0;
};

/// Those of RecurrentCells, and with a limit only where these have it.
bool HasUsualFunctions(RecurrentKind kind, const RecurrentOptions& options) {
  const std::size_t each = ActivationsOf(kind);
  for (std::size_t i = 0; i < options.activations.size(); ++i) {
    using Function = RecurrentActivation::Function;
    const Function usual = i % each == 0 ? Function::kSigmoid : Function::kTanh;
    if (options.activations[i].function != usual) return false;
  }
  const bool is_limited = options.clip < std::numeric_limits<float>::infinity();
  return !options.input_forget && (!is_limited || kind == RecurrentKind::kLstm);
}

/// Where threads share out sequences: those of a part, at most and at least, and at least of LSTM,
/// whose cells take several panels, where a step of them has so many multiplications.
constexpr std::int64_t kMostSequences = 16;
constexpr std::int64_t kLeastSequences = 4;
constexpr std::int64_t kLeastOfLongSteps = 2;
constexpr double kWorkOfLongStep = 1 << 15;
/// Bytes of the weights of all directions, at most, which every thread then reads alone, and
/// multiplications that are worth it, some 5 microseconds.
constexpr double kNearBytes = 512 << 10;
constexpr double kWorkOfParts = 1 << 18;

std::int64_t SequencesOfPart(const RecurrentPlan& plan) {
  const RecurrentShape& shape = plan.shape;
  const double weights = static_cast<double>(plan.options.directions * plan.gates * shape.hidden) *
                         static_cast<double>(shape.inputs + shape.hidden);
  const double bytes = weights * (plan.half_weights ? 2 : 4);
  const double work = weights * static_cast<double>(shape.steps) * static_cast<double>(shape.batch);
  const bool has_long_steps =
      plan.kind == RecurrentKind::kLstm && weights * kLeastOfLongSteps >= kWorkOfLongStep;
  const std::int64_t least = has_long_steps ? kLeastOfLongSteps : kLeastSequences;
  const bool is_shared =
      plan.packed && bytes <= kNearBytes && work >= kWorkOfParts && shape.batch >= 2 * least;
  if (!is_shared) return shape.batch;
  // An even number of parts, of which two threads have the same.
  return CeilDiv(shape.batch, 2 * CeilDiv(shape.batch, 2 * kMostSequences));
}

// Cycles of the unit for a step of the depth of a panel of R that has been split before and a tile
// of the state's rows, and for each of these rows; of splitting such a step once for all steps of
// time; and of a row, a panel and a step without the unit. Measured.
constexpr double kTileCycles = 45;
constexpr double kTileRowCycles = 2.9;
constexpr double kSplitCycles = 160;
constexpr double kOrdinaryRowCycles = 19;
/// Sequences of a batch, at least, and numbers of their state, at most, that each thread splits.
constexpr std::int64_t kFewestSplitRows = 6;
constexpr std::int64_t kMostSplitNumbers = 1 << 17;
/// From so many rows on no tile of registers has so few that it sums them in several chains, see
/// RegisterTiles. Two rows and four are such tiles, too.
constexpr std::int64_t kRowsOfOneChain = 8;
constexpr std::int64_t kTwiceTwoRows = 4;

/// Whether the state of `rows` sequences is multiplied faster on a matrix unit.
bool SplittingPays(const RecurrentPlan& plan, std::int64_t rows) {
  const RecurrentShape& shape = plan.shape;
  if (rows < kFewestSplitRows || rows * plan.padded > kMostSplitNumbers) return false;
  const auto tiles = static_cast<double>(CeilDiv(rows, kSplitRows));
  const double on_unit = kTileCycles * tiles + kTileRowCycles * static_cast<double>(rows);
  const double saved = kOrdinaryRowCycles * static_cast<double>(rows) - on_unit;
  return saved * static_cast<double>(shape.steps) > kSplitCycles;
}

}  // namespace

RecurrentPlan::RecurrentPlan(RecurrentKind which, const KernelCall& call, const InnerLoops& with)
    : kind(which),
      options(ReadRecurrentOptions(which, call.attributes)),
      shape(CheckRecurrentOperands(which, options, call.attributes, call.inputs)),
      x_strides(RowStrides(options.x_axes, shape, options.directions)),
      y_strides(RowStrides(options.y_axes, shape, options.directions)),
      loops(&with),
      packed(call.attributes.get_int("packed", 0) != 0),
      half_weights(packed && call.inputs[0].element == ElementType::kFloat16),
      scaled_inputs(packed && call.inputs[RecurrentInput::kW].element == ElementType::kInt32),
      gates(GatesOf(which)),
      panels(CeilDiv(shape.hidden, kPanel)),
      layout(gates, shape.hidden),
      padded(panels * kPanel) {
  if (packed && call.inputs[RecurrentInput::kR].element == ElementType::kInt32) {
    state_in_parts.emplace(*loops->wide_rows, 1, shape.hidden);
  }
  ChooseFunctions();
  CutSequences(call);
  CutIntoTasks();
  PlaceParts(call);
}

void RecurrentPlan::ChooseFunctions() {
  if (loops == &PortableInnerLoops()) return;
  sigmoid = FunctionNamed(loops->element_functions, "sigmoid")->loop;
  tanh = FunctionNamed(loops->element_functions, "tanh")->loop;
  if (HasUsualFunctions(kind, options)) cells = &loops->recurrent_cells;
}

void RecurrentPlan::CutSequences(const KernelCall& call) {
  sequences = SequencesOfPart(*this);
  const std::int64_t of_two_threads = std::min(2 * sequences, shape.batch);
  chunk = std::max<std::int64_t>(1, kRowsOfChunk / std::max<std::int64_t>(1, of_two_threads));
  chunk = std::min(BlockSizes(call.attributes, {chunk})[0], std::max<std::int64_t>(1, shape.steps));
  if (call.inputs[0].element != ElementType::kFloat64) matrix_unit = loops->matrix_unit;
  const PanelNumbers numbers = half_weights ? PanelNumbers::kHalf : PanelNumbers::kFloat;
  const bool splits_inputs =
      matrix_unit != nullptr && !scaled_inputs && shape.inputs <= kMostSplitStride &&
      SplitBlocking::Pays(chunk * sequences, gates * panels, shape.inputs, numbers);
  // On the unit, in one chain, and row by row, no sum depends on how many rows there are.
  const bool has_equal_sums =
      layout.shared == 0 &&
      (splits_inputs || shape.batch == kTwiceTwoRows || shape.batch / 2 >= kRowsOfOneChain);
  sequences_alone = shape.batch <= kSplitRows && has_equal_sums ? shape.batch : sequences;
  if (matrix_unit != nullptr && !state_in_parts && SplittingPays(*this, sequences_alone)) {
    state_steps = CeilDiv(shape.hidden, kSplitStep);
  } else if (shape.batch != kTwiceTwoRows) {
    sequences_alone = sequences;
  }
  if (splits_inputs) split.emplace(chunk * sequences_alone, gates * panels, shape.inputs, numbers);
  unit = sequences <= kTileRows || SplitsState() ? kMostTilePanels : kTilePanels;
}

void RecurrentPlan::CutIntoTasks() {
  const std::int64_t d = options.directions;
  const std::int64_t rows = sequences == 0 ? 0 : std::max(sequences, kRowsForFree);
  const double work = static_cast<double>(d * gates * padded) * static_cast<double>(shape.hidden) *
                      static_cast<double>(rows);
  if (work >= kWorkOfStep) {
    // An even number, of which two threads have the same, and of whole units where it can be.
    const double pairs = std::ceil(static_cast<double>(d * panels) / static_cast<double>(2 * unit));
    tasks = 2 * static_cast<std::int64_t>(std::min(std::ceil(work / (2 * kWorkOfTask)), pairs));
    tasks = std::min(tasks, d * panels);
  }
  input_tasks = tasks;
  if (shape.inputs >= kFarInputs) {
    const double rows_of_chunk = static_cast<double>(chunk) * static_cast<double>(sequences);
    const double input_work =
        static_cast<double>(d * gates * padded) * static_cast<double>(shape.inputs) * rows_of_chunk;
    const double wanted = std::min(input_work / kWorkOfInputTask, static_cast<double>(d * panels));
    input_tasks = std::max(tasks, static_cast<std::int64_t>(wanted));
  }
}

void RecurrentPlan::PlaceParts(const KernelCall& call) {
  const std::int64_t d = options.directions;
  const bool linear = options.linear_before_reset;
  PartList list;
  parts.w = list.Add({packed ? 0 : d * gates, padded, shape.inputs});
  parts.r = list.Add({packed ? 0 : d * gates, padded, shape.hidden});
  parts.bias = list.Add({d, gates, padded});
  parts.recurrent_bias = list.Add({linear ? d : 0, padded});
  const bool has_peepholes = InputOrAbsent(call, RecurrentInput::kP).defined();
  parts.peepholes = list.Add({has_peepholes ? d : 0, 3, padded});
  parts.rows = list.Add({d, chunk, sequences_alone, shape.inputs});
  parts.tiles = list.Add({d, gates, chunk, sequences_alone, padded});
  parts.shared = list.Add({d, layout.shared, chunk, sequences_alone, kPanel});
  parts.hidden = list.Add({d, 2, sequences_alone, padded});
  parts.cell = list.Add({kind == RecurrentKind::kLstm ? d : 0, sequences_alone, padded});
  parts.reset = list.Add({kind == RecurrentKind::kGru ? d : 0, sequences_alone, padded});
  const std::int64_t threads =
      sequences < shape.batch ? 1 : std::min<std::int64_t>(tasks, kMostRoundParts);
  if (state_in_parts) parts.in_parts = list.Add({threads, d, state_in_parts->Elements()});
  if (SplitsState()) {
    const std::int64_t tile = kSplitStepNumbers / 2;  // in floats
    parts.split_r = list.Add({d, gates, panels, state_steps, tile});
    parts.split_state =
        list.Add({threads, d, CeilDiv(sequences_alone, kSplitRows), state_steps, tile});
  }
  parts.end = list.end();
  const std::size_t size = call.inputs[0].element == ElementType::kFloat64 ? 8 : 4;
  lengths_at = static_cast<std::size_t>(parts.end) * size;
  split_at = ScratchBytes(lengths_at + static_cast<std::size_t>(sequences_alone) * 8);
  scratch_bytes = split_at;
  if (split) scratch_bytes += split->ScratchBytes();
}

}  // namespace poprt::kernels
