#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();

using Reference = std::function<double(const Values&)>;

double Fold(const Values& x, double start, const std::function<double(double, double)>& f) {
  for (const double value : x) start = f(start, value);
  return start;
}

const std::map<std::string, Reference>& References() {
  static const std::map<std::string, Reference> references{
      {"ReduceSum", [](const Values& x) { return Fold(x, 0, std::plus<>()); }},
      {"ReduceMean",
       [](const Values& x) { return Fold(x, 0, std::plus<>()) / static_cast<double>(x.size()); }},
      {"ReduceMax",
       [](const Values& x) {
         return Fold(x, -kInf, [](double a, double b) { return std::max(a, b); });
       }},
      {"ReduceMin",
       [](const Values& x) {
         return Fold(x, kInf, [](double a, double b) { return std::min(a, b); });
       }},
      {"ReduceProd", [](const Values& x) { return Fold(x, 1, std::multiplies<>()); }},
      {"ReduceL1",
       [](const Values& x) {
         return Fold(x, 0, [](double a, double b) { return a + std::fabs(b); });
       }},
      {"ReduceL2",
       [](const Values& x) {
         return std::sqrt(Fold(x, 0, [](double a, double b) { return a + b * b; }));
       }},
      {"ReduceLogSum", [](const Values& x) { return std::log(Fold(x, 0, std::plus<>())); }},
      {"ReduceLogSumExp",
       [](const Values& x) {
         return std::log(Fold(x, 0, [](double a, double b) { return a + std::exp(b); }));
       }},
      {"ReduceSumSquare",
       [](const Values& x) { return Fold(x, 0, [](double a, double b) { return a + b * b; }); }},
  };
  return references;
}

/// The elements behind every result, in row-major order of results.
std::vector<Values> Groups(const Tensor& x, const std::vector<bool>& mask) {
  const Values values = ToValues(x);
  const Shape& shape = x.shape();
  std::int64_t results = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) results *= mask[d] ? 1 : shape[d];
  std::vector<Values> groups(static_cast<std::size_t>(results));
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t group = 0;
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (!mask[d]) {
        group += rest % shape[d] * stride;
        stride *= shape[d];
      }
      rest /= shape[d];
    }
    groups[static_cast<std::size_t>(group)].push_back(values[i]);
  }
  return groups;
}

TEST(ReductionTest, MatchesDoubleOnRandomShapesAndAxes) {
  for (const auto& [name, reference] : References()) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      std::mt19937 random(seed);
      const ElementType type = std::vector<ElementType>{
          kFloat32, kFloat16, kFloat64, kBFloat16, kInt32, kUint64, kUint32, kInt64}[seed % 8];
      const Shape shape = AnyShape(random);
      const double high = name == "ReduceProd" ? 1.2 : 5;
      const double low =
          name == "ReduceLogSum" || type == kUint64 || type == kUint32 ? 1 : -high / 5;
      const Tensor x = RandomTensor(random, type, shape, low, high);
      std::vector<bool> mask(shape.size(), true);
      Attributes attributes;
      if (!shape.empty() && seed % 5 != 0) {
        Ints axes;
        for (std::size_t d = 0; d < shape.size(); ++d) {
          mask[d] = random() % 2 == 0;
          const auto axis = static_cast<std::int64_t>(d);
          const auto rank = static_cast<std::int64_t>(shape.size());
          if (mask[d]) axes.push_back(random() % 2 == 0 ? axis : axis - rank);
        }
        attributes.set("axes", axes);
        if (axes.empty()) attributes.set("noop_with_empty_axes", std::int64_t{1});
      }
      const bool keepdims = random() % 2 == 0;
      attributes.set("keepdims", std::int64_t{keepdims});
      Shape output;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (!mask[d]) {
          output.push_back(shape[d]);
        } else if (keepdims) {
          output.push_back(1);
        }
      }
      SCOPED_TRACE(name + " seed " + std::to_string(seed) + " " + ToString(x.type()));
      Values wanted;
      double scale = 1;
      for (const Values& group : Groups(x, mask)) {
        if (group.empty() && !IsFloat(type)) return;
        wanted.push_back(reference(group));
        if (!IsFloat(type)) wanted.back() = std::trunc(wanted.back());
        scale = std::max(scale, References().at("ReduceL1")(group));
      }
      const bool is_sum = name != "ReduceProd" && name != "ReduceMax" && name != "ReduceMin";
      ExpectClose(Run1(name, {x}, {type, output}, attributes), wanted, 4, is_sum ? scale : 0);
      if (HasFailure()) return;
    }
  }
}

TEST(ReductionTest, LargeSumsStayAccurate) {
  std::mt19937 random(1);
  for (const Shape& shape :
       {Shape{1, 1000003}, Shape{200003, 5}, Shape{20011, 1, 50}, Shape{5, 3, 70001}}) {
    const Tensor x = RandomTensor(random, kFloat32, shape, 0, 1);
    const double sum = References().at("ReduceSum")(ToValues(x));
    std::vector<bool> mask(shape.size(), true);
    mask.back() = shape.size() == 1;
    const Tensor all = Run1("ReduceSum", {x}, {kFloat32, {}}, {{"keepdims", std::int64_t{0}}});
    ExpectClose(all, {sum}, 4);
    Shape rows = shape;
    rows.front() = 1;
    Values wanted;
    for (const Values& group : Groups(x, [&] {
           std::vector<bool> first(shape.size(), false);
           first[0] = true;
           return first;
         }())) {
      wanted.push_back(References().at("ReduceSum")(group));
    }
    ExpectClose(Run1("ReduceSum", {x}, {kFloat32, rows}, {{"axes", Ints{0}}}), wanted, 4);
  }
}

TEST(ReductionTest, EmptyAndSpecialCases) {
  const Tensor empty({kFloat32, {2, 0, 3}});
  const Attributes axis1{{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}};
  const auto value = [&](const char* name) {
    return ToValues(Run1(name, {empty}, {kFloat32, {2, 3}}, axis1)).back();
  };
  EXPECT_EQ(value("ReduceSum"), 0);
  EXPECT_EQ(value("ReduceProd"), 1);
  EXPECT_EQ(value("ReduceMax"), -kInf);
  EXPECT_EQ(value("ReduceMin"), kInf);
  EXPECT_EQ(value("ReduceLogSumExp"), -kInf);
  EXPECT_TRUE(std::isnan(value("ReduceMean")));
  const Tensor flags = FromValues(kBool, {2, 2}, {0, 1, 0, 0});
  EXPECT_EQ(ToValues(Run1("ReduceMax", {flags}, {kBool, {2, 1}}, {{"axes", Ints{-1}}})),
            (Values{1, 0}));
  const Tensor large = FromValues(kFloat32, {2}, {1000, 1000});
  ExpectClose(Run1("ReduceLogSumExp", {large}, {kFloat32, {1}}), {1000 + std::log(2)}, 1);
  const Tensor infinite = FromValues(kFloat32, {2}, {-kInf, -kInf});
  ExpectClose(Run1("ReduceLogSumExp", {infinite}, {kFloat32, {1}}), {-kInf}, 1);
  const Tensor nan = FromValues(kFloat32, {3}, {1, std::nan(""), 3});
  ExpectClose(Run1("ReduceMax", {nan}, {kFloat32, {1}}), {std::nan("")}, 0);
}

TEST(ReductionTest, ArgMaxAndArgMin) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const ElementType type =
        std::vector<ElementType>{kFloat32, kInt8, kFloat16, kUint64, kFloat64}[seed % 5];
    const Shape shape = AnyShape(random, 1);
    const std::size_t axis = random() % shape.size();
    if (shape[axis] == 0) continue;
    const Tensor x = RandomTensor(random, type, shape, 0, 5);
    std::vector<bool> mask(shape.size(), false);
    mask[axis] = true;
    for (const bool largest : {false, true}) {
      for (const bool last : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " " + ToString(x.type()));
        Values wanted;
        for (const Values& group : Groups(x, mask)) {
          std::size_t best = 0;
          for (std::size_t i = 1; i < group.size(); ++i) {
            const bool better = largest ? group[i] > group[best] : group[i] < group[best];
            if (better || (last && group[i] == group[best])) best = i;
          }
          wanted.push_back(static_cast<double>(best));
        }
        Shape output = shape;
        output[axis] = 1;
        const Attributes attributes{{"axis", static_cast<std::int64_t>(axis)},
                                    {"select_last_index", std::int64_t{last}}};
        EXPECT_EQ(ToValues(Run1(largest ? "ArgMax" : "ArgMin", {x}, {kInt64, output}, attributes)),
                  wanted);
      }
    }
  }
  const Tensor nan = FromValues(kFloat32, {4}, {1, std::nan(""), 9, std::nan("")});
  EXPECT_EQ(ToValues(Run1("ArgMax", {nan}, {kInt64, {1}})), (Values{1}));
}

TEST(ReductionTest, CumSum) {
  const Tensor x = FromValues(kFloat64, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto run = [&](std::int64_t axis, std::int64_t exclusive, std::int64_t reverse) {
    return ToValues(Run1("CumSum", {x}, x.type(),
                         {{"axis", Ints{axis}}, {"exclusive", exclusive}, {"reverse", reverse}}));
  };
  EXPECT_EQ(run(0, 0, 0), (Values{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(run(1, 0, 0), (Values{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(run(-1, 1, 0), (Values{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(run(1, 0, 1), (Values{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(run(1, 1, 1), (Values{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(ToValues(Run1("CumSum", {FromValues(kInt32, {2}, {0x7FFFFFFF, 1})}, {kInt32, {2}},
                          {{"axis", std::int64_t{0}}})),
            (Values{0x7FFFFFFF, -0x1p31}));
}

TEST(ReductionTest, CumProd) {
  const Tensor x = FromValues(kInt32, {3}, {1, 2, 3});
  const auto run = [&](std::int64_t exclusive, std::int64_t reverse) {
    return ToValues(Run1("CumProd", {x}, x.type(),
                         {{"axis", Ints{0}}, {"exclusive", exclusive}, {"reverse", reverse}}));
  };
  EXPECT_EQ(run(0, 0), (Values{1, 2, 6}));
  EXPECT_EQ(run(1, 0), (Values{1, 1, 2}));
  EXPECT_EQ(run(0, 1), (Values{6, 6, 3}));
  EXPECT_EQ(run(1, 1), (Values{6, 3, 1}));
}

TEST(ReductionTest, BindErrors) {
  const TensorType f23{kFloat32, {2, 3}};
  EXPECT_EQ(BindError("ReduceSum", {f23}, {f23}),
            "output 0 is float32[2, 3], expected float32[1, 1]");
  EXPECT_EQ(BindError("ReduceSum", {f23}, {f23}, {{"axes", Ints{2}}}),
            "attribute 'axes' names axis 2 of a tensor of rank 2");
  EXPECT_EQ(BindError("ReduceSum", {f23}, {f23}, {{"axes", Ints{1, -1}}}),
            "attribute 'axes' names axis -1 twice");
  EXPECT_EQ(BindError("ReduceMax", {f23}, {f23}, {{"keepdims", std::int64_t{2}}}),
            "attribute 'keepdims' is 2, allowed are 0 and 1");
  EXPECT_EQ(BindError("ArgMax", {{kFloat32, {0, 3}}}, {{kInt64, {1, 3}}}),
            "input 0 is float32[0, 3], which has nothing to choose from");
  EXPECT_EQ(BindError("CumSum", {f23}, {f23}), "attribute 'axis' is missing");
  EXPECT_EQ(BindError("CumSum", {f23}, {f23}, {{"axis", Ints{0, 1}}}),
            "attribute 'axis' has 2 elements, expected one");
}

}  // namespace
}  // namespace poprt::kernels::testing
