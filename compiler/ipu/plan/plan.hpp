#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ipu/plan/plan_options.hpp"
#include "compiler/ipu/target/target.hpp"
#include "runtime/tensor/element_type.hpp"

/// What a program does on an IPU, step by step, priced. Cycles are those of the tile clock, bytes
/// are bytes of tile memory; both are predictions by the formulas of compiler/ipu/cost.
namespace poprt::ipu {

/// Consecutive tiles of one IPU.
struct TileRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// What the tiles of a superstep do. Phases follow each other, they never overlap, except that
/// those of the host run on I/O tiles beside the compute tiles when there are any.
enum class Phase : std::uint8_t {
  kCompute,      ///< a compute set: vertices
  kExchange,     ///< tiles send each other data, with the sync before it
  kCopy,         ///< data rearranged within each tile
  kHostLoad,     ///< stream copy from the host
  kHostStore,    ///< stream copy to the host
  kIoToCompute,  ///< exchange from I/O tiles to compute tiles
  kComputeToIo,  ///< exchange from compute tiles to I/O tiles
};

/// One priced step of bulk-synchronous execution.
struct Superstep {
  Phase phase = Phase::kCompute;
  std::string name;    ///< what it is for: "calculate", "broadcast weights", "reduce max"
  std::string vertex;  ///< codelet of a compute set or copy, as the libraries call it; else empty
  TileRange tiles = {};
  std::uint64_t repeats = 1;  ///< how often it runs: serial splits of a product, trips of a loop
  std::uint64_t cycles = 0;   ///< of the slowest tile, once, launch or sync included
  std::uint64_t total_cycles = 0;         ///< over all tiles, once: what tiles are busy with
  std::uint64_t vertices = 0;             ///< instances over all tiles
  std::uint64_t edges = 0;                ///< connections of vertices to tensors, over all tiles
  std::uint64_t bytes = 0;                ///< received or copied over all tiles, once
  std::uint64_t temporary_bytes = 0;      ///< on a tile, beyond inputs and outputs of the operator
  std::uint64_t vertex_state_bytes = 0;   ///< on a tile
  std::uint64_t exchange_code_bytes = 0;  ///< on a tile, on average
  std::uint64_t control_code_bytes = 0;   ///< on a tile
  bool reads_weights = false;             ///< an exchange with weights among what is sent
  bool at_call = false;  ///< brings arguments to shared code: each call has its own
};

/// Index of a tensor in its graph's plan.
using TensorIndex = std::uint32_t;

/// How a tensor lies in the memory of the tiles: `bytes_per_tile` on each of them but the last,
/// which may have less.
struct TileMapping {
  TileRange tiles = {};
  std::uint64_t bytes_per_tile = 0;
  /// Elements that stand together in every layout that fits the consumer, in bytes: smaller ones
  /// make rearranging dearer.
  std::uint64_t grain_bytes = 0;
};

enum class TensorKind : std::uint8_t {
  kActivation,
  kInput,     ///< written by the host
  kOutput,    ///< read by the host
  kConstant,  ///< weights of the program
  kVariable,  ///< weights that the host loads
};

/// A tensor and when it is live: from the operator that makes it to the last that reads it.
struct TensorPlan {
  std::string name;
  TensorKind kind = TensorKind::kActivation;
  ElementType element_type = ElementType::kFloat32;
  std::uint64_t bytes = 0;
  TileMapping mapping = {};
  std::size_t first = 0;  ///< operator that writes it; 0 for what is there from the start
  std::size_t last = 0;   ///< last operator that reads it
  /// Number of the weight in the whole program: equal ones, also of other graphs, are stored once.
  std::optional<std::uint64_t> shared = {};
  /// The tensor in whose memory it is: as a view of it or computed in place of it. That one is in
  /// no other's memory.
  std::optional<TensorIndex> storage = {};

  bool always_live() const {
    return kind == TensorKind::kConstant || kind == TensorKind::kVariable;
  }
};

/// One operator of the model as supersteps.
struct OperatorPlan {
  std::string name;  ///< of the node
  std::string op;    ///< ONNX operator
  std::uint64_t flops = 0;
  std::vector<TensorIndex> inputs = {};
  std::vector<TensorIndex> outputs = {};
  std::vector<Superstep> steps = {};
  std::string grid =
      {};  ///< how a product is split: "3 x 54 x 9 of 243 x 64 x 128"; empty for others
  /// The operator of the same graph whose code it calls, when outlining found them alike.
  std::optional<std::size_t> outlined = {};
  std::uint32_t ipu = 0;    ///< where it runs
  std::uint32_t stage = 0;  ///< of the pipeline

  /// Without stream copies, which take the time of the host (Performance).
  std::uint64_t cycles() const {
    std::uint64_t sum = 0;
    for (const Superstep& step : steps) {
      if (step.phase == Phase::kHostLoad || step.phase == Phase::kHostStore) continue;
      sum += step.cycles * step.repeats;
    }
    return sum;
  }
};

/// One graph of the program.
struct GraphPlan {
  std::string name;
  std::vector<TensorPlan> tensors = {};
  /// In the order in which they run: first "HostLoad", last "HostStore".
  std::vector<OperatorPlan> operators = {};
  std::vector<std::string> notes = {};  ///< what was relaxed and why
  std::uint64_t samples = 1;     ///< of a batch: the first extent that most inputs and outputs have
  bool same_first_axis = false;  ///< every input and output has that first extent
  std::uint64_t input_bytes = 0;   ///< of a batch, from the host
  std::uint64_t output_bytes = 0;  ///< of a batch, to the host

  /// Of a batch on the compute tiles, without the host.
  std::uint64_t cycles() const {
    std::uint64_t sum = 0;
    for (const OperatorPlan& op : operators) sum += op.cycles();
    return sum;
  }
};

/// Bytes on one tile, by what they are for (section 3.3).
enum class MemoryCategory : std::uint8_t {
  kVariablesAlwaysLive,     ///< weights
  kVariablesNotAlwaysLive,  ///< activations and temporaries, at the step where the tile is fullest
  kConstants,
  kVertexCode,
  kVertexState,
  kInternalExchangeCode,
  kHostExchangeCode,
  kControlCode,
  kStack,
};
inline constexpr std::size_t kMemoryCategories = 9;

/// Memory of one tile.
struct TileMemory {
  std::uint64_t bytes[kMemoryCategories] = {};
  std::uint64_t gap_bytes = 0;   ///< lost between what lies there; not in total()
  std::uint32_t peak_graph = 0;  ///< the graph and the operator at which it is fullest
  std::uint32_t peak_operator = 0;

  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t b : bytes) sum += b;
    return sum;
  }
};

/// Bytes that are not always live, over all tiles of an IPU, at one operator.
struct LivenessPoint {
  std::uint64_t bytes = 0;         ///< over all tiles
  std::uint64_t fullest_tile = 0;  ///< bytes of the tile that has most
};

/// Memory of the whole program.
struct MemoryPlan {
  std::vector<TileMemory> tiles = {};                     ///< of every IPU, one IPU after the other
  std::vector<std::vector<LivenessPoint>> liveness = {};  ///< of every graph, at every operator
  std::vector<std::uint64_t> graph_bytes = {};            ///< of every graph alone, over all tiles
  /// Saved, over all tiles, since graphs share them.
  std::uint64_t shared_weight_bytes = 0;
  std::uint64_t shared_activation_bytes = 0;
  std::uint64_t shared_code_bytes = 0;
  std::vector<std::uint32_t> overflowing = {};  ///< tiles out of memory, the fullest first

  /// Bytes of the tile that holds most; 0 without tiles.
  std::uint64_t fullest_tile() const {
    std::uint64_t most = 0;
    for (const TileMemory& tile : tiles) most = std::max(most, tile.total());
    return most;
  }
};

/// Predicted performance of one graph on the platform (section 5.1).
struct Performance {
  std::uint64_t compute_cycles = 0;  ///< of a batch on the compute tiles
  double host_load_seconds = 0;      ///< of a batch
  double host_store_seconds = 0;
  std::uint64_t io_copy_cycles = 0;  ///< between I/O and compute tiles, of a batch
  double serial_seconds = 0;         ///< of a batch, when host and tiles wait for each other
  double overlap_seconds = 0;  ///< of a batch in the steady state, with I/O tiles; else the serial
  double latency_seconds = 0;  ///< from request to answer
  double throughput = 0;       ///< samples a second
};

/// The plan of a program: every graph on the same tiles.
struct Plan {
  Target target = {};
  Platform platform = {};
  PlanOptions options = {};
  TilePartition partition = {};
  std::string partition_reason = {};  ///< why that many I/O tiles; empty when the user said so
  std::vector<GraphPlan> graphs = {};
  MemoryPlan memory = {};
  std::vector<Performance> performance = {};  ///< of every graph
};

}  // namespace poprt::ipu
