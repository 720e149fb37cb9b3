#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "passes/constant_values.hpp"
#include "passes/pass.hpp"

/// Graphs for the tests of passes.
namespace poprt::passes {

/// Builds a graph line by line. Values have the type float32 unless another is given.
class GraphForTest {
 public:
  explicit GraphForTest(ElementType element = ElementType::kFloat32) : element_(element) {
    graph.name = "g";
  }

  ir::ValueId Input(std::string_view name, Shape shape) {
    return Input(name, {element_, std::move(shape)});
  }
  ir::ValueId Input(std::string_view name, TensorType type) {
    graph.inputs.push_back(graph.AddValue(name, std::move(type)));
    return graph.inputs.back();
  }
  ir::ValueId Constant(std::string_view name, Shape shape, const std::vector<double>& values) {
    return Constant(name, TensorType{element_, std::move(shape)}, values);
  }
  ir::ValueId Constant(std::string_view name, TensorType type, const std::vector<double>& values) {
    return graph.AddConstant(name, FromDoubles(std::move(type), values));
  }
  ir::ValueId Scalar(double value) { return Constant("c", Shape{}, {value}); }

  /// A node named like its result.
  ir::ValueId Op(std::string_view name, std::string_view op, std::vector<ir::ValueId> inputs,
                 Shape shape, Attributes attributes = {}) {
    return Op(name, op, std::move(inputs), TensorType{element_, std::move(shape)},
              std::move(attributes));
  }
  ir::ValueId Op(std::string_view name, std::string_view op, std::vector<ir::ValueId> inputs,
                 TensorType type, Attributes attributes = {}) {
    const ir::ValueId result = graph.AddValue(name, std::move(type));
    graph.nodes.push_back({.name = graph.UniqueName(std::string(name) + "_node"),
                           .op = std::string(op),
                           .inputs = std::move(inputs),
                           .outputs = {result},
                           .attributes = std::move(attributes)});
    return result;
  }
  void Output(ir::ValueId id) {
    graph.outputs.push_back(id);
    graph.output_names.push_back(graph.value(id).name);
  }

  /// The nodes and outputs as text, after a pass.
  std::string After(std::string_view pass, const PassContext& context = {}) {
    const PassDef* def = FindPass(pass);
    if (def == nullptr) return "no such pass";
    const absl::Status status = def->run(graph, context);
    if (!status.ok()) return std::string(status.message());
    if (const auto problem = ir::Verify(graph)) return *problem;
    return Text();
  }
  /// The same without a pass.
  std::string Text() const {
    const std::string text = ir::ToString(graph);
    return text.substr(text.find('\n') + 1);
  }

  ir::Graph graph;

 private:
  ElementType element_;
};

}  // namespace poprt::passes
