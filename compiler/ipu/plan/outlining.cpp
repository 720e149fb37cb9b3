#include "compiler/ipu/plan/outlining.hpp"

#include <map>

#include "compiler/ipu/cost/copy.hpp"
#include "compiler/ipu/plan/step_builder.hpp"

namespace poprt::ipu {
namespace {

/// PopART's value of sharing an operator: high for products and convolutions, low for others.
constexpr double kHighValue = 1000.0;
constexpr double kLowValue = 0.1;

/// Bytes of control program of a call on each tile: what that of a layer norm has in BERT-large
/// beyond the function and its copies (docs/ipu_model.md).
constexpr std::uint64_t kCallControlBytes = 4;

/// Operators [first, last) that are called together.
struct Run {
  std::size_t first = 0;
  std::size_t last = 0;
};

class Outliner {
 public:
  Outliner(const Target& target, const PlanOptions& options, const std::vector<std::string>& keys,
           GraphPlan& plan)
      : target_(target), options_(options), plan_(plan) {
    FindAlike(keys);
  }

  void Apply() {
    for (const Run& run : FindRuns()) {
      if (Value(run) < options_.outline_threshold) continue;
      for (std::size_t i = run.first; i < run.last; ++i) {
        if (like_[i] != i) plan_.operators[i].outlined = like_[i];
      }
      AddArguments(run);
    }
  }

 private:
  /// The first operator with the same key, and how many there are.
  void FindAlike(const std::vector<std::string>& keys) {
    std::map<std::string, std::size_t> first;
    like_.resize(keys.size());
    count_.assign(keys.size(), 0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool works = !keys[i].empty();
      like_[i] = works ? first.emplace(keys[i], i).first->second : i;
      if (works) ++count_[like_[i]];
    }
  }

  bool Repeated(std::size_t i) const { return count_[like_[i]] > 1; }

  /// Two operators stand in one run if the same two follow each other elsewhere.
  std::vector<Run> FindRuns() const {
    std::map<std::pair<std::size_t, std::size_t>, int> pairs;
    for (std::size_t i = 1; i < like_.size(); ++i) ++pairs[{like_[i - 1], like_[i]}];
    std::vector<Run> runs;
    for (std::size_t i = 0; i < like_.size(); ++i) {
      if (!Repeated(i)) continue;
      const bool follows = !runs.empty() && runs.back().last == i &&
                           pairs[{like_[i - 1], like_[i]}] > 1 && !Restarts(runs.back(), i);
      if (follows) {
        runs.back().last = i + 1;
      } else {
        runs.push_back({i, i + 1});
      }
    }
    return runs;
  }

  /// The run begins anew: a layer follows its like.
  bool Restarts(const Run& run, std::size_t i) const { return like_[i] == like_[run.first]; }

  double Value(const Run& run) const {
    double value = 0;
    for (std::size_t i = run.first; i < run.last; ++i) {
      const OperatorPlan& op = plan_.operators[i];
      if (op.steps.empty()) continue;
      value += op.grid.empty() ? kLowValue : kHighValue;
    }
    return value;
  }

  /// Bytes on a tile that the run reads and does not make, at most once each.
  std::uint64_t ArgumentBytes(const Run& run) const {
    std::map<TensorIndex, std::uint64_t> arguments;
    for (std::size_t i = run.first; i < run.last; ++i) {
      for (const TensorIndex index : plan_.operators[i].inputs) {
        const TensorPlan& tensor = plan_.tensors[index];
        const bool made_inside =
            !tensor.always_live() && tensor.first >= run.first && tensor.first < run.last;
        if (!made_inside) arguments[index] = tensor.mapping.bytes_per_tile;
      }
    }
    std::uint64_t bytes = 0;
    for (const auto& [index, size] : arguments) bytes += size;
    return bytes;
  }

  void AddArguments(const Run& run) {
    const std::uint64_t bytes = ArgumentBytes(run);
    OperatorPlan& op = plan_.operators[run.first];
    if (bytes == 0 || op.steps.empty()) return;
    Superstep copy;
    copy.phase = Phase::kCopy;
    copy.name = "copy arguments of call";
    copy.vertex = "poplar_rt::DstVectorMemcpy";
    copy.tiles = op.steps.front().tiles;
    copy.cycles = CopyCycles(target_, bytes, bytes);
    copy.total_cycles = copy.cycles * copy.tiles.count;
    copy.vertices = copy.tiles.count;
    copy.edges = 2 * copy.vertices;
    copy.bytes = bytes * copy.tiles.count;
    copy.temporary_bytes = bytes;
    copy.vertex_state_bytes = static_cast<std::uint64_t>(VertexState::kFourWords);
    copy.control_code_bytes = kWorkerControlBytes + kCallControlBytes;
    copy.at_call = true;
    op.steps.insert(op.steps.begin(), copy);
  }

  const Target& target_;
  const PlanOptions& options_;
  GraphPlan& plan_;
  std::vector<std::size_t> like_;
  std::vector<std::size_t> count_;
};

}  // namespace

void OutlineOperators(const Target& target, const PlanOptions& options,
                      const std::vector<std::string>& keys, GraphPlan& plan) {
  if (!options.enable_outlining) return;
  Outliner(target, options, keys, plan).Apply();
}

}  // namespace poprt::ipu
