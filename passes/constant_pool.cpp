#include "passes/constant_pool.hpp"

#include <functional>
#include <string_view>

namespace poprt::passes {

std::size_t ConstantPool::Find(const Tensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  std::vector<std::size_t>& candidates = positions_by_hash_[std::hash<std::string_view>{}(bytes)];
  for (std::size_t position : candidates) {
    const Tensor& known = tensors_[position];
    const bool shared = known.data() == tensor.data() && known.type() == tensor.type();
    if (shared || known == tensor) return position;
  }
  candidates.push_back(tensors_.size());
  tensors_.push_back(tensor);
  return tensors_.size() - 1;
}

}  // namespace poprt::passes
