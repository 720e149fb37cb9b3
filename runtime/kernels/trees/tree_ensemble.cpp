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

enum class Aggregate : std::uint8_t { kAverage, kSum, kMin, kMax };

/// Where a comparison leads.
struct Target {
  std::int32_t at = 0;  ///< a node or a leaf
  bool is_leaf = false;
};

struct TreeNode {
  std::int64_t feature = 0;
  double split = 0;
  Target yes;
  Target no;
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
  std::vector<std::int64_t> roots;
  std::vector<TreeNode> nodes;
  std::vector<Leaf> leaves;
  std::vector<Weight> weights;
  std::vector<double> members;
  std::int64_t features = 0;
  std::int64_t targets = 0;
  Aggregate aggregate = Aggregate::kSum;
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

template <typename T>
const Leaf& LeafOf(const Forest& forest, std::int64_t root, const T* row) {
  Target target{.at = static_cast<std::int32_t>(root), .is_leaf = false};
  while (!target.is_leaf) {
    const TreeNode& node = forest.nodes[static_cast<std::size_t>(target.at)];
    const double x = ToDouble(row[node.feature]);
    const bool yes = Holds(forest, node, x) || (node.missing_is_yes && std::isnan(x));
    target = yes ? node.yes : node.no;
  }
  return forest.leaves[static_cast<std::size_t>(target.at)];
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

/// `sums` has room for every target.
template <typename T>
void EvaluateRow(const Forest& forest, const T* row, T* result, double* sums) {
  const bool adds = forest.aggregate == Aggregate::kSum || forest.aggregate == Aggregate::kAverage;
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::fill_n(sums, forest.targets, adds ? 0.0 : none);
  for (const std::int64_t root : forest.roots) {
    const Leaf& leaf = LeafOf(forest, root, row);
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      const Weight& weight = forest.weights[i];
      double& sum = sums[weight.target];
      sum = std::isnan(sum) && !adds ? weight.value : Combined(forest.aggregate, sum, weight.value);
    }
  }
  const double divisor = forest.aggregate == Aggregate::kAverage
                             ? static_cast<double>(std::max<std::size_t>(1, forest.roots.size()))
                             : 1.0;
  for (std::int64_t i = 0; i < forest.targets; ++i) {
    // What no leaf contributes to is 0.
    const bool is_empty = !adds && std::isnan(sums[i]);
    result[i] = FromDouble<T>(is_empty ? 0.0 : sums[i] / divisor);
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
  return {.at = static_cast<std::int32_t>(at), .is_leaf = is_leaf != 0};
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
}

/// Nodes that have at most one parent, and roots none, make no circle.
void RequireTrees(const Forest& forest) {
  std::vector<bool> has_parent(forest.nodes.size(), false);
  const auto enter = [&](std::int64_t at) {
    Require(!has_parent[static_cast<std::size_t>(at)],
            "node " + std::to_string(at) + " is reached in more than one way");
    has_parent[static_cast<std::size_t>(at)] = true;
  };
  for (const std::int64_t root : forest.roots) {
    Require(root >= 0 && static_cast<std::uint64_t>(root) < forest.nodes.size(),
            "attribute 'tree_roots' names node " + std::to_string(root) + " of " +
                std::to_string(forest.nodes.size()));
    enter(root);
  }
  for (const TreeNode& node : forest.nodes) {
    if (!node.yes.is_leaf) enter(node.yes.at);
    if (!node.no.is_leaf) enter(node.no.at);
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
  const std::int64_t aggregate = IntAttribute(call, "aggregate_function", 1);
  Require(aggregate >= 0 && aggregate <= 3,
          "attribute 'aggregate_function' is " + std::to_string(aggregate) + ", expected 0 to 3");
  forest->aggregate = static_cast<Aggregate>(aggregate);
  forest->roots = IntsAttribute(call, "tree_roots");
  ReadLeaves(call, *forest);
  ReadNodes(call, *forest);
  ReadMembers(call, *forest);
  RequireTrees(*forest);
  const std::size_t scratch =
      ScratchBytes(static_cast<std::size_t>(forest->targets) * sizeof(double));
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
                          for (std::int64_t i = begin; i < end; ++i) {
                            EvaluateRow(*shared, args.in<T>(0) + i * shared->features,
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
