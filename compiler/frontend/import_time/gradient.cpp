#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/opset_imports.hpp"
#include "compiler/frontend/static_input.hpp"
#include "compiler/ops/op.hpp"

/// Gradient: what its graph computes between some tensors and another one is imported once more
/// for the values that it is given, then differentiated from the end to the beginning.
namespace poprt::frontend {
namespace {

using ir::ValueId;
using Names = std::unordered_set<std::string>;

/// What a node and its bodies read.
std::vector<std::string> ReadsOf(const onnx::NodeProto& node, const GraphStructure& structure) {
  std::vector<std::string> reads(node.input().begin(), node.input().end());
  for (const onnx::GraphProto* body : BodiesOf(node)) {
    const auto& outer = structure.bodies.at(body).outer;
    reads.insert(reads.end(), outer.begin(), outer.end());
  }
  return reads;
}

bool AnyIn(const auto& some, const Names& names) {
  return std::any_of(some.begin(), some.end(),
                     [&](const std::string& name) { return names.count(name) > 0; });
}

bool Defines(const onnx::GraphProto& graph, const std::string& name) {
  const auto is_called = [&](const auto& named) { return named.name() == name; };
  const auto& sparse = graph.sparse_initializer();
  return std::any_of(graph.input().begin(), graph.input().end(), is_called) ||
         std::any_of(graph.initializer().begin(), graph.initializer().end(), is_called) ||
         std::any_of(sparse.begin(), sparse.end(),
                     [&](const auto& tensor) { return is_called(tensor.values()); }) ||
         std::any_of(graph.node().begin(), graph.node().end(), [&](const auto& node) {
           return std::count(node.output().begin(), node.output().end(), name) > 0;
         });
}

/// The part of a graph that computes a tensor from given ones.
struct Part {
  std::vector<bool> nodes;  ///< for each of the graph: whether it belongs to the part
  Names changing;           ///< what depends on the tensors that are differentiated by
};

/// `given` are the tensors whose values are given, `xs` those of them that are differentiated by.
Part FindPart(const NodeImport& import, const Names& given, const Names& xs, const std::string& y) {
  const auto& nodes = import.graph.node();
  Part part{.nodes = std::vector<bool>(static_cast<std::size_t>(nodes.size())), .changing = xs};
  Names needed;
  const auto need = [&](const std::string& name) {
    if (!name.empty() && given.count(name) == 0) needed.insert(name);
  };
  need(y);
  for (int i = nodes.size() - 1; i >= 0; --i) {
    if (!AnyIn(nodes[i].output(), needed)) continue;
    part.nodes[static_cast<std::size_t>(i)] = true;
    for (const std::string& name : ReadsOf(nodes[i], import.structure)) need(name);
  }
  Names moved = given;
  for (int i = 0; i < nodes.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!part.nodes[at]) continue;
    const auto reads = ReadsOf(nodes[i], import.structure);
    const auto& outputs = nodes[i].output();
    part.nodes[at] = AnyIn(reads, moved);
    if (!part.nodes[at]) continue;
    RequireImport(!AnyIn(outputs, given),
                  Describe(nodes[i]) +
                      ", which computes a tensor of 'xs' or 'zs', is also needed "
                      "for '" +
                      y + "'; name its inputs instead");
    moved.insert(outputs.begin(), outputs.end());
    if (AnyIn(reads, part.changing)) part.changing.insert(outputs.begin(), outputs.end());
  }
  part.changing.erase("");
  return part;
}

/// Adds to the graph what gradients are computed with.
class Steps {
 public:
  explicit Steps(const ImportTimeCall& call) : call_(call) {}

  const ir::Graph& graph() const { return call_.graph(); }
  const TensorType& type(ValueId value) const { return graph().type(value); }

  ValueId Do(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) const {
    return call_.Add(op, op, std::move(inputs), std::move(attributes));
  }
  ValueId Cast(ValueId value, ElementType element) const {
    if (type(value).element == element) return value;
    return Do("Cast", {value}, {{"to", static_cast<std::int64_t>(element)}});
  }
  ValueId Number(double value, ElementType element) const {
    return Cast(call_.AddConstant("number", Tensor({ElementType::kFloat64, {}}, &value)), element);
  }
  ValueId Reshape(ValueId value, const Shape& shape) const {
    if (type(value).shape == shape) return value;
    return Do("Reshape", {value}, {{"shape", Ints(shape)}, {"allowzero", std::int64_t{1}}});
  }
  ValueId Expand(ValueId value, const Shape& shape) const {
    if (type(value).shape == shape) return value;
    return Do("Expand", {value}, {{"shape", Ints(shape)}});
  }
  ValueId Filled(double value, const TensorType& wanted) const {
    return Expand(Number(value, wanted.element), wanted.shape);
  }

  /// Adds up what broadcasting a tensor of that shape has repeated.
  ValueId UndoBroadcast(ValueId value, const Shape& shape) const {
    const Shape from = type(value).shape;
    const std::size_t added = from.size() - shape.size();
    Ints axes;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (i < added || from[i] != shape[i - added]) axes.push_back(static_cast<std::int64_t>(i));
    }
    if (!axes.empty()) value = Do("ReduceSum", {value}, {{"axes", axes}});
    return Reshape(value, shape);
  }

 private:
  const ImportTimeCall& call_;
};

/// One node on the way back.
struct Step : Steps {
  Step(const Steps& steps, const onnx::NodeProto& of) : Steps(steps), node(of), attributes(of) {}

  const onnx::NodeProto& node;
  const NodeAttributes attributes;
  std::vector<ValueId> x;  ///< its inputs; absent where they are no tensors
  ValueId y = ir::kAbsent;
  ValueId dy = ir::kAbsent;

  ValueId Number(double value) const { return Steps::Number(value, type(dy).element); }
  /// 1 - value
  ValueId OneMinus(ValueId value) const { return Do("Sub", {Number(1), value}); }
  ValueId Mul(ValueId a, ValueId b) const { return Do("Mul", {a, b}); }
  ValueId Div(ValueId a, ValueId b) const { return Do("Div", {a, b}); }
  ValueId Neg(ValueId value) const { return Do("Neg", {value}); }
};

ValueId Same(const Step& step, std::size_t /*input*/) { return step.dy; }

ValueId OfCast(const Step& step, std::size_t input) {
  return step.Cast(step.dy, step.type(step.x[input]).element);
}

ValueId OfDiv(const Step& step, std::size_t input) {
  const ValueId quotient = step.Div(step.dy, step.x[1]);
  return input == 0 ? quotient : step.Neg(step.Mul(quotient, step.y));
}

ValueId OfExp(const Step& step, std::size_t /*input*/) { return step.Mul(step.dy, step.y); }

ValueId OfLog(const Step& step, std::size_t /*input*/) { return step.Div(step.dy, step.x[0]); }

ValueId Transposed(const Step& step, ValueId matrix) {
  const auto rank = static_cast<std::int64_t>(step.type(matrix).shape.size());
  Ints perm;
  for (std::int64_t i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return step.Do("Transpose", {matrix}, {{"perm", perm}});
}

ValueId OfMatMul(const Step& step, std::size_t input) {
  for (const ValueId x : step.x) {
    RequireImport(step.type(x).shape.size() >= 2,
                  "the gradient of " + Describe(step.node) +
                      " with a vector is not supported; reshape it to a matrix");
  }
  return input == 0 ? step.Do("MatMul", {step.dy, Transposed(step, step.x[1])})
                    : step.Do("MatMul", {Transposed(step, step.x[0]), step.dy});
}

ValueId OfMul(const Step& step, std::size_t input) { return step.Mul(step.dy, step.x[1 - input]); }

ValueId OfNeg(const Step& step, std::size_t /*input*/) { return step.Neg(step.dy); }

ValueId OfPow(const Step& step, std::size_t input) {
  RequireImport(input == 0, "the gradient of " + Describe(step.node) +
                                " by its exponent is not supported; the exponent must not depend "
                                "on what is differentiated by");
  const ValueId exponent = step.Cast(step.x[1], step.type(step.dy).element);
  // The derivative of x^0 is 0 for x = 0 too, where x^-1 is infinite.
  const ValueId is_zero = step.Do("Equal", {exponent, step.Number(0)});
  const ValueId safe = step.Do("Where", {is_zero, step.Number(1), exponent});
  const ValueId power = step.Do("Pow", {step.x[0], step.Do("Sub", {safe, step.Number(1)})});
  return step.Mul(step.dy, step.Mul(exponent, power));
}

Ints AxesOf(const Step& step) {
  if (step.attributes.has("axes")) return step.attributes.get_ints("axes");
  if (step.x.size() < 2 || step.x[1] == ir::kAbsent) return {};
  const Tensor* axes = step.graph().ConstantOf(step.x[1]);
  // Only axes without elements are known without being constant.
  return axes == nullptr ? Ints() : std::get<Ints>(*StaticValue(*axes));
}

/// The gradient of a sum, repeated along the axes that were added up; `count` says how many
/// elements each sum had.
ValueId OfSums(const Step& step, std::int64_t* count) {
  const Shape shape = step.type(step.x[0]).shape;
  const Ints axes = AxesOf(step);
  *count = 1;
  if (axes.empty() && step.attributes.get_int("noop_with_empty_axes", 0) != 0) return step.dy;
  Shape kept = axes.empty() ? Shape(shape.size(), 1) : shape;
  for (const std::int64_t axis : axes) {
    kept[static_cast<std::size_t>(*NormalizeAxis(axis, shape.size()))] = 1;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (kept[i] != shape[i]) *count *= shape[i];
  }
  return step.Expand(step.Reshape(step.dy, kept), shape);
}

ValueId OfReduceSum(const Step& step, std::size_t /*input*/) {
  std::int64_t count = 1;
  return OfSums(step, &count);
}

ValueId OfReduceMean(const Step& step, std::size_t /*input*/) {
  std::int64_t count = 1;
  const ValueId gradient = OfSums(step, &count);
  return step.Div(gradient, step.Number(static_cast<double>(count)));
}

ValueId OfRelu(const Step& step, std::size_t /*input*/) {
  const ValueId zero = step.Number(0);
  return step.Do("Where", {step.Do("Greater", {step.x[0], zero}), step.dy, zero});
}

ValueId OfReshape(const Step& step, std::size_t /*input*/) {
  return step.Reshape(step.dy, step.type(step.x[0]).shape);
}

ValueId OfSigmoid(const Step& step, std::size_t /*input*/) {
  return step.Mul(step.dy, step.Mul(step.y, step.OneMinus(step.y)));
}

ValueId OfSqrt(const Step& step, std::size_t /*input*/) {
  return step.Div(step.dy, step.Mul(step.Number(2), step.y));
}

ValueId OfSub(const Step& step, std::size_t input) {
  return input == 0 ? step.dy : step.Neg(step.dy);
}

ValueId OfTanh(const Step& step, std::size_t /*input*/) {
  return step.Mul(step.dy, step.OneMinus(step.Mul(step.y, step.y)));
}

ValueId OfTranspose(const Step& step, std::size_t /*input*/) {
  const Ints perm = step.attributes.get_ints("perm");
  const std::size_t rank = step.type(step.x[0]).shape.size();
  Ints back(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto to = perm.empty() ? rank - 1 - i : static_cast<std::size_t>(perm[i]);
    back[to] = static_cast<std::int64_t>(i);
  }
  return step.Do("Transpose", {step.dy}, {{"perm", back}});
}

/// How to differentiate an operator with one output.
struct Rule {
  std::string_view op;
  /// The gradient of an input, still of the shape that it was broadcast to.
  ValueId (*gradient)(const Step& step, std::size_t input);
};

/// Ordered by name.
constexpr Rule kRules[] = {
    {"Add", Same},
    {"Cast", OfCast},
    {"Div", OfDiv},
    {"Exp", OfExp},
    {"Expand", Same},
    {"Flatten", OfReshape},
    {"Identity", Same},
    {"Log", OfLog},
    {"MatMul", OfMatMul},
    {"Mul", OfMul},
    {"Neg", OfNeg},
    {"Pow", OfPow},
    {"ReduceMean", OfReduceMean},
    {"ReduceSum", OfReduceSum},
    {"Relu", OfRelu},
    {"Reshape", OfReshape},
    {"Sigmoid", OfSigmoid},
    {"Sqrt", OfSqrt},
    {"Squeeze", OfReshape},
    {"Sub", OfSub},
    {"Sum", Same},
    {"Tanh", OfTanh},
    {"Transpose", OfTranspose},
    {"Unsqueeze", OfReshape},
};

const Rule& RuleOf(const onnx::NodeProto& node) {
  for (const Rule& rule : kRules) {
    if (rule.op == node.op_type() && IsDefaultDomain(node.domain())) return rule;
  }
  FailImport(
      "the gradient of " + Describe(node) + " is not supported, supported are those of " +
      absl::StrJoin(kRules, ", ", [](std::string* out, const Rule& rule) { *out += rule.op; }) +
      "; write the node with these, or export the model with the backward pass spelled out");
}

/// Differentiates one tensor.
class Gradient {
 public:
  explicit Gradient(ImportTimeCall& call) : call_(call), steps_(call) {
    xs_ = call.attributes.get_strings("xs");
    y_ = call.attributes.get_string("y", "");
    given_ = xs_;
    const std::vector<std::string> zs = call.attributes.get_strings("zs");
    given_.insert(given_.end(), zs.begin(), zs.end());
    CheckNames();
  }

  std::vector<ImportValue> Run() {
    const Part part =
        FindPart(call_.import, {given_.begin(), given_.end()}, {xs_.begin(), xs_.end()}, y_);
    ImportAgain(part);
    const TensorType type = steps_.type(TensorOf(y_, "attribute 'y'"));
    RequireImport(IsFloat(type.element), "attribute 'y' names '" + y_ + "', which is " +
                                             ToString(type) +
                                             "; it must hold floating-point numbers");
    gradients_[y_] = steps_.Filled(1, type);
    for (int i = call_.import.graph.node_size() - 1; i >= 0; --i) {
      if (part.nodes[static_cast<std::size_t>(i)]) GoBack(call_.import.graph.node(i), part);
    }
    std::vector<ImportValue> results;
    for (std::size_t i = 0; i < xs_.size(); ++i) {
      const TensorType x = steps_.type(call_.tensor(i));
      if (!IsFloat(x.element)) call_.WrongInput(i, "of floating-point numbers");
      const auto found = gradients_.find(xs_[i]);
      results.push_back({found != gradients_.end() ? found->second : steps_.Filled(0, x)});
    }
    return results;
  }

 private:
  void CheckNames() const {
    RequireImport(!xs_.empty(),
                  "attribute 'xs' is missing, it must name the tensors to "
                  "differentiate by");
    RequireImport(!y_.empty(),
                  "attribute 'y' is missing, it must name the tensor to differentiate");
    call_.RequireInputs(given_.size(), given_.size());
    Names seen;
    std::vector<std::string> names = given_;
    for (const std::string& name : given_) {
      RequireImport(seen.insert(name).second, "attributes 'xs' and 'zs' name '" + name + "' twice");
    }
    names.push_back(y_);
    for (const std::string& name : names) {
      RequireImport(Defines(call_.import.graph, name),
                    "attributes 'xs', 'zs' and 'y' name '" + name +
                        "', which no node, input or initializer of its graph defines");
    }
  }

  /// Adds the part to the graph with the values given and notes what its names stand for.
  void ImportAgain(const Part& part) {
    GraphBuilder& builder = call_.import.builder;
    GraphStructure structure = call_.import.structure;
    structure.live = part.nodes;
    builder.OpenScope(structure.used);
    for (std::size_t i = 0; i < given_.size(); ++i) {
      builder.DefineValue(given_[i], call_.required(i));
    }
    const bool is_good =
        call_.importer.ImportPart(call_.import.graph, structure, builder, call_.import.problems);
    if (is_good) {
      NoteValue(y_);
      for (int i = 0; i < call_.import.graph.node_size(); ++i) {
        if (!part.nodes[static_cast<std::size_t>(i)]) continue;
        const onnx::NodeProto& node = call_.import.graph.node(i);
        for (const std::string& name : node.input()) NoteValue(name);
        for (const std::string& name : node.output()) NoteValue(name);
      }
    }
    builder.CloseScope();
    if (!is_good) throw ImportTimeError{absl::OkStatus()};  // its problems are known
  }

  void NoteValue(const std::string& name) {
    const ValueId* value = name.empty() ? nullptr : call_.import.builder.Find(name);
    if (value != nullptr) values_[name] = *value;
  }

  ValueId TensorOf(const std::string& name, const std::string& what) const {
    const auto found = values_.find(name);
    RequireImport(found != values_.end(),
                  what + " names '" + name + "', which is no tensor of numbers");
    return found->second;
  }

  ValueId Known(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? ir::kAbsent : found->second;
  }

  void GoBack(const onnx::NodeProto& node, const Part& part) {
    const bool has_gradient =
        std::any_of(node.output().begin(), node.output().end(),
                    [&](const std::string& name) { return gradients_.count(name) > 0; });
    if (!has_gradient || !AnyIn(ReadsOf(node, call_.import.structure), part.changing)) return;
    const Rule& rule = RuleOf(node);
    Step step(steps_, node);
    RequireImport(step.attributes.get_int("broadcast", 0) == 0,
                  "the gradient of " + Describe(node) +
                      " with attribute 'broadcast' is not supported; convert the model to opset 7");
    for (const std::string& name : node.input()) step.x.push_back(Known(name));
    step.y = values_.at(node.output(0));
    step.dy = gradients_.at(node.output(0));
    for (const ValueId value : step.x) RequireKnownShape(node, value);
    RequireKnownShape(node, step.y);
    for (std::size_t i = 0; i < step.x.size(); ++i) {
      const std::string& name = node.input(static_cast<int>(i));
      const bool is_wanted = part.changing.count(name) > 0 && step.x[i] != ir::kAbsent &&
                             IsFloat(steps_.type(step.x[i]).element);
      if (!is_wanted) continue;
      // A copy, since the graph's own moves when something is added.
      const Shape shape = steps_.type(step.x[i]).shape;
      AddGradient(name, rule.gradient(step, i), shape);
    }
  }

  void RequireKnownShape(const onnx::NodeProto& node, ValueId value) const {
    const bool is_open = value != ir::kAbsent && call_.import.builder.FindOpen(value) != nullptr;
    RequireImport(!is_open, "the gradient of " + Describe(node) +
                                " is not supported: the shape of its tensors depends on data");
  }

  void AddGradient(const std::string& name, ValueId gradient, const Shape& shape) {
    gradient = steps_.UndoBroadcast(gradient, shape);
    const auto [at, is_first] = gradients_.emplace(name, gradient);
    if (!is_first) at->second = steps_.Do("Add", {at->second, gradient});
  }

  ImportTimeCall& call_;
  Steps steps_;
  std::vector<std::string> xs_;
  std::vector<std::string> given_;  ///< xs, then zs
  std::string y_;
  std::map<std::string, ValueId> values_;
  std::map<std::string, ValueId> gradients_;  ///< of y by each
};

std::vector<ImportValue> ImportGradient(ImportTimeCall& call) { return Gradient(call).Run(); }

constexpr ImportTimeOp kRows[] = {
    {"Gradient", ops::kTrainingDomain, Always, ImportGradient},
};

}  // namespace

std::span<const ImportTimeOp> GradientImportOps() { return kRows; }

}  // namespace poprt::frontend
