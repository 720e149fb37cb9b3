#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/attributes.hpp"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace poprt::frontend {

/// The attributes of a node as the file has them, strings and types included, which Attributes need
/// not hold. An attribute of another kind than asked for throws std::invalid_argument that names
/// it.
class NodeAttributes {
 public:
  /// `node` must outlive this.
  explicit NodeAttributes(const onnx::NodeProto& node) : node_(node) {}

  const onnx::AttributeProto* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t get_int(std::string_view name, std::int64_t otherwise) const;
  float get_float(std::string_view name, float otherwise) const;
  std::string get_string(std::string_view name, std::string_view otherwise) const;
  Ints get_ints(std::string_view name) const;
  Floats get_floats(std::string_view name) const;
  std::vector<std::string> get_strings(std::string_view name) const;

 private:
  const onnx::NodeProto& node_;
};

}  // namespace poprt::frontend
