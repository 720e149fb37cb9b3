#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int32_t kMember = 6;

/// Rows that go through a tree together: a processor finds out at once where several of them go.
constexpr std::int64_t kRows = 8;

enum class Aggregate : std::uint8_t { kAverage, kSum, kMin, kMax };

/// Where a comparison leads: a node or, of which all bits are inverted, a leaf.
using Target = std::int32_t;
bool IsLeaf(Target target) { return target < 0; }

struct TreeNode {
  std::int64_t feature = 0;
  double split = 0;
  Target yes = 0;
  Target no = 0;
  std::int32_t mode = 0;  ///< as ONNX numbers them
  bool missing_is_yes = false;
  std::size_t members = 0;  ///< of a node that tests for members: where its set begins and ends
  std::size_t members_end = 0;
};

/// What a leaf adds: a range of Forest::weights.
struct Leaf {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Weight {
  std::int64_t target = 0;
  double value = 0;
};

struct Forest {
  std::vector<Target> roots;
  std::vector<TreeNode> nodes;
  std::vector<Leaf> leaves;
  std::vector<Weight> weights;
  std::vector<double> members;
  std::int64_t features = 0;
  std::int64_t targets = 0;
  Aggregate aggregate = Aggregate::kSum;
  bool are_at_most = false;  ///< whether all nodes test for mode 0
};

bool Holds(const Forest& forest, const TreeNode& node, double x) {
  switch (node.mode) {
    case 0:
      return x <= node.split;
    case 1:
      return x < node.split;
    case 2:
      return x >= node.split;
    case 3:
      return x > node.split;
    case 4:
      return x == node.split;
    case 5:
      return x != node.split;
    default: {
      const auto first = forest.members.begin();
      return std::find(first + static_cast<std::ptrdiff_t>(node.members),
                       first + static_cast<std::ptrdiff_t>(node.members_end),
                       x) != first + static_cast<std::ptrdiff_t>(node.members_end);
    }
  }
}

/// The leaves of a tree that `count` rows, at most kRows, come to.
template <bool kAreAtMost, typename T>
void FindLeaves(const Forest& forest, Target root, const T* rows, std::int64_t count,
                Target (&at)[kRows]) {
  std::fill_n(at, count, root);
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::int64_t r = 0; r < count; ++r) {
      if (IsLeaf(at[r])) continue;
      const TreeNode& node = forest.nodes[static_cast<std::size_t>(at[r])];
      const double x = ToDouble(rows[r * forest.features + node.feature]);
      const bool holds = kAreAtMost ? x <= node.split : Holds(forest, node, x);
      const bool yes = holds | (node.missing_is_yes & std::isnan(x));
      at[r] = yes ? node.yes : node.no;
      is_done = is_done && IsLeaf(at[r]);
    }
  }
}

double Combined(Aggregate aggregate, double old, double value) {
  switch (aggregate) {
    case Aggregate::kMin:
      return std::min(old, value);
    case Aggregate::kMax:
      return std::max(old, value);
    default:
      return old + value;
  }
}

bool Adds(const Forest& forest) {
  return forest.aggregate == Aggregate::kSum || forest.aggregate == Aggregate::kAverage;
}

void AddLeaf(const Forest& forest, const Leaf& leaf, double* sums) {
  for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
    const Weight& weight = forest.weights[i];
    double& sum = sums[weight.target];
    sum = std::isnan(sum) && !Adds(forest) ? weight.value
                                           : Combined(forest.aggregate, sum, weight.value);
  }
}

/// Of `count` rows, at most kRows. `sums` has room for every target of each.
template <typename T>
void EvaluateRows(const Forest& forest, const T* rows, std::int64_t count, T* results,
                  double* sums) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(sums, count * forest.targets, Adds(forest) ? 0.0 : none);
  Target at[kRows];
  for (const Target root : forest.roots) {
    forest.are_at_most ? FindLeaves<true>(forest, root, rows, count, at)
                       : FindLeaves<false>(forest, root, rows, count, at);
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int32_t leaf = ~at[r];
      AddLeaf(forest, forest.leaves[static_cast<std::size_t>(leaf)], sums + r * forest.targets);
    }
  }
  const double divisor = forest.aggregate == Aggregate::kAverage
                             ? static_cast<double>(std::max<std::size_t>(1, forest.roots.size()))
                             : 1.0;
  for (std::int64_t i = 0; i < count * forest.targets; ++i) {
    // What no leaf contributes to is 0.
    const bool is_empty = !Adds(forest) && std::isnan(sums[i]);
    results[i] = FromDouble<T>(is_empty ? 0.0 : sums[i] / divisor);
  }
}

double BitsToDouble(std::int64_t bits) { return std::bit_cast<double>(bits); }

/// An attribute with one number for each of `count` things.
Ints Column(const KernelCall& call, std::string_view name, std::size_t count) {
  Ints values = IntsAttribute(call, name);
  Require(values.size() == count, "attribute '" + std::string(name) + "' has " +
                                      std::to_string(values.size()) + " numbers, expected " +
                                      std::to_string(count));
  return values;
}

Target CheckedTarget(const Forest& forest, std::int64_t at, std::int64_t is_leaf) {
  const std::size_t bound = is_leaf != 0 ? forest.leaves.size() : forest.nodes.size();
  Require(at >= 0 && static_cast<std::uint64_t>(at) < bound &&
              at <= std::numeric_limits<std::int32_t>::max(),
          "a node leads to " + std::to_string(at) + ", there are " + std::to_string(bound));
  const auto target = static_cast<Target>(at);
  return is_leaf != 0 ? ~target : target;
}

void ReadLeaves(const KernelCall& call, Forest& forest) {
  const Ints targets = IntsAttribute(call, "leaf_targetids");
  const Ints weights = Column(call, "leaf_weights", targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Require(targets[i] >= 0 && targets[i] < forest.targets,
            "a leaf adds to target " + std::to_string(targets[i]) + " of " +
                std::to_string(forest.targets));
    forest.weights.push_back({.target = targets[i], .value = BitsToDouble(weights[i])});
  }
  const Ints counts = call.attributes.has("leaf_counts") ? IntsAttribute(call, "leaf_counts")
                                                         : Ints(targets.size(), 1);
  std::size_t at = 0;
  for (const std::int64_t count : counts) {
    Require(count >= 0 && static_cast<std::uint64_t>(count) <= targets.size() - at,
            "attribute 'leaf_counts' does not fit the leaves");
    forest.leaves.push_back({.begin = at, .end = at + static_cast<std::size_t>(count)});
    at += static_cast<std::size_t>(count);
  }
}

/// The sets of nodes that test for members follow each other, each ended by NaN.
void ReadMembers(const KernelCall& call, Forest& forest) {
  const Ints bits = IntsAttribute(call, "membership_values");
  std::transform(bits.begin(), bits.end(), std::back_inserter(forest.members), BitsToDouble);
  std::size_t at = 0;
  for (TreeNode& node : forest.nodes) {
    if (node.mode != kMember) continue;
    node.members = at;
    while (at < forest.members.size() && !std::isnan(forest.members[at])) ++at;
    Require(at < forest.members.size() || node.members < at,
            "attribute 'membership_values' has too few sets");
    node.members_end = at;
    if (at < forest.members.size()) ++at;
  }
}

void ReadNodes(const KernelCall& call, Forest& forest) {
  const Ints modes = IntsAttribute(call, "nodes_modes");
  const std::size_t count = modes.size();
  const Ints features = Column(call, "nodes_featureids", count);
  const Ints splits = Column(call, "nodes_splits", count);
  const Ints yes = Column(call, "nodes_truenodeids", count);
  const Ints no = Column(call, "nodes_falsenodeids", count);
  const Ints yes_leaf = Column(call, "nodes_trueleafs", count);
  const Ints no_leaf = Column(call, "nodes_falseleafs", count);
  const Ints missing = call.attributes.has("nodes_missing_value_tracks_true")
                           ? Column(call, "nodes_missing_value_tracks_true", count)
                           : Ints(count, 0);
  forest.nodes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Require(modes[i] >= 0 && modes[i] <= kMember,
            "a node has mode " + std::to_string(modes[i]) + ", expected 0 to 6");
    Require(features[i] >= 0 && features[i] < forest.features,
            "a node reads feature " + std::to_string(features[i]) + " of " +
                std::to_string(forest.features));
    forest.nodes[i] = {.feature = features[i],
                       .split = BitsToDouble(splits[i]),
                       .yes = CheckedTarget(forest, yes[i], yes_leaf[i]),
                       .no = CheckedTarget(forest, no[i], no_leaf[i]),
                       .mode = static_cast<std::int32_t>(modes[i]),
                       .missing_is_yes = missing[i] != 0};
  }
  forest.are_at_most = std::ranges::all_of(modes, [](std::int64_t mode) { return mode == 0; });
}

void ReadRoots(const KernelCall& call, Forest& forest) {
  for (const std::int64_t root : IntsAttribute(call, "tree_roots")) {
    Require(root >= 0 && static_cast<std::uint64_t>(root) < forest.nodes.size() &&
                root <= std::numeric_limits<Target>::max(),
            "attribute 'tree_roots' names node " + std::to_string(root) + " of " +
                std::to_string(forest.nodes.size()));
    forest.roots.push_back(static_cast<Target>(root));
  }
}

/// Nodes that have at most one parent, and roots none, make no circle.
void RequireTrees(const Forest& forest) {
  std::vector<bool> has_parent(forest.nodes.size(), false);
  const auto enter = [&](Target at) {
    Require(!has_parent[static_cast<std::size_t>(at)],
            "node " + std::to_string(at) + " is reached in more than one way");
    has_parent[static_cast<std::size_t>(at)] = true;
  };
  for (const Target root : forest.roots) enter(root);
  for (const TreeNode& node : forest.nodes) {
    for (const Target target : {node.yes, node.no}) {
      if (!IsLeaf(target)) enter(target);
    }
  }
}

BoundKernel Bind(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kFloatTypes, "input 0");
  Require(input.shape.size() == 2, "input 0 must have 2 dimensions");
  auto forest = std::make_shared<Forest>();
  forest->features = input.shape[1];
  forest->targets = IntAttribute(call, "n_targets", 1);
  const std::int64_t rows = input.shape[0];
  RequireType(call.outputs[0], {input.element, {rows, forest->targets}}, "output 0");
  RequireCount(call.outputs[0].shape, "output 0");
  const std::int64_t together = std::min(kRows, rows);
  RequireCount({together, forest->targets}, "the sums of some rows");
  const std::int64_t aggregate = IntAttribute(call, "aggregate_function", 1);
  Require(aggregate >= 0 && aggregate <= 3,
          "attribute 'aggregate_function' is " + std::to_string(aggregate) + ", expected 0 to 3");
  forest->aggregate = static_cast<Aggregate>(aggregate);
  ReadLeaves(call, *forest);
  ReadNodes(call, *forest);
  ReadRoots(call, *forest);
  ReadMembers(call, *forest);
  RequireTrees(*forest);
  const std::size_t scratch =
      ScratchBytes(static_cast<std::size_t>(together * forest->targets) * sizeof(double));
  const auto cost = static_cast<std::int64_t>(16 * forest->roots.size()) + forest->targets;
  return VisitElement<BoundKernel, kFloatTypes>(input.element, [&](auto type) {
    using T = typename decltype(type)::type;
    return BoundKernel{
        .run =
            [=, shared = std::shared_ptr<const Forest>(forest)](const KernelArguments& args) {
              ForRanges(args.pool, rows, GrainFor(cost),
                        [&](std::int64_t begin, std::int64_t end, int worker) {
                          auto* sums = reinterpret_cast<double*>(
                              args.scratch + static_cast<std::size_t>(worker) * scratch);
                          for (std::int64_t i = begin; i < end; i += kRows) {
                            EvaluateRows(*shared, args.in<T>(0) + i * shared->features,
                                         std::min(kRows, end - i),
                                         args.out<T>(0) + i * shared->targets, sums);
                          }
                        });
            },
        .scratch_bytes = scratch};
  });
}

constexpr auto kKernels = std::to_array<KernelDef>({{"TreeEnsemble", GuardedBind<Bind>}});

}  // namespace

std::span<const KernelDef> TreeKernels() { return kKernels; }

}  // namespace poprt::kernels
