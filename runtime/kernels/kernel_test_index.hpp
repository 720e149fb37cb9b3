#pragma once

#include <functional>

#include "runtime/kernels/kernel_test_tensors.hpp"

/// Walking tensors position by position, for the naive references of kernel tests.
namespace poprt::kernels::testing {

using Index = std::vector<std::int64_t>;

/// Offset of a position in a row-major tensor.
inline std::size_t Flat(const Shape& shape, const Index& index) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return static_cast<std::size_t>(flat);
}

/// Calls f(position) for every element in row-major order.
inline void ForEach(const Shape& shape, const std::function<void(const Index&)>& f) {
  Index index(shape.size(), 0);
  for (std::int64_t n = ElementCount(shape); n > 0; --n) {
    f(index);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

/// value(position) for every element.
inline Values Fill(const Shape& shape, const std::function<double(const Index&)>& value) {
  Values values;
  ForEach(shape, [&](const Index& index) { values.push_back(value(index)); });
  return values;
}

/// Extents of 0 (rarely) to `most`.
inline Shape SmallShape(std::mt19937& random, std::size_t rank, int most = 6) {
  Shape shape(rank);
  for (auto& extent : shape) {
    extent = random() % 20 == 0 ? 0 : 1 + random() % static_cast<unsigned>(most);
  }
  return shape;
}

/// Uniform in [low, high].
inline std::int64_t Draw(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// One element type of each size, and the halves.
inline ElementType SomeType(std::mt19937& random) {
  using enum ElementType;
  constexpr ElementType kTypes[] = {kFloat32, kUint8, kFloat16, kInt64, kInt32, kFloat64, kBool};
  return kTypes[random() % 7];
}

}  // namespace poprt::kernels::testing
