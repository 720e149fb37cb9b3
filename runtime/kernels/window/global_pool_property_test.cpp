#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/kernel_test_index.hpp"

/// Pooling of whole planes of any rank, with NaN and infinities.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

TEST(PoolingTest, PoolsPlanesOfAnyRank) {
  constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(60, [&](std::mt19937& random) {
    Shape shape = AnyShape(random, 2);
    for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = std::max<std::int64_t>(1, shape[i]);
    const ElementType type = kTypes[random() % 4];
    const Tensor x = RandomOperand(random, type, shape, -1, 1);
    const Values values = ToValues(x);
    Shape output(shape.size(), 1);
    std::copy_n(shape.begin(), 2, output.begin());
    const Shape plane(shape.begin() + 2, shape.end());
    const auto pooled = [&](double start, const auto& fold) {
      return Fill(output, [&](const Index& at) {
        double result = start;
        ForEach(plane, [&](const Index& inner) {
          Index from{at[0], at[1]};
          from.insert(from.end(), inner.begin(), inner.end());
          result = fold(result, values[Flat(shape, from)]);
        });
        return result;
      });
    };
    Values average = pooled(0, [](double sum, double v) { return sum + v; });
    for (double& sum : average) sum /= static_cast<double>(ElementCount(plane));
    ExpectClose(Run1("GlobalAveragePool", {x}, {type, output}), average, 1, 1);
    Values norm = pooled(0, [](double sum, double v) { return sum + v * v; });
    for (double& sum : norm) sum = std::sqrt(sum);
    ExpectClose(Run1("GlobalLpPool", {x}, {type, output}), norm, 1);
    ExpectClose(Run1("GlobalMaxPool", {x}, {type, output}),
                pooled(-INFINITY,
                       [](double a, double b) {
                         return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
                       }),
                0);
  });
}

}  // namespace
}  // namespace poprt::kernels::testing
