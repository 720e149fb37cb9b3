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

/// Operators of transformers that came with opsets 23 and 24.
namespace poprt::frontend {
namespace {

using ir::kAbsent;
using ir::ValueId;

constexpr std::int64_t kInt64 = static_cast<std::int64_t>(ElementType::kInt64);

absl::Status WrongInput(const UpgradeCall& call, std::size_t i, const std::string& wanted) {
  return absl::InvalidArgumentError("input " + std::to_string(i) + " is " + ToString(call.type(i)) +
                                    ", " + wanted);
}

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
    const ValueId weights = Softmax(masked);
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
        return WrongInput(call_, i, "queries, keys and values must all have 3 or 4 dimensions");
      }
      const char* name = i == 0 ? "q_num_heads" : "kv_num_heads";
      const std::int64_t heads = attributes_.get_int(name, 0);
      if (rank == 3 && (heads < 1 || call_.type(i).shape[2] % heads != 0)) {
        return WrongInput(call_, i,
                          "attribute '" + std::string(name) + "' is " + std::to_string(heads) +
                              ", it must divide the last extent");
      }
    }
    for (std::size_t i : {4, 5}) {
      if (call_.type(i).defined() && call_.type(i).shape.size() != 4) {
        return WrongInput(call_, i, "it must have 4 dimensions");
      }
    }
    if (call_.type(4).defined() != call_.type(5).defined()) {
      return absl::InvalidArgumentError("inputs 4 and 5, the past keys and values, go together");
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

  ValueId Masked(ValueId scores) {
    if (!steps_.ok()) return scores;
    const Shape shape = steps_.type(scores).shape;
    ValueId result = scores;
    if (call_.type(3).defined()) result = WithMask(result, shape.back());
    const ValueId keys = Positions(steps_, shape[3], 3, 4);
    if (attributes_.get_int("is_causal", 0) != 0) {
      const ValueId queries = Positions(steps_, shape[2], 2, 4);
      const ValueId last = steps_.Do("Add", {queries, CausalOffset(shape[2])});
      result = Keep(result, steps_.Do("LessOrEqual", {keys, last}));
    }
    if (call_.type(6).defined()) result = Keep(result, steps_.Do("Less", {keys, Lengths()}));
    return result;
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

  ValueId Keep(ValueId scores, ValueId kept) {
    const double never = -std::numeric_limits<double>::infinity();
    return steps_.Do("Where", {kept, scores, steps_.Number(never, element_)});
  }

  /// Masks may be shorter than the keys; those without a mask do not count.
  ValueId WithMask(ValueId scores, std::int64_t keys) {
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
    if (is_bool) return Keep(scores, mask);
    return steps_.Do("Add", {scores, steps_.Cast(mask, element_)});
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
};

absl::Status UpgradeAttention(const UpgradeCall& call) { return Attention(call).Run(); }

/// A part of the last axis.
ValueId Part(UpgradeSteps& steps, ValueId value, std::int64_t start, std::int64_t end,
             std::int64_t step = 1) {
  return steps.Do(
      "Slice", {value},
      {{"starts", Ints{start}}, {"ends", Ints{end}}, {"axes", Ints{-1}}, {"steps", Ints{step}}});
}

/// The rows of a cache for each position, as [batch, sequence, 1, half].
ValueId CacheRows(const UpgradeCall& call, UpgradeSteps& steps, std::size_t input) {
  ValueId rows = call.input(input);
  if (call.type(3).defined()) {
    rows = steps.Do("Gather", {rows, call.input(3)}, {{"axis", std::int64_t{0}}});
  }
  return steps.Do("Unsqueeze", {rows}, {{"axes", Ints{2}}});
}

absl::Status UpgradeRotaryEmbedding(const UpgradeCall& call) {
  const Attributes attributes = call.node.attributes;
  const TensorType data = call.type(0);
  for (std::size_t i = 0; i < 3; ++i) {
    if (!call.type(i).defined()) return call.MissingInput(i);
  }
  const bool is_flat = data.shape.size() == 3;
  const std::int64_t heads = attributes.get_int("num_heads", 0);
  if (!is_flat && data.shape.size() != 4)
    return WrongInput(call, 0, "it must have 3 or 4 dimensions");
  if (is_flat && (heads < 1 || data.shape[2] % heads != 0)) {
    return WrongInput(
        call, 0,
        "attribute 'num_heads' is " + std::to_string(heads) + ", it must divide the last extent");
  }
  for (std::size_t i : {1, 2}) {
    if (call.type(i).shape.size() != (call.type(3).defined() ? 2U : 3U)) {
      return WrongInput(call, i, "it must have 2 dimensions with positions, else 3");
    }
  }
  UpgradeSteps steps(call);
  ValueId input = call.input(0);
  if (is_flat) {
    input = steps.Reshape(input, {data.shape[0], data.shape[1], heads, data.shape[2] / heads});
  } else {
    input = steps.Do("Transpose", {input}, {{"perm", Ints{0, 2, 1, 3}}});
  }
  const std::int64_t size = is_flat ? data.shape[2] / heads : data.shape[3];
  const std::int64_t given = attributes.get_int("rotary_embedding_dim", 0);
  const std::int64_t rotated = given == 0 ? size : given;
  if (rotated < 0 || rotated > size || rotated % 2 != 0) {
    return absl::InvalidArgumentError("the rotated extent is " + std::to_string(rotated) +
                                      ", it must be even and within the head size " +
                                      std::to_string(size));
  }
  const bool interleaved = attributes.get_int("interleaved", 0) != 0;
  const ValueId first =
      interleaved ? Part(steps, input, 0, rotated, 2) : Part(steps, input, 0, rotated / 2);
  const ValueId second =
      interleaved ? Part(steps, input, 1, rotated, 2) : Part(steps, input, rotated / 2, rotated);
  const ValueId cosine = CacheRows(call, steps, 1);
  const ValueId sine = CacheRows(call, steps, 2);
  ValueId real =
      steps.Do("Sub", {steps.Do("Mul", {cosine, first}), steps.Do("Mul", {sine, second})});
  ValueId imaginary =
      steps.Do("Add", {steps.Do("Mul", {sine, first}), steps.Do("Mul", {cosine, second})});
  if (interleaved) {
    real = steps.Do("Unsqueeze", {real}, {{"axes", Ints{-1}}});
    imaginary = steps.Do("Unsqueeze", {imaginary}, {{"axes", Ints{-1}}});
  }
  ValueId result = steps.Do("Concat", {real, imaginary}, {{"axis", std::int64_t{-1}}});
  if (!steps.ok()) return steps.FinishWith({});
  Shape shape = steps.type(input).shape;
  shape.back() = rotated;
  result = steps.Reshape(result, shape);
  if (rotated < size) {
    result = steps.Do("Concat", {result, Part(steps, input, rotated, size)},
                      {{"axis", std::int64_t{-1}}});
  }
  if (is_flat) {
    return steps.Finish("Reshape", {result},
                        {{"shape", Ints(data.shape)}, {"allowzero", std::int64_t{1}}});
  }
  return steps.Finish("Transpose", {result}, {{"perm", Ints{0, 2, 1, 3}}});
}

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
    {"RotaryEmbedding", kAlways, UpgradeRotaryEmbedding, true},
    {"TensorScatter", kAlways, UpgradeTensorScatter, true},
};

}  // namespace

std::span<const UpgradeRow> AttentionUpgrades() { return kRows; }

}  // namespace poprt::frontend
