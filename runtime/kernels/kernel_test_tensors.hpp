#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel.hpp"

/// What kernel tests build operands with and compare results by: tensors as lists of doubles.
namespace poprt::kernels::testing {

using Values = std::vector<double>;

inline Tensor FromValues(ElementType element, const Shape& shape, const Values& values) {
  Tensor tensor({element, shape});
  EXPECT_EQ(tensor.count(), static_cast<std::int64_t>(values.size()));
  VisitElement<void, kAllTypes>(element, [&](auto type) {
    using T = typename decltype(type)::type;
    auto elements = tensor.as_mutable<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, Bool>) {
        elements[i] = Bool(values[i] != 0);
      } else if constexpr (std::is_floating_point_v<T>) {
        elements[i] = static_cast<T>(values[i]);
      } else if constexpr (std::is_integral_v<T>) {
        elements[i] = static_cast<T>(static_cast<std::int64_t>(values[i]));
      } else {
        elements[i] = T(static_cast<float>(values[i]));
      }
    }
  });
  return tensor;
}

inline Values ToValues(const Tensor& tensor) {
  Values values;
  VisitElement<void, kAllTypes>(tensor.element(), [&](auto type) {
    using T = typename decltype(type)::type;
    for (const T element : tensor.as<T>()) {
      if constexpr (std::is_same_v<T, Bool>) {
        values.push_back(static_cast<bool>(element) ? 1 : 0);
      } else if constexpr (std::is_arithmetic_v<T>) {
        values.push_back(static_cast<double>(element));
      } else {
        values.push_back(static_cast<double>(static_cast<float>(element)));
      }
    }
  });
  return values;
}

/// Uniform in [low, high), then as the element type stores it (so integers are truncated); booleans
/// are true for the upper half.
inline Tensor RandomTensor(std::mt19937& random, ElementType element, const Shape& shape,
                           double low, double high) {
  std::uniform_real_distribution<double> draw(low, high);
  Values values(static_cast<std::size_t>(ElementCount(shape)));
  for (double& value : values) {
    value = draw(random);
    if (element == ElementType::kBool) value = value >= (low + high) / 2 ? 1 : 0;
  }
  return FromValues(element, shape, values);
}

inline Shape RandomShape(std::mt19937& random, int max_rank) {
  Shape shape(random() % static_cast<unsigned>(max_rank + 1));
  const std::int64_t bound = shape.size() <= 2 ? 90 : shape.size() <= 4 ? 7 : 4;
  for (auto& extent : shape) extent = 1 + random() % static_cast<unsigned>(bound);
  if (!shape.empty() && random() % 16 == 0) shape[random() % shape.size()] = 0;
  return shape;
}

/// Rounding error of a stored type relative to 1, zero for integers.
inline double Epsilon(ElementType element) {
  switch (element) {
    case ElementType::kFloat16:
      return 0x1p-11;
    case ElementType::kBFloat16:
      return 0x1p-8;
    case ElementType::kFloat32:
      return 0x1p-24;
    case ElementType::kFloat64:
      return 0x1p-53;
    default:
      return 0;
  }
}

/// NaN matches NaN, infinities match exactly, others to `ulps` of the element type of the larger of
/// the value and `scale`.
inline void ExpectClose(const Tensor& found, const Values& wanted, double ulps, double scale = 0) {
  // The references are computed in double themselves.
  if (found.element() == ElementType::kFloat64) ulps *= 32;
  const Values values = ToValues(found);
  ASSERT_EQ(values.size(), wanted.size());
  // What overflows or vanishes in the stored type is compared as stored.
  const Values stored = ToValues(FromValues(
      IsFloat(found.element()) ? found.element() : ElementType::kFloat64, found.shape(), wanted));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    } else if (std::isinf(stored[i]) || std::isinf(wanted[i])) {
      EXPECT_EQ(values[i], stored[i]) << "element " << i;
    } else {
      const double bound =
          ulps * 2 * Epsilon(found.element()) * std::max(std::fabs(wanted[i]), scale) + 1e-44;
      EXPECT_LE(std::fabs(values[i] - stored[i]), bound)
          << "element " << i << " is " << values[i] << ", expected " << stored[i];
    }
    if (::testing::Test::HasFailure()) return;
  }
}

/// Runs a kernel of one output, which has the given type.
inline Tensor Run1(std::string_view name, const std::vector<Tensor>& inputs,
                   const TensorType& output, const Attributes& attributes = {}) {
  return RunOnce(name, inputs, {output}, attributes).front();
}

/// The message binding fails with, "" when it succeeds.
inline std::string BindError(std::string_view name, const std::vector<TensorType>& inputs,
                             const std::vector<TensorType>& outputs,
                             const Attributes& attributes = {}) {
  try {
    FindKernel(name)->bind({inputs, outputs, attributes});
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

/// Index into a tensor of shape `own` for flat position `at` of the broadcast shape.
inline std::size_t BroadcastIndex(const Shape& shape, const Shape& own, std::int64_t at) {
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = shape.size() - 1 - i;
    if (i < own.size()) {
      const std::int64_t extent = own[own.size() - 1 - i];
      index += (extent == 1 ? 0 : at % shape[d]) * stride;
      stride *= extent;
    }
    at /= shape[d];
  }
  return static_cast<std::size_t>(index);
}

}  // namespace poprt::kernels::testing
