#include "runtime/kernels/packed/thin_product.hpp"

#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

/// Products of a single row, in one or several tasks.
TEST(ThinProduct, AgreesWithNaiveProductForOneRow) {
  Random random(7);
  const std::vector<std::int64_t> extents{1, 3, 8, 17, 64, 129, 1100};
  for (const std::int64_t depth : extents) {
    for (const std::int64_t columns : extents) {
      for (const std::int64_t transposed : {0, 1}) {
        SCOPED_TRACE(std::to_string(depth) + " x " + std::to_string(columns) + " transposed " +
                     std::to_string(transposed));
        const std::int64_t batch = depth * columns > 10000 ? 1 : 3;
        const Shape b_shape =
            transposed != 0 ? Shape{batch, columns, depth} : Shape{batch, depth, columns};
        const Tensor a = random.Values({ElementType::kFloat32, {1, 1, depth}});
        const Tensor b = random.Values({ElementType::kFloat32, b_shape});
        const Values of_a = Doubles(a);
        const Values of_b = Doubles(b);
        std::vector<Expected> expected(static_cast<std::size_t>(batch * columns));
        for (std::int64_t i = 0; i < batch * columns; ++i) {
          for (std::int64_t k = 0; k < depth; ++k) {
            const std::int64_t matrix = i / columns * depth * columns;
            const std::int64_t at =
                transposed != 0 ? i % columns * depth + k : k * columns + i % columns;
            expected[static_cast<std::size_t>(i)].Add(of_a[static_cast<std::size_t>(k)] *
                                                      of_b[static_cast<std::size_t>(matrix + at)] /
                                                      2);
          }
        }
        ExpectPacked(BindBatchMatMul, {a, b}, {ElementType::kFloat32, {batch, 1, columns}},
                     {{"scale", 0.5F}, {"trans_b", transposed}}, expected);
      }
    }
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
