#pragma once

#include <functional>
#include <limits>

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

/// A shape of any rank in question, with extents of 1 and sometimes of 0, of some thousand elements
/// at most.
inline Shape AnyShape(std::mt19937& random, std::size_t min_rank = 0, std::size_t max_rank = 8) {
  constexpr int kMost[] = {1, 300, 40, 12, 7, 5, 4, 3, 2};
  const std::size_t rank = min_rank + random() % (max_rank - min_rank + 1);
  Shape shape(rank);
  for (auto& extent : shape) extent = 1 + random() % static_cast<unsigned>(kMost[rank]);
  if (rank > 0 && random() % 10 == 0) shape[random() % rank] = 0;
  return shape;
}

/// [outer, length, inner] with more lines along axis 1 than are handled side by side, now and then.
inline Shape ManyLines(std::mt19937& random) {
  constexpr std::int64_t kLengths[] = {1, 3, 8, 9, 50, 130, 210};
  constexpr std::int64_t kInner[] = {1, 1, 2, 7, 64, 101};
  const std::int64_t inner = kInner[random() % 6];
  const auto outer = static_cast<std::int64_t>(1 + random() % (inner < 64 ? 140 : 3));
  return {outer, kLengths[random() % 7], inner};
}

/// A shape that broadcasts into `shape`.
inline Shape Narrowed(std::mt19937& random, const Shape& shape) {
  Shape result(shape.begin() + random() % (shape.size() + 1), shape.end());
  for (auto& extent : result) {
    if (random() % 3 == 0) extent = 1;
  }
  return result;
}

/// Calls check(random) for `count` seeds, names the seed that fails, and stops there.
template <typename F>
void ForSeeds(unsigned count, const F& check) {
  for (unsigned seed = 0; seed < count; ++seed) {
    std::mt19937 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(random);
    if (::testing::Test::HasFailure()) return;
  }
}

/// The axis counted from the front or from the back, as chance has it.
inline std::int64_t EitherSign(std::mt19937& random, std::size_t axis, std::size_t rank) {
  const auto front = static_cast<std::int64_t>(axis);
  return random() % 2 == 0 ? front : front - static_cast<std::int64_t>(rank);
}

/// Random numbers of a float type, some of them NaN, infinite or a zero of either sign.
inline Tensor RandomSpecials(std::mt19937& random, ElementType element, const Shape& shape,
                             double low, double high) {
  constexpr double kSpecials[] = {std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN(), 0.0, -0.0};
  Values values = ToValues(RandomTensor(random, element, shape, low, high));
  for (double& value : values) {
    if (random() % 6 == 0) value = kSpecials[random() % 5];
  }
  return FromValues(element, shape, values);
}

/// Random numbers of any type; those of float types are special ones every third time.
inline Tensor RandomOperand(std::mt19937& random, ElementType element, const Shape& shape,
                            double low, double high) {
  const bool special = IsFloat(element) && random() % 3 == 0;
  return special ? RandomSpecials(random, element, shape, low, high)
                 : RandomTensor(random, element, shape, low, high);
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
