#include "runtime/kernels/quantized/weight_only_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/matrix_unit/split_blocking.hpp"
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
  const std::int64_t largest = form.bits == 4 ? 7 : form.bits == 8 ? 127 : 5000;
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

/// W [depth, n] as it is packed in 16 bits.
Values RoundedWeights(const Tensor& packed, std::int64_t depth, std::int64_t n) {
  Values values(static_cast<std::size_t>(depth * n));
  const IntegerForm form{.bits = kWideBits, .block = std::min(depth, kWideBlock)};
  for (std::int64_t c = 0; c < n; ++c) {
    const std::int64_t lines = PowerLines(depth, form) + c / kPanel * PanelLines(depth, form);
    const std::byte* at = packed.data() + lines * kIntegerLine;
    for (std::int64_t first = 0; first < depth; first += kWideBlock) {
      const std::int64_t end = std::min(depth, first + kWideBlock);
      const float scale = reinterpret_cast<const float*>(at)[c % kPanel];
      const auto* shorts = reinterpret_cast<const std::int16_t*>(at + kIntegerLine);
      for (std::int64_t k = first; k < end; ++k) {
        const std::int64_t row = k - first;
        const std::int64_t pair = row / 2 * kPanel + c % kPanel;
        values[static_cast<std::size_t>(k * n + c)] =
            static_cast<double>(shorts[pair * 2 + row % 2]) * scale;
      }
      at += kIntegerLine * (1 + (end - first + 1) / 2);
    }
  }
  return values;
}

/// With the products of one kind of processor.
Bind With(const ByteMicroKernels& kernels) {
  return [&kernels](const KernelCall& call, const InnerLoops& loops) {
    return BindWeightOnlyGemm(call, loops, kernels);
  };
}

/// A row as the kernel rounds it: every span of a block to multiples, of kMostMultiple at most, or
/// kMostWideMultiple, of a power of two.
void RoundSpans(double* row, std::int64_t depth, const IntegerForm& form) {
  const bool is_wide = form.bits == kWideBits;
  for (std::int64_t first = 0; first < depth; first += form.block) {
    const std::int64_t count = std::min(form.block, depth - first);
    for (std::int64_t at = 0; at < count; at += kSpan) {
      double* const begin = row + first + at;
      double* const end = begin + std::min(kSpan, count - at);
      double largest = 0;
      for (const double* x = begin; x < end; ++x) largest = std::max(largest, std::abs(*x));
      if (largest == 0) continue;
      double scale = std::exp2(std::ilogb(largest) - (is_wide ? 13 : 14));
      if (std::nearbyint(largest / scale) > (is_wide ? kMostWideMultiple : kMostMultiple)) {
        scale *= 2;
      }
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
                      const IntegerForm& form, ElementType element, bool is_rounded) {
  const bool transposed = random.Flip();
  const Tensor w = QuantizedWeights(random, depth, n, transposed, form);
  const Tensor a = random.Values({element, {rows, depth}});
  const TensorType y{element, {rows, n}};
  const Tensor bias = random.Flip() ? random.Values({ElementType::kFloat32, {n}}) : Tensor();
  const Tensor residual = random.Flip() ? random.Values(y) : Tensor();
  auto av = Doubles(a);
  for (std::int64_t r = 0; is_rounded && r < rows; ++r) {
    RoundSpans(av.data() + r * depth, depth, form);
  }
  const Tensor packed = PackIntegers(w, transposed, form);
  const bool is_row_major = !transposed || form.bits == kWideBits;
  const auto wv = form.bits == kWideBits ? RoundedWeights(packed, depth, n) : Doubles(w);
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
          wv[is_row_major ? k * columns + column : column * static_cast<std::size_t>(depth) + k]);
    }
    if (!bv.empty()) expected[i].Add(bv[column]);
    if (!rv.empty()) expected[i].Add(rv[i]);
  }
  Attributes attributes =
      is_rounded ? ActivationAttributes(random.Of(AllActivations())) : Attributes();
  attributes.set("n", n);
  attributes.set("bits", form.bits);
  attributes.set("block", form.block);
  return {.inputs = {a, packed, bias, residual},
          .y = y,
          .attributes = attributes,
          .expected = expected};
}

void Check(Random& random, std::int64_t rows, std::int64_t depth, std::int64_t n,
           const IntegerForm& form) {
  const Problem problem = RandomProblem(random, rows, depth, n, form, random.FloatType(), true);
  for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
    SCOPED_TRACE(kernels->name);
    ExpectPacked(With(*kernels), problem.inputs, problem.y, problem.attributes, problem.expected);
  }
}

TEST(WeightOnlyGemm, AgreesWithNaiveProductOnRandomSizes) {
  ForSeeds(80, [&](std::mt19937& seeds) {
    Random random(seeds());
    const std::int64_t bits = random.Of(std::vector<std::int64_t>{4, 8, 16});
    const std::int64_t depth = random.Int(1, 300);
    std::int64_t block = random.Flip() ? std::min(depth, 8 * random.Int(2, 5)) : depth;
    if (bits == 16) block = std::min(depth, kWideBlock);
    Check(random, random.Int(1, 30), depth, random.Int(1, 100), {.bits = bits, .block = block});
  });
}

TEST(WeightOnlyGemm, AgreesForEveryNumberOfRows) {
  for (std::int64_t rows = 1; rows <= 13; ++rows) {
    for (const IntegerForm& form : {IntegerForm{4, 75}, {8, 75}, {16, kWideBlock}}) {
      SCOPED_TRACE(rows);
      Random random(static_cast<unsigned>(rows));
      Check(random, rows, 75, 50, form);
    }
  }
}

TEST(WeightOnlyGemm, RoundingActivationsIsHardlySeen) {
  Random random(5);
  struct Case {
    IntegerForm form;
    double error;
  };
  for (const auto& [form, error] :
       {Case{{4, 32}, 4e-6}, Case{{8, 512}, 4e-6}, Case{{16, kWideBlock}, 1e-5}}) {
    const Problem problem = RandomProblem(random, 4, 512, 40, form, ElementType::kFloat32, false);
    const Values found = ToValues(RunPacked(With(BestByteMicroKernels()), problem.inputs, problem.y,
                                            problem.attributes, PortableInnerLoops()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], problem.expected[i].value, error * problem.expected[i].magnitude);
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
              RunPacked(With(*kernels), {a, w}, {ElementType::kFloat32, {1, 1}},
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

TEST(WeightOnlyGemm, LargestSumsOf16BitsAreExact) {
  const IntegerForm form{.bits = kWideBits, .block = kWideBlock};
  for (const float sign : {1.0F, -1.0F}) {
    // The magnitudes of each block sum up to kMostWideSum; by blocks the scale is 1.
    std::vector<float> weights(2 * kWideBlock, sign * kMostWideSum / kWideBlock);
    const Tensor w = PackIntegers(
        Tensor({ElementType::kFloat32, {2 * kWideBlock, 1}}, weights.data()), false, form);
    const std::int64_t first = PowerLines(2 * kWideBlock, form) * kIntegerLine;
    ASSERT_EQ(*reinterpret_cast<const float*>(w.data() + first), 1);
    for (const float x : {1.0F * kMostWideMultiple, -1.0F * kMostWideMultiple}) {
      const Tensor a({ElementType::kFloat32, {1, 2 * kWideBlock}},
                     std::vector<float>(2 * kWideBlock, x).data());
      for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
        const Tensor y =
            RunPacked(With(*kernels), {a, w}, {ElementType::kFloat32, {1, 1}},
                      {{"n", std::int64_t{1}}, {"bits", form.bits}, {"block", form.block}},
                      PortableInnerLoops());
        EXPECT_EQ(y.as<float>()[0], 2 * sign * x * kMostWideSum) << kernels->name;
      }
    }
  }
}

/// 200 numbers in [0, 1) and before them one that hides the others of its block when it is rounded;
/// it meets a weight that makes it count as little as they do.
TEST(WeightOnlyGemm, RowsOfWhichRoundingLeavesMuchAreMultipliedInTwoParts) {
  constexpr std::int64_t kDepth = 201;
  constexpr std::int64_t kRows = 15;
  constexpr std::int64_t kColumns = 70;
  Random random(3);
  const IntegerForm form{.bits = kWideBits, .block = kWideBlock};
  Tensor w = random.Values({ElementType::kFloat16, {kDepth, kColumns}});
  for (std::int64_t c = 0; c < kColumns; ++c) w.as_mutable<Float16>()[c] = Float16(0x1p-8F);
  const Tensor packed = PackIntegers(w, false, form);
  const Values weights = RoundedWeights(packed, kDepth, kColumns);
  for (const ElementType element : {ElementType::kFloat32, ElementType::kFloat16}) {
    const TensorType y{element, {kRows, kColumns}};
    Tensor a = random.Values({element, {kRows, kDepth}});
    for (std::int64_t r = 0; r < kRows; r += 2) {
      const std::size_t i = static_cast<std::size_t>(r * kDepth);
      if (element == ElementType::kFloat32) a.as_mutable<float>()[i] = 0x1p14F;
      if (element == ElementType::kFloat16) a.as_mutable<Float16>()[i] = Float16(0x1p14F);
    }
    const Values exact = Doubles(a);
    Values rows = exact;
    for (std::int64_t r = 0; r < kRows; ++r) RoundSpans(&rows[r * kDepth], kDepth, form);
    for (std::int64_t r = 0; r < kRows; r += 2) {
      std::vector<double> left(kDepth);
      for (std::int64_t k = 0; k < kDepth; ++k)
        left[k] = exact[r * kDepth + k] - rows[r * kDepth + k];
      RoundSpans(left.data(), kDepth, form);
      for (std::int64_t k = 0; k < kDepth; ++k) rows[r * kDepth + k] += left[k];
    }
    std::vector<Expected> expected(kRows * kColumns);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t k = 0; k < kDepth; ++k) {
        expected[i].Add(rows[i / kColumns * kDepth + k] * weights[k * kColumns + i % kColumns]);
      }
    }
    const Attributes attributes{{"n", kColumns}, {"bits", form.bits}, {"block", form.block}};
    for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
      SCOPED_TRACE(kernels->name);
      ExpectPacked(With(*kernels), {a, packed}, y, attributes, expected);
    }
  }
}

TEST(WeightOnlyGemm, NumbersThatMeetZerosAloneHideNothing) {
  constexpr std::int64_t kDepth = 64;
  Random random(4);
  Tensor w = random.Values({ElementType::kFloat16, {kDepth, 20}});
  for (std::size_t c = 0; c < 20; ++c) w.as_mutable<Float16>()[c] = Float16(0.0F);
  const Values weights = ToValues(w);
  const Tensor packed = PackIntegers(w, false, {.bits = kWideBits, .block = kWideBlock});
  const Attributes attributes{{"n", std::int64_t{20}}, {"bits", kWideBits}, {"block", kWideBlock}};
  Tensor a = random.Values({ElementType::kFloat32, {1, kDepth}});
  Values wanted(20);
  for (std::size_t i = 20; i < weights.size(); ++i) {
    wanted[i % 20] += weights[i] * a.as<float>()[i / 20];
  }
  const auto product = [&](float first, const ByteMicroKernels& kernels) {
    a.as_mutable<float>()[0] = first;
    return ToValues(RunPacked(With(kernels), {a, packed}, {ElementType::kFloat32, {1, 20}},
                              attributes, PortableInnerLoops()));
  };
  for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
    for (const float first : {1e3F, 1.23e8F, 1e12F, 0x1p64F, 0x1p100F}) {
      const Values found = product(first, *kernels);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_NEAR(found[i], wanted[i], 2e-3) << kernels->name << ' ' << first;
      }
    }
  }
}

TEST(WeightOnlyGemm, ManyRowsAreScaledInTurns) {
  Random random(6);
  Check(random, 100, 16384, 1, {.bits = kWideBits, .block = kWideBlock});
  constexpr std::int64_t kRows = 65536;
  constexpr std::int64_t kDepth = 4096;
  const IntegerForm form{.bits = kWideBits, .block = kWideBlock};
  EXPECT_EQ(
      BindError("weight_only_gemm",
                {{ElementType::kFloat32, {kRows, kDepth}}, PackedIntegersType(kDepth, 8, form)},
                {{ElementType::kFloat32, {kRows, 8}}},
                {{"n", std::int64_t{8}}, {"bits", form.bits}, {"block", form.block}}),
      "");
}

TEST(WeightOnlyGemm, RowsAreMultipliedAsTheyAreOnAMatrixUnit) {
  constexpr std::int64_t kRows = 196;
  constexpr std::int64_t kColumns = 150;
  Random random(7);
  // The last block is a part of one, of no whole steps; then there is nothing but that; then the
  // depth is cut into two parts.
  for (const std::int64_t depth : {207L, 43L, 800L}) {
    ASSERT_TRUE(SplitBlocking::Pays(kRows, 10, depth, PanelNumbers::kInteger));
    const IntegerForm form{.bits = kWideBits, .block = std::min(depth, kWideBlock)};
    for (const ElementType element : {ElementType::kFloat32, ElementType::kFloat16}) {
      const Problem problem = RandomProblem(random, kRows, depth, kColumns, form, element, false);
      for (const InnerLoops* loops : AllInnerLoops()) {
        if (loops->matrix_unit == nullptr) continue;
        SCOPED_TRACE(depth);
        ExpectPackedWith(*loops, With(BestByteMicroKernels()), problem.inputs, problem.y,
                         problem.attributes, problem.expected);
      }
    }
  }
}

TEST(WeightOnlyGemm, OnlyRowsThatAreNotFiniteAreNanOnAMatrixUnit) {
  constexpr std::int64_t kRows = 70;
  constexpr std::int64_t kDepth = 320;
  constexpr std::int64_t kColumns = 100;
  ASSERT_TRUE(SplitBlocking::Pays(kRows, 7, kDepth, PanelNumbers::kInteger));
  Random random(8);
  const IntegerForm form{.bits = kWideBits, .block = kWideBlock};
  Problem problem =
      RandomProblem(random, kRows, kDepth, kColumns, form, ElementType::kFloat32, false);
  problem.attributes.set("activation", std::string("relu"));
  const auto a = problem.inputs[0].as_mutable<float>();
  a[3 * kDepth + 5] = std::numeric_limits<float>::infinity();
  a[69 * kDepth + 319] = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t row : {3, 69}) {
    for (std::int64_t c = 0; c < kColumns; ++c) {
      problem.expected[row * kColumns + c].value = std::numeric_limits<double>::quiet_NaN();
    }
  }
  for (const InnerLoops* loops : AllInnerLoops()) {
    if (loops->matrix_unit == nullptr) continue;
    ExpectPackedWith(*loops, With(BestByteMicroKernels()), problem.inputs, problem.y,
                     problem.attributes, problem.expected);
  }
}

TEST(WeightOnlyGemm, WhatRoundingLeaves) {
  constexpr std::int64_t kDepth = 100;
  const IntegerDepth depth{.depth = kDepth, .block = kWideBlock, .bits = kWideBits};
  std::vector<std::uint32_t> words(kDepth);
  std::vector<float> scales(2);
  std::vector<std::int32_t> bases(2);
  const IntegerRows rows{words.data(), kDepth, scales.data(), bases.data(), 2};
  std::vector<float> powers(kDepth, 1);
  for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
    SCOPED_TRACE(kernels->name);
    std::vector<float> x(kDepth, 0.3F);
    std::vector<float> left(kDepth, 7);
    const auto leaves_much = [&] {
      kernels->wide_integer_rows->scale_row(x.data(), depth, rows);
      return kernels->wide_integer_rows->leave_row(x.data(), depth, rows, powers.data(),
                                                   left.data());
    };
    powers[99] = 1;
    EXPECT_FALSE(leaves_much());
    x[99] = 4000;
    EXPECT_FALSE(leaves_much()) << "the others do not count beside it";
    powers[99] = 1e-7F;
    EXPECT_TRUE(leaves_much());
    EXPECT_EQ(scales[1], 0.25F);
    EXPECT_EQ(left[98], 0.3F - 0.25F);
    EXPECT_EQ(left[99], 0);
    EXPECT_NEAR(left[0], 0, 0x1p-15);
    x[3] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(leaves_much());
  }
}

TEST(WeightOnlyGemm, ExtremeActivations) {
  constexpr std::int64_t kDepth = 8;
  const Tensor w({ElementType::kFloat32, {kDepth, 1}},
                 std::vector<float>{1, 2, 3, 4, 5, 6, 7, -8}.data());
  const auto product = [&](std::vector<float> row, const ByteMicroKernels& kernels,
                           std::int64_t bits) {
    const IntegerForm form{.bits = bits, .block = kDepth};
    return RunPacked(With(kernels),
                     {Tensor({ElementType::kFloat32, {1, kDepth}}, row.data()),
                      PackIntegers(w, false, form)},
                     {ElementType::kFloat32, {1, 1}},
                     {{"n", std::int64_t{1}}, {"bits", form.bits}, {"block", form.block}},
                     PortableInnerLoops())
        .as<float>()[0];
  };
  using Limits = std::numeric_limits<float>;
  for (const std::int64_t bits : {4, 8, 16}) {
    for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
      SCOPED_TRACE(kernels->name + (" " + std::to_string(bits)));
      const auto of = [&](const std::vector<float>& row) { return product(row, *kernels, bits); };
      EXPECT_EQ(of({0, 0, 0, 0, 0, 0, 0, 0}), 0);
      EXPECT_EQ(of({0x1p110F, 0, 0, 0, 0, 0, 0, 0}), 0x1p110F);
      if (bits != kWideBits) {
        EXPECT_EQ(of({0x1p127F, 0, 0, 0, 0, 0, 0, 0}), 0x1p127F);
        EXPECT_EQ(of({Limits::max(), 0, 0, 0, 0, 0, 0, 0}), Limits::infinity());
      }
      EXPECT_EQ(of({0, 0x1p-120F, 0, 0, 0, 0, 0, 0}), 0x1p-119F);
      EXPECT_EQ(of({Limits::denorm_min(), 0, 0, 0, 0, 0, 0, 0}), 0);
      EXPECT_TRUE(std::isnan(of({0, Limits::infinity(), 0, 0, 0, 0, 0, 0})));
      EXPECT_TRUE(std::isnan(of({0, 0, 0, 0, 0, 0, 0, Limits::quiet_NaN()})));
    }
  }
}

TEST(WeightOnlyGemm, HasTheSameBitsWithAllLoopsThatRound) {
  Random random(12);
  for (const std::int64_t bits : {4, 8, 16}) {
    const IntegerForm form{.bits = bits, .block = 16};
    const Tensor packed = PackIntegers(QuantizedWeights(random, 48, 40, false, form), false, form);
    const auto supported = SupportedByteMicroKernels();
    for (std::int64_t rows = 1; rows <= 6; ++rows) {
      const Tensor a = random.Values({ElementType::kFloat32, {rows, 48}});
      const auto values = [&](const ByteMicroKernels& kernels) {
        return ToValues(RunPacked(With(kernels), {a, packed}, {ElementType::kFloat32, {rows, 40}},
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
  EXPECT_NE(error(6, 16, 16), "");
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
