#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/packed/pack_integers.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

/// Multiples, of the form's bits, of a scale for every block of each column.
Tensor QuantizedWeights(Random& random, std::int64_t depth, std::int64_t n, bool transposed,
                        const IntegerForm& form) {
  Tensor weights({ElementType::kFloat32, transposed ? Shape{n, depth} : Shape{depth, n}});
  auto* to = reinterpret_cast<float*>(weights.mutable_data());
  const std::int64_t largest = form.bits == 4 ? 7 : 127;
  for (std::int64_t c = 0; c < n; ++c) {
    float scale = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      if (k % form.block == 0) scale = static_cast<float>(random.Int(1, 1000)) / 77777;
      to[transposed ? c * depth + k : k * n + c] =
          static_cast<float>(random.Int(-largest - 1, largest)) * scale;
    }
  }
  return weights;
}

void Check(Random& random, std::int64_t rows, std::int64_t depth, std::int64_t n,
           const IntegerForm& form) {
  const ElementType element = random.FloatType();
  const bool transposed = random.Flip();
  const Tensor w = QuantizedWeights(random, depth, n, transposed, form);
  const Tensor a = random.Values({element, {rows, depth}});
  const TensorType y{element, {rows, n}};
  const Tensor bias = random.Flip() ? random.Values({ElementType::kFloat32, {n}}) : Tensor();
  const Tensor residual = random.Flip() ? random.Values(y) : Tensor();
  const auto av = Doubles(a);
  const auto wv = Doubles(w);
  const auto bv = Doubles(bias);
  const auto rv = Doubles(residual);
  std::vector<Expected> expected(static_cast<std::size_t>(rows * n));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto columns = static_cast<std::size_t>(n);
    const std::size_t column = i % columns;
    for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k) {
      const std::size_t row = i / columns * static_cast<std::size_t>(depth);
      expected[i].Add(
          av[row + k] *
          wv[transposed ? column * static_cast<std::size_t>(depth) + k : k * columns + column]);
    }
    if (!bv.empty()) expected[i].Add(bv[column]);
    if (!rv.empty()) expected[i].Add(rv[i]);
  }
  Attributes attributes = ActivationAttributes(random.Of(AllActivations()));
  attributes.set("n", n);
  attributes.set("bits", form.bits);
  attributes.set("block", form.block);
  ExpectPacked(BindWeightOnlyGemm, {a, PackIntegers(w, transposed, form), bias, residual}, y,
               attributes, expected);
}

TEST(WeightOnlyGemm, AgreesWithNaiveProductOnRandomSizes) {
  ForSeeds(80, [&](std::mt19937& seeds) {
    Random random(seeds());
    const std::int64_t bits = random.Flip() ? 4 : 8;
    const std::int64_t block = random.Flip() ? 8 * random.Int(1, 5) : random.Int(1, 90);
    const std::int64_t depth = block % 8 == 0 ? block * random.Int(1, 4) : block;
    Check(random, random.Int(1, 6), depth, random.Int(1, 100), {.bits = bits, .block = block});
  });
}

TEST(WeightOnlyGemm, AgreesForEveryNumberOfRows) {
  for (const std::int64_t bits : {4, 8}) {
    for (std::int64_t rows = 1; rows <= 6; ++rows) {
      SCOPED_TRACE(rows);
      Random random(static_cast<unsigned>(rows));
      Check(random, rows, 75, 50, {.bits = bits, .block = 75});
    }
  }
}

TEST(WeightOnlyGemm, HasTheSameBitsWithAllLoopsThatRound) {
  Random random(12);
  const IntegerForm form{.bits = 4, .block = 16};
  const Tensor packed = PackIntegers(QuantizedWeights(random, 48, 40, false, form), false, form);
  const auto supported = SupportedInnerLoops();
  for (std::int64_t rows = 1; rows <= 6; ++rows) {
    const Tensor a = random.Values({ElementType::kFloat32, {rows, 48}});
    const auto bits = [&](const InnerLoops& loops) {
      const Attributes attributes{
          {"n", std::int64_t{40}}, {"bits", form.bits}, {"block", form.block}};
      return ToValues(RunPacked(BindWeightOnlyGemm, {a, packed},
                                {ElementType::kFloat32, {rows, 40}}, attributes, loops));
    };
    // Portable loops round products, those behind them do not.
    EXPECT_EQ(bits(*supported.front()), bits(SixteenLaneLoops())) << rows;
    for (std::size_t i = 2; i < supported.size(); ++i) {
      EXPECT_EQ(bits(*supported[1]), bits(*supported[i])) << rows;
    }
  }
}

TEST(WeightOnlyGemm, BindRejectsWhatDoesNotFit) {
  const TensorType w = PackedIntegersType(32, 20, {.bits = 4, .block = 16});
  const auto error = [&](std::int64_t rows, std::int64_t bits, std::int64_t block) {
    return BindError("weight_only_gemm", {{ElementType::kFloat32, {rows, 32}}, w},
                     {{ElementType::kFloat32, {rows, 20}}},
                     {{"n", std::int64_t{20}}, {"bits", bits}, {"block", block}});
  };
  EXPECT_EQ(error(6, 4, 16), "");
  EXPECT_EQ(error(7, 4, 16), "input 0 is float32[7, 32], which has more than 6 rows");
  EXPECT_NE(error(6, 8, 16), "");
  EXPECT_NE(error(6, 4, 32), "");
  EXPECT_NE(error(6, 5, 16), "");
  EXPECT_NE(error(6, 4, 0), "");
  EXPECT_NE(BindError("weight_only_gemm", {{ElementType::kFloat32, {6, 32}}, w},
                      {{ElementType::kFloat32, {6, 20}}}, {{"n", std::int64_t{20}}}),
            "");
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  for (const auto& [depth, n] :
       {std::pair{kHuge, std::int64_t{20}}, std::pair{std::int64_t{32}, kHuge}}) {
    EXPECT_EQ(BindError("weight_only_gemm", {{ElementType::kFloat32, {1, depth}}, w},
                        {{ElementType::kFloat32, {1, n}}},
                        {{"n", n}, {"bits", std::int64_t{8}}, {"block", std::int64_t{8}}}),
              "an extent is larger than 2^40");
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
