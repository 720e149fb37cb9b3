#include "runtime/kernels/recurrent/recurrent_options.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/scaled_panels.hpp"
#include "runtime/kernels/recurrent/recurrent_weights.hpp"

namespace poprt::kernels {
namespace {

/// Limit of one extent, so that small multiples of products of two extents cannot overflow.
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 28;

std::vector<std::string> DefaultNames(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::kRnn:
      return {"Tanh"};
    case RecurrentKind::kGru:
      return {"Sigmoid", "Tanh"};
    case RecurrentKind::kLstm:
      return {"Sigmoid", "Tanh", "Tanh"};
  }
  return {};
}

/// Takes the next number of a list, which holds one for each function that has such a number.
class NumberList {
 public:
  NumberList(const Attributes& attributes, std::string_view name)
      : name_(name), numbers_(attributes.get_floats(name)) {}

  void Take(float& into) {
    if (next_ < numbers_.size()) into = numbers_[next_++];
  }
  /// Some exporters give a number to every function.
  void RequireAtMost(std::size_t functions) const {
    Require(numbers_.size() <= functions, "attribute '" + std::string(name_) + "' has " +
                                              std::to_string(numbers_.size()) + " numbers for " +
                                              std::to_string(functions) + " activation functions");
  }

 private:
  std::string_view name_;
  Floats numbers_;
  std::size_t next_ = 0;
};

std::vector<RecurrentActivation> ReadActivations(RecurrentKind kind, std::int64_t directions,
                                                 const Attributes& attributes) {
  Strings names = attributes.get_strings("activations");
  const std::size_t wanted = ActivationsOf(kind) * static_cast<std::size_t>(directions);
  if (names.empty()) {
    const Strings defaults = DefaultNames(kind);
    while (names.size() < wanted) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  Require(names.size() == wanted, "attribute 'activations' has " + std::to_string(names.size()) +
                                      " functions, expected are " + std::to_string(wanted) +
                                      " for " + std::to_string(directions) +
                                      (directions == 1 ? " direction" : " directions"));
  NumberList alphas(attributes, "activation_alpha");
  NumberList betas(attributes, "activation_beta");
  std::vector<RecurrentActivation> activations;
  for (const std::string& name : names) {
    const RecurrentActivationDef* def = FindRecurrentActivation(name);
    Require(def != nullptr,
            "attribute 'activations' names the function '" + name +
                "', known are Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, "
                "HardSigmoid, Elu, Softsign and Softplus");
    RecurrentActivation activation = def->defaults;
    if (def->has_alpha) alphas.Take(activation.alpha);
    if (def->has_beta) betas.Take(activation.beta);
    activations.push_back(activation);
  }
  alphas.RequireAtMost(wanted);
  betas.RequireAtMost(wanted);
  return activations;
}

bool Flag(const Attributes& attributes, std::string_view name) {
  const std::int64_t value = attributes.get_int(name, 0);
  Require(value == 0 || value == 1, "attribute '" + std::string(name) + "' is " +
                                        std::to_string(value) + ", allowed are 0 and 1");
  return value == 1;
}

/// The axes of ONNX in the order of an attribute, of all axes with the last one at its end.
template <std::size_t kCount>
std::array<RecurrentAxis, kCount> Ordered(const std::array<RecurrentAxis, kCount>& axes,
                                          const Ints& order, std::string_view name) {
  if (order.empty()) return axes;
  bool is_order = order.size() == kCount + 1 && order.back() == std::int64_t{kCount};
  for (std::int64_t axis = 0; axis < std::int64_t{kCount}; ++axis) {
    is_order = is_order && std::ranges::count(order, axis) == 1;
  }
  Require(is_order, "attribute '" + std::string(name) + "' is no order of " +
                        std::to_string(kCount + 1) + " axes whose last one stays");
  std::array<RecurrentAxis, kCount> ordered;
  for (std::size_t i = 0; i < kCount; ++i) ordered[i] = axes[static_cast<std::size_t>(order[i])];
  return ordered;
}

/// The axes of X and Y of a layout and, of X, before, and of Y, behind a Transpose.
void ReadAxes(const Attributes& attributes, RecurrentOptions& options) {
  using enum RecurrentAxis;
  using XAxes = std::array<RecurrentAxis, 2>;
  using YAxes = std::array<RecurrentAxis, 3>;
  const XAxes x = options.batch_first ? XAxes{kSequence, kStep} : XAxes{kStep, kSequence};
  const YAxes y = options.batch_first ? YAxes{kSequence, kStep, kDirection}
                                      : YAxes{kStep, kDirection, kSequence};
  // The other order of two axes is its own inverse.
  options.x_axes = Ordered(x, attributes.get_ints("x_perm"), "x_perm");
  options.y_axes = Ordered(y, attributes.get_ints("y_perm"), "y_perm");
}

std::int64_t ExtentOf(RecurrentAxis axis, const RecurrentShape& shape, std::int64_t directions) {
  switch (axis) {
    case RecurrentAxis::kStep:
      return shape.steps;
    case RecurrentAxis::kSequence:
      return shape.batch;
    case RecurrentAxis::kDirection:
      return directions;
  }
  return 1;
}

/// The operands and what is wrong with them.
class Operands {
 public:
  explicit Operands(std::span<const TensorType> types) : types_(types) {}

  const TensorType& operator[](std::size_t i) const {
    static const TensorType absent;
    return i < types_.size() ? types_[i] : absent;
  }
  void RequireRank3(std::size_t i, std::string_view what) const {
    Require((*this)[i].shape.size() == 3, "input " + std::to_string(i) + " (" + std::string(what) +
                                              ") is " + ToString((*this)[i]) +
                                              ", its rank must be 3");
  }
  /// For an operand that may be absent.
  void RequireType(std::size_t i, std::string_view what, const TensorType& wanted) const {
    const TensorType& found = (*this)[i];
    Require(!found.defined() || found == wanted, "input " + std::to_string(i) + " (" +
                                                     std::string(what) + ") is " + ToString(found) +
                                                     ", it must be " + ToString(wanted));
  }

 private:
  std::span<const TensorType> types_;
};

}  // namespace

std::vector<TensorType> RecurrentShape::Outputs(const RecurrentOptions& options,
                                                ElementType element) const {
  const std::int64_t d = options.directions;
  const TensorType state{element,
                         options.batch_first ? Shape{batch, d, hidden} : Shape{d, batch, hidden}};
  Shape y(options.y_axes.size() + 1, hidden);
  for (std::size_t i = 0; i < options.y_axes.size(); ++i) {
    y[i] = ExtentOf(options.y_axes[i], *this, d);
  }
  return {{element, y}, state, state};
}

RecurrentStrides RowStrides(std::span<const RecurrentAxis> axes, const RecurrentShape& shape,
                            std::int64_t directions) {
  RecurrentStrides strides{};
  std::int64_t rows = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    strides[static_cast<std::size_t>(axes[i])] = rows;
    rows *= ExtentOf(axes[i], shape, directions);
  }
  return strides;
}

RecurrentOptions ReadRecurrentOptions(RecurrentKind kind, const Attributes& attributes) {
  RecurrentOptions options;
  const std::string direction = attributes.get_string("direction", "forward");
  Require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
          "attribute 'direction' is \"" + direction +
              "\", allowed are forward, reverse, bidirectional");
  options.directions = direction == "bidirectional" ? 2 : 1;
  options.first_reversed = direction == "reverse";
  options.batch_first = Flag(attributes, "layout");
  ReadAxes(attributes, options);
  if (kind == RecurrentKind::kLstm) options.input_forget = Flag(attributes, "input_forget");
  if (kind == RecurrentKind::kGru) {
    options.linear_before_reset = attributes.get_int("linear_before_reset", 0) != 0;
  }
  options.clip = attributes.get_float("clip", std::numeric_limits<float>::infinity());
  Require(options.clip > 0.0F, "attribute 'clip' is " + std::to_string(options.clip) +
                                   ", it must be positive; leave it out to clip nothing");
  options.activations = ReadActivations(kind, options.directions, attributes);
  return options;
}

RecurrentShape CheckRecurrentOperands(RecurrentKind kind, const RecurrentOptions& options,
                                      const Attributes& attributes,
                                      std::span<const TensorType> inputs) {
  using In = RecurrentInput;
  const Operands operands(inputs);
  const bool packed = attributes.get_int("packed", 0) != 0;
  for (const auto& [i, what] : {std::pair(In::kX, "X"), {In::kW, "W"}, {In::kR, "R"}}) {
    operands.RequireRank3(i, what);
  }
  const TensorType& x = operands[In::kX];
  const TensorType& r = operands[In::kR];
  const std::size_t of_steps = options.x_axes[0] == RecurrentAxis::kStep ? 0 : 1;
  RecurrentShape shape{.steps = x.shape[of_steps],
                       .batch = x.shape[1 - of_steps],
                       .inputs = x.shape[2],
                       .hidden = packed ? attributes.get_int("hidden_size", 0) : r.shape[2]};
  Require(attributes.get_int("hidden_size", shape.hidden) == shape.hidden,
          "attribute 'hidden_size' is " + std::to_string(attributes.get_int("hidden_size", 0)) +
              ", but input 2 (R) is " + ToString(r));
  Require(shape.hidden >= 1,
          "the hidden size is " + std::to_string(shape.hidden) + ", it must be at least 1");
  for (const std::int64_t extent : {shape.steps, shape.batch, shape.inputs, shape.hidden}) {
    Require(extent <= kLargestExtent, "an extent is larger than 2^28");
  }
  const std::int64_t d = options.directions;
  const std::int64_t gates = GatesOf(kind);
  const ElementType element = x.element;
  const auto require_weights = [&](std::size_t input, std::string_view what, std::int64_t depth,
                                   std::int64_t rows) {
    TensorType wanted{element, {d, gates * shape.hidden, depth}};
    if (packed) wanted = PackedRecurrentType(d, {gates, shape.hidden}, depth, element);
    if (packed && operands[input].element == ElementType::kInt32) {
      Require(element == ElementType::kFloat32 && rows == 1,
              std::string(what) + " of scaled panels is for one row of float32");
      wanted = ScaledPanelsType(wanted);
    }
    operands.RequireType(input, what, wanted);
  };
  require_weights(In::kW, "W", shape.inputs, shape.steps * shape.batch);
  require_weights(In::kR, "R", shape.hidden, shape.batch);
  operands.RequireType(In::kB, "B", {element, {d, 2 * gates * shape.hidden}});
  operands.RequireType(In::kLengths, "sequence_lens", {ElementType::kInt32, {shape.batch}});
  const TensorType state = shape.Outputs(options, element)[1];
  operands.RequireType(In::kInitialH, "initial_h", state);
  if (kind == RecurrentKind::kLstm) {
    operands.RequireType(In::kInitialC, "initial_c", state);
    operands.RequireType(In::kP, "P", {element, {d, 3 * shape.hidden}});
  }
  return shape;
}

}  // namespace poprt::kernels
