#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/emit/file_pieces.hpp"
#include "compiler/emit/onnx_names.hpp"
#include "runtime/tensor/tensor.hpp"

namespace onnx {
class GraphProto;
}

namespace poprt::emit {

/// The initializers of one ONNX model, all at its top level, where every scope sees them. They are
/// most of a model, so their elements stay where they are until the file is written.
class OnnxConstants {
 public:
  OnnxConstants(onnx::GraphProto* graph, OnnxNames& names) : graph_(graph), names_(names) {}

  /// Writes the tensor under exactly that name, which the caller has taken.
  void Write(const std::string& name, const Tensor& tensor);

  /// The name of an equal tensor that Share wrote before, or of a new one called like `wanted`.
  std::string Share(const std::string& wanted, const Tensor& tensor);

  /// Bytes of tensors so far, and whether so many that no ONNX file can hold them: then nothing
  /// more is written.
  std::uint64_t bytes() const { return bytes_; }
  bool too_large() const;

  /// What must stand in the message of the graph beside the graph itself: the elements of tensors
  /// and what belongs to them.
  std::uint64_t SerializedSize() const;
  void AppendTo(FilePieces& file) const;

 private:
  /// A field of the graph: what comes before the elements, in protobuf's encoding, and these.
  struct Initializer {
    std::string head;
    Tensor tensor;
  };

  struct Known {
    Tensor tensor;
    std::string name;
  };

  onnx::GraphProto* graph_;
  OnnxNames& names_;
  std::uint64_t bytes_ = 0;
  std::vector<Initializer> initializers_;
  std::unordered_map<std::size_t, std::vector<Known>> shared_;
};

}  // namespace poprt::emit
