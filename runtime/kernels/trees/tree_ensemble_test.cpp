#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Draw;
using testing::ExpectClose;
using testing::ForSeeds;
using testing::FromValues;
using testing::RandomSpecials;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

Ints Bits(const Values& values) {
  Ints bits;
  for (const double value : values) bits.push_back(std::bit_cast<std::int64_t>(value));
  return bits;
}

/// x0 <= 1 ? (x1 > 0 ? leaf 0 : leaf 1) : leaf 2; the leaves add 1, 10, 100 to targets 0, 1, 1.
Attributes OneTree() {
  return {{"aggregate_function", std::int64_t{1}},
          {"leaf_targetids", Ints{0, 1, 1}},
          {"leaf_weights", Bits({1, 10, 100})},
          {"membership_values", Ints{}},
          {"n_targets", std::int64_t{2}},
          {"nodes_falseleafs", Ints{1, 1}},
          {"nodes_falsenodeids", Ints{2, 1}},
          {"nodes_featureids", Ints{0, 1}},
          {"nodes_missing_value_tracks_true", Ints{1, 0}},
          {"nodes_modes", Ints{0, 3}},
          {"nodes_splits", Bits({1, 0})},
          {"nodes_trueleafs", Ints{0, 1}},
          {"nodes_truenodeids", Ints{1, 0}},
          {"tree_roots", Ints{0}}};
}

TEST(TreeEnsembleTest, FollowsComparisons) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = FromValues(kFloat32, {4, 2}, {1, 1, 0, 0, 2, 5, nan, nan});
  EXPECT_EQ(ToValues(Run1("TreeEnsemble", {x}, {kFloat32, {4, 2}}, OneTree())),
            (Values{1, 0, 0, 10, 0, 100, 0, 10}));
  const Tensor none({kFloat64, {0, 2}});
  EXPECT_EQ(Run1("TreeEnsemble", {none}, {kFloat64, {0, 2}}, OneTree()).count(), 0);
}

TEST(TreeEnsembleTest, SetsAndSeveralTargets) {
  Attributes tree = OneTree();
  tree.set("nodes_modes", Ints{6, 6});
  tree.set("membership_values", Bits({3, 4, std::numeric_limits<double>::quiet_NaN(), 7}));
  tree.set("leaf_counts", Ints{2, 0, 1});
  const Tensor x = FromValues(kFloat64, {3, 2}, {4, 7, 3, 6, 5, 7});
  EXPECT_EQ(ToValues(Run1("TreeEnsemble", {x}, {kFloat64, {3, 2}}, tree)),
            (Values{1, 10, 0, 0, 0, 100}));
}

constexpr std::int64_t kFeatures = 3;
constexpr std::int64_t kTargets = 2;

/// The attributes of a forest, a list for each.
struct Forest {
  Ints features, modes, missing, yes, no, yes_leafs, no_leafs, roots, targets;
  Values splits, weights, members;
  std::vector<Values> sets;  ///< of every node, what `members` holds for it

  /// A quarter, so that elements and splits are equal at times.
  static double Number(std::mt19937& random) {
    return static_cast<double>(Draw(random, -8, 8)) / 4;
  }

  std::int64_t AddLeaf(std::mt19937& random) {
    targets.push_back(Draw(random, 0, kTargets - 1));
    weights.push_back(Number(random));
    return static_cast<std::int64_t>(weights.size()) - 1;
  }

  std::int64_t AddNode(std::mt19937& random, int depth) {
    const std::size_t at = modes.size();
    modes.push_back(Draw(random, 0, 6));
    features.push_back(Draw(random, 0, kFeatures - 1));
    missing.push_back(Draw(random, 0, 1));
    splits.push_back(Number(random));
    sets.emplace_back();
    if (modes[at] == 6) {
      for (std::int64_t n = Draw(random, 1, 9); n > 0; --n) sets[at].push_back(Number(random));
      members.insert(members.end(), sets[at].begin(), sets[at].end());
      members.push_back(std::nan(""));
    }
    for (Ints* list : {&yes, &no, &yes_leafs, &no_leafs}) list->push_back(0);
    for (auto [to, is_leaf] : {std::pair{&yes, &yes_leafs}, std::pair{&no, &no_leafs}}) {
      (*is_leaf)[at] = depth == 0 || random() % 3 == 0 ? 1 : 0;
      const std::int64_t child = (*is_leaf)[at] != 0 ? AddLeaf(random) : AddNode(random, depth - 1);
      (*to)[at] = child;
    }
    return static_cast<std::int64_t>(at);
  }

  /// The leaf that a row ends in.
  std::size_t LeafOf(std::size_t at, const double* row) const {
    const double x = row[features[at]];
    const double split = splits[at];
    const bool holds[] = {x <= split, x<split, x >= split, x> split, x == split, x != split,
                          std::count(sets[at].begin(), sets[at].end(), x) > 0};
    const bool is_yes = holds[modes[at]] || (std::isnan(x) && missing[at] != 0);
    const auto next = static_cast<std::size_t>((is_yes ? yes : no)[at]);
    return (is_yes ? yes_leafs : no_leafs)[at] != 0 ? next : LeafOf(next, row);
  }
};

TEST(TreeEnsembleTest, RandomForests) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(200, [&](std::mt19937& random) {
    Forest forest;
    for (std::int64_t n = Draw(random, 0, 6); n > 0; --n) {
      forest.roots.push_back(forest.AddNode(random, 3));
    }
    const std::int64_t aggregate = Draw(random, 0, 3);
    const std::int64_t rows = Draw(random, 0, 40);
    const ElementType element = kElements[random() % 4];
    Values xs = ToValues(RandomSpecials(random, element, {rows, kFeatures}, -2, 2));
    for (double& x : xs) x = std::nearbyint(4 * x) / 4;
    const Tensor found = Run1("TreeEnsemble", {FromValues(element, {rows, kFeatures}, xs)},
                              {element, {rows, kTargets}},
                              {{"aggregate_function", aggregate},
                               {"leaf_targetids", forest.targets},
                               {"leaf_weights", Bits(forest.weights)},
                               {"membership_values", Bits(forest.members)},
                               {"n_targets", kTargets},
                               {"nodes_falseleafs", forest.no_leafs},
                               {"nodes_falsenodeids", forest.no},
                               {"nodes_featureids", forest.features},
                               {"nodes_missing_value_tracks_true", forest.missing},
                               {"nodes_modes", forest.modes},
                               {"nodes_splits", Bits(forest.splits)},
                               {"nodes_trueleafs", forest.yes_leafs},
                               {"nodes_truenodeids", forest.yes},
                               {"tree_roots", forest.roots}});
    const Values wanted = testing::Fill({rows, kTargets}, [&](const testing::Index& at) {
      Values parts;
      for (const std::int64_t root : forest.roots) {
        const std::size_t leaf =
            forest.LeafOf(static_cast<std::size_t>(root), xs.data() + at[0] * kFeatures);
        if (forest.targets[leaf] == at[1]) parts.push_back(forest.weights[leaf]);
      }
      if (parts.empty()) return 0.0;
      if (aggregate == 2) return *std::min_element(parts.begin(), parts.end());
      if (aggregate == 3) return *std::max_element(parts.begin(), parts.end());
      double sum = 0;
      for (const double part : parts) sum += part;
      return aggregate == 1 ? sum : sum / static_cast<double>(forest.roots.size());
    });
    ExpectClose(found, wanted, 1);
  });
}

TEST(TreeEnsembleTest, RefusesBrokenForests) {
  const auto error = [](const char* name, AttributeValue value) {
    Attributes tree = OneTree();
    tree.set(name, std::move(value));
    return BindError("TreeEnsemble", {{kFloat32, {4, 2}}}, {{kFloat32, {4, 2}}}, tree);
  };
  EXPECT_EQ(error("nodes_modes", Ints{0, 3}), "");
  EXPECT_NE(error("nodes_modes", Ints{0, 7}), "");
  EXPECT_NE(error("nodes_modes", Ints{0}), "");
  EXPECT_NE(error("nodes_modes", Ints{0, 6}), "");
  EXPECT_NE(error("nodes_featureids", Ints{0, 2}), "");
  EXPECT_NE(error("nodes_truenodeids", Ints{0, 0}), "");
  EXPECT_NE(error("nodes_falsenodeids", Ints{3, 0}), "");
  EXPECT_NE(error("leaf_targetids", Ints{0, 1, 2}), "");
  EXPECT_NE(error("leaf_counts", Ints{2, 2}), "");
  EXPECT_NE(error("tree_roots", Ints{1}), "");
  EXPECT_NE(error("tree_roots", Ints{-1}), "");
  EXPECT_NE(error("n_targets", std::int64_t{3}), "");
}

}  // namespace
}  // namespace poprt::kernels
