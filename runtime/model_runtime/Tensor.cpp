#include "model_runtime/Tensor.hpp"

#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>

namespace model_runtime {

TensorMemory::TensorMemory(std::int64_t size_bytes) {
  if (size_bytes < 0) throw std::invalid_argument("TensorMemory of a negative size");
  constexpr std::align_val_t alignment{64};
  data_size_bytes = static_cast<std::uint64_t>(size_bytes);
  void* memory = ::operator new(data_size_bytes + 1, alignment);
  std::memset(memory, 0, data_size_bytes);
  data =
      std::shared_ptr<void>(memory, [](void* p) { ::operator delete (p, std::align_val_t{64}); });
}

}  // namespace model_runtime
