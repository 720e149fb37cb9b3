#include "compiler/ipu/memory/remedies.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/memory/plan_memory.hpp"
#include "compiler/ipu/memory/program_bytes.hpp"
#include "compiler/ipu/memory/tile_contents.hpp"

namespace poprt::ipu {
namespace {

/// Proportions below are discouraged: the planner finds hardly anything that fits (section 6).
constexpr double kLeastProportion = 0.05;
constexpr std::uint32_t kFewestIoTiles = 32;
constexpr std::uint64_t kBytesOfEveryProgram = kStackBytes + kFixedControlCodeBytes +
                                               kFixedHostExchangeCodeBytes + kFixedVertexCodeBytes +
                                               kFixedInternalExchangeCodeBytes;

/// Looks at the fullest tile.
class RemedyFinder {
 public:
  explicit RemedyFinder(const Plan& plan)
      : plan_(plan),
        tile_(plan.memory.overflowing.front()),
        memory_(plan.memory.tiles[tile_]),
        contents_(ContentsOf(plan, tile_)),
        sram_(plan.target.sram_bytes_per_tile),
        excess_(NeededBytes(memory_) > sram_ ? NeededBytes(memory_) - sram_ : 0) {}

  std::vector<std::string> Find() && {
    if (ExecutableBytes(memory_) > plan_.target.executable_bytes) ForCode();
    if (excess_ == 0) return std::move(lines_);
    if (IsIoTile()) {
      ForIoTiles();
    } else {
      ForTemporaries();
      ForFloat32();
      ForFewerIoTiles();
    }
    ForBatch();
    ForMoreIpus();
    return std::move(lines_);
  }

 private:
  template <typename... Parts>
  void Say(const Parts&... parts) {
    lines_.push_back(absl::StrCat(parts...));
  }

  bool IsIoTile() const {
    const std::uint32_t tiles = plan_.partition.io_tiles + plan_.partition.compute_tiles;
    return tile_ % tiles < plan_.partition.io_tiles;
  }

  std::string Enough(std::uint64_t saved) const {
    return saved >= excess_ ? "enough" : absl::StrCat("not enough, ", excess_, " are too many");
  }

  void ForCode() {
    Say("less code: it needs ", ExecutableBytes(memory_), " bytes, and only ",
        plan_.target.executable_bytes, " bytes of a tile can hold code. ",
        plan_.options.enable_outlining
            ? "auto_sharding gives every IPU a part of it."
            : "enable_outlining lets operators that are alike share theirs.");
  }

  void ForIoTiles() {
    const std::uint64_t buffers = BytesOf(memory_, MemoryCategory::kVariablesNotAlwaysLive);
    const std::uint64_t others = NeededBytes(memory_) - buffers;
    if (others >= sram_) return;
    const std::uint64_t wanted = CeilDivide(buffers * plan_.partition.io_tiles, sram_ - others);
    const std::uint64_t even = std::max<std::uint64_t>(kFewestIoTiles, wanted + wanted % 2);
    if (even >= plan_.target.tiles) return;
    Say("num_io_tiles ", even, " instead of ", plan_.partition.io_tiles, ": ", buffers,
        " bytes of host buffers lie on each I/O tile");
  }

  void ForTemporaries() {
    const OperatorPlan* op = PeakOperator(plan_, tile_);
    if (op == nullptr || contents_.temporaries.empty() || !IsPlanned(*op)) return;
    const std::uint64_t temporaries = contents_.temporaries.front().bytes;
    const std::string name = absl::Utf8SafeCEscape(op->name);
    if (temporaries <= excess_) {
      Say("\"", name, "\" needs ", temporaries,
          " bytes of temporaries when the tile is fullest: to do without them is not enough");
      return;
    }
    const std::uint64_t left = temporaries - excess_;
    const double proportion =
        std::floor(100.0 * static_cast<double>(left) / static_cast<double>(sram_)) / 100;
    if (proportion >= kLeastProportion && proportion < plan_.options.available_memory_proportion) {
      Say(absl::StrFormat("available_memory_proportion %.2f instead of %.2f", proportion,
                          plan_.options.available_memory_proportion),
          ": \"", name, "\" needs ", temporaries, " bytes of temporaries, ", left, " would fit; ",
          OthersTooFull());
    }
  }

  /// Whether available_memory_proportion bounds its temporaries: products and gathers.
  static bool IsPlanned(const OperatorPlan& op) {
    return !op.grid.empty() ||
           std::any_of(op.steps.begin(), op.steps.end(), [](const Superstep& step) {
             return step.vertex.find("MultiSlice") != std::string::npos ||
                    step.vertex.find("MultiUpdate") != std::string::npos;
           });
  }

  /// How many operators but the one at the peak need more than there is.
  std::string OthersTooFull() const {
    const std::uint64_t fits = BytesOf(memory_, MemoryCategory::kVariablesNotAlwaysLive) - excess_;
    std::size_t count = 0;
    for (const std::uint64_t bytes : BytesAtOperators(plan_, tile_)) count += bytes > fits ? 1 : 0;
    if (count <= 1) return "no other operator of the graph needs too much";
    return absl::StrCat(count - 1, " other operators of the graph need too much as well");
  }

  void ForFloat32() {
    std::uint64_t bytes = 0;
    for (const std::vector<TileContent>* contents : {&contents_.weights, &contents_.live}) {
      for (const TileContent& content : *contents) {
        if (content.element_type == ElementType::kFloat32) bytes += content.bytes;
      }
    }
    if (bytes == 0) return;
    Say("precision fp16: ", bytes, " bytes on the tile are float32, half of that is ",
        Enough(bytes / 2));
  }

  void ForFewerIoTiles() {
    const std::uint32_t io_tiles = plan_.partition.io_tiles;
    if (io_tiles <= kFewestIoTiles) return;
    std::uint64_t fullest = 0;
    for (std::uint32_t t = 0; t < io_tiles; ++t) {
      fullest = std::max(fullest, NeededBytes(plan_.memory.tiles[t]));
    }
    const std::uint64_t wanted = CeilDivide(fullest * io_tiles, sram_);
    const std::uint64_t fewer = std::max<std::uint64_t>(kFewestIoTiles, wanted + wanted % 2);
    if (fewer >= io_tiles) return;
    const std::uint64_t gained = io_tiles - fewer;
    const std::uint64_t saved =
        NeededBytes(memory_) * gained / (plan_.partition.compute_tiles + gained);
    Say("num_io_tiles ", fewer, " instead of ", io_tiles, " gives ", gained,
        " tiles more to compute: about ", saved, " bytes less on each, ", Enough(saved));
  }

  void ForBatch() {
    if (memory_.peak_graph >= plan_.graphs.size()) return;
    const GraphPlan& graph = plan_.graphs[memory_.peak_graph];
    const std::uint64_t activations = BytesOf(memory_, MemoryCategory::kVariablesNotAlwaysLive);
    if (graph.samples <= 1 || activations == 0) return;
    if (activations <= excess_) {
      Say("smaller inputs are not enough: without the ", activations,
          " bytes of activations and temporaries the tile still needs ",
          NeededBytes(memory_) - activations, " bytes");
      return;
    }
    // Tensors shrink with the batch, temporaries of products only once they are below their bound.
    const std::uint64_t temporaries =
        contents_.temporaries.empty() ? 0 : contents_.temporaries.front().bytes;
    const std::uint64_t tensors = activations - std::min(activations, temporaries);
    const std::uint64_t shrinking = tensors > excess_ ? tensors : activations;
    const auto fits = static_cast<std::uint64_t>(static_cast<double>(graph.samples) *
                                                 static_cast<double>(shrinking - excess_) /
                                                 static_cast<double>(shrinking));
    if (graph.same_first_axis && fits > 0) {
      Say("batch_size ", fits, " instead of ", graph.samples,
          ", where the model leaves the first axis of its inputs open and that is the batch: ",
          shrinking, " bytes of activations on the tile shrink with it, ", excess_,
          " are too many");
    } else {
      Say("smaller inputs (input_shape): activations and temporaries need ", activations,
          " bytes of the tile, ", excess_, " are too many");
    }
  }

  /// Weights and code are divided among IPUs; what is live at one operator is not.
  void ForMoreIpus() {
    const std::uint64_t activations = BytesOf(memory_, MemoryCategory::kVariablesNotAlwaysLive);
    const std::uint64_t undivided = activations + kBytesOfEveryProgram;
    const std::uint64_t divided = NeededBytes(memory_) - std::min(NeededBytes(memory_), undivided);
    if (undivided >= sram_) {
      Say("more IPUs alone are not enough: activations and temporaries of one operator need ",
          activations, " bytes of the tile");
      return;
    }
    const std::uint64_t ipus =
        std::max<std::uint64_t>(plan_.memory.tiles.size() / plan_.target.tiles, 1);
    const std::uint64_t wanted = std::max(ipus + 1, CeilDivide(divided * ipus, sram_ - undivided));
    Say("auto_sharding ", wanted, ", for ", wanted, " IPUs instead of ", ipus, ": ", divided,
        " bytes of weights and code on the tile become about ", divided * ipus / wanted);
  }

  const Plan& plan_;
  std::uint32_t tile_;
  const TileMemory& memory_;
  TileContents contents_;
  std::uint64_t sram_;
  std::uint64_t excess_;  // bytes of the tile that do not fit
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> RemediesFor(const Plan& plan) { return RemedyFinder(plan).Find(); }

}  // namespace poprt::ipu
