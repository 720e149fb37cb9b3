#include <string>
#include <vector>

#include "runtime/kernels/matrix_unit/split_blocking.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

struct BatchCase {
  Shape batch_a;
  Shape batch_b;
  std::int64_t rows = 1;
  std::int64_t depth = 1;
  std::int64_t columns = 1;
  bool transposed = false;
  float scale = 1;
  bool specials = false;  ///< NaN and infinities among the operands
};

void CheckBatch(Random& random, const BatchCase& size) {
  const ElementType element = random.FloatType();
  const Shape batch = *Broadcast(size.batch_a, size.batch_b);
  const auto join = [&](Shape shape, std::int64_t rows, std::int64_t columns) {
    shape.insert(shape.end(), {rows, columns});
    return TensorType{element, shape};
  };
  const Tensor a = random.Values(join(size.batch_a, size.rows, size.depth), size.specials);
  const Tensor b = random.Values(size.transposed ? join(size.batch_b, size.columns, size.depth)
                                                 : join(size.batch_b, size.depth, size.columns),
                                 size.specials);
  const TensorType y_type = join(batch, size.rows, size.columns);
  const auto av = Doubles(a);
  const auto bv = Doubles(b);
  std::vector<Expected> expected;
  for (std::int64_t i = 0; i < ElementCount(y_type.shape); ++i) {
    const std::int64_t column = i % size.columns;
    const std::int64_t row = i / size.columns % size.rows;
    const std::int64_t product = i / size.columns / size.rows;
    const auto matrix_of = [&](const Shape& own) {
      return static_cast<std::int64_t>(BroadcastIndex(batch, own, product));
    };
    const std::int64_t from_a = (matrix_of(size.batch_a) * size.rows + row) * size.depth;
    const std::int64_t from_b = matrix_of(size.batch_b) * size.depth * size.columns;
    Expected& sum = expected.emplace_back();
    for (std::int64_t k = 0; k < size.depth; ++k) {
      const std::int64_t at = size.transposed ? column * size.depth + k : k * size.columns + column;
      sum.Add(av[static_cast<std::size_t>(from_a + k)] * bv[static_cast<std::size_t>(from_b + at)] *
              static_cast<double>(size.scale));
    }
  }
  ExpectPacked(BindBatchMatMul, {a, b}, y_type,
               {{"trans_b", static_cast<std::int64_t>(size.transposed)}, {"scale", size.scale}},
               expected);
}

TEST(PackedBatchMatMul, AgreesWithNaiveProductOnRandomSizes) {
  const std::vector<std::pair<Shape, Shape>> batches = {
      {{}, {}},      {{3}, {3}},   {{1}, {4}},       {{2, 1}, {1, 3}},
      {{2, 3}, {3}}, {{}, {2, 2}}, {{2, 3}, {2, 1}}, {{3, 2, 2}, {3, 1, 1}},
      {{2, 2}, {1}}};
  ForSeeds(60, [&](std::mt19937& seeds) {
    Random random(seeds());
    const auto [a, b] = random.Of(batches);
    CheckBatch(random, {.batch_a = a,
                        .batch_b = b,
                        .rows = random.Int(1, 25),
                        .depth = random.Int(1, 40),
                        .columns = random.Int(1, 40),
                        .transposed = random.Flip(),
                        .scale = random.Flip() ? 1.0F : 0.125F});
  });
}

TEST(PackedBatchMatMul, EdgesOfShapesAndNumbers) {
  ForSeeds(20, [&](std::mt19937& seeds) {
    Random random(seeds());
    CheckBatch(random, {.batch_a = {2, 1, 1, 2, 1, 1},
                        .batch_b = {1, 2, 1, 1},
                        .rows = random.Int(1, 25),
                        .depth = random.Int(1, 40),
                        .columns = random.Int(1, 40),
                        .transposed = random.Flip(),
                        .specials = true});
  });
  Random random(1);
  CheckBatch(random, {.batch_a = {0}, .batch_b = {1}, .rows = 3, .depth = 4, .columns = 5});
  CheckBatch(random, {.batch_a = {2, 0}, .batch_b = {}, .rows = 3, .depth = 4, .columns = 1});
}

TEST(PackedBatchMatMul, AgreesWhenDepthAndRowsAreCut) {
  Random random(11);
  CheckBatch(random, {.batch_a = {2}, .batch_b = {2}, .rows = 200, .depth = 1101, .columns = 19});
  CheckBatch(
      random,
      {.batch_a = {}, .batch_b = {}, .rows = 13, .depth = 1777, .columns = 35, .transposed = true});
}

TEST(PackedBatchMatMul, AgreesOnAMatrixUnit) {
  Random random(12);
  // Whole steps of the depth, then not; then two parts of it.
  for (const std::int64_t depth : {128, 75, 835}) {
    ASSERT_TRUE(SplitBlocking::Pays(70, 7, depth, PanelNumbers::kFloat));
    for (const bool transposed : {false, true}) {
      CheckBatch(random, {.batch_a = {3, 1},
                          .batch_b = {2},
                          .rows = 70,
                          .depth = depth,
                          .columns = 100,
                          .transposed = transposed,
                          .scale = 0.25F});
    }
  }
  CheckBatch(
      random,
      {.batch_a = {2}, .batch_b = {2}, .rows = 70, .depth = 75, .columns = 100, .specials = true});
  // Few rows, which have columns split as they are multiplied.
  for (const std::int64_t rows : {24, 40, 60}) {
    for (const std::int64_t depth : {128, 100}) {
      ASSERT_TRUE(SplitBlocking::Pays(rows, 50, depth, PanelNumbers::kRows));
      CheckBatch(random, {.batch_a = {},
                          .batch_b = {2},
                          .rows = rows,
                          .depth = depth,
                          .columns = 795,
                          .specials = depth == 100});
    }
  }
}

TEST(PackedBatchMatMul, ScratchMemoryDoesNotGrowWithTheDepth) {
  constexpr std::int64_t kDeep = std::int64_t{1} << 24;
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const BoundKernel kernel = BindBatchMatMul(
        {.inputs = {{ElementType::kFloat32, {64, kDeep}}, {ElementType::kFloat32, {kDeep, 64}}},
         .outputs = {{ElementType::kFloat32, {64, 64}}},
         .attributes = {}},
        *loops);
    EXPECT_LT(kernel.scratch_bytes, std::size_t{4} << 20);
  }
}

TEST(PackedBatchMatMul, BindRejectsWhatDoesNotFit) {
  const KernelCall good{
      .inputs = {{ElementType::kFloat32, {2, 3, 4}}, {ElementType::kFloat32, {2, 4, 5}}},
      .outputs = {{ElementType::kFloat32, {2, 3, 5}}},
      .attributes = {}};
  EXPECT_EQ(BindError(BindBatchMatMul, good), "");
  KernelCall call = good;
  call.attributes.set("trans_b", std::int64_t{1});
  EXPECT_EQ(BindError(BindBatchMatMul, call),
            "inputs float32[2, 3, 4] and float32[2, 4, 5] cannot be multiplied");
  call = good;
  call.inputs[1].shape = {3, 4, 5};
  EXPECT_EQ(BindError(BindBatchMatMul, call),
            "inputs float32[2, 3, 4] and float32[3, 4, 5] do not broadcast to each other");
  call = good;
  call.inputs[1].element = ElementType::kFloat16;
  EXPECT_THAT(BindError(BindBatchMatMul, call), HasSubstr("expected are two matrices"));
  call = good;
  call.outputs[0].shape = {2, 3, 6};
  EXPECT_EQ(BindError(BindBatchMatMul, call),
            "output 0 is float32[2, 3, 6], expected float32[2, 3, 5]");
}

}  // namespace
}  // namespace poprt::kernels::testing
