#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

/// Reductions of nothing, of NaN and infinities, and along axes of any sign.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The elements of a line along `axis` through `at`.
Values Line(const Tensor& x, const Values& values, Index at, std::size_t axis) {
  Values line;
  for (std::int64_t k = 0; k < x.shape()[axis]; ++k) {
    at[axis] = k;
    line.push_back(values[Flat(x.shape(), at)]);
  }
  return line;
}

Shape WithAxis(Shape shape, std::size_t axis, std::int64_t extent) {
  shape[axis] = extent;
  return shape;
}

TEST(ReductionTest, NothingReducesToTheIdentity) {
  const auto value = [](const char* name, ElementType type) {
    const Tensor nothing({type, {2, 0}});
    return ToValues(Run1(name, {nothing}, {type, {2, 1}}, {{"axes", Ints{-1}}})).back();
  };
  for (const ElementType type : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    SCOPED_TRACE(ElementName(type));
    for (const char* name : {"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare"}) {
      EXPECT_EQ(value(name, type), 0) << name;
    }
    EXPECT_EQ(value("ReduceProd", type), 1);
    EXPECT_EQ(value("ReduceMax", type), -kInf);
    EXPECT_EQ(value("ReduceMin", type), kInf);
    EXPECT_EQ(value("ReduceLogSum", type), -kInf);
    EXPECT_EQ(value("ReduceLogSumExp", type), -kInf);
    EXPECT_TRUE(std::isnan(value("ReduceMean", type)));
  }
  for (const ElementType type : {kInt32, kInt64, kUint32, kUint64}) {
    SCOPED_TRACE(ElementName(type));
    for (const char* name :
         {"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceMean"}) {
      EXPECT_EQ(value(name, type), 0) << name;
    }
    EXPECT_EQ(value("ReduceProd", type), 1);
  }
  const auto bounds = [&](ElementType type, double low, double high) {
    SCOPED_TRACE(ElementName(type));
    EXPECT_EQ(value("ReduceMax", type), low);
    EXPECT_EQ(value("ReduceMin", type), high);
  };
  bounds(kInt8, -128, 127);
  bounds(kUint8, 0, 255);
  bounds(kInt32, -0x1p31, 0x7FFFFFFF);
  bounds(kUint32, 0, 0xFFFFFFFF);
  bounds(kInt64, -0x1p63, 0x1p63);  // as double
  bounds(kUint64, 0, 0x1p64);
  bounds(kBool, 0, 1);
}

struct LineReduction {
  const char* name;
  double (*reference)(const Values&);
};

template <typename F>
double Sum(const Values& x, const F& map) {
  double sum = 0;
  for (const double value : x) sum += map(value);
  return sum;
}

const LineReduction kReductions[] = {
    {"ReduceSum", [](const Values& x) { return Sum(x, [](double v) { return v; }); }},
    {"ReduceMean",
     [](const Values& x) {
       return Sum(x, [](double v) { return v; }) / static_cast<double>(x.size());
     }},
    {"ReduceL1", [](const Values& x) { return Sum(x, [](double v) { return std::fabs(v); }); }},
    {"ReduceL2", [](const Values& x) { return std::sqrt(Sum(x, [](double v) { return v * v; })); }},
    {"ReduceSumSquare", [](const Values& x) { return Sum(x, [](double v) { return v * v; }); }},
    {"ReduceLogSum", [](const Values& x) { return std::log(Sum(x, [](double v) { return v; })); }},
    {"ReduceLogSumExp",
     [](const Values& x) { return std::log(Sum(x, [](double v) { return std::exp(v); })); }},
    {"ReduceProd",
     [](const Values& x) {
       double product = 1;
       for (const double value : x) product *= value;
       return product;
     }},
    {"ReduceMax",
     [](const Values& x) {
       double most = -kInf;
       for (const double value : x) most = std::isnan(value) ? kNan : value < most ? most : value;
       return most;
     }},
    {"ReduceMin",
     [](const Values& x) {
       double least = kInf;
       for (const double v : x) least = std::isnan(v) ? kNan : v > least ? least : v;
       return least;
     }},
};

TEST(ReductionTest, NanAndInfinitiesReduceAsInDouble) {
  for (const LineReduction& reduction : kReductions) {
    SCOPED_TRACE(reduction.name);
    ForSeeds(24, [&](std::mt19937& random) {
      const Shape shape = AnyShape(random, 1);
      const std::size_t axis = random() % shape.size();
      const ElementType type =
          std::vector<ElementType>{kFloat32, kFloat64, kFloat16, kBFloat16}[random() % 4];
      const bool prod = std::string_view(reduction.name) == "ReduceProd";
      const Tensor x = RandomSpecials(random, type, shape, prod ? 0.75 : 1, prod ? 1.25 : 5);
      const Values values = ToValues(x);
      const Shape output = WithAxis(shape, axis, 1);
      const Values wanted = Fill(output, [&](const Index& at) {
        const Values line = Line(x, values, at, axis);
        for (const double value : line) {
          if (std::isnan(value)) return kNan;
        }
        return reduction.reference(line);
      });
      ExpectClose(Run1(reduction.name, {x}, {type, output},
                       {{"axes", Ints{EitherSign(random, axis, shape.size())}}}),
                  wanted, 8);
    });
  }
}

TEST(ReductionTest, FewLongLinesAreCutIntoParts) {
  std::mt19937 random(5);
  for (const LineReduction& reduction : kReductions) {
    const bool prod = std::string_view(reduction.name) == "ReduceProd";
    for (const auto& [shape, axis] : std::vector<std::pair<Shape, std::size_t>>{
             {{2, 150001}, 1}, {{70001, 3}, 0}, {{2, 40003, 2}, 1}, {{3, 100000}, 1}}) {
      for (const ElementType type : {kFloat32, kFloat16, kFloat64, kInt64}) {
        SCOPED_TRACE(std::string(reduction.name) + " " + ToString(TensorType{type, shape}));
        if (prod && type == kInt64) continue;
        const Tensor x = RandomTensor(random, type, shape, prod ? 0.999 : 1, prod ? 1.001 : 3);
        const Values values = ToValues(x);
        const Shape output = WithAxis(shape, axis, 1);
        Values wanted = Fill(output, [&, axis = axis](const Index& at) {
          return reduction.reference(Line(x, values, at, axis));
        });
        if (type == kInt64) {
          for (double& value : wanted) value = std::trunc(value);
        }
        ExpectClose(Run1(reduction.name, {x}, {type, output},
                         {{"axes", Ints{static_cast<std::int64_t>(axis)}}}),
                    wanted, prod && type == kFloat64 ? 400 : 8);
        if (HasFailure()) return;
      }
    }
  }
}

/// More rows than are handled together; every row has a result that depends on it alone.
TEST(ReductionTest, ManyShortRows) {
  std::mt19937 random(6);
  for (const LineReduction& reduction : kReductions) {
    const bool prod = std::string_view(reduction.name) == "ReduceProd";
    for (const std::int64_t run : {2, 3, 7, 8, 13, 16, 17}) {
      for (const ElementType type : {kFloat32, kFloat16, kFloat64, kInt32}) {
        const Shape shape{5, 53, run};
        SCOPED_TRACE(std::string(reduction.name) + " " + ToString(TensorType{type, shape}));
        if (prod && type == kInt32) continue;
        const Tensor x = RandomTensor(random, type, shape, prod ? 0.9 : 1, prod ? 1.1 : 5);
        const Values values = ToValues(x);
        const Shape output = WithAxis(shape, 2, 1);
        Values wanted = Fill(
            output, [&](const Index& at) { return reduction.reference(Line(x, values, at, 2)); });
        if (type == kInt32) {
          for (double& value : wanted) value = std::trunc(value);
        }
        ExpectClose(Run1(reduction.name, {x}, {type, output}, {{"axes", Ints{-1}}}), wanted, 8);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ReductionTest, ExtremesOfIntegersOfAnyWidth) {
  ForSeeds(60, [](std::mt19937& random) {
    const ElementType type = std::vector<ElementType>{kInt8,  kUint8,  kInt32, kUint32,
                                                      kInt64, kUint64, kBool}[random() % 7];
    const Shape shape = ManyLines(random);
    const bool is_signed = type == kInt8 || type == kInt32 || type == kInt64;
    const Tensor x = RandomTensor(random, type, shape, is_signed ? -128 : 0, 127);
    const Values values = ToValues(x);
    const Shape output = WithAxis(shape, 1, 1);
    const auto extreme = [&](auto better) {
      return Fill(output, [&](const Index& at) {
        const Values line = Line(x, values, at, 1);
        return *std::min_element(line.begin(), line.end(), better);
      });
    };
    EXPECT_EQ(ToValues(Run1("ReduceMax", {x}, {type, output}, {{"axes", Ints{1}}})),
              extreme(std::greater<>()));
    EXPECT_EQ(ToValues(Run1("ReduceMin", {x}, {type, output}, {{"axes", Ints{1}}})),
              extreme(std::less<>()));
  });
}

TEST(ReductionTest, WithoutAxesOnlyTheElementsAreMapped) {
  const Tensor x = FromValues(kFloat32, {2}, {-2, 4});
  const auto run = [&](const char* name) {
    return ToValues(Run1(name, {x}, x.type(), {{"noop_with_empty_axes", std::int64_t{1}}}));
  };
  EXPECT_EQ(run("ReduceSum"), (Values{-2, 4}));
  EXPECT_EQ(run("ReduceL1"), (Values{2, 4}));
  EXPECT_EQ(run("ReduceSumSquare"), (Values{4, 16}));
  EXPECT_EQ(run("ReduceMax"), (Values{-2, 4}));
  EXPECT_EQ(run("ReduceLogSumExp"), (Values{-2, 4}));
}

TEST(ReductionTest, ArgMaxAndArgMinOfAnyShapeAndNan) {
  ForSeeds(80, [](std::mt19937& random) {
    const bool lines = random() % 2 == 0;
    const Shape shape = lines ? ManyLines(random) : AnyShape(random, 1);
    const std::size_t axis = lines ? 1 : random() % shape.size();
    if (shape[axis] == 0) return;
    const ElementType type = std::vector<ElementType>{
        kFloat32, kInt16, kFloat16, kUint32, kFloat64, kBFloat16, kInt64, kInt32}[random() % 8];
    const Tensor x = IsFloat(type) ? RandomSpecials(random, type, shape, 0, 4)
                                   : RandomTensor(random, type, shape, 0, 4);
    const Values values = ToValues(x);
    const bool max = random() % 2 == 0;
    const bool last = random() % 2 == 0;
    const bool keep = random() % 2 == 0;
    // NaN is better than any number, and equal to itself.
    const auto key = [&](double value) {
      return std::isnan(value) ? kInf
             : max             ? std::clamp(value, -99.0, 99.0)
                               : -std::clamp(value, -99.0, 99.0);
    };
    const Shape kept = WithAxis(shape, axis, 1);
    const Values wanted = Fill(kept, [&](const Index& at) {
      const Values line = Line(x, values, at, axis);
      std::size_t best = 0;
      for (std::size_t i = 1; i < line.size(); ++i) {
        const bool better = key(line[i]) > key(line[best]);
        if (better || (last && key(line[i]) == key(line[best]))) best = i;
      }
      return static_cast<double>(best);
    });
    Shape output = kept;
    if (!keep) output.erase(output.begin() + static_cast<std::ptrdiff_t>(axis));
    EXPECT_EQ(ToValues(Run1(max ? "ArgMax" : "ArgMin", {x}, {kInt64, output},
                            {{"axis", EitherSign(random, axis, shape.size())},
                             {"keepdims", std::int64_t{keep}},
                             {"select_last_index", std::int64_t{last}}})),
              wanted);
  });
}

TEST(ReductionTest, RunningResultsOfAnyShape) {
  ForSeeds(100, [](std::mt19937& random) {
    const Shape shape = AnyShape(random, 1);
    const std::size_t axis = random() % shape.size();
    const ElementType type = std::vector<ElementType>{
        kFloat32, kFloat64, kFloat16, kBFloat16, kInt32, kInt64, kUint32, kUint64}[random() % 8];
    const bool product = shape[axis] <= 9 && random() % 2 == 0;  // within the range of every type
    const double most = product ? 2 : 9;
    const bool special = IsFloat(type) && random() % 2 == 0;
    const Tensor x = special ? RandomSpecials(random, type, shape, 0, most)
                             : RandomTensor(random, type, shape, 0, most);
    const Values values = ToValues(x);
    const bool exclusive = random() % 2 == 0;
    const bool reverse = random() % 2 == 0;
    const auto combine = [&](double a, double b) { return product ? a * b : a + b; };
    const Values wanted = Fill(shape, [&](const Index& at) {
      const Values line = Line(x, values, at, axis);
      const auto here = static_cast<std::size_t>(at[axis]);
      double result = product ? 1 : 0;
      for (std::size_t i = 0; i < line.size(); ++i) {
        const std::size_t place = reverse ? line.size() - 1 - i : i;
        const bool before = reverse ? place > here : place < here;
        if (before || (place == here && !exclusive)) result = combine(result, line[place]);
      }
      return result;
    });
    ExpectClose(Run1(product ? "CumProd" : "CumSum", {x}, x.type(),
                     {{"axis", Ints{EitherSign(random, axis, shape.size())}},
                      {"exclusive", std::int64_t{exclusive}},
                      {"reverse", std::int64_t{reverse}}}),
                wanted, 2);
  });
}

}  // namespace
}  // namespace poprt::kernels::testing
