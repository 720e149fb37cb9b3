#include <gtest/gtest.h>

#include <limits>

#include "runtime/kernels/kernel_test_tensors.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

TEST(TopKTest, NanIsTheGreatest) {
  const Tensor x = FromValues(kFloat32, {4}, {1, std::nan(""), 5, std::nan("")});
  const std::vector<TensorType> two{{kFloat32, {2}}, {kInt64, {2}}};
  EXPECT_EQ(ToValues(RunOnce("TopK", {x}, two, {{"k", Ints{2}}})[1]), (Values{1, 3}));
  EXPECT_EQ(ToValues(RunOnce("TopK", {x}, two, {{"k", Ints{2}}, {"largest", std::int64_t{0}}})[1]),
            (Values{0, 2}));
}

TEST(OneHotTest, IndicesWrapOrSelectNothing) {
  for (const ElementType type : {kInt64, kInt32, kFloat32, kInt8}) {
    const Tensor indices = FromValues(type, {4}, {1, -1, 3, -4});
    const Tensor values = FromValues(kFloat16, {2}, {2, 5});
    EXPECT_EQ(ToValues(Run1("OneHot", {indices, values}, {kFloat16, {4, 3}}, {{"depth", Ints{3}}})),
              (Values{2, 5, 2, 2, 2, 5, 2, 2, 2, 2, 2, 2}));
    EXPECT_EQ(ToValues(Run1("OneHot", {indices, values}, {kFloat16, {3, 4}},
                            {{"depth", Ints{3}}, {"axis", std::int64_t{0}}})),
              (Values{2, 2, 2, 2, 5, 2, 2, 2, 2, 5, 2, 2}));
  }
}

TEST(TriluTest, MatchesDefinition) {
  std::mt19937 random(2);
  for (const Shape& shape : {Shape{4, 5}, Shape{2, 3, 6, 4}, Shape{3, 0, 2}, Shape{2, 2, 0}}) {
    for (const ElementType type : {kFloat32, kBool, kInt64}) {
      const Tensor x = RandomTensor(random, type, shape, 1, 9);
      for (const std::int64_t k : {-9, -2, 0, 1, 7}) {
        for (const std::int64_t upper : {0, 1}) {
          SCOPED_TRACE(ToString(x.type()) + " k " + std::to_string(k));
          Values wanted = ToValues(x);
          for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            const std::int64_t column = at % shape.back();
            const std::int64_t row = at / shape.back() % shape[shape.size() - 2];
            const bool keep = upper == 1 ? column - row >= k : column - row <= k;
            if (!keep) wanted[i] = 0;
          }
          EXPECT_EQ(ToValues(Run1("Trilu", {x}, x.type(), {{"k", Ints{k}}, {"upper", upper}})),
                    wanted);
        }
      }
    }
  }
  const Tensor x = FromValues(kInt8, {1, 1}, {3});
  EXPECT_EQ(ToValues(Run1("Trilu", {x}, x.type(),
                          {{"k", Ints{std::numeric_limits<std::int64_t>::max()}}})),
            (Values{0}));
}

TEST(GeneratorTest, Range) {
  const auto run = [](const TensorType& type, AttributeValue start, AttributeValue limit,
                      AttributeValue delta) {
    return ToValues(
        Run1("Range", {}, type, {{"start", start}, {"limit", limit}, {"delta", delta}}));
  };
  EXPECT_EQ(run({kFloat32, {2}}, Floats{1}, Floats{5}, Floats{2}), (Values{1, 3}));
  EXPECT_EQ(run({kInt32, {2}}, Ints{10}, Ints{6}, Ints{-3}), (Values{10, 7}));
  EXPECT_EQ(run({kInt64, {0}}, Ints{5}, Ints{5}, Ints{1}), (Values{}));
  EXPECT_EQ(run({kFloat64, {3}}, Ints{0}, Floats{1.25F}, Floats{0.5F}), (Values{0, 0.5, 1}));
  EXPECT_EQ(run({kInt64, {3}}, Ints{std::numeric_limits<std::int64_t>::min()},
                Ints{std::numeric_limits<std::int64_t>::max()}, Ints{0x7000000000000000}),
            (Values{-0x1p63, -0x1p60, 0x6p60}));
}

TEST(GeneratorTest, ConstantOfShapeAndEyeLike) {
  EXPECT_EQ(ToValues(Run1("ConstantOfShape", {}, {kFloat32, {2}}, {{"shape", Ints{2}}})),
            (Values{0, 0}));
  EXPECT_EQ(ToValues(Run1("ConstantOfShape", {}, {kInt16, {2, 1}},
                          {{"shape", Ints{2, 1}}, {"value", FromValues(kInt16, {1}, {-7})}})),
            (Values{-7, -7}));
  const Tensor like({kInt32, {2, 3}});
  EXPECT_EQ(ToValues(Run1("EyeLike", {like}, {kFloat16, {2, 3}}, {{"k", std::int64_t{1}}})),
            (Values{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(ToValues(Run1("EyeLike", {like}, {kBool, {2, 3}}, {{"k", std::int64_t{-1}}})),
            (Values{0, 0, 0, 1, 0, 0}));
}

TEST(IndexTest, BindErrors) {
  const TensorType x{kFloat32, {2, 3}};
  EXPECT_EQ(BindError("TopK", {x}, {x, x}, {{"k", Ints{4}}}),
            "attribute 'k' is 4, allowed are 0 to 3");
  EXPECT_EQ(BindError("TopK", {x}, {x, x}, {{"k", Ints{3}}}),
            "output 1 is float32[2, 3], expected int64[2, 3]");
  EXPECT_EQ(BindError("OneHot", {x, x}, {x}, {{"depth", Ints{3}}}),
            "input 1 is float32[2, 3], expected float32[2]");
  EXPECT_EQ(BindError("Trilu", {{kFloat32, {3}}}, {{kFloat32, {3}}}),
            "input 0 is float32[3], expected at least 2 dimensions");
  EXPECT_EQ(
      BindError("Range", {}, {x}, {{"start", Ints{0}}, {"limit", Ints{3}}, {"delta", Ints{0}}}),
      "attribute 'delta' is 0");
  EXPECT_EQ(
      BindError("Range", {}, {x}, {{"start", Ints{0}}, {"limit", Ints{3}}, {"delta", Ints{1}}}),
      "output 0 is float32[2, 3], expected float32[3]");
  EXPECT_EQ(BindError("ConstantOfShape", {}, {x}, {{"shape", Ints{-1}}}),
            "output 0 is float32[2, 3], expected float32[-1]");
}

}  // namespace
}  // namespace poprt::kernels::testing
