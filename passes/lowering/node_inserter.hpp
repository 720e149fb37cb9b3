#pragma once

#include <string>
#include <utility>
#include <vector>

#include "passes/rewrite.hpp"

namespace poprt::passes {

/// Puts nodes before the current one, named after it.
class NodeInserter {
 public:
  NodeInserter(Rewriter& rewriter, std::string name)
      : rewriter_(rewriter), name_(std::move(name)) {}

  /// A node of one output, which has the element type of the first input.
  ir::ValueId operator()(const char* op, std::vector<ir::ValueId> inputs, Shape shape,
                         Attributes attributes) {
    const ElementType element = rewriter_.graph().type(inputs[0]).element;
    return rewriter_.Insert(rewriter_.graph().MakeNode(
        op, std::move(inputs), {element, std::move(shape)}, std::move(attributes), name_));
  }

 private:
  Rewriter& rewriter_;
  std::string name_;
};

}  // namespace poprt::passes
