#include "runtime/kernels/quantized/weight_only_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/pack_integers.hpp"

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

/// With the products of one kind of processor.
Bind With(const IntegerRowKernels& kernels) {
  return [&kernels](const KernelCall& call, const InnerLoops& loops) {
    return BindWeightOnlyGemm(call, loops, kernels);
  };
}

/// A row as the kernel rounds it: every span of a block to multiples, of kMostMultiple at most, of
/// a power of two.
void RoundSpans(double* row, std::int64_t depth, std::int64_t block) {
  for (std::int64_t first = 0; first < depth; first += block) {
    for (std::int64_t at = 0; at < block; at += kSpan) {
      double* const begin = row + first + at;
      double* const end = begin + std::min(kSpan, block - at);
      double largest = 0;
      for (const double* x = begin; x < end; ++x) largest = std::max(largest, std::abs(*x));
      if (largest == 0) continue;
      double scale = std::exp2(std::ilogb(largest) - 14);
      if (std::nearbyint(largest / scale) > kMostMultiple) scale *= 2;
      for (double* x = begin; x < end; ++x) *x = std::nearbyint(*x / scale) * scale;
    }
  }
}

struct Problem {
  std::vector<Tensor> inputs;
  TensorType y;
  Attributes attributes;
  std::vector<Expected> expected;
};

/// With activations that are rounded, or as they are.
Problem RandomProblem(Random& random, std::int64_t rows, std::int64_t depth, std::int64_t n,
                      const IntegerForm& form, bool is_rounded) {
  const ElementType element = is_rounded ? random.FloatType() : ElementType::kFloat32;
  const bool transposed = random.Flip();
  const Tensor w = QuantizedWeights(random, depth, n, transposed, form);
  const Tensor a = random.Values({element, {rows, depth}});
  const TensorType y{element, {rows, n}};
  const Tensor bias = random.Flip() ? random.Values({ElementType::kFloat32, {n}}) : Tensor();
  const Tensor residual = random.Flip() ? random.Values(y) : Tensor();
  auto av = Doubles(a);
  for (std::int64_t r = 0; is_rounded && r < rows; ++r) {
    RoundSpans(av.data() + r * depth, depth, form.block);
  }
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
  Attributes attributes =
      is_rounded ? ActivationAttributes(random.Of(AllActivations())) : Attributes();
  attributes.set("n", n);
  attributes.set("bits", form.bits);
  attributes.set("block", form.block);
  return {.inputs = {a, PackIntegers(w, transposed, form), bias, residual},
          .y = y,
          .attributes = attributes,
          .expected = expected};
}

void Check(Random& random, std::int64_t rows, std::int64_t depth, std::int64_t n,
           const IntegerForm& form) {
  const Problem problem = RandomProblem(random, rows, depth, n, form, true);
  for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
    SCOPED_TRACE(kernels->name);
    ExpectPacked(With(*kernels->integer_rows), problem.inputs, problem.y, problem.attributes,
                 problem.expected);
  }
}

TEST(WeightOnlyGemm, AgreesWithNaiveProductOnRandomSizes) {
  ForSeeds(80, [&](std::mt19937& seeds) {
    Random random(seeds());
    const std::int64_t bits = random.Flip() ? 4 : 8;
    const std::int64_t block = random.Flip() ? 8 * random.Int(1, 5) : random.Int(1, 300);
    const std::int64_t depth = block % 8 == 0 ? block * random.Int(1, 4) : block;
    Check(random, random.Int(1, 20), depth, random.Int(1, 100), {.bits = bits, .block = block});
  });
}

TEST(WeightOnlyGemm, AgreesForEveryNumberOfRows) {
  for (const std::int64_t bits : {4, 8}) {
    for (std::int64_t rows = 1; rows <= 7; ++rows) {
      SCOPED_TRACE(rows);
      Random random(static_cast<unsigned>(rows));
      Check(random, rows, 75, 50, {.bits = bits, .block = 75});
    }
  }
}

TEST(WeightOnlyGemm, RoundingActivationsIsHardlySeen) {
  Random random(5);
  for (const IntegerForm& form : {IntegerForm{.bits = 4, .block = 32}, {.bits = 8, .block = 512}}) {
    const Problem problem = RandomProblem(random, 4, 512, 40, form, false);
    const Values found =
        ToValues(RunPacked(With(*BestByteMicroKernels().integer_rows), problem.inputs, problem.y,
                           problem.attributes, PortableInnerLoops()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], problem.expected[i].value, 4e-6 * problem.expected[i].magnitude);
    }
  }
}

TEST(WeightOnlyGemm, MultiplesAreExactWhateverTheirSums) {
  constexpr std::int64_t kDepth = 256;
  for (const std::int64_t bits : {4, 8}) {
    const float most = bits == 4 ? 7 : 127;
    for (const float weight : {most, -most - 1}) {
      std::vector<float> weights(kDepth, weight);
      weights.back() = 1;  // so that the scale is 1
      const IntegerForm form{.bits = bits, .block = kDepth};
      const Tensor w =
          PackIntegers(Tensor({ElementType::kFloat32, {kDepth, 1}}, weights.data()), false, form);
      for (const float x : {1.0F * kMostMultiple, -1.0F * kMostMultiple}) {
        const Tensor a({ElementType::kFloat32, {1, kDepth}}, std::vector<float>(kDepth, x).data());
        for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
          const Tensor y =
              RunPacked(With(*kernels->integer_rows), {a, w}, {ElementType::kFloat32, {1, 1}},
                        {{"n", std::int64_t{1}}, {"bits", form.bits}, {"block", form.block}},
                        PortableInnerLoops());
          // Of two spans.
          const float wanted = x * (128 * weight) + x * (127 * weight + 1);
          EXPECT_EQ(y.as<float>()[0], wanted) << kernels->name << ' ' << bits;
        }
      }
    }
  }
}

TEST(WeightOnlyGemm, ExtremeActivations) {
  constexpr std::int64_t kDepth = 8;
  const Tensor w({ElementType::kFloat32, {kDepth, 1}},
                 std::vector<float>{1, 2, 3, 4, 5, 6, 7, -8}.data());
  const IntegerForm form{.bits = 4, .block = kDepth};
  const auto product = [&](std::vector<float> row, const IntegerRowKernels& kernels) {
    return RunPacked(With(kernels),
                     {Tensor({ElementType::kFloat32, {1, kDepth}}, row.data()),
                      PackIntegers(w, false, form)},
                     {ElementType::kFloat32, {1, 1}},
                     {{"n", std::int64_t{1}}, {"bits", form.bits}, {"block", form.block}},
                     PortableInnerLoops())
        .as<float>()[0];
  };
  using Limits = std::numeric_limits<float>;
  for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
    SCOPED_TRACE(kernels->name);
    const IntegerRowKernels& rows = *kernels->integer_rows;
    EXPECT_EQ(product({0, 0, 0, 0, 0, 0, 0, 0}, rows), 0);
    EXPECT_EQ(product({0x1p127F, 0, 0, 0, 0, 0, 0, 0}, rows), 0x1p127F);
    EXPECT_EQ(product({Limits::max(), 0, 0, 0, 0, 0, 0, 0}, rows), 0x1p127F * 2);
    EXPECT_EQ(product({0, 0x1p-120F, 0, 0, 0, 0, 0, 0}, rows), 0x1p-119F);
    EXPECT_EQ(product({Limits::denorm_min(), 0, 0, 0, 0, 0, 0, 0}, rows), 0);
    EXPECT_TRUE(std::isnan(product({0, Limits::infinity(), 0, 0, 0, 0, 0, 0}, rows)));
    EXPECT_TRUE(std::isnan(product({0, 0, 0, 0, 0, 0, 0, Limits::quiet_NaN()}, rows)));
  }
}

TEST(WeightOnlyGemm, HasTheSameBitsWithAllLoopsThatRound) {
  Random random(12);
  for (const std::int64_t bits : {4, 8}) {
    const IntegerForm form{.bits = bits, .block = 16};
    const Tensor packed = PackIntegers(QuantizedWeights(random, 48, 40, false, form), false, form);
    const auto supported = SupportedByteMicroKernels();
    for (std::int64_t rows = 1; rows <= 6; ++rows) {
      const Tensor a = random.Values({ElementType::kFloat32, {rows, 48}});
      const auto values = [&](const ByteMicroKernels& kernels) {
        return ToValues(RunPacked(With(*kernels.integer_rows), {a, packed},
                                  {ElementType::kFloat32, {rows, 40}},
                                  {{"n", std::int64_t{40}}, {"bits", bits}, {"block", form.block}},
                                  PortableInnerLoops()));
      };
      // Portable kernels round products, those behind them do not.
      for (std::size_t i = 2; i < supported.size(); ++i) {
        EXPECT_EQ(values(*supported[1]), values(*supported[i])) << supported[i]->name;
      }
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
  EXPECT_EQ(error(7, 4, 16), "");
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
