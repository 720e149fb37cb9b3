#include "compiler/frontend/import_time/string_pool.hpp"

#include <algorithm>
#include <cstdint>

namespace poprt::frontend {

StringPool::StringPool(const std::vector<const StringTensor*>& tensors) {
  for (const StringTensor* tensor : tensors) {
    strings_.insert(strings_.end(), tensor->elements.begin(), tensor->elements.end());
  }
  std::sort(strings_.begin(), strings_.end());
  strings_.erase(std::unique(strings_.begin(), strings_.end()), strings_.end());
}

Tensor StringPool::Encode(const StringTensor& strings) const {
  Tensor numbers({ElementType::kInt64, strings.shape});
  const auto elements = numbers.as_mutable<std::int64_t>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string& wanted = strings.elements[i];
    const auto found = std::lower_bound(strings_.begin(), strings_.end(), wanted);
    const bool is_known = found != strings_.end() && *found == wanted;
    elements[i] = is_known ? found - strings_.begin() : -1;
  }
  return numbers;
}

StringTensor StringPool::Decode(const Tensor& numbers) const {
  StringTensor strings{numbers.shape(), {}};
  for (const std::int64_t number : numbers.as<std::int64_t>()) {
    strings.elements.push_back(strings_[static_cast<std::size_t>(number)]);
  }
  return strings;
}

}  // namespace poprt::frontend
