#include "passes/lowering/fuse_elementwise_chain.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "passes/constant_values.hpp"
#include "passes/lowering/fused_operator.hpp"
#include "passes/lowering/quantization_parameters.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::passes {
namespace {

using ir::Node;
using ir::ValueId;

/// What the kernel takes, with room to spare for operators that become several functions.
constexpr std::size_t kMostInputs = 16;
constexpr std::size_t kMostFunctions = 32;
constexpr std::size_t kMostConstants = 32;

/// The result of the function before.
struct Previous {};
/// What a function reads: a value of the graph, a number, or the result of the function before.
using Source = std::variant<ValueId, float, Previous>;

struct Function {
  std::string_view name;
  std::vector<Source> reads;
};

struct Named {
  std::string_view op;
  std::string_view function;
};

constexpr std::array<Named, 12> kUnary = {{{"Abs", "abs"},
                                           {"Erf", "erf"},
                                           {"Exp", "exp"},
                                           {"HardSwish", "hardswish"},
                                           {"Neg", "neg"},
                                           {"Reciprocal", "reciprocal"},
                                           {"Relu", "relu"},
                                           {"Round", "round"},
                                           {"RoundHalf", "half"},
                                           {"Sigmoid", "sigmoid"},
                                           {"Sqrt", "sqrt"},
                                           {"Tanh", "tanh"}}};
constexpr std::array<Named, 5> kBinary = {
    {{"Add", "add"}, {"Div", "div"}, {"Mul", "mul"}, {"PRelu", "slope"}, {"Sub", "sub"}}};
constexpr std::array<Named, 2> kVariadic = {{{"Max", "max"}, {"Min", "min"}}};

template <std::size_t kSize>
std::string_view FunctionOf(const std::array<Named, kSize>& table, std::string_view op) {
  const auto row = std::ranges::find(table, op, &Named::op);
  return row == table.end() ? std::string_view() : row->function;
}

std::vector<Function> ClipFunctions(const ir::Graph& graph, const Node& node) {
  std::vector<Function> functions;
  for (const std::size_t i : {1U, 2U}) {
    if (!HasInput(node, i)) continue;
    const auto bound = UniformValue(graph, node.inputs[i]);
    if (!bound) return {};
    const Source x = functions.empty() ? Source(node.inputs[0]) : Source(Previous());
    functions.push_back({i == 1 ? "at_least" : "at_most", {x, static_cast<float>(*bound)}});
  }
  return functions;
}

std::vector<Function> PowFunctions(const ir::Graph& graph, const Node& node) {
  const ValueId x = node.inputs[0];
  const auto exponent = UniformValue(graph, node.inputs[1]);
  if (exponent == 0.5) return {{"sqrt", {x}}};
  if (exponent == 2.0) return {{"mul", {x, x}}};
  if (exponent == 3.0) return {{"mul", {x, x}}, {"mul", {Previous(), x}}};
  return {};
}

/// The functions that compute the node, the last one its result; none if it is of another kind.
std::vector<Function> FunctionsOf(const ir::Graph& graph, const Node& node) {
  const auto attribute = [&](const char* name, float otherwise) {
    return node.attributes.get_float(name, otherwise);
  };
  if (const auto name = FunctionOf(kUnary, node.op); !name.empty()) {
    return {{name, {node.inputs[0]}}};
  }
  if (const auto name = FunctionOf(kBinary, node.op); !name.empty()) {
    return {{name, {node.inputs[0], node.inputs[1]}}};
  }
  if (const auto name = FunctionOf(kVariadic, node.op); !name.empty()) {
    std::vector<Function> functions;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const Source left = i == 1 ? Source(node.inputs[0]) : Source(Previous());
      functions.push_back({name, {left, node.inputs[i]}});
    }
    return functions;
  }
  if (node.op == "Clip") return ClipFunctions(graph, node);
  if (node.op == "Pow") return PowFunctions(graph, node);
  if (node.op == "LeakyRelu") return {{"slope", {node.inputs[0], attribute("alpha", 0.01F)}}};
  if (node.op == "Gelu") {
    const bool tanh = node.attributes.get_string("approximate", "none") == "tanh";
    return {{tanh ? "gelu_tanh" : "gelu_erf", {node.inputs[0]}}};
  }
  if (node.op == "HardSigmoid") {
    return {{"mul", {node.inputs[0], attribute("alpha", 0.2F)}},
            {"add", {Previous(), attribute("beta", 0.5F)}},
            {"at_least", {Previous(), 0.0F}},
            {"at_most", {Previous(), 1.0F}}};
  }
  if (node.op == "Swish") {
    const ValueId x = node.inputs[0];
    const float alpha = attribute("alpha", 1.0F);
    if (alpha == 1.0F) return {{"silu", {x}}};
    return {{"mul", {x, alpha}}, {"sigmoid", {Previous()}}, {"mul", {Previous(), x}}};
  }
  return {};
}

bool IsByte(const ir::Graph& graph, ValueId id) {
  return kernels::Contains(kernels::kByteTypes, graph.type(id).element);
}

bool IsFloat(const ir::Graph& graph, ValueId id) {
  return graph.type(id).element == ElementType::kFloat32;
}

/// Of a QuantizeLinear or DequantizeLinear between float32 and bytes, with one scale and one zero
/// point for all; that of a result of bytes is left to the kernel.
std::vector<Function> QuantizationFunctions(const ir::Graph& graph, const Node& node) {
  const auto parameters = QuantizationParametersOf(graph, node);
  if (!parameters) return {};
  const ValueId x = node.inputs[0];
  const auto scale = static_cast<float>(parameters->scale);
  const auto point = static_cast<float>(parameters->point);
  const ValueId y = node.outputs[0];
  if (IsFloat(graph, x) && IsByte(graph, y)) return {{"div", {x, scale}}};
  if (!IsByte(graph, x) || !IsFloat(graph, y)) return {};
  if (point == 0) return {{"mul", {x, scale}}};
  return {{"sub", {x, point}}, {"mul", {Previous(), scale}}};
}

/// The operands and attributes of a FusedElementwise, put together function by function.
class Program {
 public:
  /// Adds the functions of a node whose result is `result`. False when there are too many.
  bool Add(const ir::Graph& graph, const std::vector<Function>& functions, ValueId result) {
    for (const Function& function : functions) {
      Line line{function.name, {}};
      for (const Source& source : function.reads) line.reads.push_back(Resolve(graph, source));
      lines_.push_back(std::move(line));
    }
    results_[result] = lines_.size() - 1;
    return inputs_.size() <= kMostInputs && constants_.size() <= kMostConstants &&
           lines_.size() <= kMostFunctions;
  }

  std::size_t size() const { return lines_.size(); }
  const std::vector<ValueId>& inputs() const { return inputs_; }

  Attributes attributes() const {
    Strings functions;
    Ints operands;
    for (const Line& line : lines_) {
      functions.emplace_back(line.name);
      for (const Read& read : line.reads) operands.push_back(NumberOf(read));
    }
    Attributes attributes{{"functions", functions}, {"operands", operands}};
    if (!constants_.empty()) attributes.set("constants", constants_);
    return attributes;
  }

 private:
  enum class Kind : std::uint8_t { kInput, kConstant, kResult };
  struct Read {
    Kind kind;
    std::size_t index;
  };
  struct Line {
    std::string_view name;
    std::vector<Read> reads;
  };

  template <typename T>
  static std::size_t IndexIn(std::vector<T>& list, const T& item) {
    const auto at = std::find(list.begin(), list.end(), item);
    if (at != list.end()) return static_cast<std::size_t>(at - list.begin());
    list.push_back(item);
    return list.size() - 1;
  }

  Read Resolve(const ir::Graph& graph, const Source& source) {
    if (std::holds_alternative<Previous>(source)) return {Kind::kResult, lines_.size() - 1};
    if (const auto* number = std::get_if<float>(&source)) {
      return {Kind::kConstant, IndexIn(constants_, *number)};
    }
    const ValueId id = std::get<ValueId>(source);
    if (const auto at = results_.find(id); at != results_.end()) return {Kind::kResult, at->second};
    if (const auto uniform = UniformValue(graph, id)) {
      return {Kind::kConstant, IndexIn(constants_, static_cast<float>(*uniform))};
    }
    return {Kind::kInput, IndexIn(inputs_, id)};
  }

  std::int64_t NumberOf(const Read& read) const {
    std::size_t first = 0;
    if (read.kind != Kind::kInput) first += inputs_.size();
    if (read.kind == Kind::kResult) first += constants_.size();
    return static_cast<std::int64_t>(first + read.index);
  }

  std::vector<ValueId> inputs_;
  Floats constants_;
  std::vector<Line> lines_;
  std::map<ValueId, std::size_t> results_;
};

/// Positions of nodes, the last one the root of their tree.
using Tree = std::set<std::int32_t>;

class Fuser {
 public:
  explicit Fuser(ir::Graph& graph) : graph_(graph), uses_(graph) {
    for (const Node& node : graph.nodes) functions_.push_back(Eligible(node));
  }

  bool Run() {
    bool changed = false;
    for (auto root = static_cast<std::int32_t>(graph_.nodes.size()); root-- > 0;) {
      if (functions_[Index(root)].empty() || taken_.contains(root)) continue;
      Tree tree{root};
      std::optional<Program> alone = ProgramOf(tree);
      if (!alone) continue;
      Program program = *std::move(alone);
      Grow(tree, program);
      Node& node = graph_.nodes[Index(root)];
      if (program.inputs().empty() || (tree.size() == 1 && IsQuantization(node))) continue;
      taken_.insert(tree.begin(), tree.end());
      Attributes attributes = program.attributes();
      if (node.op == "QuantizeLinear") {
        const double point = QuantizationParametersOf(graph_, node)->point;
        attributes.set("point", static_cast<std::int64_t>(point));
      }
      node.op = "FusedElementwise";
      node.inputs = program.inputs();
      node.attributes = std::move(attributes);
      changed = true;
    }
    return changed;
  }

 private:
  static std::size_t Index(std::int32_t i) { return static_cast<std::size_t>(i); }

  static bool IsQuantization(const Node& node) {
    return node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
  }

  std::vector<Function> Eligible(const Node& node) const {
    if (node.outputs.size() != 1) return {};
    const TensorType& type = graph_.type(node.outputs[0]);
    if (ElementCount(type.shape) == 0) return {};
    if (IsQuantization(node)) return QuantizationFunctions(graph_, node);
    if (!IsBackendType(type.element)) return {};
    std::vector<Function> functions = FunctionsOf(graph_, node);
    for (const Function& function : functions) {
      for (const Source& source : function.reads) {
        const auto* id = std::get_if<ValueId>(&source);
        if (id != nullptr && (*id == ir::kAbsent || graph_.type(*id).element != type.element)) {
          return {};
        }
      }
    }
    return functions;
  }

  /// Nothing when the tree is too large.
  std::optional<Program> ProgramOf(const Tree& tree) const {
    Program program;
    for (const std::int32_t i : tree) {
      if (!program.Add(graph_, functions_[Index(i)], graph_.nodes[Index(i)].outputs[0])) {
        return std::nullopt;
      }
    }
    return program;
  }

  /// Takes in producers as long as any fits.
  void Grow(Tree& tree, Program& program) const {
    const Shape& shape = graph_.type(graph_.nodes[Index(*tree.rbegin())].outputs[0]).shape;
    for (bool grown = true; grown;) {
      grown = false;
      for (const ValueId id : std::vector<ValueId>(program.inputs())) {
        const std::int32_t producer = uses_.producer(id);
        if (producer < 0 || !Joins(producer, id, tree, shape)) continue;
        Tree larger = tree;
        larger.insert(producer);
        auto larger_program = ProgramOf(larger);
        if (!larger_program) continue;
        tree = std::move(larger);
        program = *std::move(larger_program);
        grown = true;
        break;
      }
    }
  }

  bool Joins(std::int32_t producer, ValueId id, const Tree& tree, const Shape& shape) const {
    if (functions_[Index(producer)].empty() || graph_.type(id).shape != shape) return false;
    if (IsByte(graph_, id)) return false;  // rounded
    if (graph_.nodes[Index(producer)].op == "DequantizeLinear") return true;
    if (uses_.is_output(id) || taken_.contains(producer)) return false;
    return std::ranges::all_of(uses_.consumers(id),
                               [&](std::int32_t consumer) { return tree.contains(consumer); });
  }

  ir::Graph& graph_;
  ir::Uses uses_;
  std::vector<std::vector<Function>> functions_;  ///< per node; none if it cannot be fused
  Tree taken_;
};

}  // namespace

absl::Status FuseElementwiseChain(ir::Graph& graph, const PassContext&) {
  if (Fuser(graph).Run()) graph.Compact();
  return absl::OkStatus();
}

}  // namespace poprt::passes
