#pragma once

#include <vector>

#include "model_runtime/DataDesc.hpp"
#include "poprt/runtime/runtime_commons.hpp"

namespace poprt::runtime {

/// The engine's descriptions as users of poprt::runtime know them.
inline DataDesc Describe(const model_runtime::DataDesc& desc) {
  return {desc.name,
          desc.size_in_bytes,
          desc.shape,
          desc.data_type,
          desc.popef_contains_tensor_data,
          desc.open_axis};
}

inline std::vector<DataDesc> DescribeAll(const std::vector<model_runtime::DataDesc>& descs) {
  std::vector<DataDesc> result;
  result.reserve(descs.size());
  for (const model_runtime::DataDesc& desc : descs) result.push_back(Describe(desc));
  return result;
}

}  // namespace poprt::runtime
