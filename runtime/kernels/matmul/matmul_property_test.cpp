#include <gtest/gtest.h>

#include "runtime/kernels/kernel_test_index.hpp"

/// Products of matrices in batches of any rank, with NaN and infinities and with empty extents.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};

/// Position in an operand whose batch axes broadcast to those of `at`.
std::size_t At(const Shape& shape, const Index& at, std::int64_t row, std::int64_t column) {
  Index from(at.end() - static_cast<std::ptrdiff_t>(shape.size()), at.end());
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) from[i] %= shape[i];
  from[shape.size() - 2] = row;
  from[shape.size() - 1] = column;
  return Flat(shape, from);
}

TEST(MatMulTest, VectorsTimesMatricesOfAnyWidth) {
  std::mt19937 random(3);
  for (const ElementType type : {kFloat32, kFloat16, kInt32}) {
    for (const std::int64_t columns : {1, 63, 64, 130}) {
      const Tensor left = RandomTensor(random, type, {9}, -4, 5);
      const Tensor right = RandomTensor(random, type, {9, columns}, -4, 5);
      const Values x = ToValues(left), y = ToValues(right);
      const Values wanted = Fill({columns}, [&](const Index& at) {
        double sum = 0;
        for (std::int64_t k = 0; k < 9; ++k) {
          sum += x[static_cast<std::size_t>(k)] * y[Flat({9, columns}, {k, at[0]})];
        }
        return sum;
      });
      SCOPED_TRACE(ToString(right.type()));
      ExpectClose(Run1("MatMul", {left, right}, {type, {columns}}), wanted, 4, 100);
    }
  }
}

TEST(MatMulTest, BatchesOfAnyRankWithNan) {
  ForSeeds(60, [](std::mt19937& random) {
    const ElementType type = kTypes[random() % 4];
    const Shape batch = AnyShape(random, 0, 6);
    Shape a(batch.begin() + static_cast<std::ptrdiff_t>(random() % (batch.size() + 1)),
            batch.end());
    Shape b(batch.begin() + static_cast<std::ptrdiff_t>(random() % (batch.size() + 1)),
            batch.end());
    for (auto& extent : a) extent = random() % 3 == 0 ? 1 : extent;
    for (auto& extent : b) extent = random() % 3 == 0 ? 1 : extent;
    Shape output = *Broadcast(a, b);
    const std::int64_t rows = Draw(random, random() % 9 == 0 ? 0 : 1, 5);
    const std::int64_t depth = Draw(random, random() % 9 == 0 ? 0 : 1, 5);
    const std::int64_t columns = Draw(random, random() % 9 == 0 ? 0 : 1, 5);
    a.insert(a.end(), {rows, depth});
    b.insert(b.end(), {depth, columns});
    output.insert(output.end(), {rows, columns});
    const Tensor left = RandomSpecials(random, type, a, 0, 1);
    const Tensor right = RandomSpecials(random, type, b, 0, 1);
    const Values x = ToValues(left), y = ToValues(right);
    ExpectClose(Run1("MatMul", {left, right}, {type, output}),
                Fill(output,
                     [&](const Index& at) {
                       double sum = 0;
                       for (std::int64_t k = 0; k < depth; ++k) {
                         sum += x[At(a, at, at[at.size() - 2], k)] * y[At(b, at, k, at.back())];
                       }
                       return sum;
                     }),
                4);
  });
}

TEST(MatMulTest, GemmKeepsNanAndInfinities) {
  ForSeeds(40, [](std::mt19937& random) {
    const ElementType type = kTypes[random() % 4];
    const std::int64_t rows = Draw(random, 0, 20), depth = Draw(random, 0, 9),
                       columns = Draw(random, 0, 20);
    const Tensor a = RandomSpecials(random, type, {rows, depth}, 0, 1);
    const Tensor b = RandomSpecials(random, type, {depth, columns}, 0, 1);
    const Tensor c = RandomSpecials(random, type, {columns}, 0, 1);
    const Values x = ToValues(a), y = ToValues(b), z = ToValues(c);
    const Shape output{rows, columns};
    ExpectClose(Run1("Gemm", {a, b, c}, {type, output}),
                Fill(output,
                     [&](const Index& at) {
                       double sum = z[static_cast<std::size_t>(at[1])];
                       for (std::int64_t k = 0; k < depth; ++k) {
                         sum += x[Flat(a.shape(), {at[0], k})] * y[Flat(b.shape(), {k, at[1]})];
                       }
                       return sum;
                     }),
                6);
  });
}

}  // namespace
}  // namespace poprt::kernels::testing
