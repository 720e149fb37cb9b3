#include "runtime/kernels/rows/row_norms.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

struct NormCase {
  Shape shape;
  bool scale = true;
  bool bias = true;
  bool addend = false;
  bool sum_output = false;
  bool rms = false;
  ElementType element = ElementType::kFloat32;
};

/// Runs a kernel with one or two outputs on every processor's loops and two pool sizes, which must
/// agree to the bit.
std::vector<Values> RunRows(const Bind& bind, const std::vector<Tensor>& inputs,
                            std::size_t outputs, const Attributes& attributes,
                            const InnerLoops& loops) {
  KernelCall call{.inputs = {}, .outputs = {outputs, inputs[0].type()}, .attributes = attributes};
  std::vector<const std::byte*> sources;
  for (const Tensor& input : inputs) {
    call.inputs.push_back(input.type());
    sources.push_back(input.type().defined() ? input.data() : nullptr);
  }
  const BoundKernel kernel = bind(call, loops);
  std::vector<Tensor> first;
  for (const int threads : {1, 3}) {
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < outputs; ++i) results.emplace_back(inputs[0].type());
    std::vector<std::byte*> targets;
    targets.reserve(outputs);
    for (Tensor& result : results) targets.push_back(result.mutable_data());
    ThreadPool pool(threads);
    std::vector<std::byte> scratch(kernel.scratch_bytes * static_cast<std::size_t>(threads));
    kernel.run({.inputs = sources, .outputs = targets, .scratch = scratch.data(), .pool = &pool});
    if (threads == 1) first = results;
    EXPECT_TRUE(first == results) << "other bits with " << threads << " threads";
  }
  std::vector<Values> values;
  values.reserve(outputs);
  for (const Tensor& result : first) values.push_back(ToValues(result));
  return values;
}

void CheckNorm(Random& random, const NormCase& test) {
  const bool half = test.element == ElementType::kFloat16;
  const TensorType type{test.element, test.shape};
  const TensorType parameter{test.element, {test.shape.back()}};
  const Tensor a = random.Values(type);
  const Tensor scale = test.scale ? random.Values(parameter) : Tensor();
  const Tensor bias = test.bias ? random.Values(parameter) : Tensor();
  const Tensor b = test.addend ? random.Values(type) : Tensor();
  const Values av = ToValues(a);
  const Values bv = Doubles(b);
  const Values sv = Doubles(scale);
  const Values ov = Doubles(bias);
  const auto n = static_cast<std::size_t>(test.shape.back());
  const double epsilon = 0.01F;
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const std::vector<Values> found =
        RunRows(BindNormRows, {a, scale, bias, b}, test.sum_output ? 2 : 1,
                {{"epsilon", 0.01F}, {"rms", std::int64_t{test.rms ? 1 : 0}}}, *loops);
    for (std::size_t row = 0; row < av.size(); row += n) {
      Values x(n);
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = av[row + i] + (test.addend ? bv[row + i] : 0);
        if (half) x[i] = static_cast<float>(Float16(static_cast<float>(x[i])));
        mean += test.rms ? 0 : x[i] / static_cast<double>(n);
      }
      double variance = 0;
      for (const double value : x) variance += (value - mean) * (value - mean);
      const double factor = 1 / std::sqrt(variance / static_cast<double>(n) + epsilon);
      for (std::size_t i = 0; i < n; ++i) {
        const double wanted =
            (x[i] - mean) * factor * (test.scale ? sv[i] : 1) + (test.bias ? ov[i] : 0);
        ASSERT_NEAR(found[0][row + i], wanted, 5e-6 + (half ? std::abs(wanted) * 0x1p-11 : 0.0))
            << "element " << row + i;
        if (test.sum_output) {
          ASSERT_NEAR(found[1][row + i], x[i], 1e-6);
        }
      }
    }
  }
}

TEST(RowNorms, NormalizesRowsOfAnyShape) {
  ForSeeds(100, [](std::mt19937& seeds) {
    Random random(seeds());
    Shape shape;
    for (std::int64_t rank = random.Int(0, 4); rank > 0; --rank) shape.push_back(random.Int(1, 5));
    if (random.Int(0, 9) == 0 && !shape.empty()) shape[0] = 0;
    // Of the longest only some, or one, are normalised together.
    shape.push_back(random.Int(0, 9) == 0 ? random.Int(400, 7000) : random.Int(1, 200));
    CheckNorm(random, {.shape = shape,
                       .scale = random.Flip(),
                       .bias = random.Flip(),
                       .addend = random.Flip(),
                       .sum_output = random.Flip(),
                       .rms = random.Flip(),
                       .element = random.FloatType()});
  });
}

/// Results where an operand was, by rows of which some are normalised together.
TEST(RowNorms, ResultsMayReplaceOperands) {
  ForSeeds(20, [](std::mt19937& seeds) {
    Random random(seeds());
    const TensorType type{ElementType::kFloat32, {random.Int(1, 40), random.Int(1, 900)}};
    const Tensor a = random.Values(type);
    const Tensor b = random.Flip() ? random.Values(type) : Tensor();
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      KernelCall call{.inputs = {type, {}, {}, b.type()}, .outputs = {type}, .attributes = {}};
      const BoundKernel kernel = BindNormRows(call, *loops);
      ThreadPool pool(2);
      const auto run = [&](std::optional<std::size_t> replaced) {
        const auto copy = [](const Tensor& x) { return Tensor(x.type(), x.data()); };
        std::vector<Tensor> operands{copy(a), {}, {}, b.type().defined() ? copy(b) : b};
        Tensor result(type);
        std::byte* const to = replaced ? operands[*replaced].mutable_data() : result.mutable_data();
        std::vector<const std::byte*> sources;
        sources.reserve(operands.size());
        for (const Tensor& operand : operands) {
          sources.push_back(operand.type().defined() ? operand.data() : nullptr);
        }
        kernel.run({.inputs = sources, .outputs = {&to, 1}, .pool = &pool});
        return replaced ? operands[*replaced] : result;
      };
      const Tensor wanted = run(std::nullopt);
      for (const std::size_t i : kernel.in_place_inputs) EXPECT_TRUE(run(i) == wanted) << i;
    }
  });
}

TEST(RowNorms, NanSpreadsOverItsRowOnly) {
  Tensor x({ElementType::kFloat32, {2, 9}});
  for (float& value : x.as_mutable<float>()) value = 1;
  x.as_mutable<float>()[8] = std::numeric_limits<float>::quiet_NaN();
  for (const InnerLoops* loops : AllInnerLoops()) {
    const Values norm = RunRows(BindNormRows, {x}, 1, {}, *loops)[0];
    const Values softmax = RunRows(BindSoftmaxRows, {x}, 1, {}, *loops)[0];
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_TRUE(std::isnan(norm[i])) << i;
      EXPECT_TRUE(std::isnan(softmax[i])) << i;
      EXPECT_EQ(norm[9 + i], 0);
      EXPECT_NEAR(softmax[9 + i], 1.0 / 9, 1e-7);
    }
  }
}

TEST(RowNorms, SoftmaxOfRowsOfAnyShape) {
  const float inf = std::numeric_limits<float>::infinity();
  ForSeeds(60, [inf](std::mt19937& seeds) {
    Random random(seeds());
    const std::int64_t length = random.Int(1, 150);
    Tensor x = random.Values({ElementType::kFloat32, {random.Int(0, 9), length}});
    for (float& value : x.as_mutable<float>()) {
      value = random.Int(0, 9) == 0 ? -inf : value * 90;
    }
    const Values xv = ToValues(x);
    const auto n = static_cast<std::size_t>(length);
    for (const InnerLoops* loops : AllInnerLoops()) {
      SCOPED_TRACE(loops->instruction_set);
      const Values found = RunRows(BindSoftmaxRows, {x}, 1, {}, *loops)[0];
      const Values logarithms = RunRows(BindLogSoftmaxRows, {x}, 1, {}, *loops)[0];
      for (std::size_t row = 0; row < xv.size(); row += n) {
        double largest = -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, xv[row + i]);
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += std::exp(xv[row + i] - largest);
        for (std::size_t i = 0; i < n && std::isfinite(largest); ++i) {
          const double wanted = xv[row + i] - largest - std::log(sum);
          ASSERT_NEAR(found[row + i], std::exp(wanted), 1e-6);
          if (std::isfinite(wanted)) {
            ASSERT_NEAR(logarithms[row + i], wanted, 1e-6 * (1 + std::abs(wanted)));
          } else {
            ASSERT_EQ(logarithms[row + i], wanted);
          }
        }
      }
    }
  });
}

TEST(RowNorms, BindRejectsWhatDoesNotFit) {
  const TensorType row{ElementType::kFloat32, {3}};
  const TensorType x{ElementType::kFloat32, {2, 3}};
  const KernelCall good{.inputs = {x, row, row, x}, .outputs = {x, x}, .attributes = {}};
  EXPECT_EQ(BindError(BindNormRows, good), "");
  KernelCall call = good;
  call.inputs[1].shape = {1, 3};
  EXPECT_EQ(BindError(BindNormRows, call), "input 1 is float32[1, 3], expected float32[3]");
  call = good;
  call.inputs[0] = {ElementType::kFloat32, {2, 0}};
  EXPECT_THAT(BindError(BindNormRows, call), HasSubstr("rows of at least 1 element"));
  call = good;
  call.inputs[3].shape = {2, 4};
  EXPECT_EQ(BindError(BindNormRows, call), "input 3 is float32[2, 4], expected float32[2, 3]");
  call = {.inputs = {{ElementType::kFloat16, {3}}},
          .outputs = {{ElementType::kFloat16, {3}}},
          .attributes = {}};
  EXPECT_THAT(BindError(BindSoftmaxRows, call), HasSubstr("expected is float32"));
}

}  // namespace
}  // namespace poprt::kernels::testing
