#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "runtime/kernels/kernel_test_tensors.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::FromValues;
using testing::RandomTensor;
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

/// A forest of random stumps, whose results are easy to tell.
TEST(TreeEnsembleTest, RandomStumps) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::int64_t aggregate = seed % 4;
    const std::size_t trees = 1 + random() % 9;
    Ints features, targets, modes, ids, roots;
    Values splits, weights;
    std::uniform_real_distribution<double> draw(-2, 2);
    for (std::size_t i = 0; i < trees; ++i) {
      features.push_back(random() % 3);
      modes.push_back(random() % 6);
      splits.push_back(draw(random));
      roots.push_back(static_cast<std::int64_t>(i));
      for (int leaf = 0; leaf < 2; ++leaf) {
        ids.push_back(static_cast<std::int64_t>(2 * i) + leaf);
        targets.push_back(random() % 2);
        weights.push_back(draw(random));
      }
    }
    Ints yes, no;
    for (std::size_t i = 0; i < trees; ++i) {
      yes.push_back(static_cast<std::int64_t>(2 * i));
      no.push_back(static_cast<std::int64_t>(2 * i) + 1);
    }
    const Ints ones(trees, 1);
    const Tensor x = RandomTensor(random, kFloat64, {50, 3}, -2, 2);
    const Values data = ToValues(x);
    const Tensor found = Run1("TreeEnsemble", {x}, {kFloat64, {50, 2}},
                              {{"aggregate_function", aggregate},
                               {"leaf_targetids", targets},
                               {"leaf_weights", Bits(weights)},
                               {"membership_values", Ints{}},
                               {"n_targets", std::int64_t{2}},
                               {"nodes_falseleafs", ones},
                               {"nodes_falsenodeids", no},
                               {"nodes_featureids", features},
                               {"nodes_modes", modes},
                               {"nodes_splits", Bits(splits)},
                               {"nodes_trueleafs", ones},
                               {"nodes_truenodeids", yes},
                               {"tree_roots", roots}});
    for (std::size_t row = 0; row < 50; ++row) {
      std::vector<Values> parts(2);
      for (std::size_t i = 0; i < trees; ++i) {
        const double v = data[row * 3 + static_cast<std::size_t>(features[i])];
        const double s = splits[i];
        const bool hit[] = {v <= s, v<s, v >= s, v> s, v == s, v != s};
        const std::size_t leaf = 2 * i + (hit[modes[i]] ? 0 : 1);
        parts[static_cast<std::size_t>(targets[leaf])].push_back(weights[leaf]);
      }
      for (std::size_t target = 0; target < 2; ++target) {
        const Values& values = parts[target];
        double wanted = 0;
        for (const double value : values) wanted += value;
        if (aggregate == 0) wanted /= static_cast<double>(trees);
        if (aggregate > 1 && !values.empty()) {
          wanted = aggregate == 2 ? *std::min_element(values.begin(), values.end())
                                  : *std::max_element(values.begin(), values.end());
        }
        EXPECT_NEAR(found.as<double>()[row * 2 + target], wanted, 1e-12);
      }
    }
  }
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
