#pragma once

#include <string>

#include "runtime/tensor/tensor.hpp"

namespace poprt::conformance {

/// The tolerances of the suite: |got - wanted| <= atol + rtol * |wanted|.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};

/// How `got` differs from `wanted`, or nothing. Types and shapes must be equal, integers and
/// booleans too; floats within the tolerance, NaN equal to NaN, infinities only to themselves.
/// Floats of 8 and 4 bits must have equal bytes, but for NaN.
std::string Difference(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance);

}  // namespace poprt::conformance
