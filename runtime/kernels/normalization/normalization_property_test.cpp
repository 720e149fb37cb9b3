#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

/// Normalizations of random shapes of any rank, with empty extents, NaN and infinities.
namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};

// ---- Along one axis ---------------------------------------------------------------------------

void Softmax(Values& line) {
  double most = -std::numeric_limits<double>::infinity();
  for (const double x : line) most = x > most ? x : most;
  double sum = 0;
  for (double& x : line) sum += x = std::exp(x - most);
  for (double& x : line) x /= sum;
}

void LogSoftmax(Values& line) {
  Softmax(line);
  for (double& x : line) x = std::log(x);
}

void Hardmax(Values& line) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < line.size(); ++i) best = line[i] > line[best] ? i : best;
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = double(i == best);
}

void Norm(Values& line) {
  double squares = 0;
  for (const double x : line) squares += x * x;
  if (squares == 0) return;
  for (double& x : line) x /= std::sqrt(squares);
}

TEST(NormalizationTest, LinesOfAnyShapeWithNan) {
  const std::vector<std::pair<const char*, void (*)(Values&)>> cases{{"Softmax", Softmax},
                                                                     {"LogSoftmax", LogSoftmax},
                                                                     {"Hardmax", Hardmax},
                                                                     {"LpNormalization", Norm}};
  for (const auto& [name, reference] : cases) {
    SCOPED_TRACE(name);
    const bool hardmax = std::string_view(name) == "Hardmax";
    ForSeeds(40, [&, reference = reference, name = name](std::mt19937& random) {
      const bool lines = random() % 2 == 0;
      const Shape shape = lines ? ManyLines(random) : AnyShape(random, 1);
      const std::size_t axis = lines ? 1 : random() % shape.size();
      const ElementType type = kTypes[random() % 4];
      // Where the largest element is NaN, Hardmax is not defined.
      const Tensor x = hardmax ? RandomTensor(random, type, shape, 0, 4)
                               : RandomSpecials(random, type, shape, 0, 4);
      const Values values = ToValues(x);
      const Values wanted = Fill(shape, [&](Index at) {
        const auto here = static_cast<std::size_t>(at[axis]);
        Values line;
        for (at[axis] = 0; at[axis] < shape[axis]; ++at[axis]) {
          line.push_back(values[Flat(shape, at)]);
        }
        reference(line);
        return line[here];
      });
      ExpectClose(Run1(name, {x}, x.type(), {{"axis", EitherSign(random, axis, shape.size())}}),
                  wanted, 8, 1);
    });
  }
}

// ---- Of groups --------------------------------------------------------------------------------

/// Whole numbers, so that a group of equal elements has no variance at all.
Tensor Whole(std::mt19937& random, ElementType type, const Shape& shape) {
  Values values = ToValues(RandomTensor(random, kFloat32, shape, 0, 9));
  for (double& value : values) value = std::trunc(value);
  return FromValues(type, shape, values);
}

/// (x - mean) / (sqrt(variance + epsilon) + offset) of the elements that `group` gives the same
/// position.
template <typename F>
Values Normalized(const Tensor& x, double epsilon, const F& group, double offset = 0) {
  struct Sums {
    double count = 0, sum = 0, squares = 0;
  };
  const Values values = ToValues(x);
  std::vector<Sums> sums(values.size() + 1);
  ForEach(x.shape(), [&](const Index& at) {
    Sums& s = sums[group(at)];
    const double value = values[Flat(x.shape(), at)];
    s.count += 1;
    s.sum += value;
    s.squares += value * value;
  });
  return Fill(x.shape(), [&](const Index& at) {
    const Sums& s = sums[group(at)];
    const double mean = s.sum / s.count;
    return (values[Flat(x.shape(), at)] - mean) /
           (std::sqrt(s.squares / s.count - mean * mean + epsilon) + offset);
  });
}

double Ulps(ElementType type) { return type == kFloat16 || type == kBFloat16 ? 3 : 200; }

TEST(NormalizationTest, LayersOfAnyShape) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = AnyShape(random, 1);
    const std::size_t axis = random() % shape.size();
    const ElementType type = kTypes[random() % 4];
    const Tensor x = Whole(random, type, shape);
    const Shape inner(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end());
    const Tensor scale = Whole(random, type, inner);
    const Tensor bias = Whole(random, type, inner);
    const Values s = ToValues(scale), b = ToValues(bias);
    const auto length = static_cast<std::size_t>(ElementCount(inner));
    Values wanted = Normalized(x, 1e-5F, [&](const Index& at) { return Flat(shape, at) / length; });
    Values unscaled_root = ToValues(x);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = wanted[i] * s[i % length] + b[i % length];
    }
    const Attributes attributes{{"axis", EitherSign(random, axis, shape.size())}};
    ExpectClose(Run1("LayerNormalization", {x, scale, bias}, x.type(), attributes), wanted,
                Ulps(type), 9);
    for (std::size_t begin = 0; begin < unscaled_root.size(); begin += length) {
      double squares = 0;
      for (std::size_t i = begin; i < begin + length; ++i) {
        squares += unscaled_root[i] * unscaled_root[i];
      }
      for (std::size_t i = begin; i < begin + length; ++i) {
        unscaled_root[i] *=
            s[i - begin] / std::sqrt(squares / static_cast<double>(length) + double{1e-5F});
      }
    }
    ExpectClose(Run1("RMSNormalization", {x, scale}, x.type(), attributes), unscaled_root,
                Ulps(type), 9);
  });
}

TEST(NormalizationTest, ChannelsOfAnyShape) {
  ForSeeds(60, [](std::mt19937& random) {
    Shape shape = AnyShape(random, 2);
    const std::int64_t groups = Draw(random, 1, 3);
    shape[1] *= groups;
    const ElementType type = kTypes[random() % 4];
    const Tensor x = Whole(random, type, shape);
    const Shape channels{shape[1]};
    const Tensor scale = Whole(random, type, channels), bias = Whole(random, type, channels);
    const Values s = ToValues(scale), b = ToValues(bias);
    const auto scaled = [&](Values y) {
      std::size_t i = 0;
      ForEach(shape, [&](const Index& at) {
        const auto channel = static_cast<std::size_t>(at[1]);
        y[i] = y[i] * s[channel] + b[channel];
        ++i;
      });
      return y;
    };
    const auto pair = [&](const Index& at, std::int64_t per) {
      return static_cast<std::size_t>(at[0] * shape[1] + at[1] / per);
    };
    ExpectClose(Run1("InstanceNormalization", {x, scale, bias}, x.type()),
                scaled(Normalized(x, 1e-5F, [&](const Index& at) { return pair(at, 1); })),
                Ulps(type), 9);
    const std::int64_t per_group = std::max<std::int64_t>(1, shape[1] / groups);
    ExpectClose(Run1("GroupNormalization", {x, scale, bias}, x.type(), {{"num_groups", groups}}),
                scaled(Normalized(x, 1e-5F, [&](const Index& at) { return pair(at, per_group); })),
                Ulps(type), 9);

    const Tensor mean = Whole(random, type, channels);
    const Tensor variance = RandomTensor(random, type, channels, 0.5, 4);
    const Values m = ToValues(mean), v = ToValues(variance), values = ToValues(x);
    ExpectClose(Run1("BatchNormalization", {x, scale, bias, mean, variance}, x.type()),
                scaled(Fill(shape,
                            [&](const Index& at) {
                              const auto channel = static_cast<std::size_t>(at[1]);
                              return (values[Flat(shape, at)] - m[channel]) /
                                     std::sqrt(v[channel] + double{1e-5F});
                            })),
                Ulps(type), 81);

    const std::int64_t size = Draw(random, 1, 5);
    ExpectClose(Run1("LRN", {x}, x.type(), {{"size", size}, {"alpha", 0.5F}}),
                Fill(shape,
                     [&](Index at) {
                       const double value = values[Flat(shape, at)];
                       const std::int64_t first = std::max<std::int64_t>(0, at[1] - (size - 1) / 2);
                       const std::int64_t last = std::min(shape[1] - 1, at[1] + size / 2);
                       double squares = 0;
                       for (at[1] = first; at[1] <= last; ++at[1]) {
                         squares += std::pow(values[Flat(shape, at)], 2);
                       }
                       return value / std::pow(1 + 0.5 / static_cast<double>(size) * squares, 0.75);
                     }),
                8);
  });
}

TEST(NormalizationTest, MeanAndVarianceOverAnyAxes) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = AnyShape(random, 1);
    const ElementType type = kTypes[random() % 4];
    const Tensor x = Whole(random, type, shape);
    Ints axes;
    std::vector<bool> reduced(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      reduced[d] = random() % 2 == 0;
      if (reduced[d]) axes.push_back(EitherSign(random, d, shape.size()));
    }
    if (axes.empty()) return;
    const auto group = [&](Index at) {
      for (std::size_t d = 0; d < at.size(); ++d) at[d] = reduced[d] ? 0 : at[d];
      return Flat(shape, at);
    };
    const Values wanted = Normalized(x, 0, group, 1e-9);
    ExpectClose(Run1("MeanVarianceNormalization", {x}, x.type(), {{"axes", axes}}), wanted,
                Ulps(type), 9);
  });
}

}  // namespace
}  // namespace poprt::kernels::testing
