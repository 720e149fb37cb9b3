#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "runtime/tensor/tensor.hpp"

namespace poprt::passes {

/// Tensors by content. Equal means the same type and bytes.
class ConstantPool {
 public:
  /// Position of the first tensor equal to this one, which is added if there is none. Positions
  /// count from 0 in the order of adding.
  std::size_t Find(const Tensor& tensor);
  const Tensor& tensor(std::size_t position) const { return tensors_[position]; }
  std::size_t size() const { return tensors_.size(); }

 private:
  std::vector<Tensor> tensors_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> positions_by_hash_;
};

}  // namespace poprt::passes
