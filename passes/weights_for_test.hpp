#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poprt::passes {

/// So many numbers from -0.75 to 0.75, of few digits and in no order.
inline std::vector<double> WeightsForTest(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i * 5 % 13) / 8 - 0.75;
  }
  return values;
}

}  // namespace poprt::passes
