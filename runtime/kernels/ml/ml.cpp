#include "runtime/kernels/ml/ml.hpp"

#include <array>

#include "runtime/kernels/families.hpp"

namespace poprt::kernels {

std::span<const KernelDef> MlKernels() {
  static constexpr std::array<KernelDef, 2> kKernels{{
      {"LabelEncoder", BindLabelEncoder},
      {"TfIdfVectorizer", BindTfIdfVectorizer},
  }};
  return kKernels;
}

}  // namespace poprt::kernels
