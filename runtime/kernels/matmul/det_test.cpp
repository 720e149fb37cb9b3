#include <gtest/gtest.h>

#include <numeric>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

/// The sum over all permutations.
double Leibniz(const double* matrix, std::int64_t n) {
  std::vector<std::int64_t> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), 0);
  double sum = 0;
  do {
    double product = 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      product *= matrix[static_cast<std::int64_t>(i) * n + columns[i]];
      for (std::size_t k = 0; k < i; ++k) product *= columns[k] > columns[i] ? -1 : 1;
    }
    sum += product;
  } while (std::next_permutation(columns.begin(), columns.end()));
  return sum;
}

TEST(DetTest, EqualsTheSumOverPermutations) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(60, [&](std::mt19937& random) {
    const ElementType element = kElements[random() % 4];
    const std::int64_t n = Draw(random, 0, 5);
    const Shape batch = SmallShape(random, random() % 5, 4);
    Shape shape = batch;
    shape.insert(shape.end(), {n, n});
    // Whole numbers, so that singular matrices turn up and halves are exact.
    const Tensor input =
        FromValues(element, shape, ToValues(RandomTensor(random, kInt32, shape, -3, 4)));
    const Values values = ToValues(input);
    Values wanted;
    for (std::int64_t k = 0; k < ElementCount(batch); ++k) {
      wanted.push_back(Leibniz(values.data() + k * n * n, n));
    }
    ExpectClose(Run1("Det", {input}, {element, batch}), wanted, 1, 100);
  });
}

TEST(DetTest, OfWhatIsNotFiniteIsNotFinite) {
  ForSeeds(40, [](std::mt19937& random) {
    const std::int64_t n = Draw(random, 1, 5);
    Values values = ToValues(RandomTensor(random, kFloat64, {n, n}, 1, 2));
    const bool is_nan = random() % 2 == 0;
    values[random() % values.size()] = is_nan ? NAN : INFINITY;
    const Values found =
        ToValues(Run1("Det", {FromValues(kFloat64, {n, n}, values)}, {kFloat64, {}}));
    EXPECT_TRUE(is_nan ? std::isnan(found[0]) : !std::isfinite(found[0])) << found[0];
  });
}

TEST(DetTest, RefusesWhatIsNoSquare) {
  EXPECT_EQ(BindError("Det", {{kFloat32, {2, 3}}}, {{kFloat32, {}}}),
            "input 0 is float32[2, 3], its last two extents must be equal");
  EXPECT_EQ(BindError("Det", {{kFloat32, {3}}}, {{kFloat32, {}}}),
            "input 0 is float32[3], its last two extents must be equal");
}

}  // namespace
}  // namespace poprt::kernels::testing
