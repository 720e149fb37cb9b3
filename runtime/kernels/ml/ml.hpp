#pragma once

#include "runtime/kernels/kernel.hpp"

/// The parts of the family of classical machine learning, one source file each; ml.cpp joins them.
namespace poprt::kernels {

BoundKernel BindLabelEncoder(const KernelCall& call);
BoundKernel BindTfIdfVectorizer(const KernelCall& call);

}  // namespace poprt::kernels
