#include "runtime/kernels/quantized/byte_conv2d.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/pack_byte_weights.hpp"
#include "runtime/kernels/quantized/requantizer.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

using testing::Draw;
using testing::ForSeeds;
using testing::Random;

constexpr ElementType kInt32 = ElementType::kInt32;
constexpr ElementType kFloat32 = ElementType::kFloat32;
constexpr ElementType kUint8 = ElementType::kUint8;

Tensor RandomBytes(std::mt19937& random, const TensorType& type) {
  Tensor tensor(type);
  // Now and then the bytes whose sums are largest.
  const bool is_extreme = random() % 4 == 0;
  const std::byte extreme{static_cast<unsigned char>(type.element == kUint8 ? 0xFF : 0x80)};
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    tensor.mutable_data()[i] = is_extreme ? extreme : static_cast<std::byte>(random());
  }
  return tensor;
}

template <typename T>
Tensor Filled(ElementType element, std::int64_t count, const std::function<T(std::size_t)>& value) {
  Tensor tensor({element, {count}});
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    tensor.as_mutable<T>()[i] = value(i);
  }
  return tensor;
}

/// A convolution by both ways.
struct Case {
  Tensor x;
  Tensor w;
  std::vector<float> w_scales;
  std::vector<std::int32_t> bias;
  float x_scale;
  float y_scale;
  std::int64_t x_point;
  std::int64_t y_point;
  TensorType y;
  Attributes attributes;  ///< of the operator

  std::int64_t group() const { return attributes.get_int("group", 1); }
  std::int64_t outs() const { return w.shape()[0]; }

  Tensor Wanted() const {
    const auto byte = [](std::int64_t value) {
      Tensor tensor({kUint8, {}});
      *tensor.mutable_data() = static_cast<std::byte>(value);
      return tensor;
    };
    const auto number = [](float value) {
      Tensor tensor({kFloat32, {}});
      tensor.as_mutable<float>()[0] = value;
      return tensor;
    };
    Tensor w_points({ElementType::kInt8, {outs()}});
    const std::vector<Tensor> inputs{
        x,
        number(x_scale),
        byte(x_point),
        w,
        Filled<float>(kFloat32, outs(), [&](std::size_t i) { return w_scales[i]; }),
        w_points,
        number(y_scale),
        byte(y_point),
        Filled<std::int32_t>(kInt32, outs(), [&](std::size_t i) { return bias[i]; })};
    return RunOnce("QLinearConv", inputs, {y}, attributes).front();
  }

  Tensor Blocked(const ByteMicroKernels& tiles, int threads) const {
    const Shape& s = x.shape();
    const TensorType in = BlockedImageType(s[0], s[1], s[2], s[3], kUint8);
    const Tensor image = RunOnce("block_channels", {x}, {in}, {}).front();
    if (group() > 1) {
      return Result(BindByteDepthwiseConv2d, image, PackByteDepthwiseWeights(w), tiles, threads);
    }
    return Result(BindByteConv2d, image, PackByteConvWeights(w), tiles, threads);
  }

  Tensor OfPlanes(const ByteMicroKernels& tiles, int threads) const {
    return Result(BindBytePlanesConv2d, x, PackBytePlanesWeights(w), tiles, threads);
  }

  Tensor Result(BoundKernel (*bind)(const KernelCall&, const ByteMicroKernels&),
                const Tensor& image, const Tensor& weights, const ByteMicroKernels& tiles,
                int threads) const {
    const TensorType out = BlockedImageType(y.shape[0], y.shape[1], y.shape[2], y.shape[3], kUint8);
    const std::int64_t lanes = out.shape[1] * out.shape[4];
    const auto of_channel = [&](std::size_t i, auto value) {
      return i < w_scales.size() ? value : decltype(value){};
    };
    const Tensor bases = Filled<std::int32_t>(
        kInt32, lanes, [&](std::size_t i) { return of_channel(i, i < bias.size() ? Base(i) : 0); });
    const Tensor factors = Filled<float>(kFloat32, lanes, [&](std::size_t i) -> float {
      if (i >= w_scales.size()) return 0;
      return static_cast<float>(kByteUnit * ProductFactor(kFloat32, x_scale, w_scales[i], y_scale));
    });
    Attributes blocked = attributes;
    blocked.set("in_channels", x.shape()[1]);
    blocked.set("out_channels", outs());
    blocked.set("kernel_shape", Ints{w.shape()[2], w.shape()[3]});
    blocked.set("x_point", x_point);
    blocked.set("y_point", y_point);
    const std::vector<Tensor> operands{image, weights, bases, factors};
    const Tensor result = testing::RunBound(bind(testing::CallOf(operands, out, blocked), tiles),
                                            operands, out, threads);
    return RunOnce("unblock_channels", {result}, {y}, {{"channels", outs()}}).front();
  }

  std::int32_t Base(std::size_t channel) const {
    const std::int64_t products = w.count() / outs();
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < products; ++i) {
      sum += w.as<std::int8_t>()[channel * static_cast<std::size_t>(products) +
                                 static_cast<std::size_t>(i)];
    }
    return static_cast<std::int32_t>(bias[channel] - x_point * sum);
  }
};

Case RandomCase(std::mt19937& random, bool has_few_planes = false) {
  const bool depthwise = !has_few_planes && random() % 3 == 0;
  // More blocks than any processor computes at once, now and then.
  const bool is_large = !depthwise && random() % 16 == 0;
  const std::int64_t ins = Draw(random, 1, has_few_planes ? kMostBytePlanes : is_large ? 120 : 40);
  const std::int64_t outs = depthwise ? ins : Draw(random, 1, is_large ? 300 : 50);
  const Ints kernel{Draw(random, 1, is_large ? 2 : 4), Draw(random, 1, is_large ? 2 : 6)};
  const Ints strides{Draw(random, 1, 3), Draw(random, 1, 3)};
  const Ints dilations = depthwise ? Ints{1, 1} : Ints{Draw(random, 1, 2), Draw(random, 1, 2)};
  const Ints pads{Draw(random, 0, 3), Draw(random, 0, 3), Draw(random, 0, 3), Draw(random, 0, 3)};
  const auto extent = [&](std::size_t axis) {
    const std::int64_t reach = (kernel[axis] - 1) * dilations[axis] + 1;
    return std::max<std::int64_t>(1, reach - pads[axis] - pads[axis + 2]) + Draw(random, 0, 14);
  };
  const Shape image{Draw(random, 1, 2), ins, extent(0), extent(1)};
  Case c{.x = RandomBytes(random, {kUint8, image}),
         .w = RandomBytes(random,
                          {ElementType::kInt8, {outs, depthwise ? 1 : ins, kernel[0], kernel[1]}}),
         .w_scales = {},
         .bias = {},
         .x_scale = 1,
         .y_scale = 1,
         .x_point = Draw(random, 0, 255),
         .y_point = Draw(random, 0, 255),
         .y = {},
         .attributes = {{"dilations", dilations},
                        {"group", depthwise ? ins : std::int64_t{1}},
                        {"pads", pads},
                        {"strides", strides}}};
  if (ins == 1) c.attributes.set("group", std::int64_t{1});
  const Window window = ResolveWindow(c.attributes, {image[2], image[3]}, kernel);
  const Shape extents = WindowOutputExtents(window, {image[2], image[3]}, false);
  c.y = {kUint8, {image[0], outs, extents[0], extents[1]}};
  // Powers of two make results that lie between two integers.
  const bool has_ties = random() % 2 == 0;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::int64_t o = 0; o < outs; ++o) {
    const auto any = static_cast<float>(Draw(random, 1, 4000)) / 1e6F;
    float scale =
        has_ties ? 1.0F / static_cast<float>(std::int64_t{1} << Draw(random, 0, 10)) : any;
    if (random() % 50 == 0) scale = std::numeric_limits<float>::quiet_NaN();
    if (random() % 50 == 0) scale = random() % 2 == 0 ? kInfinity : 1e30F;
    c.w_scales.push_back(scale);
    c.bias.push_back(static_cast<std::int32_t>(Draw(random, -9000, 9000)));
  }
  return c;
}

void ExpectSameBytes(const Tensor& found, const Tensor& wanted) {
  ASSERT_EQ(found.type(), wanted.type());
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    ASSERT_EQ(found.data()[i], wanted.data()[i]) << "element " << i << " of " << wanted.count();
  }
}

TEST(ByteConv2dTest, IsQLinearConvOfRandomSizes) {
  ForSeeds(200, [](std::mt19937& random) {
    const Case c = RandomCase(random);
    const Tensor wanted = c.Wanted();
    for (const ByteMicroKernels* tiles : SupportedByteMicroKernels()) {
      SCOPED_TRACE(tiles->name);
      for (const int threads : {1, 3}) ExpectSameBytes(c.Blocked(*tiles, threads), wanted);
    }
  });
}

TEST(ByteConv2dTest, IsQLinearConvOfFewPlanes) {
  ForSeeds(200, [](std::mt19937& random) {
    const Case c = RandomCase(random, true);
    const Tensor wanted = c.Wanted();
    for (const ByteMicroKernels* tiles : SupportedByteMicroKernels()) {
      SCOPED_TRACE(tiles->name);
      for (const int threads : {1, 3}) ExpectSameBytes(c.OfPlanes(*tiles, threads), wanted);
    }
  });
}

/// One pixel of one channel: the sum is x * w + base, which is chosen.
TEST(ByteConv2dTest, RoundsSumsOfAnySizeAsDoublesDo) {
  ForSeeds(300, [](std::mt19937& random) {
    const TensorType image = BlockedImageType(1, 1, 1, 1, kUint8);
    const Tensor x(image);
    const Tensor w = PackByteConvWeights(Tensor({ElementType::kInt8, {16, 1, 1, 1}}));
    const std::int64_t point = Draw(random, 0, 255);
    std::vector<double> sums;
    const Tensor bases = Filled<std::int32_t>(kInt32, 16, [&](std::size_t i) {
      const std::int64_t sum[] = {std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max(), (1 << 24) + 1,
                                  -(1 << 24) - 1,
                                  static_cast<std::int32_t>(random()) >> Draw(random, 0, 20)};
      sums.push_back(static_cast<double>(sum[std::min<std::size_t>(i, 4)]));
      return static_cast<std::int32_t>(sums.back());
    });
    std::vector<double> factors;
    const Tensor units = Filled<float>(kFloat32, 16, [&](std::size_t i) {
      // Results next to halfway between two integers.
      const double wanted = static_cast<double>(Draw(random, -2, 257) - point) + 0.5;
      float factor = static_cast<float>(wanted / sums[i]);
      if (random() % 2 == 0) factor = std::nextafter(factor, random() % 2 == 0 ? 1.0F : -1.0F);
      factors.push_back(static_cast<double>(factor));
      return factor * kByteUnit;
    });
    std::vector<std::byte> wanted(16);
    for (std::size_t i = 0; i < 16; ++i) {
      const double value = sums[i] * factors[i] + static_cast<double>(point);
      wanted[i] = static_cast<std::byte>(std::nearbyint(std::clamp(value, 0.0, 255.0)));
    }
    const Attributes attributes{{"in_channels", std::int64_t{1}},
                                {"kernel_shape", Ints{1, 1}},
                                {"out_channels", std::int64_t{16}},
                                {"x_point", std::int64_t{0}},
                                {"y_point", point}};
    for (const ByteMicroKernels* tiles : SupportedByteMicroKernels()) {
      SCOPED_TRACE(tiles->name);
      const std::vector<Tensor> operands{x, w, bases, units};
      const TensorType out = BlockedImageType(1, 16, 1, 1, kUint8);
      ExpectSameBytes(
          testing::RunBound(BindByteConv2d(testing::CallOf(operands, out, attributes), *tiles),
                            operands, out, 1),
          Tensor(out, wanted.data()));
    }
  });
}

TEST(ByteConv2dTest, LargeImagesAreCutIntoTasks) {
  ForSeeds(4, [](std::mt19937& random) {
    Case c = RandomCase(random);
    const bool depthwise = c.group() > 1;
    const std::int64_t channels = 64;
    c.x = RandomBytes(random, {kUint8, {1, channels, 61, 70}});
    c.w = RandomBytes(random, {ElementType::kInt8, {channels, depthwise ? 1 : channels, 3, 3}});
    c.attributes = {{"group", depthwise ? channels : 1}, {"pads", Ints{1, 1, 1, 1}}};
    c.w_scales.assign(static_cast<std::size_t>(channels), 0.002F);
    c.bias.assign(static_cast<std::size_t>(channels), 77);
    c.y = {kUint8, {1, channels, 61, 70}};
    const Tensor wanted = c.Wanted();
    for (const ByteMicroKernels* tiles : SupportedByteMicroKernels()) {
      SCOPED_TRACE(tiles->name);
      ExpectSameBytes(c.Blocked(*tiles, 2), wanted);
    }
  });
}

std::string ErrorOf(const KernelCall& call,
                    BoundKernel (*bind)(const KernelCall&,
                                        const ByteMicroKernels&) = BindByteConv2d) {
  try {
    bind(call, kPortableByteMicroKernels);
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

TEST(ByteConv2dTest, BindRejectsPlanesThatDoNotFit) {
  const auto error = [](std::int64_t channels, std::int64_t side, const Attributes& more = {}) {
    Attributes attributes{{"in_channels", channels},
                          {"kernel_shape", Ints{side, side}},
                          {"out_channels", std::int64_t{8}},
                          {"x_point", std::int64_t{0}},
                          {"y_point", std::int64_t{0}}};
    for (const auto& [name, value] : more.entries()) attributes.set(name, value);
    const std::int64_t out = 6 - side;
    return ErrorOf(
        {{{kUint8, {1, 3, 5, 5}}, PackedBytePlanesType(8, 4), {kInt32, {16}}, {kFloat32, {16}}},
         {BlockedImageType(1, 8, out, out, kUint8)},
         attributes},
        BindBytePlanesConv2d);
  };
  EXPECT_EQ(error(3, 2), "");
  EXPECT_EQ(error(2, 2), "input 0 has 3 channels; they must be in_channels, and at most 4");
  EXPECT_EQ(error(3, 3), "the weights, input 1, is int8[1, 4, 16, 4], expected int8[1, 9, 16, 4]");
  EXPECT_NE(error(3, 2, {{"kernel_shape", Ints{1 << 20, 1 << 20}}}), "");
  EXPECT_NE(error(3, 2, {{"pads", Ints{0, std::int64_t{1} << 40, 0, 0}}}), "");
}

TEST(ByteConv2dTest, BindRejectsWhatDoesNotFit) {
  const TensorType x = BlockedImageType(1, 20, 3, 4, kUint8);
  const TensorType y = BlockedImageType(1, 33, 3, 4, kUint8);
  const TensorType lanes{kInt32, {48}};
  const TensorType factors{kFloat32, {48}};
  const auto call = [&](const TensorType& w, const char* name = nullptr,
                        const AttributeValue& value = std::int64_t{0}) {
    Attributes attributes{{"in_channels", std::int64_t{20}},
                          {"kernel_shape", Ints{1, 1}},
                          {"out_channels", std::int64_t{33}},
                          {"x_point", std::int64_t{0}},
                          {"y_point", std::int64_t{255}}};
    if (name != nullptr) attributes.set(name, value);
    return KernelCall{{x, w, lanes, factors}, {y}, attributes};
  };
  const TensorType w = PackedByteConvType(33, 20, 1);
  EXPECT_EQ(ErrorOf(call(w)), "");
  EXPECT_EQ(ErrorOf(call(PackedByteConvType(33, 40, 1))),
            "the weights, input 1, is int8[3, 3, 1, 4, 16, 4], expected int8[3, 2, 1, 4, 16, 4]");
  EXPECT_EQ(ErrorOf(call(w, "y_point", std::int64_t{256})),
            "attribute 'y_point' is 256, allowed are 0 to 255");
  EXPECT_EQ(ErrorOf(call(w, "x_point", std::int64_t{-1})),
            "attribute 'x_point' is -1, allowed are 0 to 255");
  EXPECT_NE(ErrorOf(call(w, "in_channels", std::int64_t{1} << 60)), "");
  EXPECT_NE(ErrorOf(call(w, "kernel_shape", Ints{1 << 20, 1 << 20})), "");
  KernelCall floats = call(w);
  floats.inputs[0].element = kFloat32;
  EXPECT_EQ(ErrorOf(floats),
            "input 0 is float32[1, 2, 3, 4, 16], expected is a blocked image, "
            "uint8[batch, blocks, height, width, 16]");
  KernelCall few = call(w);
  few.inputs[2].shape = {33};
  EXPECT_NE(ErrorOf(few), "");
  EXPECT_EQ(ErrorOf(call(w), BindByteDepthwiseConv2d),
            "attributes 'in_channels' and 'out_channels' must be the same");
}

}  // namespace
}  // namespace poprt::kernels
