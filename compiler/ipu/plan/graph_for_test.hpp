#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.hpp"

/// Graphs of float16 for the tests of plans.
namespace poprt::ipu {

class GraphForTest {
 public:
  explicit GraphForTest(ElementType element = ElementType::kFloat16) : element_(element) {}

  ir::ValueId Input(std::string_view name, Shape shape) {
    return Input(name, TensorType{element_, std::move(shape)});
  }
  ir::ValueId Input(std::string_view name, TensorType type) {
    const ir::ValueId id = graph.AddValue(name, std::move(type));
    graph.inputs.push_back(id);
    return id;
  }
  /// Zeros.
  ir::ValueId Constant(Shape shape) {
    return graph.AddConstant("w", Tensor(TensorType{element_, std::move(shape)}));
  }
  ir::ValueId Op(std::string_view op, std::vector<ir::ValueId> inputs, Shape shape,
                 Attributes attributes = {}) {
    return Op(op, std::move(inputs), TensorType{element_, std::move(shape)}, std::move(attributes));
  }
  ir::ValueId Op(std::string_view op, std::vector<ir::ValueId> inputs, TensorType type,
                 Attributes attributes = {}) {
    graph.nodes.push_back(
        graph.MakeNode(op, std::move(inputs), std::move(type), std::move(attributes), op));
    return graph.nodes.back().outputs[0];
  }
  void Output(ir::ValueId id) {
    graph.outputs.push_back(id);
    graph.output_names.push_back(graph.value(id).name);
  }

  ir::Graph graph;

 private:
  ElementType element_;
};

}  // namespace poprt::ipu
