#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/quantized/pack_quads.hpp"
#include "runtime/kernels/quantized/quantized_test_tensors.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Draw;
using testing::ForSeeds;
using testing::RandomTensor;
using testing::Run1;
using testing::Values;
using testing::quantized::ExpectSame;
using testing::quantized::FromValues;
using testing::quantized::Pick;
using testing::quantized::RandomIntegers;
using testing::quantized::ToValues;
using enum ElementType;

TEST(PackQuadsTest, PanelsOfColumnsEndWithTheirSums) {
  Values values(5 * 50);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) - 125;
  const Tensor packed = PackQuads(FromValues(kInt8, {5, 50}, values));
  ASSERT_EQ(packed.type(), (TensorType{kInt8, {2, 3, 48, 4}}));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(packed.data());
  // Row 4 of column 49, in panel 1, quad 1, lane 1: 4 * 50 + 49 - 125 + 128.
  EXPECT_EQ(bytes[(3 * 48 + 48 + 1) * 4], 252);
  EXPECT_EQ(bytes[(3 * 48 + 48 + 1) * 4 + 1], 0) << "behind the last row";
  EXPECT_EQ(bytes[(3 * 48 + 48 + 2) * 4], 0) << "behind the last column";
  // Of column 49: 5 * (49 - 125 + 128) + 50 * (0 + 1 + 2 + 3 + 4).
  EXPECT_EQ(bytes[(3 * 48 + 96 + 1) * 4] + 256 * bytes[(3 * 48 + 96 + 1) * 4 + 1], 760);
}

TEST(IntegerGemmTest, IsMatMulIntegerThenCastScaleBiasAndQuantizeLinear) {
  ForSeeds(150, [](std::mt19937& random) {
    const std::int64_t rows = Draw(random, 1, random() % 4 == 0 ? 150 : 9);
    const std::int64_t n = Draw(random, 1, random() % 4 == 0 ? 900 : 60);
    const std::int64_t depth = Draw(random, 1, random() % 8 == 0 ? 700 : 40);
    const auto left = Pick<ElementType>(random, {kInt8, kUint8});
    const auto right = Pick<ElementType>(random, {kInt8, kUint8});
    const Shape a_shape = random() % 2 == 0 ? Shape{rows, depth} : Shape{2, rows, depth};
    Shape shape = a_shape;
    shape.back() = n;
    const Tensor b = RandomIntegers(random, right, {depth, n});
    std::vector<Tensor> inputs{
        RandomIntegers(random, left, a_shape), b, RandomIntegers(random, left, {}),
        RandomIntegers(random, right, random() % 2 == 0 ? Shape{} : Shape{n})};
    inputs.resize(2 + random() % 3);
    Tensor wanted = Run1("MatMulInteger", inputs, {kInt32, shape});
    const TensorType floats{kFloat32, shape};
    const bool is_float = random() % 4 != 0;
    if (is_float) wanted = Run1("Cast", {wanted}, floats);
    inputs.resize(4);
    if (is_float && random() % 4 != 0) {
      inputs.push_back(
          RandomTensor(random, kFloat32, random() % 2 == 0 ? Shape{} : Shape{n}, -1, 1));
      wanted = Run1("Mul", {wanted, inputs.back()}, floats);
    }
    if (is_float && random() % 2 == 0) {
      inputs.resize(5);
      inputs.push_back(RandomTensor(random, kFloat32, {n}, -1, 1));
      wanted = Run1("Add", {wanted, inputs.back()}, floats);
    }
    Attributes attributes{{"n", n}};
    if (is_float && random() % 2 == 0) {
      const auto to = Pick<ElementType>(random, {kInt8, kUint8});
      const double y_scale = std::ldexp(static_cast<double>(Draw(random, 1, 99)), -4);
      const std::int64_t y_point = Draw(random, 0, 127);
      attributes.set("y_scale", static_cast<float>(y_scale));
      attributes.set("y_point", y_point);
      wanted = Run1("QuantizeLinear",
                    {wanted, FromValues(kFloat32, {}, {y_scale}),
                     FromValues(to, {}, {static_cast<double>(y_point)})},
                    {to, shape});
    }
    inputs[1] = PackQuads(b);
    ExpectSame(Run1("integer_gemm", inputs, wanted.type(), attributes), ToValues(wanted));
  });
}

TEST(IntegerGemmTest, RefusesWhatDoesNotFit) {
  const TensorType a{kUint8, {3, 5}};
  const TensorType b = PackedQuadsType(5, 50, kInt8);
  const TensorType y{kFloat32, {3, 50}};
  const Attributes n{{"n", std::int64_t{50}}};
  const TensorType none;
  EXPECT_EQ(BindError("integer_gemm", {a, b}, {y}, n), "");
  EXPECT_EQ(
      BindError("integer_gemm",
                {a, b, {kUint8, {}}, {kInt8, {50}}, {kFloat32, {}}, {kFloat32, {50}}}, {y}, n),
      "");
  EXPECT_NE(BindError("integer_gemm", {a, b}, {y}), "");
  EXPECT_NE(BindError("integer_gemm", {a, b}, {y}, {{"n", std::int64_t{49}}}), "");
  EXPECT_NE(BindError("integer_gemm", {a, b}, {y}, {{"n", std::int64_t{1} << 62}}), "");
  EXPECT_NE(BindError("integer_gemm", {{kUint8, {3, 9}}, b}, {y}, n), "");
  EXPECT_NE(BindError("integer_gemm", {{kFloat32, {3, 5}}, b}, {y}, n), "");
  EXPECT_NE(BindError("integer_gemm", {a, {kInt8, {5, 50}}}, {y}, n), "");
  EXPECT_NE(BindError("integer_gemm", {a, b, {kUint8, {3}}}, {y}, n), "");
  EXPECT_NE(BindError("integer_gemm", {a, b, none, {kInt8, {49}}}, {y}, n), "");
  EXPECT_NE(BindError("integer_gemm", {a, b, none, none, {kFloat32, {3, 1}}}, {y}, n), "");
  EXPECT_NE(BindError("integer_gemm", {a, b, none, none, none, {kFloat32, {}}}, {y}, n), "");
  EXPECT_NE(BindError("integer_gemm", {a, b, none, none, {kFloat32, {}}}, {{kInt32, {3, 50}}}, n),
            "");
  EXPECT_NE(BindError("integer_gemm", {a, b}, {{kFloat16, {3, 50}}}, n), "");
  const auto bytes_error = [&](ElementType to, float scale, std::int64_t point) {
    return BindError("integer_gemm", {a, b}, {{to, {3, 50}}},
                     {{"n", std::int64_t{50}}, {"y_scale", scale}, {"y_point", point}});
  };
  EXPECT_EQ(bytes_error(kUint8, 0.5F, 255), "");
  EXPECT_EQ(bytes_error(kInt8, 0.5F, -128), "");
  EXPECT_NE(bytes_error(kUint8, 0.5F, -1), "");
  EXPECT_NE(bytes_error(kInt8, 0.5F, 128), "");
  EXPECT_NE(bytes_error(kInt8, 0.0F, 0), "");
  EXPECT_NE(bytes_error(kInt8, std::numeric_limits<float>::quiet_NaN(), 0), "");
  EXPECT_NE(BindError("integer_gemm", {a, b}, {{kInt8, {3, 50}}}, n), "") << "no scale";
}

}  // namespace
}  // namespace poprt::kernels
