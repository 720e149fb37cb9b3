#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "runtime/kernels/kernel_test_tensors.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

const std::vector<ElementType> kFloats{kFloat32, kFloat16, kFloat64, kBFloat16};

void SoftmaxReference(Values& line) {
  double sum = 0;
  const double maximum = *std::max_element(line.begin(), line.end());
  for (double& x : line) sum += x = std::exp(x - maximum);
  for (double& x : line) x /= sum;
}

void LogSoftmaxReference(Values& line) {
  SoftmaxReference(line);
  for (double& x : line) x = std::log(x);
}

void HardmaxReference(Values& line) {
  const auto best = std::max_element(line.begin(), line.end()) - line.begin();
  std::fill(line.begin(), line.end(), 0);
  line[static_cast<std::size_t>(best)] = 1;
}

void L2Reference(Values& line) {
  double sum = 0;
  for (const double x : line) sum += x * x;
  for (double& x : line) x /= std::sqrt(sum);
}

TEST(NormalizationTest, LinesMatchDouble) {
  const std::vector<std::pair<const char*, void (*)(Values&)>> cases{
      {"Softmax", SoftmaxReference},
      {"LogSoftmax", LogSoftmaxReference},
      {"Hardmax", HardmaxReference},
      {"LpNormalization", L2Reference}};
  for (const auto& [name, reference] : cases) {
    for (unsigned seed = 0; seed < 32; ++seed) {
      std::mt19937 random(seed);
      const ElementType type = kFloats[seed % 4];
      Shape shape = seed == 0   ? Shape{300, 2500}
                    : seed == 1 ? Shape{1, 16500, 2}
                                : RandomShape(random, 5);
      if (shape.empty()) shape = {1};
      const std::size_t axis = seed < 2 ? 1 : random() % shape.size();
      const Tensor x = RandomTensor(random, type, shape, -5, 5);
      SCOPED_TRACE(std::string(name) + " seed " + std::to_string(seed) + " " + ToString(x.type()));
      Values wanted = ToValues(x);
      const AxisSplit split = SplitAt(shape, axis);
      for (std::int64_t o = 0; o < split.outer && !wanted.empty(); ++o) {
        for (std::int64_t i = 0; i < split.inner; ++i) {
          const auto at = [&](std::int64_t k) {
            return static_cast<std::size_t>((o * split.length + k) * split.inner + i);
          };
          Values line;
          for (std::int64_t k = 0; k < split.length; ++k) line.push_back(wanted[at(k)]);
          reference(line);
          for (std::int64_t k = 0; k < split.length; ++k) {
            wanted[at(k)] = line[static_cast<std::size_t>(k)];
          }
        }
      }
      const auto negative =
          static_cast<std::int64_t>(axis) - static_cast<std::int64_t>(shape.size());
      const double scale = std::string_view(name) == "LogSoftmax" ? 1 : 0;
      ExpectClose(Run1(name, {x}, x.type(), {{"axis", negative}}), wanted, 8, scale);
      if (HasFailure()) return;
    }
  }
}

TEST(NormalizationTest, LinesOfSpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor masked = FromValues(kFloat32, {1, 3}, {0, -inf, 0});
  EXPECT_EQ(ToValues(Run1("Softmax", {masked}, masked.type())), (Values{0.5, 0, 0.5}));
  // In short lines and in long ones.
  for (const std::int64_t length : {4, 300}) {
    Values lines(static_cast<std::size_t>(2 * length), 1);
    Values wanted(lines.size(), 0);
    lines[2] = lines[3] = std::nan("");
    lines[static_cast<std::size_t>(length) + 1] = 2;
    wanted[2] = wanted[static_cast<std::size_t>(length) + 1] = 1;
    const Tensor x = FromValues(kFloat32, {2, length}, lines);
    EXPECT_EQ(ToValues(Run1("Hardmax", {x}, x.type())), wanted);
  }
  const Tensor zeros({kFloat32, {2, 2}});
  EXPECT_EQ(ToValues(Run1("LpNormalization", {zeros}, zeros.type())), (Values{0, 0, 0, 0}));
  const Tensor ones = FromValues(kFloat32, {2}, {-1, 3});
  EXPECT_EQ(ToValues(Run1("LpNormalization", {ones}, ones.type(), {{"p", std::int64_t{1}}})),
            (Values{-0.25, 0.75}));
}

/// Normalizes groups of elements: group(i) names the group of element i.
Values Normalized(const Values& x, const std::function<std::size_t(std::size_t)>& group,
                  double epsilon, bool centered = true, double offset = 0) {
  struct Sums {
    double count = 0, sum = 0, squares = 0;
  };
  std::vector<Sums> sums(x.size() + 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[group(i)].count += 1;
    sums[group(i)].sum += centered ? x[i] : 0;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    Sums& s = sums[group(i)];
    s.squares += std::pow(x[i] - s.sum / s.count, 2);
  }
  Values y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Sums& s = sums[group(i)];
    y.push_back((x[i] - s.sum / s.count) / (std::sqrt(s.squares / s.count + epsilon) + offset));
  }
  return y;
}

TEST(NormalizationTest, LayerAndRmsNormalization) {
  for (unsigned seed = 0; seed < 32; ++seed) {
    std::mt19937 random(seed);
    const ElementType type = kFloats[seed % 4];
    const Shape shape = seed < 4 ? Shape{70, 3, 770} : Shape{2, 3, 4, 5};
    const std::size_t axis = seed < 4 ? 2 : random() % 4;
    const Shape inner(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end());
    const auto length = static_cast<std::size_t>(ElementCount(inner));
    const Tensor x = RandomTensor(random, type, shape, 50, 60);
    const Tensor scale = RandomTensor(random, type, inner, 0.5, 2);
    const Tensor bias =
        RandomTensor(random, type, seed % 3 == 0 ? Shape{} : Shape{shape.back()}, -1, 1);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + ToString(x.type()));
    const auto group = [&](std::size_t i) { return i / length; };
    const Values s = ToValues(scale);
    const Values b = ToValues(bias);
    const Attributes attributes{{"axis", static_cast<std::int64_t>(axis)}, {"epsilon", 1e-3F}};

    Values wanted = Normalized(ToValues(x), group, 1e-3F);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = wanted[i] * s[i % length] +
                  b[BroadcastIndex(shape, bias.shape(), static_cast<std::int64_t>(i))];
    }
    Shape statistics(shape.size(), 1);
    std::copy_n(shape.begin(), axis, statistics.begin());
    const TensorType statistic{kFloat32, statistics};
    const auto results = RunOnce("LayerNormalization", {x, scale, bias},
                                 {x.type(), statistic, statistic}, attributes);
    ExpectClose(results[0], wanted, 60, 1);
    EXPECT_NEAR(ToValues(results[1])[0], 55, 5);
    EXPECT_GT(ToValues(results[2])[0], 0);

    wanted = Normalized(ToValues(x), group, 1e-3F, false);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] *= s[i % length];
    ExpectClose(Run1("RMSNormalization", {x, scale}, x.type(), attributes), wanted, 6);
    if (HasFailure()) return;
  }
}

TEST(NormalizationTest, ChannelNormalizations) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    std::mt19937 random(seed);
    const ElementType type = kFloats[seed % 4];
    const Shape shape = seed % 2 == 0 ? Shape{2, 6, 5, 7} : Shape{3, 4, 1300};
    const auto channels = static_cast<std::size_t>(shape[1]);
    const auto plane = static_cast<std::size_t>(ElementCount(shape)) / channels /
                       static_cast<std::size_t>(shape[0]);
    const Tensor x = RandomTensor(random, type, shape, -2, 2);
    const auto parameter = [&](double low, double high) {
      return RandomTensor(random, type, {shape[1]}, low, high);
    };
    const Tensor scale = parameter(0.5, 2);
    const Tensor bias = parameter(-1, 1);
    const Tensor mean = parameter(-1, 1);
    const Tensor variance = parameter(0.5, 2);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + ToString(x.type()));
    const Values xs = ToValues(x);
    const Values s = ToValues(scale);
    const Values b = ToValues(bias);
    const auto channel = [&](std::size_t i) { return i / plane % channels; };
    const auto scaled = [&](Values y) {
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = y[i] * s[channel(i)] + b[channel(i)];
      return y;
    };

    Values batch = xs;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      batch[i] = (xs[i] - ToValues(mean)[channel(i)]) /
                 std::sqrt(ToValues(variance)[channel(i)] + double{1e-5F});
    }
    ExpectClose(Run1("BatchNormalization", {x, scale, bias, mean, variance}, x.type()),
                scaled(batch), 6, 1);
    ExpectClose(Run1("InstanceNormalization", {x, scale, bias}, x.type()),
                scaled(Normalized(
                    xs, [&](std::size_t i) { return i / plane; }, 1e-5F)),
                8, 1);
    const std::size_t group = plane * channels / 2;
    ExpectClose(
        Run1("GroupNormalization", {x, scale, bias}, x.type(), {{"num_groups", std::int64_t{2}}}),
        scaled(Normalized(
            xs, [&](std::size_t i) { return i / group; }, 1e-5F)),
        8, 1);
    Ints axes{0, 2};
    if (shape.size() == 4) axes.push_back(-1);
    ExpectClose(Run1("MeanVarianceNormalization", {x}, x.type(), {{"axes", axes}}),
                Normalized(xs, channel, 0, true, 1e-9), 4, 1);

    for (const std::int64_t size : {1, 2, 3, 5}) {
      Values lrn = xs;
      for (std::size_t i = 0; i < xs.size(); ++i) {
        double squares = 0;
        const auto c = static_cast<std::int64_t>(channel(i));
        for (std::int64_t j = c - (size - 1) / 2; j <= c + size / 2; ++j) {
          if (j >= 0 && j < shape[1]) {
            const auto other =
                static_cast<std::int64_t>(i) + (j - c) * static_cast<std::int64_t>(plane);
            squares += std::pow(xs[static_cast<std::size_t>(other)], 2);
          }
        }
        lrn[i] /= std::pow(2 + 0.5 / static_cast<double>(size) * squares, 0.75);
      }
      ExpectClose(Run1("LRN", {x}, x.type(), {{"size", size}, {"alpha", 0.5F}, {"bias", 2.0F}}),
                  lrn, 4);
    }
    if (HasFailure()) return;
  }
}

TEST(NormalizationTest, EmptyTensors) {
  const Tensor x({kFloat32, {0, 3, 0}});
  const Tensor three({kFloat32, {3}});
  EXPECT_EQ(Run1("Softmax", {x}, x.type()).count(), 0);
  EXPECT_EQ(Run1("InstanceNormalization", {x, three, three}, x.type()).count(), 0);
  EXPECT_EQ(Run1("BatchNormalization", {x, three, three, three, three}, x.type()).count(), 0);
  EXPECT_EQ(Run1("LayerNormalization", {x, Tensor({kFloat32, {0}})}, x.type()).count(), 0);
  EXPECT_EQ(Run1("LRN", {x}, x.type(), {{"size", std::int64_t{3}}}).count(), 0);
  EXPECT_EQ(Run1("MeanVarianceNormalization", {x}, x.type(), {{"axes", Ints{0}}}).count(), 0);
}

TEST(NormalizationTest, BindErrors) {
  const TensorType x{kFloat32, {2, 3, 4}};
  const TensorType c{kFloat32, {3}};
  EXPECT_EQ(BindError("Softmax", {x}, {x}, {{"axis", std::int64_t{3}}}),
            "attribute 'axis' names axis 3 of a tensor of rank 3");
  EXPECT_EQ(BindError("Softmax", {{kInt32, {3}}}, {{kInt32, {3}}}),
            "input 0 is int32[3], allowed element types are float32, float16, float64, bfloat16");
  EXPECT_EQ(BindError("LayerNormalization", {x, c}, {x}),
            "input 1 is float32[3], which does not broadcast to [4]");
  EXPECT_EQ(BindError("BatchNormalization", {x, c, c, c, {kFloat32, {4}}}, {x}),
            "input 4 is float32[4], expected float32[3]");
  EXPECT_EQ(BindError("GroupNormalization", {x, c, c}, {x}, {{"num_groups", std::int64_t{2}}}),
            "attribute 'num_groups' is 2, which does not divide 3 channels");
  EXPECT_EQ(BindError("LRN", {x}, {x}), "attribute 'size' is missing");
  EXPECT_EQ(BindError("LpNormalization", {x}, {x}, {{"p", std::int64_t{3}}}),
            "attribute 'p' is 3, allowed are 1 and 2");
}

}  // namespace
}  // namespace poprt::kernels::testing
