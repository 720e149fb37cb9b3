#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/frontend/proto/mapped_file.hpp"

namespace onnx {
class TensorProto;
}

namespace poprt::frontend {

/// The files beside a model that hold its large tensors. Opens each file once.
class ExternalData {
 public:
  /// `folder` is the model's; empty stands for the working directory.
  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}

  /// The bytes that a tensor with external data refers to: all of the file from the offset on when
  /// the tensor gives no length. Valid as long as this object. Errors do not name the tensor.
  absl::StatusOr<std::string_view> Find(const onnx::TensorProto& tensor);

 private:
  absl::StatusOr<std::string_view> File(const std::string& location);

  std::string folder_;
  std::map<std::string, MappedFile> files_;
};

}  // namespace poprt::frontend
