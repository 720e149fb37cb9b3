#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/static_input.hpp"
#include "compiler/frontend/upgrade/post_transform.hpp"
#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"
#include "compiler/ops/op.hpp"

/// Forests of decision trees: all forms become TreeEnsemble, whose tables are lists of integers;
/// real numbers are in them as the bits of doubles.
namespace poprt::frontend {
namespace {

using ir::ValueId;

constexpr std::array<const char*, 5> kPostTransforms = {"NONE", "SOFTMAX", "LOGISTIC",
                                                        "SOFTMAX_ZERO", "PROBIT"};

std::int64_t BitsOf(double value) { return std::bit_cast<std::int64_t>(value); }

/// The numbers of a tensor or list as doubles.
std::vector<double> NumbersOf(const AttributeValue* value) {
  std::vector<double> numbers;
  if (value == nullptr) return numbers;
  if (const auto* tensor = std::get_if<Tensor>(value)) {
    if (tensor->element() == ElementType::kFloat64) {
      const auto elements = tensor->as<double>();
      return {elements.begin(), elements.end()};
    }
    const std::optional<AttributeValue> list = StaticValue(*tensor);
    return list ? NumbersOf(&*list) : numbers;
  }
  if (const auto* floats = std::get_if<Floats>(value)) {
    for (const float number : *floats) numbers.push_back(static_cast<double>(number));
  } else if (const auto* ints = std::get_if<Ints>(value)) {
    for (const std::int64_t number : *ints) numbers.push_back(static_cast<double>(number));
  }
  return numbers;
}

Ints BitsOfAll(const std::vector<double>& numbers) {
  Ints bits;
  bits.reserve(numbers.size());
  for (const double number : numbers) bits.push_back(BitsOf(number));
  return bits;
}

/// The list, or its form as a tensor, which newer versions have.
std::vector<double> EitherOf(const Attributes& attributes, const std::string& name) {
  const AttributeValue* tensor = attributes.find(name + "_as_tensor");
  return NumbersOf(tensor != nullptr ? tensor : attributes.find(name));
}

/// Trees compute in float types; the types of the results are float32 in the old forms.
ElementType FloatTypeOf(ElementType element) {
  return element == ElementType::kFloat64 ? element : ElementType::kFloat32;
}

absl::Status UpgradeTreeEnsemble(const UpgradeCall& call) {
  Attributes attributes = call.node.attributes;
  const std::int64_t post = attributes.get_int("post_transform", 0);
  if (post < 0 || post >= static_cast<std::int64_t>(kPostTransforms.size())) {
    return absl::InvalidArgumentError("attribute 'post_transform' is " + std::to_string(post) +
                                      ", allowed are 0 to 4");
  }
  for (const char* name : {"leaf_weights", "membership_values", "nodes_splits"}) {
    attributes.set(name, BitsOfAll(NumbersOf(attributes.find(name))));
  }
  Ints modes;
  for (const double mode : NumbersOf(attributes.find("nodes_modes"))) {
    modes.push_back(static_cast<std::int64_t>(mode));
  }
  attributes.set("nodes_modes", modes);
  if (!attributes.has("n_targets")) attributes.set("n_targets", std::int64_t{1});
  attributes.erase("nodes_hitrates");
  attributes.erase("post_transform");
  if (post == 0) {
    call.node.attributes = std::move(attributes);
    return absl::OkStatus();
  }
  UpgradeSteps steps(call);
  const ValueId scores = steps.Do("TreeEnsemble", {call.input(0)}, attributes);
  const absl::StatusOr<ValueId> result =
      PostTransform(steps, kPostTransforms[static_cast<std::size_t>(post)], scores);
  if (!result.ok()) return result.status();
  return steps.FinishWith(std::vector{*result});
}

/// What one leaf of the old forms adds to a target.
struct Weight {
  std::int64_t target;
  double value;
};

using NodeKey = std::pair<std::int64_t, std::int64_t>;  // tree, node

/// The tables of the old forms, "class" or "target" naming what leaves add to.
class OldForest {
 public:
  OldForest(const Attributes& attributes, const std::string& what)
      : trees_(attributes.get_ints("nodes_treeids")),
        nodes_(attributes.get_ints("nodes_nodeids")),
        features_(attributes.get_ints("nodes_featureids")),
        yes_(attributes.get_ints("nodes_truenodeids")),
        no_(attributes.get_ints("nodes_falsenodeids")),
        missing_(attributes.get_ints("nodes_missing_value_tracks_true")),
        splits_(EitherOf(attributes, "nodes_values")),
        leaf_trees_(attributes.get_ints(what + "_treeids")),
        leaf_nodes_(attributes.get_ints(what + "_nodeids")),
        targets_(attributes.get_ints(what + "_ids")),
        weights_(EitherOf(attributes, what + "_weights")) {
    const AttributeValue* modes = attributes.find("nodes_modes");
    if (modes != nullptr) modes_ = std::get<Strings>(*modes);
  }

  const Ints& targets() const { return targets_; }

  /// The attributes of TreeEnsemble but for the number of targets and how they are combined.
  absl::StatusOr<Attributes> Convert() {
    if (absl::Status status = CheckSizes(); !status.ok()) return status;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      added_[{leaf_trees_[i], leaf_nodes_[i]}].push_back({targets_[i], weights_[i]});
    }
    if (absl::Status status = Number(); !status.ok()) return status;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (absl::Status status = AddNode(i); !status.ok()) return status;
    }
    AddRoots();
    return Attributes{{"leaf_counts", leaf_counts_},
                      {"leaf_targetids", leaf_targets_},
                      {"leaf_weights", leaf_weights_},
                      {"membership_values", Ints{}},
                      {"nodes_falseleafs", is_leaf_[0]},
                      {"nodes_falsenodeids", leads_[0]},
                      {"nodes_featureids", new_features_},
                      {"nodes_missing_value_tracks_true", new_missing_},
                      {"nodes_modes", new_modes_},
                      {"nodes_splits", new_splits_},
                      {"nodes_trueleafs", is_leaf_[1]},
                      {"nodes_truenodeids", leads_[1]},
                      {"tree_roots", roots_}};
  }

 private:
  struct Place {
    std::int64_t at;
    bool is_leaf;
  };

  absl::Status CheckSizes() const {
    const std::size_t count = nodes_.size();
    const bool fits = trees_.size() == count && features_.size() == count && yes_.size() == count &&
                      no_.size() == count && modes_.size() == count && splits_.size() == count &&
                      (missing_.empty() || missing_.size() == count);
    if (!fits || count == 0) {
      return absl::InvalidArgumentError(
          "the attributes nodes_* must all have a number for each node");
    }
    if (leaf_trees_.size() != targets_.size() || leaf_nodes_.size() != targets_.size() ||
        weights_.size() != targets_.size()) {
      return absl::InvalidArgumentError(
          "the attributes that say what leaves add must all have equally many numbers");
    }
    return absl::OkStatus();
  }

  /// Leaves and other nodes are numbered apart.
  absl::Status Number() {
    std::int64_t inner = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeKey key{trees_[i], nodes_[i]};
      const bool is_leaf = modes_[i] == "LEAF";
      const Place place{is_leaf ? static_cast<std::int64_t>(leaf_counts_.size()) : inner, is_leaf};
      if (!places_.emplace(key, place).second) {
        return absl::InvalidArgumentError("node " + std::to_string(nodes_[i]) + " of tree " +
                                          std::to_string(trees_[i]) + " is there twice");
      }
      if (is_leaf) {
        AddLeaf(added_[key]);
      } else {
        ++inner;
      }
    }
    return absl::OkStatus();
  }

  void AddLeaf(const std::vector<Weight>& weights) {
    leaf_counts_.push_back(static_cast<std::int64_t>(weights.size()));
    for (const Weight& weight : weights) {
      leaf_targets_.push_back(weight.target);
      leaf_weights_.push_back(BitsOf(weight.value));
    }
  }

  absl::Status AddNode(std::size_t i) {
    if (modes_[i] == "LEAF") return absl::OkStatus();
    static constexpr std::array<const char*, 6> names = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto* mode = std::find(names.begin(), names.end(), modes_[i]);
    if (mode == names.end()) {
      return absl::InvalidArgumentError("attribute 'nodes_modes' has '" + modes_[i] +
                                        "', which is no mode");
    }
    new_modes_.push_back(mode - names.begin());
    new_features_.push_back(features_[i]);
    new_splits_.push_back(BitsOf(splits_[i]));
    new_missing_.push_back(missing_.empty() ? 0 : missing_[i]);
    for (const bool is_yes : {false, true}) {
      const NodeKey key{trees_[i], is_yes ? yes_[i] : no_[i]};
      const auto next = places_.find(key);
      if (next == places_.end()) {
        return absl::InvalidArgumentError("node " + std::to_string(nodes_[i]) + " of tree " +
                                          std::to_string(trees_[i]) + " leads to node " +
                                          std::to_string(key.second) + ", which is not there");
      }
      has_parent_.insert(key);
      leads_[is_yes ? 1 : 0].push_back(next->second.at);
      is_leaf_[is_yes ? 1 : 0].push_back(next->second.is_leaf ? 1 : 0);
    }
    return absl::OkStatus();
  }

  void AddRoots() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeKey key{trees_[i], nodes_[i]};
      if (has_parent_.count(key) > 0) continue;
      const Place place = places_.at(key);
      if (!place.is_leaf) {
        roots_.push_back(place.at);
        continue;
      }
      // A tree that is one leaf: whatever the comparison says, it leads there.
      roots_.push_back(static_cast<std::int64_t>(new_modes_.size()));
      new_modes_.push_back(0);
      new_features_.push_back(0);
      new_splits_.push_back(BitsOf(0.0));
      new_missing_.push_back(0);
      for (std::size_t branch : {0, 1}) {
        leads_[branch].push_back(place.at);
        is_leaf_[branch].push_back(1);
      }
    }
  }

  Ints trees_, nodes_, features_, yes_, no_, missing_;
  Strings modes_;
  std::vector<double> splits_;
  Ints leaf_trees_, leaf_nodes_, targets_;
  std::vector<double> weights_;

  std::map<NodeKey, std::vector<Weight>> added_;
  std::map<NodeKey, Place> places_;
  std::set<NodeKey> has_parent_;
  Ints leaf_counts_, leaf_targets_, leaf_weights_;
  Ints new_modes_, new_features_, new_splits_, new_missing_, roots_;
  std::array<Ints, 2> leads_, is_leaf_;  ///< where the comparison fails, where it holds
};

/// A row of constants of that type.
ValueId Row(UpgradeSteps& steps, const std::vector<double>& numbers, ElementType element) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  const ValueId row =
      steps.Constant("row", Tensor({ElementType::kFloat64, {1, count}}, numbers.data()));
  return steps.Cast(row, element);
}

/// Adds the constants that every row starts from, if there are any.
absl::StatusOr<ValueId> WithBase(UpgradeSteps& steps, ValueId scores,
                                 const std::vector<double>& base, std::int64_t targets) {
  if (base.empty()) return scores;
  if (static_cast<std::int64_t>(base.size()) != targets) {
    return absl::InvalidArgumentError("attribute 'base_values' has " + std::to_string(base.size()) +
                                      " numbers, there are " + std::to_string(targets) +
                                      " targets");
  }
  return steps.Do("Add", {scores, Row(steps, base, steps.type(scores).element)});
}

absl::Status UpgradeTreeRegressor(const UpgradeCall& call) {
  const Attributes attributes = call.node.attributes;
  if (!call.type(0).defined()) return call.MissingInput(0);
  static constexpr std::array<const char*, 4> names = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string wanted = attributes.get_string("aggregate_function", "SUM");
  const auto* aggregate = std::find(names.begin(), names.end(), wanted);
  if (aggregate == names.end()) {
    return absl::InvalidArgumentError("attribute 'aggregate_function' is '" + wanted +
                                      "', allowed are AVERAGE, SUM, MIN, MAX");
  }
  absl::StatusOr<Attributes> forest = OldForest(attributes, "target").Convert();
  if (!forest.ok()) return forest.status();
  const std::int64_t targets = attributes.get_int("n_targets", 1);
  forest->set("n_targets", targets);
  forest->set("aggregate_function", static_cast<std::int64_t>(aggregate - names.begin()));
  UpgradeSteps steps(call);
  const ValueId input = steps.Cast(call.input(0), FloatTypeOf(call.type(0).element));
  absl::StatusOr<ValueId> scores = WithBase(steps, steps.Do("TreeEnsemble", {input}, *forest),
                                            EitherOf(attributes, "base_values"), targets);
  if (!scores.ok()) return scores.status();
  scores = PostTransform(steps, attributes.get_string("post_transform", "NONE"), *scores);
  if (!scores.ok()) return scores.status();
  return steps.FinishWith(std::vector{steps.Cast(*scores, ElementType::kFloat32)});
}

absl::Status UpgradeTreeClassifier(const UpgradeCall& call) {
  const Attributes attributes = call.node.attributes;
  if (!call.type(0).defined()) return call.MissingInput(0);
  const Ints labels = attributes.get_ints("classlabels_int64s");
  if (labels.empty()) {
    return absl::UnimplementedError(
        "labels must be integers (attribute 'classlabels_int64s'); strings do not exist on the "
        "device");
  }
  OldForest old(attributes, "class");
  absl::StatusOr<Attributes> forest = old.Convert();
  if (!forest.ok()) return forest.status();
  const auto classes = static_cast<std::int64_t>(labels.size());
  const std::set<std::int64_t> used(old.targets().begin(), old.targets().end());
  // One class has scores only: that of the other follows.
  const bool is_binary = used.size() == 1 && classes <= 2;
  const std::int64_t targets = is_binary ? 1 : classes;
  if (is_binary) forest->set("leaf_targetids", Ints(old.targets().size(), 0));
  forest->set("n_targets", targets);
  forest->set("aggregate_function", std::int64_t{1});
  UpgradeSteps steps(call);
  const ElementType element = FloatTypeOf(call.type(0).element);
  const ValueId input = steps.Cast(call.input(0), element);
  std::vector<double> base = EitherOf(attributes, "base_values");
  if (is_binary && base.size() == 2) base.erase(base.begin());
  absl::StatusOr<ValueId> scores =
      WithBase(steps, steps.Do("TreeEnsemble", {input}, *forest), base, targets);
  if (!scores.ok()) return scores.status();
  const std::string post = attributes.get_string("post_transform", "NONE");
  if (is_binary) {
    const bool is_probability = post == "NONE" || post == "PROBIT";
    const ValueId other = is_probability ? steps.Do("Sub", {steps.Number(1.0, element), *scores})
                                         : steps.Do("Neg", {*scores});
    scores = steps.Do("Concat", {other, *scores}, {{"axis", std::int64_t{1}}});
  }
  scores = PostTransform(steps, post, *scores);
  if (!scores.ok()) return scores.status();
  const ValueId best =
      steps.Do("ArgMax", {*scores}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  Ints names = labels;
  // A single label stands for "no", as its probability says.
  if (names.size() == 1 && is_binary) names = {0, labels[0]};
  const ValueId table = steps.Constant(
      "labels",
      Tensor({ElementType::kInt64, {static_cast<std::int64_t>(names.size())}}, names.data()));
  const ValueId label = steps.Do("Gather", {table, best}, {{"axis", std::int64_t{0}}});
  return steps.FinishWith(std::vector{label, steps.Cast(*scores, ElementType::kFloat32)});
}

constexpr UpgradeRow kRows[] = {
    {"TreeEnsemble", kAlways, UpgradeTreeEnsemble, false, ops::kMlDomain},
    {"TreeEnsembleClassifier", kAlways, UpgradeTreeClassifier, true, ops::kMlDomain},
    {"TreeEnsembleRegressor", kAlways, UpgradeTreeRegressor, true, ops::kMlDomain},
};

}  // namespace

std::span<const UpgradeRow> TreeUpgrades() { return kRows; }

}  // namespace poprt::frontend
