#include "compiler/ipu/plan/product_planner.hpp"

#include <gtest/gtest.h>

#include "compiler/ipu/plan/product_cost.hpp"
#include "compiler/ipu/plan/product_estimate.hpp"

namespace poprt::ipu {
namespace {

constexpr std::uint32_t kTiles = 1472;
constexpr NumberFormat kHalf = NumberFormat::kFloat16;
constexpr NumberFormat kQuarter = NumberFormat::kFloat8;

ProductPlan Planned(const Product& product, const PlanOptions& options = {}) {
  return ProductPlanner(*FindTarget("ipu21"), options, kTiles).Plan(product);
}

struct PublishedSet {
  const char* name;
  Product product;
  double cycles;  ///< measured, of the compute set
};

// The projections of SigLIP So400m on a C600 (sections 4.4 and 7.2).
TEST(ProductPlannerTest, ComputeSetsOfHalfProductsAreWithinTenPercent) {
  const PublishedSet sets[] = {
      {"QKV", MatrixProduct(kHalf, kHalf, 1, 729, 1152, 3456), 37277},
      {"out", MatrixProduct(kHalf, kHalf, 1, 729, 1152, 1152), 14153},
      {"up", MatrixProduct(kHalf, kHalf, 1, 729, 1152, 4304), 48248},
      {"down", MatrixProduct(kHalf, kHalf, 1, 729, 4304, 1152), 52187},
      {"scores", MatrixProduct(kHalf, kHalf, 16, 729, 72, 729), 8488},
      {"values", MatrixProduct(kHalf, kHalf, 16, 729, 729, 72), 12900},
  };
  for (const PublishedSet& set : sets) {
    const ProductPlan plan = Planned(set.product);
    const auto cycles = static_cast<double>(plan.cost.calculate_cycles * plan.splits.serial());
    EXPECT_NEAR(cycles / set.cycles, 1.0, 0.1) << set.name << " " << plan.Grid();
  }
}

TEST(ProductPlannerTest, ComputeSetsOfQuarterProductsAreWithinTwentyPercent) {
  const PublishedSet sets[] = {
      {"QKV", MatrixProduct(kQuarter, kHalf, 1, 729, 1152, 3456), 22415},
      {"out", MatrixProduct(kQuarter, kHalf, 1, 729, 1152, 1152), 8178},
      {"up", MatrixProduct(kQuarter, kHalf, 1, 729, 1152, 4304), 26425},
      {"down", MatrixProduct(kQuarter, kHalf, 1, 729, 4304, 1152), 28265},
  };
  for (const PublishedSet& set : sets) {
    const ProductPlan plan = Planned(set.product);
    const auto cycles = static_cast<double>(plan.cost.calculate_cycles * plan.splits.serial());
    EXPECT_NEAR(cycles / set.cycles, 1.0, 0.2) << set.name << " " << plan.Grid();
  }
}

// More of them are in poplin_plans_test.cpp.
TEST(ProductPlannerTest, FindsTheGridsOfPoplin) {
  EXPECT_EQ(Planned(MatrixProduct(kHalf, kHalf, 1, 729, 1152, 3456)).Grid(),
            "3 x 54 x 9 of 729 x 3456 x 1152");
  EXPECT_EQ(Planned(MatrixProduct(kHalf, kHalf, 1, 729, 1152, 4304)).Grid(),
            "15 x 12 x 8 of 4304 x 729 x 1152");
  const ProductSplits scores = Planned(MatrixProduct(kHalf, kHalf, 16, 729, 72, 729)).splits;
  EXPECT_EQ(scores.field(), 2U);
  EXPECT_EQ(scores.out, 46U);
  EXPECT_EQ(scores.groups, 16U);
}

TEST(ProductPlannerTest, TemporariesKeepToTheProportionAndCostCycles) {
  const Product product = MatrixProduct(kHalf, kHalf, 1, 16384, 768, 3072);
  std::uint64_t cycles = 0;
  for (const double proportion : {0.9, 0.6, 0.3, 0.15}) {
    PlanOptions options;
    options.available_memory_proportion = proportion;
    const ProductPlan plan = Planned(product, options);
    EXPECT_LE(plan.cost.temporary_bytes, static_cast<std::uint64_t>(proportion * 638976));
    EXPECT_FALSE(plan.relaxed);
    EXPECT_GE(plan.cost.total, cycles) << proportion;
    cycles = plan.cost.total;
  }
  PlanOptions options;
  options.available_memory_proportion = 0.15;
  EXPECT_GT(Planned(product, options).splits.serial(), 1U);
}

TEST(ProductPlannerTest, AProportionThatNothingKeepsToIsRelaxed) {
  PlanOptions options;
  options.available_memory_proportion = 0.001;
  const ProductPlan plan = Planned(MatrixProduct(kHalf, kHalf, 1, 16384, 768, 3072), options);
  EXPECT_TRUE(plan.relaxed);
  EXPECT_EQ(plan.memory_limit, 638U);
  EXPECT_GT(plan.cost.temporary_bytes, 638U);
}

TEST(ProductPlannerTest, OptionsChangeThePlan) {
  const Product product = MatrixProduct(kHalf, kHalf, 1, 2048, 768, 768);
  const std::uint64_t plain = Planned(product).cost.total;
  PlanOptions wide;
  wide.use_128bit_conv_unit_load = true;
  EXPECT_LT(Planned(product, wide).cost.total, plain);
  // The same plan is faster; poplin, which expects no launches, chooses another one.
  PlanOptions fast;
  fast.enable_fast_reduce = true;
  const ProductPlan same = Planned(MatrixProduct(kHalf, kHalf, 1, 80, 2048, 1000));
  EXPECT_LT(PriceProduct(*FindTarget("ipu21"), fast, same.variant, same.vertex, same.splits).total,
            same.cost.total);
  EXPECT_LT(Planned(product, fast).estimate.cycles, Planned(product).estimate.cycles);
  PlanOptions single;
  single.half_partials = false;
  EXPECT_GT(Planned(product, single).cost.total, plain);
}

TEST(ProductPlannerTest, ManyPartialsAreReducedInStages) {
  const Product product = MatrixProduct(kHalf, kHalf, 1, 80, 2048, 1000);
  const ProductPlan plan = Planned(product);
  ASSERT_GE(plan.splits.in, 16U);
  EXPECT_EQ(plan.cost.reduce.size(), 2U);
  PlanOptions options;
  options.enable_multi_stage_reduce = false;
  EXPECT_EQ(Planned(product, options).cost.reduce.size(), 1U);
}

TEST(ProductPlannerTest, FewerTilesTakeLonger) {
  const Product product = MatrixProduct(kHalf, kHalf, 1, 2048, 768, 768);
  std::uint64_t cycles = 0;
  for (const std::uint32_t tiles : {1472U, 1344U, 1024U, 512U, 16U, 1U}) {
    ProductPlanner planner(*FindTarget("ipu21"), {}, tiles);
    const ProductPlan& plan = planner.Plan(product);
    EXPECT_LE(plan.splits.tiles(), tiles);
    EXPECT_GE(plan.cost.total, cycles) << tiles;
    cycles = plan.cost.total;
  }
}

Product Convolution(std::uint64_t in, std::uint64_t out, std::uint64_t field, std::uint64_t kernel,
                    std::uint64_t stride, std::uint64_t groups = 1) {
  Product product;
  product.batch = 8;
  product.groups = groups;
  product.in_channels = in;
  product.out_channels = out;
  product.height = product.width = field;
  product.kernel_height = product.kernel_width = kernel;
  product.stride_height = product.stride_width = stride;
  return product;
}

TEST(ProductPlannerTest, VerticesFitTheConvolution) {
  EXPECT_EQ(Planned(Convolution(64, 64, 56, 1, 1)).vertex.kind, ProductVertexKind::kAmp);
  EXPECT_EQ(Planned(Convolution(64, 64, 56, 3, 1)).vertex.kind, ProductVertexKind::kSpatialAmp);
  EXPECT_EQ(Planned(Convolution(1, 1, 56, 3, 1, 144)).vertex.kind, ProductVertexKind::kSlic);
}

TEST(ProductPlannerTest, FloatProductsAreAQuarterAsFast) {
  Product product = MatrixProduct(kHalf, kHalf, 1, 4096, 1024, 1024);
  const auto half = static_cast<double>(Planned(product).cost.total);
  product.input = product.output = NumberFormat::kFloat32;
  const auto single = static_cast<double>(Planned(product).cost.total);
  EXPECT_GT(single / half, 2.0);
  EXPECT_LT(single / half, 6.0);
}

// What the planner sums up is what PriceProduct says of the splits it chose.
TEST(ProductPlannerTest, TargetsThatLoadOneElementCombineGroups) {
  Target target = *FindTarget("ipu21");
  target.conv_load_elements_fp16 = 1;
  const PlanOptions options;
  Product product = Convolution(2, 2, 14, 3, 1);
  product.groups = 64;
  EXPECT_LE(ProductPlanner(target, options, kTiles).Plan(product).splits.tiles(), kTiles);
}

TEST(ProductPlannerTest, TheCostIsThatOfTheSplits) {
  const PlanOptions options;
  const Target target = *FindTarget("ipu21");
  const ProductPlan plan = Planned(Convolution(128, 128, 28, 3, 2));
  EXPECT_EQ(PriceProduct(target, options, plan.variant, plan.vertex, plan.splits).total,
            plan.cost.total);
  const auto estimate = EstimateProduct(target, options, plan.variant, plan.vertex, plan.splits);
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->cycles, plan.estimate.cycles);
  EXPECT_FALSE(EstimateProduct(target, options, plan.variant, plan.vertex, plan.splits,
                               estimate->temporary_bytes - 1)
                   .has_value());
  EXPECT_FALSE(EstimateProduct(target, options, plan.variant, plan.vertex, plan.splits,
                               estimate->temporary_bytes, estimate->cycles)
                   .has_value());
}

}  // namespace
}  // namespace poprt::ipu
