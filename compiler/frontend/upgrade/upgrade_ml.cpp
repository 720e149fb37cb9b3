#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/upgrade/post_transform.hpp"
#include "compiler/frontend/upgrade/upgrade_call.hpp"
#include "compiler/frontend/upgrade/upgrade_steps.hpp"
#include "compiler/ops/op.hpp"

/// Operators of the domain ai.onnx.ml on numbers, by those of the default domain.
namespace poprt::frontend {
namespace {

using ir::ValueId;

/// A float32 constant.
ValueId FloatsOf(UpgradeSteps& steps, const Floats& numbers, const Shape& shape) {
  return steps.Constant("numbers", Tensor::Of<float>(ElementType::kFloat32, shape, numbers));
}

/// The features as float32 matrix; a vector is one row.
ValueId Matrix(const UpgradeCall& call, UpgradeSteps& steps) {
  const Shape shape = call.type(0).shape;
  const ValueId input = steps.Cast(call.input(0), ElementType::kFloat32);
  return shape.size() == 1 ? steps.Reshape(input, {1, shape[0]}) : input;
}

absl::Status RequireMatrix(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const std::size_t rank = call.type(0).shape.size();
  if (rank == 1 || rank == 2) return absl::OkStatus();
  return absl::InvalidArgumentError("input 0 is " + ToString(call.type(0)) +
                                    ", it must have 1 or 2 dimensions");
}

/// Picks columns, the last axis.
absl::Status UpgradeArrayFeatureExtractor(const UpgradeCall& call) {
  for (std::size_t i : {0, 1}) {
    if (!call.type(i).defined()) return call.MissingInput(i);
  }
  const Shape data = call.type(0).shape;
  UpgradeSteps steps(call);
  const ValueId columns = steps.Reshape(call.input(1), {ElementCount(call.type(1).shape)});
  const ValueId rows =
      data.size() == 1 ? steps.Reshape(call.input(0), {1, data[0]}) : call.input(0);
  return steps.Finish("Gather", {rows, columns}, {{"axis", std::int64_t{-1}}});
}

absl::Status UpgradeBinarizer(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const ElementType element = call.type(0).element;
  const float threshold = call.node.attributes.get_float("threshold", 0.0F);
  UpgradeSteps steps(call);
  // Whole numbers are greater exactly when they are greater than the threshold rounded down.
  const double bound = static_cast<double>(IsFloat(element) ? threshold : std::floor(threshold));
  const ValueId is_greater = steps.Do("Greater", {call.input(0), steps.Number(bound, element)});
  return steps.Finish("Cast", {is_greater}, {{"to", static_cast<std::int64_t>(element)}});
}

/// A constant for each feature, or one for all; `otherwise` when none are given.
absl::StatusOr<ValueId> PerFeature(const UpgradeCall& call, UpgradeSteps& steps, const char* name,
                                   float otherwise) {
  Floats numbers = call.node.attributes.get_floats(name);
  if (numbers.empty()) numbers = {otherwise};
  const std::int64_t features = call.type(0).shape.empty() ? 1 : call.type(0).shape.back();
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (count != 1 && count != features) {
    return absl::InvalidArgumentError("attribute '" + std::string(name) + "' has " +
                                      std::to_string(count) + " numbers, there are " +
                                      std::to_string(features) + " features");
  }
  return FloatsOf(steps, numbers, {count});
}

absl::Status UpgradeScaler(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  UpgradeSteps steps(call);
  const absl::StatusOr<ValueId> offset = PerFeature(call, steps, "offset", 0.0F);
  if (!offset.ok()) return offset.status();
  const absl::StatusOr<ValueId> scale = PerFeature(call, steps, "scale", 1.0F);
  if (!scale.ok()) return scale.status();
  const ValueId input = steps.Cast(call.input(0), ElementType::kFloat32);
  return steps.Finish("Mul", {steps.Do("Sub", {input, *offset}), *scale});
}

/// Rows divided by their norm; rows of zeros stay.
absl::Status UpgradeNormalizer(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const std::string norm = call.node.attributes.get_string("norm", "MAX");
  const Attributes rows{{"axes", Ints{-1}}};
  UpgradeSteps steps(call);
  const ValueId input = steps.Cast(call.input(0), ElementType::kFloat32);
  ValueId length = ir::kAbsent;
  if (norm == "MAX") {
    length = steps.Do("ReduceMax", {steps.Do("Abs", {input})}, rows);
  } else if (norm == "L1" || norm == "L2") {
    length = steps.Do("Reduce" + norm, {input}, rows);
  } else {
    return absl::InvalidArgumentError("attribute 'norm' is '" + norm +
                                      "', allowed are MAX, L1 and L2");
  }
  const ValueId least = steps.Number(1e-30, ElementType::kFloat32);
  return steps.Finish("Div", {input, steps.Do("Max", {length, least})});
}

absl::Status UpgradeImputer(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const Attributes& attributes = call.node.attributes;
  const TensorType data = call.type(0);
  UpgradeSteps steps(call);
  const bool is_float = IsFloat(data.element);
  ValueId missing = ir::kAbsent;
  absl::StatusOr<ValueId> filled = ir::kAbsent;
  if (is_float) {
    const float replaced = attributes.get_float("replaced_value_float", 0.0F);
    missing = std::isnan(replaced)
                  ? steps.Do("IsNaN", {call.input(0)})
                  : steps.Do("Equal", {call.input(0), steps.Number(replaced, data.element)});
    filled = PerFeature(call, steps, "imputed_value_floats", 0.0F);
  } else {
    const Ints values = attributes.get_ints("imputed_value_int64s");
    const auto count = static_cast<std::int64_t>(values.size());
    if (count != 1 && (data.shape.empty() || count != data.shape.back())) {
      return absl::InvalidArgumentError(
          "attribute 'imputed_value_int64s' has " + std::to_string(count) +
          " numbers, it must have one or as many as there are features");
    }
    const std::int64_t replaced = attributes.get_int("replaced_value_int64", 0);
    const ValueId number = steps.Constant("replaced", Tensor({ElementType::kInt64, {}}, &replaced));
    missing = steps.Do("Equal", {call.input(0), steps.Cast(number, data.element)});
    filled = steps.Constant("imputed", Tensor({ElementType::kInt64, {count}}, values.data()));
  }
  if (!filled.ok()) return filled.status();
  return steps.Finish("Where", {missing, steps.Cast(*filled, data.element), call.input(0)});
}

/// Joins features, each input cut or filled up with zeros to its extent.
absl::Status UpgradeFeatureVectorizer(const UpgradeCall& call) {
  const Ints extents = call.node.attributes.get_ints("inputdimensions");
  const std::vector<ValueId> inputs = call.node.inputs;
  if (!extents.empty() && extents.size() != inputs.size()) {
    return absl::InvalidArgumentError("attribute 'inputdimensions' has " +
                                      std::to_string(extents.size()) + " numbers for " +
                                      std::to_string(inputs.size()) + " inputs");
  }
  UpgradeSteps steps(call);
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!call.type(i).defined()) return call.MissingInput(i);
    const Shape shape = call.type(i).shape;
    if (shape.empty() || shape.size() > 2) {
      return absl::InvalidArgumentError("input " + std::to_string(i) + " is " +
                                        ToString(call.type(i)) +
                                        ", it must have 1 or 2 dimensions");
    }
    const std::int64_t rows = shape.size() == 1 ? 1 : shape[0];
    ValueId part = steps.Cast(call.input(i), ElementType::kFloat32);
    part = steps.Reshape(part, {rows, shape.back()});
    const std::int64_t extent = extents.empty() ? shape.back() : extents[i];
    if (extent < shape.back()) {
      part = steps.Do("Slice", {part},
                      {{"starts", Ints{0}}, {"ends", Ints{extent}}, {"axes", Ints{1}}});
    } else if (extent > shape.back()) {
      part = steps.Do("Pad", {part}, {{"pads", Ints{0, 0, 0, extent - shape.back()}}});
    }
    parts.push_back(part);
  }
  return steps.Finish("Concat", parts, {{"axis", std::int64_t{1}}});
}

/// Which of the categories each number is.
absl::Status UpgradeOneHotEncoder(const UpgradeCall& call) {
  if (!call.type(0).defined()) return call.MissingInput(0);
  const Ints categories = call.node.attributes.get_ints("cats_int64s");
  if (categories.empty()) {
    return absl::UnimplementedError(
        "categories must be integers (attribute 'cats_int64s'); strings do not exist on the "
        "device");
  }
  if (call.node.attributes.get_int("zeros", 1) == 0) {
    call.sink.Warn("node '" + call.node.name +
                   "' (OneHotEncoder) gives zeros for unknown categories although attribute "
                   "'zeros' is 0: a device cannot fail");
  }
  UpgradeSteps steps(call);
  const ValueId table = steps.Constant(
      "categories", Tensor({ElementType::kInt64, {static_cast<std::int64_t>(categories.size())}},
                           categories.data()));
  ValueId input = steps.Cast(call.input(0), ElementType::kInt64);
  input = steps.Do("Unsqueeze", {input}, {{"axes", Ints{-1}}});
  const ValueId hit = steps.Do("Equal", {input, table});
  return steps.Finish("Cast", {hit}, {{"to", static_cast<std::int64_t>(ElementType::kFloat32)}});
}

/// x * coefficients^T + intercepts, for `targets` rows of coefficients.
absl::StatusOr<ValueId> LinearScores(const UpgradeCall& call, UpgradeSteps& steps,
                                     std::int64_t targets) {
  const Floats coefficients = call.node.attributes.get_floats("coefficients");
  const Floats intercepts = call.node.attributes.get_floats("intercepts");
  const std::int64_t features = call.type(0).shape.back();
  if (targets < 1 ||
      CheckedElementCount({targets, features}) != static_cast<std::int64_t>(coefficients.size())) {
    return absl::InvalidArgumentError(
        "attribute 'coefficients' has " + std::to_string(coefficients.size()) + " numbers for " +
        std::to_string(targets) + " targets and " + std::to_string(features) + " features");
  }
  if (!intercepts.empty() && static_cast<std::int64_t>(intercepts.size()) != targets) {
    return absl::InvalidArgumentError("attribute 'intercepts' has " +
                                      std::to_string(intercepts.size()) + " numbers for " +
                                      std::to_string(targets) + " targets");
  }
  std::vector<ValueId> inputs{Matrix(call, steps),
                              FloatsOf(steps, coefficients, {targets, features})};
  if (!intercepts.empty()) inputs.push_back(FloatsOf(steps, intercepts, {targets}));
  return steps.Do("Gemm", inputs, {{"transB", std::int64_t{1}}});
}

absl::Status FinishScores(const UpgradeCall& call, UpgradeSteps& steps, ValueId scores) {
  const absl::StatusOr<ValueId> result =
      PostTransform(steps, call.node.attributes.get_string("post_transform", "NONE"), scores);
  if (!result.ok()) return result.status();
  return steps.FinishWith(std::vector{*result});
}

absl::Status UpgradeLinearRegressor(const UpgradeCall& call) {
  if (absl::Status status = RequireMatrix(call); !status.ok()) return status;
  UpgradeSteps steps(call);
  const absl::StatusOr<ValueId> scores =
      LinearScores(call, steps, call.node.attributes.get_int("targets", 1));
  if (!scores.ok()) return scores.status();
  return FinishScores(call, steps, *scores);
}

/// Scores of one class only mean those of a second one.
ValueId BothClasses(UpgradeSteps& steps, const std::string& post, ValueId scores) {
  const bool is_probability = post == "LOGISTIC";
  const ValueId other = is_probability
                            ? steps.Do("Sub", {steps.Number(1.0, ElementType::kFloat32), scores})
                            : steps.Do("Neg", {scores});
  return steps.Do("Concat", {other, scores}, {{"axis", std::int64_t{1}}});
}

absl::Status UpgradeLinearClassifier(const UpgradeCall& call) {
  if (absl::Status status = RequireMatrix(call); !status.ok()) return status;
  const Attributes attributes = call.node.attributes;
  const Ints labels = attributes.get_ints("classlabels_ints");
  if (labels.empty()) {
    return absl::UnimplementedError(
        "labels must be integers (attribute 'classlabels_ints'); strings do not exist on the "
        "device");
  }
  const std::int64_t features = std::max<std::int64_t>(1, call.type(0).shape.back());
  const auto coefficients = static_cast<std::int64_t>(attributes.get_floats("coefficients").size());
  const std::int64_t targets = coefficients / features;
  const bool is_binary = targets == 1 && labels.size() == 2;
  UpgradeSteps steps(call);
  absl::StatusOr<ValueId> scores =
      LinearScores(call, steps, is_binary ? 1 : static_cast<std::int64_t>(labels.size()));
  if (!scores.ok()) return scores.status();
  const std::string post = attributes.get_string("post_transform", "NONE");
  // The logistic of one score is the probability of its class; other functions see both scores.
  if (is_binary && post != "LOGISTIC") scores = BothClasses(steps, post, *scores);
  scores = PostTransform(steps, post, *scores);
  if (!scores.ok()) return scores.status();
  if (is_binary && post == "LOGISTIC") scores = BothClasses(steps, post, *scores);
  const ValueId best =
      steps.Do("ArgMax", {*scores}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  const ValueId table = steps.Constant(
      "labels",
      Tensor({ElementType::kInt64, {static_cast<std::int64_t>(labels.size())}}, labels.data()));
  const ValueId label = steps.Do("Gather", {table, best}, {{"axis", std::int64_t{0}}});
  return steps.FinishWith(std::vector{label, *scores});
}

/// The kernel of each row and each support vector.
absl::StatusOr<ValueId> KernelValues(const Attributes& attributes, UpgradeSteps& steps,
                                     ValueId rows, ValueId vectors) {
  const std::string kind = attributes.get_string("kernel_type", "LINEAR");
  Floats parameters = attributes.get_floats("kernel_params");
  parameters.resize(3, 0.0F);
  const auto number = [&](float value) { return steps.Number(value, ElementType::kFloat32); };
  const ValueId turned = steps.Do("Transpose", {vectors}, {{"perm", Ints{1, 0}}});
  const ValueId product = steps.Do("MatMul", {rows, turned});
  if (kind == "LINEAR") return product;
  if (kind == "RBF") {
    const ValueId column = steps.Do("Unsqueeze", {rows}, {{"axes", Ints{1}}});
    const ValueId distance = steps.Do("ReduceSumSquare", {steps.Do("Sub", {column, vectors})},
                                      {{"axes", Ints{2}}, {"keepdims", std::int64_t{0}}});
    return steps.Do("Exp", {steps.Do("Mul", {distance, number(-parameters[0])})});
  }
  const ValueId linear =
      steps.Do("Add", {steps.Do("Mul", {product, number(parameters[0])}), number(parameters[1])});
  if (kind == "POLY") return steps.Do("Pow", {linear, number(parameters[2])});
  if (kind == "SIGMOID") return steps.Do("Tanh", {linear});
  return absl::InvalidArgumentError("attribute 'kernel_type' is '" + kind +
                                    "', allowed are LINEAR, POLY, RBF and SIGMOID");
}

absl::Status UpgradeSvmRegressor(const UpgradeCall& call) {
  if (absl::Status status = RequireMatrix(call); !status.ok()) return status;
  const Attributes attributes = call.node.attributes;
  const std::int64_t features = call.type(0).shape.back();
  const Floats coefficients = attributes.get_floats("coefficients");
  const Floats vectors = attributes.get_floats("support_vectors");
  const Floats rho = attributes.get_floats("rho", {0.0F});
  // Without support vectors the coefficients are those of the features.
  const std::int64_t supports = attributes.get_int("n_supports", 0);
  const std::int64_t expected = supports > 0 ? supports : features;
  if (rho.empty() || static_cast<std::int64_t>(coefficients.size()) != expected ||
      (supports > 0 &&
       CheckedElementCount({supports, features}) != static_cast<std::int64_t>(vectors.size()))) {
    return absl::InvalidArgumentError("attributes 'coefficients' and 'support_vectors' have " +
                                      std::to_string(coefficients.size()) + " and " +
                                      std::to_string(vectors.size()) + " numbers for " +
                                      std::to_string(supports) + " support vectors and " +
                                      std::to_string(features) + " features");
  }
  UpgradeSteps steps(call);
  const ValueId rows = Matrix(call, steps);
  absl::StatusOr<ValueId> values = rows;
  if (supports > 0) {
    values = KernelValues(attributes, steps, rows, FloatsOf(steps, vectors, {supports, features}));
    if (!values.ok()) return values.status();
  }
  const ValueId weighted =
      steps.Do("MatMul", {*values, FloatsOf(steps, coefficients, {expected, 1})});
  const ValueId scores = steps.Do("Add", {weighted, steps.Number(rho[0], ElementType::kFloat32)});
  if (attributes.get_int("one_class", 0) != 0) {
    const ValueId zero = steps.Number(0.0, ElementType::kFloat32);
    const ValueId one = steps.Number(1.0, ElementType::kFloat32);
    const ValueId inside = steps.Do("Greater", {scores, zero});
    return FinishScores(call, steps, steps.Do("Where", {inside, one, steps.Do("Neg", {one})}));
  }
  return FinishScores(call, steps, scores);
}

constexpr UpgradeRow kRows[] = {
    {"ArrayFeatureExtractor", kAlways, UpgradeArrayFeatureExtractor, true, ops::kMlDomain},
    {"Binarizer", kAlways, UpgradeBinarizer, true, ops::kMlDomain},
    {"FeatureVectorizer", kAlways, UpgradeFeatureVectorizer, true, ops::kMlDomain},
    {"Imputer", kAlways, UpgradeImputer, true, ops::kMlDomain},
    {"LinearClassifier", kAlways, UpgradeLinearClassifier, true, ops::kMlDomain},
    {"LinearRegressor", kAlways, UpgradeLinearRegressor, true, ops::kMlDomain},
    {"Normalizer", kAlways, UpgradeNormalizer, true, ops::kMlDomain},
    {"OneHotEncoder", kAlways, UpgradeOneHotEncoder, true, ops::kMlDomain},
    {"SVMRegressor", kAlways, UpgradeSvmRegressor, true, ops::kMlDomain},
    {"Scaler", kAlways, UpgradeScaler, true, ops::kMlDomain},
};

}  // namespace

std::span<const UpgradeRow> MlUpgrades() { return kRows; }

}  // namespace poprt::frontend
