#pragma once

#include <algorithm>
#include <vector>

namespace model_runtime {

/// Orders the tensors of a request by name, which requests keep in no order of their own: a wrong
/// request then gets the same message every time.
template <typename Buffer>
void SortByName(std::vector<Buffer>& buffers) {
  std::sort(buffers.begin(), buffers.end(),
            [](const Buffer& a, const Buffer& b) { return a.name < b.name; });
}

}  // namespace model_runtime
