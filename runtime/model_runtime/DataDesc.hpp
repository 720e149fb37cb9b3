#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "popef/Types.hpp"

namespace model_runtime {

/// One input or output of a model. `shape` and `size_in_bytes` are those of one batch.
struct DataDesc {
  std::string name;
  std::int64_t size_in_bytes = 0;
  std::vector<std::int64_t> shape;
  popef::DataType data_type = popef::DataType::F32;
  /// The container holds the tensor's data, so that a request need not give it.
  bool popef_contains_tensor_data = false;
};

using InputDesc = DataDesc;
using OutputDesc = DataDesc;

}  // namespace model_runtime
