#include "compiler/ipu/plan/ipu_exchanges.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ipu/cost/exchange.hpp"
#include "compiler/ipu/cost/ipu_link.hpp"
#include "compiler/ipu/plan/lifetimes.hpp"

namespace poprt::ipu {
namespace {

/// Control code of an exchange on a tile (section 3.5).
constexpr std::uint64_t kControlCodeBytes = 9;

std::uint32_t IpusOf(const GraphPlan& plan) {
  std::uint32_t ipus = 1;
  for (const OperatorPlan& op : plan.operators) ipus = std::max(ipus, op.ipu + 1);
  return ipus;
}

class IpuExchanger {
 public:
  IpuExchanger(const Target& target, const Platform& platform, std::uint32_t ipus, GraphPlan& plan)
      : target_(target),
        platform_(platform),
        ipus_(ipus),
        plan_(plan),
        old_(std::move(plan.operators)),
        homes_(plan.tensors.size()),
        place_(old_.size()) {
    for (TensorIndex t = 0; t < plan.tensors.size(); ++t) {
      storage_.push_back(plan.tensors[t].storage.value_or(t));
    }
  }

  void Run() {
    FindHomesOfInputs();
    AddLoads();
    for (std::size_t i = 1; i + 1 < old_.size(); ++i) AddOperator(i);
    AddStores();
    for (OperatorPlan& op : operators_) {
      if (op.outlined) op.outlined = place_[*op.outlined];
    }
    plan_.operators = std::move(operators_);
    FindLifetimes(plan_);
  }

 private:
  using Tensors = std::vector<TensorIndex>;

  bool IsWeight(TensorIndex tensor) const { return plan_.tensors[tensor].always_live(); }

  /// The IPU that reads them first; what operators make gets its home when they do.
  void FindHomesOfInputs() {
    for (std::size_t i = 1; i + 1 < old_.size(); ++i) {
      for (const TensorIndex t : old_[i].inputs) {
        if (!homes_[t]) homes_[t] = old_[i].ipu;
      }
    }
  }

  void AddLoads() {
    const OperatorPlan& load = old_.front();
    for (OperatorPlan& part : SplitByIpu(load, load.outputs, load.inputs)) {
      std::swap(part.inputs, part.outputs);
      Add(0, std::move(part));
    }
  }

  void AddStores() {
    const OperatorPlan& store = old_.back();
    for (OperatorPlan& part : SplitByIpu(store, store.inputs, store.outputs)) {
      Add(old_.size() - 1, std::move(part));
    }
  }

  /// The parts of a transfer, in the order of the IPUs: what each holds of `tensors` as inputs and
  /// their `buffers`, of which there is one for each or none, as outputs. IPU 0 has one always.
  std::vector<OperatorPlan> SplitByIpu(const OperatorPlan& transfer, const Tensors& tensors,
                                       const Tensors& buffers) {
    std::map<std::uint32_t, OperatorPlan> parts;
    std::map<std::uint32_t, std::uint64_t> bytes = {{0, 0}};
    std::uint64_t all_bytes = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::uint32_t ipu = homes_[tensors[i]].value_or(0);
      parts[ipu].inputs.push_back(tensors[i]);
      if (i < buffers.size()) parts[ipu].outputs.push_back(buffers[i]);
      bytes[ipu] += plan_.tensors[tensors[i]].bytes;
      all_bytes += plan_.tensors[tensors[i]].bytes;
    }
    std::vector<OperatorPlan> result;
    for (const auto& [ipu, part_bytes] : bytes) {
      OperatorPlan& part = parts[ipu];
      part.name = ipu == 0 ? transfer.name : transfer.name + "/IPU " + std::to_string(ipu);
      part.op = transfer.op;
      part.ipu = ipu;
      for (const Superstep& step : transfer.steps) {
        if (part_bytes > 0) part.steps.push_back(PartOf(step, part_bytes, all_bytes));
      }
      result.push_back(std::move(part));
    }
    return result;
  }

  static Superstep PartOf(Superstep step, std::uint64_t part, std::uint64_t all) {
    const double share = static_cast<double>(part) / static_cast<double>(all);
    const auto scale = [share](std::uint64_t& number) {
      number = static_cast<std::uint64_t>(static_cast<double>(number) * share + 0.5);
    };
    for (std::uint64_t* number : {&step.cycles, &step.total_cycles, &step.bytes}) scale(*number);
    return step;
  }

  void AddOperator(std::size_t i) {
    OperatorPlan op = std::move(old_[i]);
    std::map<std::uint32_t, Tensors> missing;
    for (const TensorIndex t : op.inputs) {
      if (IsHere(t, op.ipu) || copies_.contains({t, op.ipu})) continue;
      Tensors& tensors = missing[*homes_[t]];
      if (std::find(tensors.begin(), tensors.end(), t) == tensors.end()) tensors.push_back(t);
    }
    for (const auto& [from, tensors] : missing) AddExchange(from, tensors, op);
    for (const TensorIndex t : op.outputs) {
      homes_[t] = op.ipu;
      MoveStorage(t, op);
    }
    for (TensorIndex& t : op.inputs) t = On(t, op.ipu);
    Add(i, std::move(op));
  }

  bool IsHere(TensorIndex tensor, std::uint32_t ipu) const {
    return IsWeight(tensor) || homes_[tensor].value_or(ipu) == ipu;
  }

  /// The tensor as the IPU has it, once it has.
  TensorIndex On(TensorIndex tensor, std::uint32_t ipu) const {
    return IsHere(tensor, ipu) ? tensor : copies_.at({tensor, ipu});
  }

  /// A result in the memory of an operand that was copied here is in that of the copy.
  void MoveStorage(TensorIndex result, const OperatorPlan& op) {
    const TensorIndex storage = storage_[result];
    if (storage == result || IsWeight(storage)) return;
    plan_.tensors[result].storage = std::nullopt;
    for (const TensorIndex t : op.inputs) {
      if (storage_[t] != storage) continue;
      const TensorIndex here = On(t, op.ipu);
      plan_.tensors[result].storage = plan_.tensors[here].storage.value_or(here);
      return;
    }
  }

  void AddExchange(std::uint32_t from, const Tensors& tensors, const OperatorPlan& reader) {
    const std::string name = plan_.tensors[tensors.front()].name + "/IPU " + std::to_string(from) +
                             " to " + std::to_string(reader.ipu);
    OperatorPlan send{.name = name + "/send", .op = "IpuSend", .inputs = tensors};
    OperatorPlan receive{.name = name + "/receive", .op = "IpuReceive"};
    std::uint64_t bytes = 0;
    std::uint64_t tile_bytes = 0;
    TileRange tiles = plan_.tensors[tensors.front()].mapping.tiles;
    for (const TensorIndex t : tensors) {
      TensorPlan copy = plan_.tensors[t];
      copy.name += "/IPU " + std::to_string(reader.ipu);
      copy.kind = TensorKind::kActivation;
      copy.storage = std::nullopt;
      bytes += copy.bytes;
      tile_bytes += copy.mapping.bytes_per_tile;
      tiles = Cover(tiles, copy.mapping.tiles);
      const auto index = static_cast<TensorIndex>(plan_.tensors.size());
      copies_[{t, reader.ipu}] = index;
      receive.outputs.push_back(index);
      plan_.tensors.push_back(std::move(copy));
    }
    send.ipu = from;
    send.stage = StageOf(from, reader);
    receive.ipu = reader.ipu;
    receive.stage = reader.stage;
    send.steps = {Step("send to IPU " + std::to_string(reader.ipu), tiles, bytes, 0,
                       {.bytes_sent = tile_bytes, .sends = tensors.size()})};
    receive.steps = {
        Step("receive from IPU " + std::to_string(from), tiles, bytes,
             IpuSyncCycles(target_, platform_, ipus_) + IpuLinkCycles(target_, platform_, bytes),
             {.bytes_received = tile_bytes, .receives = tensors.size()})};
    operators_.push_back(std::move(send));
    operators_.push_back(std::move(receive));
  }

  static TileRange Cover(const TileRange& a, const TileRange& b) {
    const std::uint32_t first = std::min(a.first, b.first);
    return {first, std::max(a.first + a.count, b.first + b.count) - first};
  }

  /// The last stage of the IPU so far.
  std::uint32_t StageOf(std::uint32_t ipu, const OperatorPlan& reader) const {
    std::uint32_t stage = 0;
    for (const OperatorPlan& op : operators_) {
      if (op.ipu == ipu && op.stage <= reader.stage) stage = std::max(stage, op.stage);
    }
    return stage;
  }

  Superstep Step(std::string name, TileRange tiles, std::uint64_t bytes, std::uint64_t cycles,
                 const TileExchange& tile) const {
    return {.phase = Phase::kExchange,
            .name = std::move(name),
            .vertex = {},
            .tiles = tiles,
            .cycles = cycles,
            .total_cycles = cycles * tiles.count,
            .bytes = bytes,
            .exchange_code_bytes = ExchangeCodeBytes(target_, tile),
            .control_code_bytes = kControlCodeBytes};
  }

  void Add(std::size_t old_index, OperatorPlan op) {
    place_[old_index] = operators_.size();
    operators_.push_back(std::move(op));
  }

  const Target& target_;
  const Platform& platform_;
  std::uint32_t ipus_;
  GraphPlan& plan_;
  std::vector<OperatorPlan> old_;
  std::vector<TensorIndex> storage_;                 ///< of every tensor, before
  std::vector<std::optional<std::uint32_t>> homes_;  ///< the IPU that makes the tensor
  std::map<std::pair<TensorIndex, std::uint32_t>, TensorIndex> copies_;  ///< by tensor and IPU
  std::vector<std::size_t> place_;  ///< of every old operator, among the new ones
  std::vector<OperatorPlan> operators_;
};

}  // namespace

void AddIpuExchanges(const Target& target, const Platform& platform, GraphPlan& plan) {
  const std::uint32_t ipus = IpusOf(plan);
  if (ipus < 2 || plan.operators.size() < 2) return;
  IpuExchanger(target, platform, ipus, plan).Run();
}

}  // namespace poprt::ipu
