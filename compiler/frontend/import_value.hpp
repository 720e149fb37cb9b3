#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::frontend {

/// A tensor of strings with its elements in row-major order. Strings exist only while a model is
/// imported: neither the graph nor a container holds them.
struct StringTensor {
  Shape shape;
  std::vector<std::string> elements;

  bool operator==(const StringTensor&) const = default;
};

/// A value of any type that ONNX has: a tensor (which `TensorT` stands for), a tensor of strings, a
/// sequence or an optional, to any depth.
template <typename TensorT>
struct BasicValue {
  struct Sequence {
    std::vector<BasicValue> elements;
  };
  struct Optional {
    std::vector<BasicValue> element;  ///< one value or none
  };

  std::variant<TensorT, StringTensor, Sequence, Optional> held;

  const TensorT* tensor() const { return std::get_if<TensorT>(&held); }
  const StringTensor* strings() const { return std::get_if<StringTensor>(&held); }
  const Sequence* sequence() const { return std::get_if<Sequence>(&held); }
  const Optional* optional() const { return std::get_if<Optional>(&held); }
};

/// A value outside any graph: what a file holds.
using HostValue = BasicValue<Tensor>;

/// A value of the graph being imported; the tensors are values of the graph, constant or not.
using ImportValue = BasicValue<ir::ValueId>;

/// "string[2, 3]".
using poprt::ToString;
std::string ToString(const StringTensor& strings);

/// "float32[2]", "string[3]", "sequence of 2 (int64[], int64[3])", "optional float32[2]", "empty
/// optional".
std::string Describe(const HostValue& value);
std::string Describe(const ImportValue& value, const ir::Graph& graph);

}  // namespace poprt::frontend
