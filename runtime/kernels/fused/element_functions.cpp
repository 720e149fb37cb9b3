#include "runtime/kernels/fused/element_functions.hpp"

#include <algorithm>
#include <cstring>

namespace poprt::kernels {

const ElementFunction* FunctionNamed(const ElementFunctions& functions, const char* name) {
  const ElementFunction* end = functions.rows + functions.count;
  const auto* row = std::find_if(functions.rows, end, [&](const ElementFunction& function) {
    return std::strcmp(name, function.name) == 0;
  });
  return row == end ? nullptr : row;
}

}  // namespace poprt::kernels
