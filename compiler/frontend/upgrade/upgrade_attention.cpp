#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

/// Attention and the cache of its keys and values.
namespace poprt::frontend {
namespace {

using ir::kAbsent;
using ir::ValueId;

/// Wider than any tensor; sums with positions are far from overflowing.
constexpr std::int64_t kUnbounded = std::int64_t{1} << 48;

constexpr std::int64_t kInt64 = static_cast<std::int64_t>(ElementType::kInt64);

/// 0, 1, ... along `axis` of `rank` dimensions.
ValueId Positions(UpgradeSteps& steps, std::int64_t count, std::size_t axis, std::size_t rank) {
  Shape shape(rank, 1);
  shape[axis] = count;
  Tensor tensor({ElementType::kInt64, shape});
  std::int64_t next = 0;
  for (std::int64_t& position : tensor.as_mutable<std::int64_t>()) position = next++;
  return steps.Constant("positions", std::move(tensor));
}

/// Attention, one step after the other. Heads are [batch, heads, sequence, size].
class Attention {
 public:
  explicit Attention(const UpgradeCall& call)
      : call_(call), steps_(call), attributes_(call.node.attributes) {}

  absl::Status Run() {
    if (absl::Status status = Check(); !status.ok()) return status;
    const bool is_flat = call_.type(0).shape.size() == 3;
    const ValueId query = Heads(0, attributes_.get_int("q_num_heads", 0));
    const ValueId new_key = Heads(1, attributes_.get_int("kv_num_heads", 0));
    const ValueId new_value = Heads(2, attributes_.get_int("kv_num_heads", 0));
    if (!steps_.ok()) return steps_.FinishWith({});
    element_ = steps_.type(query).element;
    past_ = call_.type(4).defined() ? call_.type(4).shape[2] : 0;
    const ValueId key = WithPast(4, new_key);
    const ValueId value = WithPast(5, new_value);
    const std::int64_t heads = steps_.type(query).shape[1];
    if (heads % std::max<std::int64_t>(1, steps_.type(key).shape[1]) != 0) {
      return absl::InvalidArgumentError(
          "the " + std::to_string(heads) + " heads of input 0 are no multiple of the " +
          std::to_string(steps_.type(key).shape[1]) + " heads of input 1");
    }
    const ValueId scores = Scores(query, Repeated(key, heads));
    const ValueId capped = Capped(scores);
    const ValueId masked = Masked(capped);
    const ValueId weights = WithoutEmptyRows(Softmax(masked));
    ValueId result = steps_.Do("MatMul", {weights, steps_.Cast(Repeated(value, heads), element_)});
    if (is_flat) result = Flattened(result);
    const std::int64_t mode = attributes_.get_int("qk_matmul_output_mode", 0);
    const ValueId shown[] = {scores, capped, masked, weights};
    return steps_.FinishWith(
        std::vector{result, key, value, shown[static_cast<std::size_t>(mode)]});
  }

 private:
  absl::Status Check() const {
    const std::size_t rank = call_.type(0).shape.size();
    for (std::size_t i = 0; i < 3; ++i) {
      if (!call_.type(i).defined()) return call_.MissingInput(i);
      if ((rank != 3 && rank != 4) || call_.type(i).shape.size() != rank) {
        return call_.WrongInput(i, "queries, keys and values must all have 3 or 4 dimensions");
      }
      const char* name = i == 0 ? "q_num_heads" : "kv_num_heads";
      const std::int64_t heads = attributes_.get_int(name, 0);
      if (rank == 3 && (heads < 1 || call_.type(i).shape[2] % heads != 0)) {
        return call_.WrongInput(i, "attribute '" + std::string(name) + "' is " +
                                       std::to_string(heads) + ", it must divide the last extent");
      }
    }
    for (std::size_t i : {4, 5}) {
      if (call_.type(i).defined() && call_.type(i).shape.size() != 4) {
        return call_.WrongInput(i, "it must have 4 dimensions");
      }
    }
    if (call_.type(4).defined() != call_.type(5).defined()) {
      return absl::InvalidArgumentError("inputs 4 and 5, the past keys and values, go together");
    }
    for (const char* name : {"left_window_size", "right_window_size"}) {
      if (const std::int64_t size = attributes_.get_int(name, -1); size < -1) {
        return absl::InvalidArgumentError("attribute '" + std::string(name) + "' is " +
                                          std::to_string(size) + ", allowed are -1 and up");
      }
    }
    const std::int64_t mode = attributes_.get_int("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3) {
      return absl::InvalidArgumentError("attribute 'qk_matmul_output_mode' is " +
                                        std::to_string(mode) + ", allowed are 0 to 3");
    }
    return absl::OkStatus();
  }

  ValueId Heads(std::size_t input, std::int64_t heads) {
    const ValueId value = call_.input(input);
    const Shape shape = steps_.type(value).shape;
    if (shape.size() == 4) return value;
    const ValueId split = steps_.Reshape(value, {shape[0], shape[1], heads, shape[2] / heads});
    return steps_.Do("Transpose", {split}, {{"perm", Ints{0, 2, 1, 3}}});
  }

  ValueId Flattened(ValueId heads) {
    const Shape shape = steps_.type(heads).shape;
    const ValueId last = steps_.Do("Transpose", {heads}, {{"perm", Ints{0, 2, 1, 3}}});
    if (!steps_.ok()) return last;
    return steps_.Reshape(last, {shape[0], shape[2], shape[1] * shape[3]});
  }

  ValueId WithPast(std::size_t input, ValueId now) {
    if (!call_.type(input).defined()) return now;
    return steps_.Do("Concat", {call_.input(input), now}, {{"axis", std::int64_t{2}}});
  }

  /// Each head several times in a row, so that there are as many as queries have.
  ValueId Repeated(ValueId value, std::int64_t heads) {
    const Shape shape = steps_.type(value).shape;
    if (shape.size() != 4 || shape[1] == heads || shape[1] == 0) return value;
    const std::int64_t times = heads / shape[1];
    const ValueId column = steps_.Reshape(value, {shape[0], shape[1], 1, shape[2], shape[3]});
    const ValueId wide = steps_.Do(
        "Expand", {column}, {{"shape", Ints{shape[0], shape[1], times, shape[2], shape[3]}}});
    return steps_.Reshape(wide, {shape[0], heads, shape[2], shape[3]});
  }

  /// Half of the scale goes to each side, so that half types do not overflow.
  ValueId Scores(ValueId query, ValueId key) {
    const auto size = static_cast<double>(steps_.type(query).shape.back());
    const double scale = attributes_.has("scale")
                             ? static_cast<double>(attributes_.get_float("scale", 1.0F))
                             : 1.0 / std::sqrt(size);
    const ValueId root = steps_.Number(std::sqrt(scale), element_);
    const ValueId turned =
        steps_.Do("Transpose", {steps_.Cast(key, element_)}, {{"perm", Ints{0, 1, 3, 2}}});
    return steps_.Do("MatMul", {steps_.Do("Mul", {query, root}), steps_.Do("Mul", {turned, root})});
  }

  ValueId Capped(ValueId scores) {
    const float cap = attributes_.get_float("softcap", 0.0F);
    if (cap <= 0.0F) return scores;
    const ValueId number = steps_.Number(cap, element_);
    return steps_.Do("Mul", {steps_.Do("Tanh", {steps_.Do("Div", {scores, number})}), number});
  }

  /// The greatest window is as good as none.
  std::int64_t Window(const char* attribute) const {
    const std::int64_t size = attributes_.get_int(attribute, -1);
    return size < 0 ? kUnbounded : std::min(size, kUnbounded);
  }

  ValueId Masked(ValueId scores) {
    if (!steps_.ok()) return scores;
    const Shape shape = steps_.type(scores).shape;
    if (call_.type(3).defined()) ReadMask(shape[3]);
    const ValueId keys = Positions(steps_, shape[3], 3, 4);
    const std::int64_t left = Window("left_window_size");
    const std::int64_t right = RightBound();
    if (left != kUnbounded || right != kUnbounded) {
      const ValueId queries = Positions(steps_, shape[2], 2, 4);
      const ValueId current = steps_.Do("Add", {queries, CausalOffset(shape[2])});
      const auto number = [&](std::int64_t size) {
        return steps_.Number(static_cast<double>(size), ElementType::kInt64);
      };
      if (right != kUnbounded) {
        const ValueId last = right == 0 ? current : steps_.Do("Add", {current, number(right)});
        KeepOnly(steps_.Do("LessOrEqual", {keys, last}));
      }
      if (left != kUnbounded) {
        const ValueId first = left == 0 ? current : steps_.Do("Sub", {current, number(left)});
        KeepOnly(steps_.Do("GreaterOrEqual", {keys, first}));
      }
    }
    if (call_.type(6).defined()) KeepOnly(steps_.Do("Less", {keys, Lengths()}));
    if (bias_ != kAbsent) scores = steps_.Do("Add", {scores, bias_});
    return kept_ == kAbsent ? scores : Keep(scores, kept_);
  }

  /// How far behind its own position a query sees.
  std::int64_t RightBound() const {
    return attributes_.get_int("is_causal", 0) != 0 ? 0 : Window("right_window_size");
  }

  /// How many keys come before the first query.
  ValueId CausalOffset(std::int64_t queries) {
    if (call_.type(4).defined() || !call_.type(6).defined()) {
      return steps_.Number(static_cast<double>(past_), ElementType::kInt64);
    }
    const ValueId count = steps_.Number(static_cast<double>(queries), ElementType::kInt64);
    return steps_.Do("Sub", {Lengths(), count});
  }

  /// How many keys of each batch are there, [batch, 1, 1, 1].
  ValueId Lengths() {
    const ValueId lengths = steps_.Cast(call_.input(6), ElementType::kInt64);
    return steps_.Reshape(lengths, {ElementCount(call_.type(6).shape), 1, 1, 1});
  }

  void KeepOnly(ValueId condition) {
    kept_ = kept_ == kAbsent ? condition : steps_.Do("And", {kept_, condition});
  }

  ValueId Never() { return steps_.Number(-std::numeric_limits<double>::infinity(), element_); }

  ValueId Keep(ValueId scores, ValueId kept) { return steps_.Do("Where", {kept, scores, Never()}); }

  /// Masks may be shorter than the keys; those without a mask do not count.
  void ReadMask(std::int64_t keys) {
    ValueId mask = call_.input(3);
    const Shape shape = steps_.type(mask).shape;
    const ElementType element = steps_.type(mask).element;
    const bool is_bool = element == ElementType::kBool;
    if (!shape.empty() && shape.back() != 1 && shape.back() < keys) {
      Ints pads(2 * shape.size(), 0);
      pads.back() = keys - shape.back();
      const double never = is_bool ? 0.0 : -std::numeric_limits<double>::infinity();
      mask = steps_.Do("Pad", {mask, kAbsent, steps_.Number(never, element)}, {{"pads", pads}});
    }
    if (is_bool) return KeepOnly(mask);
    bias_ = steps_.Cast(mask, element_);
  }

  /// Whether the positions alone leave every query a key.
  bool EveryQuerySees(std::int64_t queries, std::int64_t keys) const {
    if (call_.type(3).defined() || call_.type(6).defined()) return false;
    const std::int64_t left = Window("left_window_size");
    return left == kUnbounded || past_ + queries - 1 - left < keys;
  }

  /// Queries that see no key at all have weights of zero, not the NaN that Softmax makes of them.
  ValueId WithoutEmptyRows(ValueId weights) {
    if (!steps_.ok()) return weights;
    const Shape shape = steps_.type(weights).shape;
    if (shape[3] == 0 || EveryQuerySees(shape[2], shape[3])) return weights;
    ValueId seen = bias_ == kAbsent ? steps_.Number(0.0, element_) : bias_;
    if (kept_ != kAbsent) seen = Keep(seen, kept_);
    if (!steps_.type(seen).shape.empty()) {
      seen = steps_.Do("ReduceMax", {seen}, {{"axes", Ints{-1}}});
    }
    const ValueId is_empty = steps_.Do("Equal", {seen, Never()});
    return steps_.Do("Where", {is_empty, steps_.Number(0.0, element_), weights});
  }

  ValueId Softmax(ValueId scores) {
    const std::int64_t precision = attributes_.get_int("softmax_precision", 0);
    const ElementType wide = precision == 0 ? element_ : static_cast<ElementType>(precision);
    const ValueId result =
        steps_.Do("Softmax", {steps_.Cast(scores, wide)}, {{"axis", std::int64_t{-1}}});
    return steps_.Cast(result, element_);
  }

  const UpgradeCall& call_;
  UpgradeSteps steps_;
  const Attributes attributes_;
  ElementType element_ = ElementType::kFloat32;
  std::int64_t past_ = 0;
  ValueId bias_ = kAbsent;  ///< that the mask adds to scores
  ValueId kept_ = kAbsent;  ///< which keys each query sees, as far as it is not all
};

absl::Status UpgradeAttention(const UpgradeCall& call) { return Attention(call).Run(); }

/// Each batch of the update goes to its own place on the axis.
absl::Status UpgradeTensorScatter(const UpgradeCall& call) {
  const Attributes attributes = call.node.attributes;
  const Shape cache = call.type(0).shape;
  const Shape update = call.type(1).shape;
  const std::int64_t given = attributes.get_int("axis", -2);
  const std::optional<std::int64_t> axis = NormalizeAxis(given, cache.size());
  if (!axis || *axis == 0 || update.size() != cache.size()) {
    return absl::InvalidArgumentError("attribute 'axis' is " + std::to_string(given) +
                                      ", inputs 0 and 1 are " + ToString(call.type(0)) + " and " +
                                      ToString(call.type(1)) +
                                      "; the axis must be one of both but the first");
  }
  const std::string mode = attributes.get_string("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return absl::InvalidArgumentError("attribute 'mode' is '" + mode +
                                      "', allowed are linear and circular");
  }
  const auto at = static_cast<std::size_t>(*axis);
  UpgradeSteps steps(call);
  ValueId places = Positions(steps, update[at], at, cache.size());
  if (call.type(2).defined()) {
    Shape batches(cache.size(), 1);
    batches[0] = cache[0];
    const ValueId starts = steps.Do("Cast", {call.input(2)}, {{"to", kInt64}});
    places = steps.Do("Add", {places, steps.Reshape(starts, batches)});
  }
  if (mode == "circular") {
    places = steps.Do("Mod",
                      {places, steps.Number(static_cast<double>(cache[at]), ElementType::kInt64)});
  }
  places = steps.Do("Expand", {places}, {{"shape", Ints(update)}});
  return steps.Finish("ScatterElements", {call.input(0), places, call.input(1)}, {{"axis", *axis}});
}

constexpr UpgradeRow kRows[] = {
    {"Attention", kAlways, UpgradeAttention, true},
    {"TensorScatter", kAlways, UpgradeTensorScatter, true},
};

}  // namespace

std::span<const UpgradeRow> AttentionUpgrades() { return kRows; }

}  // namespace poprt::frontend
