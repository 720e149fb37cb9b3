#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/import_value.hpp"
#include "runtime/tensor/tensor.hpp"

namespace poprt::frontend {

/// Numbers for the strings of some tensors, so that operators on numbers can work for them: equal
/// strings have equal numbers, and smaller ones, compared byte by byte, smaller numbers.
class StringPool {
 public:
  explicit StringPool(const std::vector<const StringTensor*>& tensors);

  /// The numbers of the strings as int64; -1 for strings that the pool does not have.
  Tensor Encode(const StringTensor& strings) const;
  /// The strings of numbers from Encode, none of which may be negative.
  StringTensor Decode(const Tensor& numbers) const;

 private:
  std::vector<std::string> strings_;  // ascending
};

}  // namespace poprt::frontend
