#include <cstdint>
#include <string>

#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"

/// RotaryEmbedding in terms of other operators.
namespace poprt::frontend {
namespace {

using ir::ValueId;

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
    return call.WrongInput(0, "it must have 3 or 4 dimensions");
  if (is_flat && (heads < 1 || data.shape[2] % heads != 0)) {
    return call.WrongInput(0, "attribute 'num_heads' is " + std::to_string(heads) +
                                  ", it must divide the last extent");
  }
  for (std::size_t i : {1, 2}) {
    if (call.type(i).shape.size() != (call.type(3).defined() ? 2U : 3U)) {
      return call.WrongInput(i, "it must have 2 dimensions with positions, else 3");
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

constexpr UpgradeRow kRows[] = {
    {"RotaryEmbedding", kAlways, UpgradeRotaryEmbedding, true},
};

}  // namespace

std::span<const UpgradeRow> RotaryEmbeddingUpgrades() { return kRows; }

}  // namespace poprt::frontend
