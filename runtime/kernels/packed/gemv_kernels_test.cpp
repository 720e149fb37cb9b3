#include "runtime/kernels/packed/gemv_kernels.hpp"

#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

/// In one or several tasks.
void ExpectProduct(Random& random, std::int64_t rows, std::int64_t depth, std::int64_t columns,
                   std::int64_t transposed) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(depth) + " x " +
               std::to_string(columns) + " transposed " + std::to_string(transposed));
  const std::int64_t batch = depth * columns > 10000 ? 1 : 3;
  const Shape b_shape =
      transposed != 0 ? Shape{batch, columns, depth} : Shape{batch, depth, columns};
  const Tensor a = random.Values({ElementType::kFloat32, {1, rows, depth}});
  const Tensor b = random.Values({ElementType::kFloat32, b_shape});
  const Values of_a = Doubles(a);
  const Values of_b = Doubles(b);
  std::vector<Expected> expected(static_cast<std::size_t>(batch * rows * columns));
  for (std::int64_t i = 0; i < batch * rows * columns; ++i) {
    const std::int64_t row = i / columns % rows;
    const std::int64_t column = i % columns;
    const std::int64_t matrix = i / columns / rows * depth * columns;
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t at = transposed != 0 ? column * depth + k : k * columns + column;
      expected[static_cast<std::size_t>(i)].Add(of_a[static_cast<std::size_t>(row * depth + k)] *
                                                of_b[static_cast<std::size_t>(matrix + at)] / 2);
    }
  }
  ExpectPacked(BindBatchMatMul, {a, b}, {ElementType::kFloat32, {batch, rows, columns}},
               {{"scale", 0.5F}, {"trans_b", transposed}}, expected);
}

TEST(GemvKernels, AgreesWithNaiveProductForOneRow) {
  Random random(7);
  const std::vector<std::int64_t> extents{1, 3, 8, 17, 64, 129, 1100};
  for (const std::int64_t depth : extents) {
    for (const std::int64_t columns : extents) {
      for (const std::int64_t transposed : {0, 1}) {
        ExpectProduct(random, 1, depth, columns, transposed);
      }
    }
  }
}

TEST(GemvKernels, AgreesWithNaiveProductForFewRows) {
  Random random(8);
  for (const std::int64_t rows : {2, 3, 4, 5, 90}) {
    for (const std::int64_t depth : {1, 7, 16, 301}) {
      for (const std::int64_t columns : {1, 2, 3, 4, 5, 32, 331}) {
        for (const std::int64_t transposed : {0, 1}) {
          ExpectProduct(random, rows, depth, columns, transposed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
