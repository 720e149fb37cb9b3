#include "runtime/kernels/matmul/matmul.hpp"

#include <gtest/gtest.h>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16,
                                  kInt32,   kInt64,   kUint32,  kUint64};

bool IsUnsigned(ElementType type) { return type == kUint32 || type == kUint64; }
double Range(ElementType type) { return IsFloat(type) ? 1 : 9; }
double Low(ElementType type) { return IsUnsigned(type) ? 0 : -Range(type); }

/// Element of an operand at a batch position (of the output) and a row and column.
double At(const Tensor& tensor, const Values& values, const Index& batch, std::int64_t row,
          std::int64_t column) {
  const Shape& shape = tensor.shape();
  const std::size_t leading = shape.size() - 2;
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < leading; ++i) {
    flat = flat * shape[i] + batch[batch.size() - leading + i] % shape[i];
  }
  return values[static_cast<std::size_t>((flat * shape[leading] + row) * shape[leading + 1] +
                                         column)];
}

TEST(MatMulTest, MultipliesBatchesOfAnyType) {
  ForSeeds(80, [](std::mt19937& random) {
    const ElementType type = kTypes[random() % 8];
    const bool is_large = random() % 8 == 0;
    const int most = is_large ? 150 : 12;
    const std::int64_t rows = Draw(random, 0, most), columns = Draw(random, 0, most);
    const std::int64_t depth = Draw(random, 0, is_large ? 300 : 12);
    const Shape batch = SmallShape(random, random() % 3, 3);
    Shape a = batch;
    Shape b(batch.begin() + static_cast<std::ptrdiff_t>(random() % (batch.size() + 1)),
            batch.end());
    if (!a.empty() && random() % 2 == 0) a[0] = b.size() == a.size() ? 1 : a[0];
    a.insert(a.end(), {rows, depth});
    b.insert(b.end(), {depth, columns});
    const Tensor left = RandomTensor(random, type, a, Low(type), Range(type));
    const Tensor right = RandomTensor(random, type, b, Low(type), Range(type));
    const Values x = ToValues(left);
    const Values y = ToValues(right);
    Shape output = batch;
    output.insert(output.end(), {rows, columns});
    const Values wanted = Fill(output, [&](const Index& at) {
      const Index where(at.begin(), at.end() - 2);
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        sum += At(left, x, where, at[at.size() - 2], k) * At(right, y, where, k, at.back());
      }
      return sum;
    });
    const Tensor found = Run1("MatMul", {left, right}, {type, output});
    // Halves are summed in float: their own rounding dominates.
    ExpectClose(found, wanted, type == kFloat16 || type == kBFloat16 ? 1 : 40, 10);
  });
}

TEST(MatMulTest, TreatsVectorsAsNumPyDoes) {
  const Tensor vector = FromValues(kFloat32, {2}, {1, 2});
  const Tensor matrix = FromValues(kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ToValues(Run1("MatMul", {vector, vector}, {kFloat32, {}})), (Values{5}));
  EXPECT_EQ(ToValues(Run1("MatMul", {vector, matrix}, {kFloat32, {3}})), (Values{9, 12, 15}));
  EXPECT_EQ(ToValues(Run1("MatMul", {FromValues(kFloat32, {1, 3, 2}, {1, 2, 3, 4, 5, 6}), vector},
                          {kFloat32, {1, 3}})),
            (Values{5, 11, 17}));
}

TEST(MatMulTest, IntegersWrap) {
  const Tensor a = FromValues(kInt8, {1, 2}, {100, 100});
  const Tensor b = FromValues(kInt8, {2, 1}, {100, 1});
  // 10100 modulo 256 is 116.
  EXPECT_EQ(ToValues(Run1("MatMul", {a, b}, {kInt8, {1, 1}})), (Values{116}));
}

TEST(MatMulTest, GemmScalesTransposesAndAdds) {
  ForSeeds(60, [](std::mt19937& random) {
    const ElementType type = kTypes[random() % 8];
    const std::int64_t rows = random() % 10 == 0 ? 0 : Draw(random, 1, 70);
    const std::int64_t columns = random() % 10 == 0 ? 0 : Draw(random, 1, 70);
    const std::int64_t depth = Draw(random, 0, 9);
    const std::int64_t trans_a = random() % 2, trans_b = random() % 2;
    const float alpha = IsFloat(type) ? 0.5F : 2.0F;
    const float beta = IsFloat(type) ? -1.25F : IsUnsigned(type) ? 3.0F : -3.0F;
    const Tensor a =
        RandomTensor(random, type, trans_a != 0 ? Shape{depth, rows} : Shape{rows, depth},
                     Low(type), Range(type));
    const Tensor b =
        RandomTensor(random, type, trans_b != 0 ? Shape{columns, depth} : Shape{depth, columns},
                     Low(type), Range(type));
    const std::vector<Shape> c_shapes{{}, {1}, {columns}, {rows, 1}, {1, columns}, {rows, columns}};
    const Tensor c = RandomTensor(random, type, c_shapes[random() % 6], Low(type), Range(type));
    const bool with_c = random() % 7 != 0;
    const Values x = ToValues(a), y = ToValues(b), z = ToValues(c);
    const Shape output{rows, columns};
    const Values wanted = Fill(output, [&](const Index& at) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        sum += x[static_cast<std::size_t>(trans_a != 0 ? k * rows + at[0] : at[0] * depth + k)] *
               y[static_cast<std::size_t>(trans_b != 0 ? at[1] * depth + k : k * columns + at[1])];
      }
      const std::size_t from = BroadcastIndex(output, c.shape(), at[0] * columns + at[1]);
      return static_cast<double>(alpha) * sum + (with_c ? static_cast<double>(beta) * z[from] : 0);
    });
    const std::vector<Tensor> inputs =
        with_c ? std::vector<Tensor>{a, b, c} : std::vector<Tensor>{a, b};
    const Tensor found =
        Run1("Gemm", inputs, {type, output},
             {{"alpha", alpha}, {"beta", beta}, {"transA", trans_a}, {"transB", trans_b}});
    ExpectClose(found, wanted, type == kFloat16 || type == kBFloat16 ? 1 : 20, 5);
  });
}

TEST(MatMulTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(BindError("MatMul", {{kFloat32, {2, 3}}, {kFloat32, {2, 3}}}, {{kFloat32, {2, 3}}}),
            "inputs float32[2, 3] and float32[2, 3] cannot be multiplied");
  EXPECT_EQ(BindError("MatMul", {{kBool, {2}}, {kBool, {2}}}, {{kBool, {}}}).substr(0, 45),
            "input 0 is bool[2], allowed element types are");
  EXPECT_EQ(BindError("MatMul", {{kFloat32, {2, 3}}, {kFloat32, {3}}}, {{kFloat32, {2, 1}}}),
            "output 0 is float32[2, 1], expected float32[2]");
  EXPECT_EQ(BindError("Gemm", {{kFloat32, {2, 3}}, {kFloat32, {3, 2}}, {kFloat32, {3}}},
                      {{kFloat32, {2, 2}}}),
            "input 2 is float32[3], which does not broadcast to [2, 2]");
  EXPECT_EQ(BindError("Gemm", {{kInt32, {2, 3}}, {kInt32, {3, 2}}}, {{kInt32, {2, 2}}},
                      {{"alpha", 0.5F}}),
            "attribute 'alpha' is 0.500000, which has to be a whole number for integer operands");
}

}  // namespace
}  // namespace poprt::kernels::testing
