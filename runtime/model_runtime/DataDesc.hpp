#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "popef/Types.hpp"

namespace model_runtime {

/// One input or output of a model. `shape` and `size_in_bytes` are those of one batch, and of an
/// output with an open axis the largest possible ones: what to allocate for it.
struct DataDesc {
  std::string name;
  std::int64_t size_in_bytes = 0;
  std::vector<std::int64_t> shape;
  popef::DataType data_type = popef::DataType::F32;
  /// The container holds the tensor's data, so that a request need not give it.
  bool popef_contains_tensor_data = false;
  /// The axis along which a result's extent depends on the data, if there is one.
  std::optional<std::size_t> open_axis = std::nullopt;
};

using InputDesc = DataDesc;
using OutputDesc = DataDesc;

}  // namespace model_runtime
