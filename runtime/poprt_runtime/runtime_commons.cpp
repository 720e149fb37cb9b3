#include "poprt/runtime/runtime_commons.hpp"

#include "model_runtime/Tensor.hpp"

namespace poprt::runtime {

TensorMemory::TensorMemory(std::int64_t sizeBytes) {
  const model_runtime::TensorMemory memory(sizeBytes);
  dataSizeBytes = memory.data_size_bytes;
  data = memory.data;
}

}  // namespace poprt::runtime
