#include "runtime/kernels/packed/pack_elements.hpp"

#include <string>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

void RequireStored(ElementType stored) {
  if (stored == ElementType::kFloat32 || stored == ElementType::kFloat16) return;
  throw KernelError("weights of type " + std::string(ElementName(stored)) +
                    " cannot be packed, allowed are float32 and float16");
}

void RequireWeights(const Tensor& weights, std::size_t rank) {
  RequireStored(weights.element());
  Require(weights.shape().size() == rank && weights.count() > 0,
          "weights of type " + ToString(weights.type()) + " cannot be packed, expected is rank " +
              std::to_string(rank) + " without a zero extent");
}

}  // namespace poprt::kernels
