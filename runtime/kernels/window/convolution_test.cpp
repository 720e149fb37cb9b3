#include "runtime/kernels/window/convolution.hpp"

#include <gtest/gtest.h>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};

/// A random call; the reference visits every (output, tap) pair of positions.
struct Random {
  std::size_t rank;
  bool is_large;  ///< of several blocks of channels or many groups
  std::int64_t groups, batch, in_group, out_group;
  ElementType type;
  Shape spatial;
  Ints kernel, strides, dilations, pads;

  explicit Random(std::mt19937& random)
      : rank(1 + random() % 4),
        is_large(rank < 3 && random() % 20 == 0),
        groups(is_large && random() % 2 == 0 ? 9 : Draw(random, 1, 3)),
        batch(Draw(random, random() % 16 == 0 ? 0 : 1, 2)),
        in_group(random() % 16 == 0 ? 0 : Draw(random, 1, 3)),
        out_group(random() % 16 == 0 ? 0
                                     : Draw(random, 1,
                                            is_large   ? 34
                                            : rank < 4 ? 6
                                                       : 2)),
        type(kTypes[random() % 4]),
        pads(2 * rank) {
    for (std::size_t i = 0; i < rank; ++i) {
      kernel.push_back(Draw(random, 1, rank < 4 ? 3 : 2));
      strides.push_back(Draw(random, 1, 3));
      dilations.push_back(Draw(random, 1, 2));
      // An empty extent takes as much padding as the longest window.
      const bool empty = random() % 20 == 0;
      pads[i] = empty ? 2 : Draw(random, 0, 3);
      pads[rank + i] = empty ? 3 : Draw(random, 0, 2);
      spatial.push_back(empty      ? 0
                        : is_large ? Draw(random, 20, rank == 1 ? 300 : 40)
                        : rank < 3 ? Draw(random, 5, 9)
                                   : Draw(random, 5, 6));
    }
  }

  Attributes attributes() const {
    return {{"group", groups},
            {"strides", strides},
            {"dilations", dilations},
            {"pads", pads},
            {"kernel_shape", kernel}};
  }
};

Shape Join(std::int64_t a, std::int64_t b, const Shape& rest) {
  Shape shape{a, b};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

/// Calls f(image, group, in channel, out channel, tap, near, far): far = near * stride + tap *
/// dilation - pad, for all `near` positions for which `far` lies inside `far_extents`.
template <typename F>
void ForTaps(const Random& r, const Shape& near_extents, const Shape& far_extents, const F& f) {
  ForEach({r.batch, r.groups, r.in_group, r.out_group}, [&](const Index& c) {
    ForEach(r.kernel, [&](const Index& tap) {
      ForEach(near_extents, [&](const Index& near) {
        Index far(near.size());
        for (std::size_t i = 0; i < near.size(); ++i) {
          far[i] = near[i] * r.strides[i] + tap[i] * r.dilations[i] - r.pads[i];
          if (far[i] < 0 || far[i] >= far_extents[i]) return;
        }
        f(c[0], c[1] * r.in_group + c[2], c[1] * r.out_group + c[3], c[2], c[3], tap, near, far);
      });
    });
  });
}

Values Biased(const Tensor& bias, const Shape& output) {
  const Values values = ToValues(bias);
  return Fill(output, [&](const Index& at) { return values[static_cast<std::size_t>(at[1])]; });
}

Tensor Data(std::mt19937& random, const Random& r) {
  return RandomOperand(random, r.type, Join(r.batch, r.groups * r.in_group, r.spatial), -1, 1);
}

TEST(ConvolutionTest, Convolves) {
  ForSeeds(80, [](std::mt19937& random) {
    const Random r(random);
    const Tensor data = Data(random, r);
    const Tensor weights =
        RandomTensor(random, r.type, Join(r.groups * r.out_group, r.in_group, r.kernel), -1, 1);
    const Tensor bias = RandomTensor(random, r.type, {r.groups * r.out_group}, -1, 1);
    const Shape extents =
        WindowOutputExtents(ResolveWindow(r.attributes(), r.spatial, r.kernel), r.spatial, false);
    const Shape output = Join(r.batch, r.groups * r.out_group, extents);
    const Values x = ToValues(data), w = ToValues(weights);
    Values wanted = Biased(bias, output);
    ForTaps(r, extents, r.spatial,
            [&](std::int64_t n, std::int64_t in, std::int64_t out, std::int64_t in_group,
                std::int64_t, const Index& tap, const Index& near, const Index& far) {
              wanted[Flat(output, Join(n, out, near))] +=
                  x[Flat(data.shape(), Join(n, in, far))] *
                  w[Flat(weights.shape(), Join(out, in_group, tap))];
            });
    ExpectClose(Run1("Conv", {data, weights, bias}, {r.type, output}, r.attributes()), wanted, 8,
                4);
  });
}

TEST(ConvolutionTest, ConvolvesTransposed) {
  ForSeeds(80, [](std::mt19937& random) {
    const Random r(random);
    const Tensor data = Data(random, r);
    const Tensor weights =
        RandomTensor(random, r.type, Join(r.groups * r.in_group, r.out_group, r.kernel), -1, 1);
    const Tensor bias = RandomTensor(random, r.type, {r.groups * r.out_group}, -1, 1);
    const Shape extents = ResolveTransposedWindow(r.attributes(), r.spatial, r.kernel).output;
    const Shape output = Join(r.batch, r.groups * r.out_group, extents);
    const Values x = ToValues(data), w = ToValues(weights);
    Values wanted = Biased(bias, output);
    ForTaps(r, r.spatial, extents,
            [&](std::int64_t n, std::int64_t in, std::int64_t out, std::int64_t,
                std::int64_t out_group, const Index& tap, const Index& near, const Index& far) {
              wanted[Flat(output, Join(n, out, far))] +=
                  x[Flat(data.shape(), Join(n, in, near))] *
                  w[Flat(weights.shape(), Join(in, out_group, tap))];
            });
    ExpectClose(Run1("ConvTranspose", {data, weights, bias}, {r.type, output}, r.attributes()),
                wanted, 8, 4);
  });
}

TEST(ConvolutionTest, KnownValuesWithoutBias) {
  const Tensor data = FromValues(kFloat32, {1, 1, 3}, {1, 2, 3});
  const Tensor weights = FromValues(kFloat32, {1, 1, 2}, {10, 1});
  EXPECT_EQ(ToValues(Run1("Conv", {data, weights}, {kFloat32, {1, 1, 3}},
                          {{"auto_pad", std::string("SAME_UPPER")}})),
            (Values{12, 23, 30}));
  EXPECT_EQ(ToValues(Run1("ConvTranspose", {data, weights}, {kFloat32, {1, 1, 7}},
                          {{"strides", Ints{2}}, {"output_padding", Ints{1}}})),
            (Values{10, 1, 20, 2, 30, 3, 0}));
}

TEST(ConvolutionTest, StridesMayLeadOutOfTheImage) {
  const Tensor data = FromValues(kFloat32, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor weights = FromValues(kFloat32, {1, 1, 2, 2}, {1000, 100, 10, 1});
  EXPECT_EQ(ToValues(Run1("Conv", {data, weights}, {kFloat32, {1, 1, 1, 1}},
                          {{"strides", Ints{1 << 29, (1 << 30) - 1}}})),
            (Values{1245}));
}

TEST(ConvolutionTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(BindError("Conv", {{kFloat32, {1, 4, 5}}, {kFloat32, {3, 4, 3}}},
                      {{kFloat32, {1, 3, 3}}}, {{"group", std::int64_t{2}}}),
            "weights float32[3, 4, 3] do not fit data float32[1, 4, 5] in 2 groups");
  EXPECT_EQ(
      BindError("Conv", {{kFloat32, {1, 4, 5}}, {kFloat32, {3, 4, 3}}}, {{kFloat32, {1, 3, 4}}}),
      "output 0 is float32[1, 3, 4], expected float32[1, 3, 3]");
  EXPECT_EQ(BindError("Conv", {{kFloat32, {1, 4, 5}}, {kFloat32, {3, 4, 3}}, {kFloat32, {4}}},
                      {{kFloat32, {1, 3, 3}}}),
            "input 2 is float32[4], expected float32[3]");
  EXPECT_EQ(BindError("ConvTranspose", {{kFloat32, {1, 4, 5}}, {kFloat32, {3, 4, 3}}},
                      {{kFloat32, {1, 3, 3}}}),
            "weights float32[3, 4, 3] do not fit data float32[1, 4, 5] in 1 groups");
  EXPECT_EQ(BindError("Conv", {{kFloat32, {1, 4, 5}}, {kFloat32, {3, 4, 3}}},
                      {{kFloat32, {1, 3, 3}}}, {{"kernel_shape", Ints{2}}}),
            "attribute 'kernel_shape' is [2], the weights have [3]");
}

}  // namespace
}  // namespace poprt::kernels::testing
