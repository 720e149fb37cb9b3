#include "compiler/ipu/memory/choose_io_tiles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/memory/performance.hpp"
#include "compiler/ipu/memory/plan_memory.hpp"

namespace poprt::ipu {
namespace {

constexpr std::uint64_t kFewestIoTiles = 32;  ///< section 5.1
constexpr int kMostDeclines = 2;              ///< in a row, before it is no use going on

/// Numbers that users choose (section 5.3) and those about the documented rule, that are allowed.
std::vector<std::uint32_t> Candidates(const Target& target, std::uint64_t rule) {
  std::set<std::uint64_t> candidates = {32, 64, 96, 128, 192};
  if (rule < target.tiles) candidates.insert({rule / 2, rule - 32, rule, rule + 32, rule * 2});
  std::vector<std::uint32_t> valid;
  for (const std::uint64_t n : candidates) {
    if (n >= kFewestIoTiles && n < target.tiles && n % 2 == 0) {
      valid.push_back(static_cast<std::uint32_t>(n));
    }
  }
  return valid;
}

/// Bytes from and to the host of the graph that has most.
std::uint64_t MostIoBytes(const std::vector<GraphPlan>& graphs) {
  std::uint64_t most = 0;
  for (const GraphPlan& graph : graphs) {
    most = std::max(most, graph.input_bytes + graph.output_bytes);
  }
  return most;
}

/// Tries numbers of I/O tiles, remembers the best and writes down what it saw.
class IoTileSearch {
 public:
  IoTileSearch(const Target& target, const Platform& platform, const PlanOptions& options,
               const PlanForPartition& plan)
      : target_(target), platform_(platform), options_(options), plan_(plan) {}

  absl::StatusOr<IoTileChoice> Run() {
    if (absl::Status status = Try(0); !status.ok()) return status;
    const std::uint64_t rule = DocumentedIoTiles(target_, io_bytes_);
    for (const std::uint32_t n : Candidates(target_, rule)) {
      if (declines_ == kMostDeclines) break;
      if (absl::Status status = Try(n); !status.ok()) return status;
    }
    return IoTileChoice{
        best_, absl::StrCat("num_io_tiles auto: ", best_,
                            best_ == 0 ? ", overlapping transfers does not pay" : "", lines_,
                            RuleLine(rule))};
  }

 private:
  struct Score {
    bool fits = false;
    double throughput = 0;
    auto operator<=>(const Score&) const = default;
  };

  absl::Status Try(std::uint32_t io_tiles) {
    if (!BuffersFit(io_tiles)) {
      absl::StrAppend(&lines_, "\n  ", io_tiles, " I/O tiles: the host buffers do not fit");
      return absl::OkStatus();
    }
    const TilePartition partition{io_tiles, target_.tiles - io_tiles};
    const absl::StatusOr<std::vector<GraphPlan>> graphs = plan_(partition);
    if (!graphs.ok()) return graphs.status();
    if (io_tiles == 0) io_bytes_ = MostIoBytes(*graphs);
    const Score score = ScoreOf(*graphs, partition);
    absl::StrAppend(&lines_, "\n  ", io_tiles,
                    " I/O tiles: ", absl::StrFormat("%.1f", score.throughput), " samples/s",
                    graphs->size() > 1 ? " (geometric mean of the graphs)" : "",
                    score.fits ? "" : ", out of memory");
    if (io_tiles == 0 || best_score_ < score) {
      best_ = io_tiles;
      best_score_ = score;
      declines_ = 0;
    } else if (io_tiles > 0 && score.fits) {
      ++declines_;
    }
    return absl::OkStatus();
  }

  bool BuffersFit(std::uint32_t io_tiles) const {
    const std::uint64_t room = io_tiles * target_.sram_bytes_per_tile;
    return io_tiles == 0 || io_bytes_ <= room;
  }

  Score ScoreOf(const std::vector<GraphPlan>& graphs, const TilePartition& partition) const {
    double logarithms = 0;
    for (const GraphPlan& graph : graphs) {
      const Performance performance = Predict(graph, target_, platform_, partition, options_);
      if (performance.throughput > 0) logarithms += std::log(performance.throughput);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, graphs.size()));
    return {.fits = PlanMemory(graphs, target_, partition, options_).overflowing.empty(),
            .throughput = std::exp(logarithms / count)};
  }

  std::string RuleLine(std::uint64_t rule) const {
    return absl::StrCat("\n  documented rule: ", rule, " (", io_bytes_,
                        " bytes of inputs and outputs over ", target_.sram_bytes_per_tile,
                        " of a tile, next power of two, at least ", kFewestIoTiles, ")",
                        rule < target_.tiles ? "" : ", more than the IPU has");
  }

  const Target& target_;
  const Platform& platform_;
  const PlanOptions& options_;
  const PlanForPartition& plan_;
  std::uint64_t io_bytes_ = 0;  // of a batch
  std::uint32_t best_ = 0;
  Score best_score_;
  int declines_ = 0;
  std::string lines_;
};

}  // namespace

std::uint64_t DocumentedIoTiles(const Target& target, std::uint64_t io_bytes) {
  const std::uint64_t tiles = CeilDivide(io_bytes, target.sram_bytes_per_tile);
  return std::max(kFewestIoTiles, std::bit_ceil(tiles));
}

absl::StatusOr<IoTileChoice> ChooseIoTiles(const Target& target, const Platform& platform,
                                           const PlanOptions& options,
                                           const PlanForPartition& plan) {
  if (options.batches_per_step < kPipelineDepth) {
    return IoTileChoice{
        0,
        absl::StrCat("num_io_tiles auto: 0, since batches_per_step is ", options.batches_per_step,
                     " and overlapping transfers takes at least ", kPipelineDepth)};
  }
  return IoTileSearch(target, platform, options, plan).Run();
}

}  // namespace poprt::ipu
