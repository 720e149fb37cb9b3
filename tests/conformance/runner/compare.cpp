#include "tests/conformance/runner/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "runtime/kernels/kernel.hpp"

namespace poprt::conformance {
namespace {

bool Agree(double got, double wanted, const Tolerance& tolerance) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (std::isinf(wanted)) return got == wanted;
  return std::abs(got - wanted) <= tolerance.atol + tolerance.rtol * std::abs(wanted);
}

Tensor AsDoubles(const Tensor& tensor) {
  return kernels::RunOnce("Cast", {tensor}, {{ElementType::kFloat64, tensor.shape()}},
                          {{"to", static_cast<std::int64_t>(ElementType::kFloat64)}})
      .front();
}

/// Types whose values are compared by size; all others, by their bytes.
bool HasTolerance(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBFloat16 ||
         type == ElementType::kFloat32 || type == ElementType::kFloat64;
}

std::string DifferentElements(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance) {
  const Tensor got_doubles = AsDoubles(got);
  const Tensor wanted_doubles = AsDoubles(wanted);
  const auto g = got_doubles.as<double>();
  const auto w = wanted_doubles.as<double>();
  std::size_t different = 0;
  std::size_t first = 0;
  for (std::size_t i = g.size(); i-- > 0;) {
    if (Agree(g[i], w[i], tolerance)) continue;
    ++different;
    first = i;
  }
  if (different == 0) return "";
  std::ostringstream text;
  text << different << " of " << g.size() << " elements differ; element " << first << " is "
       << g[first] << ", expected " << w[first];
  return text.str();
}

/// ONNX does not say which of its NaN a float of 8 bits becomes.
bool OnlyNansDiffer(const Tensor& got, const Tensor& wanted) {
  if (!IsNarrowFloat(got.element())) return false;
  const Tensor doubles = AsDoubles(wanted);
  const auto values = doubles.as<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i]) && got.data()[i] != wanted.data()[i]) return false;
  }
  return true;
}

}  // namespace

std::string Difference(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance) {
  if (got.type() != wanted.type()) {
    return "is " + ToString(got.type()) + ", expected " + ToString(wanted.type());
  }
  if (got.bytes() == 0 || std::memcmp(got.data(), wanted.data(), got.bytes()) == 0) return "";
  const bool exact = !HasTolerance(got.element());
  const std::string difference =
      DifferentElements(got, wanted, exact ? Tolerance{.rtol = 0, .atol = 0} : tolerance);
  if (!difference.empty() || !exact || OnlyNansDiffer(got, wanted)) return difference;
  return "has other bytes";
}

}  // namespace poprt::conformance
