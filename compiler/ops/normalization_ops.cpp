#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

/// Softmax and its kin: one axis, the last by default.
Types InferAlongAxis(const InferenceCall& call) {
  AxisAttribute(call.attributes, "axis", -1, call.input(0).shape.size());
  return SameAsInput(call);
}

Types InferLpNormalization(const InferenceCall& call) {
  const std::int64_t p = call.attributes.get_int("p", 2);
  Require(p == 1 || p == 2, "attribute 'p' is ", p, ", allowed are 1 and 2");
  return InferAlongAxis(call);
}

/// Statistics are float32, the only type that attribute 'stash_type' may name.
void RequireFloat32Statistics(const InferenceCall& call) {
  const std::int64_t stash = call.attributes.get_int("stash_type", 1);
  Require(stash == 1, "attribute 'stash_type' is ", stash, ", allowed is 1 (float32)");
}

Types InferLayerNormalization(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  RequireSameElements(call);
  const std::size_t axis = AxisAttribute(call.attributes, "axis", -1, data.shape.size());
  RequireBroadcastsTo(call, 1, data.shape);
  if (call.input(2).defined()) RequireBroadcastsTo(call, 2, data.shape);
  RequireFloat32Statistics(call);
  TensorType statistics{ElementType::kFloat32, data.shape};
  for (std::size_t i = axis; i < data.shape.size(); ++i) statistics.shape[i] = 1;
  return {data, statistics, statistics};
}

Types InferRmsNormalization(const InferenceCall& call) {
  const TensorType& data = call.input(0);
  AxisAttribute(call.attributes, "axis", -1, data.shape.size());
  RequireFloat32Statistics(call);
  RequireFloat(call, 1);
  RequireBroadcastsTo(call, 1, data.shape);
  return {{call.input(1).element, data.shape}};
}

/// Extent of the channels, axis 1.
std::int64_t Channels(const InferenceCall& call) {
  RequireRankAtLeast(call, 0, 2);
  return call.input(0).shape[1];
}

Types InferBatchNormalization(const InferenceCall& call) {
  Require(call.attributes.get_int("training_mode", 0) == 0,
          "attribute 'training_mode' is set, only inference is supported");
  const std::int64_t channels = Channels(call);
  for (std::size_t i = 1; i < 5; ++i) {
    RequireFloat(call, i);
    RequireShape(call, i, {channels});
  }
  RequireElement(call, 2, call.input(1).element);
  RequireElement(call, 4, call.input(3).element);
  return SameAsInput(call);
}

Types InferInstanceNormalization(const InferenceCall& call) {
  RequireSameElements(call);
  const std::int64_t channels = Channels(call);
  RequireShape(call, 1, {channels});
  RequireShape(call, 2, {channels});
  return SameAsInput(call);
}

Types InferGroupNormalization(const InferenceCall& call) {
  const std::int64_t groups = RequiredInt(call.attributes, "num_groups");
  const std::int64_t channels = Channels(call);
  Require(groups > 0 && channels % groups == 0, "attribute 'num_groups' is ", groups,
          ", it must divide the ", channels, " channels");
  RequireFloat32Statistics(call);
  return InferInstanceNormalization(call);
}

Types InferLrn(const InferenceCall& call) {
  const std::int64_t size = RequiredInt(call.attributes, "size");
  Require(size > 0, "attribute 'size' is ", size, ", it must be positive");
  Channels(call);
  return SameAsInput(call);
}

Types InferMeanVariance(const InferenceCall& call) {
  NamedAxes(call.attributes.get_ints("axes", {0, 2, 3}), call.input(0).shape.size(), "axes");
  return SameAsInput(call);
}

Types InferDropout(const InferenceCall& call) {
  Require(StaticInt(call.attributes, "training_mode", 0) == 0,
          "attribute 'training_mode' is set, only inference is supported");
  return {call.input(0), {ElementType::kBool, call.input(0).shape}};
}

}  // namespace

std::span<const OpDef> NormalizationOps() {
  static const OpDef rows[] = {
      {.name = "Softmax", .types = TypeSet::kFloat, .infer = InferAlongAxis},
      {.name = "LogSoftmax", .types = TypeSet::kFloat, .infer = InferAlongAxis},
      {.name = "Hardmax", .types = TypeSet::kFloat, .infer = InferAlongAxis},
      {.name = "LpNormalization", .types = TypeSet::kFloat, .infer = InferLpNormalization},
      {.name = "LayerNormalization",
       .since = 17,
       .types = TypeSet::kFloat,
       .inputs = {2, 3},
       .outputs = {1, 3},
       .infer = InferLayerNormalization,
       .notes = "statistics in float32 only"},
      {.name = "RMSNormalization",
       .since = 23,
       .types = TypeSet::kFloat,
       .inputs = {2, 2},
       .infer = InferRmsNormalization,
       .notes = "statistics in float32 only"},
      {.name = "BatchNormalization",
       .types = TypeSet::kFloat,
       .inputs = {5, 5},
       .infer = InferBatchNormalization,
       .notes = "training mode is made of other operators"},
      {.name = "InstanceNormalization",
       .types = TypeSet::kFloat,
       .inputs = {3, 3},
       .infer = InferInstanceNormalization},
      {.name = "GroupNormalization",
       .since = 18,
       .types = TypeSet::kFloat,
       .inputs = {3, 3},
       .infer = InferGroupNormalization,
       .notes = "statistics in float32 only"},
      {.name = "LRN", .types = TypeSet::kFloat, .infer = InferLrn},
      {.name = "MeanVarianceNormalization",
       .since = 9,
       .types = TypeSet::kFloat,
       .infer = InferMeanVariance},
      {.name = "Dropout",
       .types = TypeSet::kFloat,
       .outputs = {1, 2},
       .static_inputs = {{.index = 1, .attribute = "ratio", .input_since = 12},
                         {.index = 2, .attribute = "training_mode", .input_since = 12}},
       .infer = InferDropout,
       .notes = "training mode is made of other operators"},
  };
  return rows;
}

}  // namespace poprt::ops
