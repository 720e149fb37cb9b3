#include <string>
#include <vector>

#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/matrix_unit/split_blocking.hpp"
#include "runtime/kernels/packed/pack.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/packed/scaled_panels_testing.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

struct GemmCase {
  Shape leading;
  std::int64_t depth = 1;
  std::int64_t n = 1;
  const char* activation = "";
  bool bias = false;
  bool residual = false;
  bool specials = false;   ///< NaN and infinities among the operands
  bool is_scaled = false;  ///< weights of 16 bits
};

void CheckGemm(Random& random, const GemmCase& size) {
  const ElementType element = size.is_scaled ? ElementType::kFloat32 : random.FloatType();
  const ElementType stored = size.is_scaled ? ElementType::kFloat32 : random.FloatType();
  const bool transposed = random.Flip();
  TensorType a_type{element, size.leading};
  a_type.shape.push_back(size.depth);
  TensorType y_type{element, size.leading};
  y_type.shape.push_back(size.n);
  const Tensor a = random.Values(a_type, size.specials);
  const TensorType w_type{stored,
                          transposed ? Shape{size.n, size.depth} : Shape{size.depth, size.n}};
  const Tensor w = random.Values(w_type, size.specials && !size.is_scaled);
  const Tensor packed = size.is_scaled
                            ? Scaled(PackGemmWeights(w, transposed, ElementType::kFloat32))
                            : PackGemmWeights(w, transposed, stored);
  const Tensor bias =
      size.bias ? random.Values({ElementType::kFloat32, {size.n}}, size.specials) : Tensor();
  const Tensor residual = size.residual ? random.Values(y_type, size.specials) : Tensor();
  const auto av = Doubles(a);
  const auto wv = Doubles(size.is_scaled ? Unscaled(packed, size.depth) : w);
  const auto bv = Doubles(bias);
  const auto rv = Doubles(residual);
  std::vector<Expected> expected(static_cast<std::size_t>(ElementCount(y_type.shape)));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto depth = static_cast<std::size_t>(size.depth);
    const auto n = static_cast<std::size_t>(size.n);
    const std::size_t column = i % n;
    const auto weight_at = [&](std::size_t k) {
      if (size.is_scaled) return (column / kPanel * depth + k) * kPanel + column % kPanel;
      return transposed ? column * depth + k : k * n + column;
    };
    double largest = 0;
    double weights = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      const double x = av[i / n * depth + k];
      expected[i].Add(x * wv[weight_at(k)]);
      largest = std::max(largest, std::abs(x));
      weights += std::abs(wv[weight_at(k)]);
    }
    // Few rows are rounded to 2^-21 of the largest, which may meet small weights.
    if (size.is_scaled && ElementCount(size.leading) <= kMostScaledRows)
      expected[i].magnitude += largest * weights * 0x1p-21 / 1e-6;
    if (size.bias) expected[i].Add(bv[column]);
    if (size.residual) expected[i].Add(rv[i]);
  }
  Attributes attributes = ActivationAttributes(size.activation);
  attributes.set("n", size.n);
  ExpectPacked(BindGemm, {a, packed, bias, residual}, y_type, attributes, expected);
}

std::vector<float> Product(const Tensor& a, const Tensor& weights, std::int64_t n,
                           const InnerLoops& loops) {
  const Tensor y = RunPacked(BindGemm, {a, weights}, {ElementType::kFloat32, {a.shape()[0], n}},
                             {{"n", n}}, loops);
  return {y.as<float>().begin(), y.as<float>().end()};
}

/// Processors differ in how many rows and panels they compute at once, not in the order of sums.
void ExpectSameBits(const Tensor& a, const Tensor& weights, std::int64_t n) {
  const auto bits = [&](const InnerLoops& loops) { return Product(a, weights, n, loops); };
  // Portable loops round products, those behind them do not.
  const auto supported = SupportedInnerLoops();
  EXPECT_EQ(bits(*supported.front()), bits(SixteenLaneLoops()));
  for (std::size_t i = 2; i < supported.size(); ++i) {
    if (supported[i]->matrix_unit != nullptr) continue;
    EXPECT_EQ(bits(*supported[1]), bits(*supported[i]));
  }
}

TEST(PackedGemm, HasTheSameBitsWithAllLoopsThatRound) {
  Random random(11);
  constexpr std::int64_t kDepth = 37;
  constexpr std::int64_t kColumns = 120;
  const Tensor w = random.Values({ElementType::kFloat32, {kDepth, kColumns}});
  const Tensor packed = PackGemmWeights(w, false, ElementType::kFloat32);
  for (std::int64_t rows = 1; rows <= 40; ++rows) {
    SCOPED_TRACE(rows);
    const Tensor a = random.Values({ElementType::kFloat32, {rows, kDepth}});
    ExpectSameBits(a, packed, kColumns);
    ExpectSameBits(a, Scaled(packed), kColumns);
  }
}

TEST(PackedGemm, HasTheSameBitsWithScaledWeightsAsWithTheirNumbers) {
  Random random(12);
  constexpr std::int64_t kDepth = 1152;
  constexpr std::int64_t kColumns = 120;
  const Tensor w = random.Values({ElementType::kFloat32, {kDepth, kColumns}});
  const Tensor scaled = Scaled(PackGemmWeights(w, false, ElementType::kFloat32));
  const auto at_once = PackScaledGemmWeights(w, false);
  ASSERT_TRUE(at_once.has_value());
  EXPECT_TRUE(*at_once == scaled);
  const Tensor packed = Unscaled(scaled, kDepth);
  for (const std::int64_t rows : {7, 65, 200}) {
    const Tensor a = random.Values({ElementType::kFloat32, {rows, kDepth}});
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(std::string(loops->instruction_set) + ", rows: " + std::to_string(rows));
      EXPECT_EQ(Product(a, scaled, kColumns, *loops), Product(a, packed, kColumns, *loops));
    }
  }
}

/// A matrix unit takes up to 64 rows otherwise than more, but in the same order.
TEST(PackedGemm, HasTheSameBitsForFewRowsOfAMatrixUnitAsForMany) {
  Random random(13);
  constexpr std::int64_t kDepth = 809;
  constexpr std::int64_t kColumns = 120;
  constexpr std::int64_t kRows = 130;
  ASSERT_TRUE(SplitBlocking::Pays(kRows, 8, kDepth, PanelNumbers::kFloat));
  const Tensor a = random.Values({ElementType::kFloat32, {kRows, kDepth}});
  const Tensor w = PackGemmWeights(random.Values({ElementType::kFloat32, {kDepth, kColumns}}),
                                   false, ElementType::kFloat32);
  for (const InnerLoops* loops : AllInnerLoops()) {
    if (loops->matrix_unit == nullptr) continue;
    for (const Tensor& weights : {w, Scaled(w)}) {
      const std::vector<float> all = Product(a, weights, kColumns, *loops);
      for (const std::int64_t rows : {16, 24, 32, 33, 48, 49, 64}) {
        ASSERT_TRUE(SplitBlocking::Pays(rows, 8, kDepth, PanelNumbers::kFloat));
        SCOPED_TRACE(std::string(loops->instruction_set) + ", rows: " + std::to_string(rows));
        const Tensor first({ElementType::kFloat32, {rows, kDepth}}, a.as<float>().data());
        const std::vector<float> few = Product(first, weights, kColumns, *loops);
        EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
      }
    }
  }
}

TEST(PackedGemm, AgreesWithScaledWeights) {
  ForSeeds(120, [](std::mt19937& seeds) {
    Random random(seeds());
    CheckGemm(random, {.leading = {random.Flip() ? random.Int(1, 4) : random.Int(5, 90)},
                       .depth = random.Int(1, 120),
                       .n = random.Int(1, 150),
                       .activation = random.Of(AllActivations()).c_str(),
                       .bias = random.Flip(),
                       .residual = random.Flip(),
                       .is_scaled = true});
  });
  // Several tasks, several parts of the depth.
  Random random(7);
  for (const std::int64_t rows : {0, 1, 2, 3, 4, 5, 130}) {
    SCOPED_TRACE(rows);
    CheckGemm(random,
              {.leading = {rows}, .depth = 1102, .n = 300, .bias = true, .is_scaled = true});
  }
  for (const std::int64_t rows : {1, 4, 70}) {
    SCOPED_TRACE(rows);
    CheckGemm(random,
              {.leading = {rows}, .depth = 64, .n = 150, .specials = true, .is_scaled = true});
  }
}

/// Sums of integers are exact, where all are as large as they can be, too.
TEST(PackedGemm, FewRowsByScaledWeightsAreExactInIntegers) {
  constexpr std::int64_t kDepth = 200;
  constexpr std::int64_t kColumns = 40;
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    for (const std::int64_t rows : {1, 3}) {
      for (const float factor : {0x1.FFFFFp20F, -0x1p20F, 0x1.00002p-90F, 0x1p99F}) {
        Tensor a({ElementType::kFloat32, {rows, kDepth}});
        Tensor w({ElementType::kFloat32, {kDepth, kColumns}});
        std::ranges::fill(a.as_mutable<float>(), factor);
        std::ranges::fill(w.as_mutable<float>(), -32767.0F);
        const auto wanted = static_cast<float>(-32767.0 * kDepth * factor);
        for (const float sum : Product(a, Scaled(PackGemmWeights(w, false, ElementType::kFloat32)),
                                       kColumns, *loops)) {
          EXPECT_FLOAT_EQ(sum, wanted);
        }
      }
    }
  }
}

/// A row that has no parts of integers is multiplied by widened panels, with those beside it.
TEST(PackedGemm, FewRowsByScaledWeightsMayBeLargeOrNotFinite) {
  constexpr std::int64_t kDepth = 1500;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Tensor w({ElementType::kFloat32, {kDepth, kPanel}});
  std::ranges::fill(w.as_mutable<float>(), 0.5F);
  const Tensor packed = Scaled(PackGemmWeights(w, false, ElementType::kFloat32));
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    for (const float last : {0x1p101F, -kInfinity, std::nanf("")}) {
      Tensor a({ElementType::kFloat32, {2, kDepth}});
      std::ranges::fill(a.as_mutable<float>(), 1.0F);
      a.as_mutable<float>().back() = last;
      const auto sums = Product(a, packed, kPanel, *loops);
      EXPECT_EQ(sums[0], 750);
      const float wanted = last / 2 + 749.5F;
      EXPECT_TRUE(sums.back() == wanted || (std::isnan(last) && std::isnan(sums.back())))
          << sums.back();
    }
  }
}

/// Weights of a container may be any: -32768 and scales that are no numbers, too.
TEST(PackedGemm, ScaledWeightsOfAnyBitsAreMultiplied) {
  constexpr std::int64_t kColumns = 70;
  std::mt19937 bits(4);
  for (const std::int64_t depth : {1, 64, 131}) {
    Tensor w(ScaledPanelsType(PackedGemmType(depth, kColumns, ElementType::kFloat32)));
    for (std::int32_t& word : w.as_mutable<std::int32_t>()) {
      word = depth == 64 ? std::numeric_limits<std::int32_t>::min() + 0x8000
                         : std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(bits()));
    }
    for (const std::int64_t rows : {1, 4, 5, 130}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(depth));
      Tensor a({ElementType::kFloat32, {rows, depth}});
      std::ranges::fill(a.as_mutable<float>(), -0x1.FFFFFp20F);
      for (const InnerLoops* loops : AllInnerLoops()) {
        EXPECT_EQ(Product(a, w, kColumns, *loops).size(), rows * kColumns);
      }
    }
  }
}

TEST(PackedGemm, ScaledWeightsAreCutBetweenBlocks) {
  Random random(15);
  constexpr std::int64_t kDepth = 1102;
  const Tensor w = Scaled(PackGemmWeights(random.Values({ElementType::kFloat32, {kDepth, 33}}),
                                          false, ElementType::kFloat32));
  for (const std::int64_t rows : {2, 130}) {
    const TensorType y{ElementType::kFloat32, {rows, 33}};
    const Tensor a = random.Values({ElementType::kFloat32, {rows, kDepth}});
    const auto bind = [&](std::int64_t depth) {
      Attributes attributes{{"n", std::int64_t{33}}};
      if (depth > 0) attributes.set(kBlockSizes, Ints{rows, 3, depth});
      return BindGemm(CallOf({a, w}, y, attributes), PortableInnerLoops());
    };
    EXPECT_EQ(bind(100).block_sizes, (Ints{rows, 3, 128}));
    const Tensor wanted = RunBound(bind(0), {a, w}, y, 1);
    const Tensor cut = RunBound(bind(100), {a, w}, y, 2);
    for (std::size_t i = 0; i < wanted.as<float>().size(); ++i) {
      EXPECT_NEAR(cut.as<float>()[i], wanted.as<float>()[i], 1e-4);
    }
  }
}

/// A number is off by 2^-21 of the largest of its block.
TEST(PackedGemm, FewRowsByScaledWeightsKeepSmallNumbersBesideLargeOnes) {
  constexpr std::int64_t kDepth = 128;
  Tensor a({ElementType::kFloat32, {1, kDepth}});
  Tensor w({ElementType::kFloat32, {kDepth, kPanel}});
  // Column 0 meets all numbers but the large one, column 1 those of the other block.
  for (std::size_t k = 0; k < kDepth; ++k) {
    a.as_mutable<float>()[k] = k == 5 ? 1000.0F : 1.0F / static_cast<float>(k + 3);
    w.as_mutable<float>()[k * kPanel] = k == 5 ? 0 : 1;
    w.as_mutable<float>()[k * kPanel + 1] = k < 64 ? 0 : 1;
  }
  double all = 0;
  double second = 0;
  for (std::int64_t k = 0; k < kDepth; ++k) {
    const double x = k == 5 ? 0 : double{1.0F / static_cast<float>(k + 3)};
    all += x;
    second += k < 64 ? 0 : x;
  }
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const auto sums =
        Product(a, Scaled(PackGemmWeights(w, false, ElementType::kFloat32)), kPanel, *loops);
    EXPECT_NEAR(sums[0], all, 63 * 1000 * 0x1p-21);
    EXPECT_NE(sums[0], static_cast<float>(all)) << "the bound is of some use";
    EXPECT_FLOAT_EQ(sums[1], static_cast<float>(second));
  }
}

TEST(PackedGemm, AgreesWithNaiveProductOnRandomSizes) {
  ForSeeds(60, [&](std::mt19937& seeds) {
    Random random(seeds());
    CheckGemm(random, {.leading = {random.Int(1, 30)},
                       .depth = random.Int(1, 90),
                       .n = random.Int(1, 100),
                       .activation = random.Of(AllActivations()).c_str(),
                       .bias = random.Flip(),
                       .residual = random.Flip()});
  });
}

TEST(PackedGemm, AgreesForEveryNumberOfRows) {
  for (std::int64_t rows = 1; rows <= 20; ++rows) {
    SCOPED_TRACE(rows);
    Random random(static_cast<unsigned>(100 + rows));
    CheckGemm(random, {.leading = {rows}, .depth = 37, .n = 33, .bias = true});
  }
}

/// Sizes that a matrix unit computes: tiles of all heights, several parts of the depth and blocks
/// of rows, an odd panel, one that is cut.
TEST(PackedGemm, AgreesForManyRows) {
  ForSeeds(24, [&](std::mt19937& seeds) {
    Random random(seeds());
    CheckGemm(random, {.leading = {random.Int(16, 96)},
                       .depth = random.Int(16, 300),
                       .n = random.Int(1, 150),
                       .activation = random.Of(AllActivations()).c_str(),
                       .bias = random.Flip(),
                       .residual = random.Flip()});
  });
  for (const std::int64_t depth : {800, 1600}) {
    Random random(static_cast<unsigned>(depth));
    CheckGemm(random, {.leading = {random.Int(300, 330)}, .depth = depth, .n = 70, .bias = true});
  }
}

/// What is infinite, or not a number, has no parts.
TEST(PackedGemm, AgreesForManyRowsThatAreNotFinite) {
  Random random(5);
  for (const std::int64_t rows : {24, 50, 70}) {
    SCOPED_TRACE(rows);
    CheckGemm(random,
              {.leading = {rows}, .depth = 64, .n = 150, .residual = true, .specials = true});
  }
}

TEST(PackedGemm, AgreesForEveryActivation) {
  for (const std::string& activation : AllActivations()) {
    SCOPED_TRACE(activation);
    Random random(7);
    CheckGemm(
        random,
        {.leading = {9}, .depth = 20, .n = 40, .activation = activation.c_str(), .residual = true});
  }
}

TEST(PackedGemm, AgreesWhenDepthAndRowsAreCut) {
  ForSeeds(4, [&](std::mt19937& seeds) {
    Random random(seeds());
    CheckGemm(random,
              {.leading = {2, 101}, .depth = 1203, .n = 50, .activation = "relu", .bias = true});
    CheckGemm(random, {.leading = {3}, .depth = 1500, .n = 300});
  });
}

TEST(PackedGemm, LeadingExtentsOfAnyRankFlatten) {
  Random random(3);
  CheckGemm(random, {.leading = {}, .depth = 8, .n = 5});
  CheckGemm(random, {.leading = {2, 3, 2}, .depth = 8, .n = 5});
  CheckGemm(random, {.leading = {2, 0, 2}, .depth = 8, .n = 5});
}

TEST(PackedGemm, NanAndInfinitiesStayInTheirRowsAndColumns) {
  ForSeeds(20, [&](std::mt19937& seeds) {
    Random random(seeds());
    CheckGemm(random, {.leading = {random.Int(1, 30)},
                       .depth = random.Int(1, 90),
                       .n = random.Int(1, 100),
                       .bias = random.Flip(),
                       .residual = random.Flip(),
                       .specials = true});
  });
}

KernelCall GoodGemm() {
  return {.inputs = {{ElementType::kFloat32, {4, 20}}, {ElementType::kFloat32, {2, 20, 16}}},
          .outputs = {{ElementType::kFloat32, {4, 30}}},
          .attributes = {{"n", std::int64_t{30}}}};
}

TEST(PackedGemm, BindRejectsWhatDoesNotFit) {
  EXPECT_EQ(BindError(BindGemm, GoodGemm()), "");
  KernelCall call = GoodGemm();
  call.attributes.erase("n");
  EXPECT_EQ(BindError(BindGemm, call), "attribute n is missing, it must be at least 1");
  call = GoodGemm();
  call.attributes.set("n", std::int64_t{33});
  EXPECT_EQ(BindError(BindGemm, call), "output 0 is float32[4, 30], expected float32[4, 33]");
  call = GoodGemm();
  call.inputs[1].shape[0] = 3;
  EXPECT_EQ(BindError(BindGemm, call),
            "the weights, input 1, is float32[3, 20, 16], expected float32[2, 20, 16]");
  call = GoodGemm();
  call.outputs[0].shape = {4, 31};
  EXPECT_EQ(BindError(BindGemm, call), "output 0 is float32[4, 31], expected float32[4, 30]");
  call = GoodGemm();
  call.inputs[0].element = ElementType::kInt32;
  EXPECT_EQ(BindError(BindGemm, call), "input 0 is int32, allowed are float32 and float16");
  call = GoodGemm();
  call.inputs.push_back({ElementType::kFloat16, {30}});
  EXPECT_EQ(BindError(BindGemm, call), "the bias, input 2, is float16[30], expected float32[30]");
  call = GoodGemm();
  call.inputs[1] = ScaledPanelsType(call.inputs[1]);
  EXPECT_EQ(BindError(BindGemm, call), "");
  call.inputs[0].element = call.outputs[0].element = ElementType::kFloat16;
  EXPECT_EQ(BindError(BindGemm, call), "scaled weights are for rows of float32, these are float16");
  call.inputs[0].element = call.outputs[0].element = ElementType::kFloat32;
  call.inputs[1].shape[1] = 20;
  EXPECT_EQ(BindError(BindGemm, call),
            "the weights, input 1, is int32[2, 20, 16], expected int32[2, 11, 16]");
  call = GoodGemm();
  call.inputs.emplace_back();
  call.inputs.push_back({ElementType::kFloat32, {4, 29}});
  EXPECT_EQ(BindError(BindGemm, call),
            "the residual, input 3, is float32[4, 29], expected float32[4, 30]");
  call = GoodGemm();
  call.attributes.set("activation", std::string("swish"));
  EXPECT_THAT(BindError(BindGemm, call),
              HasSubstr("attribute activation is 'swish', allowed are '', 'relu'"));
  call = GoodGemm();
  call.inputs.resize(1);
  EXPECT_EQ(BindError(BindGemm, call), "has 1 inputs, allowed are 2 to 4");
}

}  // namespace
}  // namespace poprt::kernels::testing
