#pragma once

#include <cstddef>
#include <string>

#include "model_runtime/serving/request.hpp"

namespace model_runtime {

/// What the input `index` of a fused model selects.
struct IndexedGraph {
  std::size_t index = 0;
  std::string problem = {};  ///< why it selects none; then the index is 0
};

/// Reads an integer of any type, which must be less than `num_graphs`.
IndexedGraph GraphOfIndex(const InputBuffer& index, std::size_t num_graphs);

}  // namespace model_runtime
