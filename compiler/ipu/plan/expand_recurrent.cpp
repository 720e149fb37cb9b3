#include <algorithm>

#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/matrix_operands.hpp"
#include "compiler/ipu/plan/operation.hpp"

/// RNN, GRU and LSTM as popnn runs them: the products with the inputs of all steps at once, then a
/// loop over the steps with the products of the state and the gates.
namespace poprt::ipu {
namespace {

struct Gates {
  std::uint64_t count = 1;     ///< rows of weights for one of the state
  std::uint64_t sigmoids = 0;  ///< non-linearities of a step
  std::uint64_t tanhs = 1;
  std::uint64_t arithmetic = 0;  ///< products and sums of states and gates
};

Gates GatesOf(std::string_view op) {
  if (op == "LSTM") return {.count = 4, .sigmoids = 3, .tanhs = 2, .arithmetic = 4};
  if (op == "GRU") return {.count = 3, .sigmoids = 2, .tanhs = 1, .arithmetic = 4};
  return {.count = 1, .sigmoids = 0, .tanhs = 1, .arithmetic = 0};
}

void AddRepeated(StepBuilder& steps, const std::string& name, ElementwiseOp op, const Placed& x,
                 std::uint64_t times) {
  if (times == 0) return;
  const RepeatScope repeat(steps, times);
  const bool unary = Operands(op) == 1;
  unary ? AddUnary(steps, name, op, x, x.type) : AddBinary(steps, name, op, x, x, x.type);
}

void ExpandRecurrent(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed x = Multipliable(steps, operation.input(0));
  const Placed w = Multipliable(steps, operation.input(1));
  const Placed r = Multipliable(steps, operation.input(2));
  const Shape& shape = x.type.shape;
  const bool batch_first = operation.node().attributes.get_int("layout", 0) != 0;
  const auto length =
      static_cast<std::uint64_t>(std::max<std::int64_t>(shape[batch_first ? 1 : 0], 1));
  const auto batch =
      static_cast<std::uint64_t>(std::max<std::int64_t>(shape[batch_first ? 0 : 1], 1));
  const auto inputs = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[2], 1));
  const auto hidden = static_cast<std::uint64_t>(std::max<std::int64_t>(r.type.shape.back(), 1));
  const auto directions = static_cast<std::uint64_t>(std::max<std::int64_t>(w.type.shape[0], 1));
  const Gates gates = GatesOf(operation.op());
  const std::uint64_t columns = gates.count * hidden;
  const ElementType element = x.type.element;
  const NumberFormat format = FormatOf(x.type);
  const RepeatScope both(steps, directions);

  const auto extent = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  const TensorType projected{element, {extent(length * batch), extent(columns)}};
  const PlannedProduct whole =
      AddProduct(steps, MatrixProduct(format, format, 1, length * batch, inputs, columns),
                 {x, 1, inputs}, {w, 1, inputs}, {projected, 1, columns});
  operation.PlaceConstant(1, whole.weights);
  steps.Hold(whole.result.layout.mapping.bytes_per_tile);

  const TensorType gate{element, {extent(batch), extent(hidden)}};
  const TensorType all_gates{element, {extent(batch), extent(columns)}};
  {
    const RepeatScope loop(steps, length);
    const Placed state{gate, LinearLayout(steps.target(), steps.tiles(), gate), false, false};
    const PlannedProduct step =
        AddProduct(steps, MatrixProduct(format, format, 1, batch, hidden, columns),
                   {state, 1, hidden}, {r, 1, hidden}, {all_gates, 1, columns});
    operation.PlaceConstant(2, step.weights);
    AddBinary(steps, "add projection", ElementwiseOp::kAdd, step.result, step.result, all_gates);
    if (operation.has_input(3)) {
      AddBinary(steps, "add bias", ElementwiseOp::kAdd, step.result, operation.input(3), all_gates);
    }
    AddRepeated(steps, "sigmoid", ElementwiseOp::kSigmoid, state, gates.sigmoids);
    AddRepeated(steps, "tanh", ElementwiseOp::kTanh, state, gates.tanhs);
    AddRepeated(steps, "combine gates", ElementwiseOp::kMultiply, state, gates.arithmetic);
    steps.Copy("store state", state.layout.mapping.tiles, state.layout.mapping.bytes_per_tile,
               state.layout.mapping.bytes_per_tile);
  }
  operation.grid = whole.grid;
  operation.flops = 2 * directions * length * batch * columns * (inputs + hidden);
}

constexpr ExpandRow kRows[] = {
    {"RNN", ExpandRecurrent}, {"GRU", ExpandRecurrent}, {"LSTM", ExpandRecurrent}};

}  // namespace

std::span<const ExpandRow> RecurrentRules() { return kRows; }

}  // namespace poprt::ipu
