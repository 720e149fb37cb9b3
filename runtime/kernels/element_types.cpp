#include "runtime/kernels/element_types.hpp"

namespace poprt::kernels {

void RequireElement(const TensorType& type, TypeSet allowed, std::string_view what) {
  if (Contains(allowed, type.element)) return;
  std::string names;
  for (unsigned bit = 0; bit < 32; ++bit) {
    if ((allowed >> bit & 1U) == 0) continue;
    names += names.empty() ? "" : ", ";
    names += ElementName(static_cast<ElementType>(bit));
  }
  throw KernelError(std::string(what) + " is " + ToString(type) + ", allowed element types are " +
                    names);
}

}  // namespace poprt::kernels
