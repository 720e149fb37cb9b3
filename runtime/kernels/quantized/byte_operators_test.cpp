#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/packed/packed_testing.hpp"
#include "runtime/kernels/quantized/add_bytes.hpp"
#include "runtime/kernels/quantized/best_byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/quantized_test_tensors.hpp"
#include "runtime/kernels/window/window.hpp"

/// "add_bytes" and "blocked_byte_max_pool".
namespace poprt::kernels::testing::quantized {
namespace {

constexpr ElementType kUint8 = ElementType::kUint8;
constexpr ElementType kFloat32 = ElementType::kFloat32;

TEST(AddBytesTest, IsTheSumOfWhatIsDequantised) {
  ForSeeds(60, [](std::mt19937& random) {
    const Shape shape = {Draw(random, 1, 5), Draw(random, 1, 300)};
    // Powers of two make sums that lie between two integers.
    const bool has_ties = random() % 2 == 0;
    Attributes attributes;
    const auto parameters = [&](const std::string& name) {
      const float scale = has_ties ? 1.0F / static_cast<float>(1 << (random() % 4))
                                   : static_cast<float>(Draw(random, 1, 900)) / 1000;
      const std::int64_t point = Draw(random, 0, 255);
      attributes.set(name + "_scale", scale);
      attributes.set(name + "_point", point);
      return std::vector<Tensor>{FromValues(kFloat32, {}, {static_cast<double>(scale)}),
                                 FromValues(kUint8, {}, {static_cast<double>(point)})};
    };
    std::vector<Tensor> operands;
    std::vector<Tensor> floats;
    for (const char* name : {"a", "b"}) {
      operands.push_back(RandomIntegers(random, kUint8, shape));
      std::vector<Tensor> inputs = parameters(name);
      inputs.insert(inputs.begin(), operands.back());
      floats.push_back(Run1("DequantizeLinear", inputs, {kFloat32, shape}));
    }
    std::vector<Tensor> inputs = parameters("y");
    inputs.insert(inputs.begin(), Run1("Add", floats, {kFloat32, shape}));
    const Tensor wanted = Run1("QuantizeLinear", inputs, {kUint8, shape});
    const TensorType type{kUint8, shape};
    for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
      SCOPED_TRACE(kernels->name);
      const BoundKernel add = BindAddBytes(testing::CallOf(operands, type, attributes), *kernels);
      EXPECT_EQ(testing::RunBound(add, operands, type, 1), wanted);
    }
  });
}

/// Of all pairs of bytes those that lie between two results are among them.
TEST(AddBytesTest, EveryPairIsRoundedAsInSteps) {
  ForSeeds(12, [](std::mt19937& random) {
    const TensorType type{kUint8, {256, 256}};
    Tensor left(type);
    Tensor right(type);
    for (std::size_t i = 0; i < 256 * 256; ++i) {
      left.as_mutable<std::uint8_t>()[i] = static_cast<std::uint8_t>(i / 256);
      right.as_mutable<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
    }
    const std::vector<Tensor> operands{left, right};
    Attributes attributes;
    // Now and then what is dequantised is infinite, or has fewer bits.
    const float unit = random() % 3 != 0 ? 1e-3F : random() % 2 == 0 ? 3.4e35F : 1e-42F;
    for (const char* name : {"a", "b", "y"}) {
      attributes.set(std::string(name) + "_scale",
                     static_cast<float>(Draw(random, 500, 999)) * unit);
      attributes.set(std::string(name) + "_point", Draw(random, 0, 255));
    }
    const auto sums = [&](const ByteMicroKernels& kernels) {
      return testing::RunBound(BindAddBytes(testing::CallOf(operands, type, attributes), kernels),
                               operands, type, 1);
    };
    const Tensor wanted = sums(kPortableByteMicroKernels);
    for (const ByteMicroKernels* kernels : SupportedByteMicroKernels()) {
      SCOPED_TRACE(kernels->name);
      EXPECT_EQ(sums(*kernels), wanted);
    }
  });
}

TEST(AddBytesTest, WritesOverItsOperands) {
  const TensorType type{kUint8, {1000}};
  const BoundKernel kernel = BindAddBytes({{type, type},
                                           {type},
                                           {{"a_scale", 0.5F},
                                            {"a_point", std::int64_t{3}},
                                            {"b_scale", 0.25F},
                                            {"b_point", std::int64_t{9}},
                                            {"y_scale", 0.75F},
                                            {"y_point", std::int64_t{1}}}},
                                          BestByteMicroKernels());
  ThreadPool pool(2);
  std::mt19937 random(1);
  const Tensor a = RandomIntegers(random, kUint8, type.shape);
  const Tensor b = RandomIntegers(random, kUint8, type.shape);
  const auto run = [&](const std::byte* left, const std::byte* right, std::byte* to) {
    const std::array<const std::byte*, 2> inputs{left, right};
    const std::array<std::byte*, 1> outputs{to};
    kernel.run({.inputs = inputs, .outputs = outputs, .pool = &pool});
  };
  Tensor wanted(type);
  run(a.data(), b.data(), wanted.mutable_data());
  Tensor left(type, a.data());
  run(left.mutable_data(), b.data(), left.mutable_data());
  EXPECT_EQ(left, wanted);
  Tensor right(type, b.data());
  run(a.data(), right.mutable_data(), right.mutable_data());
  EXPECT_EQ(right, wanted);
}

TEST(AddBytesTest, BindErrors) {
  const TensorType type{kUint8, {2, 3}};
  const auto attributes = [](float scale, std::int64_t point) {
    return Attributes{{"a_scale", 1.0F},  {"a_point", std::int64_t{0}},
                      {"b_scale", scale}, {"b_point", std::int64_t{9}},
                      {"y_scale", 1.0F},  {"y_point", point}};
  };
  EXPECT_EQ(BindError("add_bytes", {type, type}, {type}, attributes(1, 255)), "");
  EXPECT_EQ(BindError("add_bytes", {type, type}, {type}, attributes(0, 255)),
            "attribute 'b_scale' must be a positive number");
  EXPECT_EQ(BindError("add_bytes", {type, type}, {type}, attributes(1, 256)),
            "attribute 'y_point' is 256, allowed are 0 to 255");
  EXPECT_NE(BindError("add_bytes", {type, {kUint8, {3}}}, {type}, attributes(1, 0)), "");
  EXPECT_NE(BindError("add_bytes", {type, type}, {{kFloat32, {2, 3}}}, attributes(1, 0)), "");
}

TEST(ByteMaxPoolTest, IsMaxPoolOfRandomSizes) {
  ForSeeds(60, [](std::mt19937& random) {
    const Ints kernel{Draw(random, 1, 4), Draw(random, 1, 4)};
    const auto pad = [&](std::size_t axis) { return Draw(random, 0, kernel[axis] - 1); };
    const Attributes attributes{{"ceil_mode", static_cast<std::int64_t>(random() % 2)},
                                {"dilations", Ints{Draw(random, 1, 2), Draw(random, 1, 2)}},
                                {"kernel_shape", kernel},
                                {"pads", Ints{pad(0), pad(1), pad(0), pad(1)}},
                                {"strides", Ints{Draw(random, 1, 3), Draw(random, 1, 3)}}};
    const std::int64_t channels = Draw(random, 1, 40);
    const Shape image{Draw(random, 1, 2), channels, Draw(random, 7, 20), Draw(random, 7, 20)};
    const Window window = ResolveWindow(attributes, {image[2], image[3]}, kernel);
    const Shape extents =
        WindowOutputExtents(window, {image[2], image[3]}, attributes.get_int("ceil_mode", 0) != 0);
    const TensorType y{kUint8, {image[0], channels, extents[0], extents[1]}};
    const Tensor x = RandomIntegers(random, kUint8, image);
    const TensorType in = BlockedImageType(image[0], channels, image[2], image[3], kUint8);
    const TensorType out = BlockedImageType(image[0], channels, extents[0], extents[1], kUint8);
    const Tensor pooled =
        Run1("blocked_byte_max_pool", {Run1("block_channels", {x}, in)}, out, attributes);
    EXPECT_EQ(Run1("unblock_channels", {pooled}, y, {{"channels", channels}}),
              Run1("MaxPool", {x}, y, attributes));
  });
}

}  // namespace
}  // namespace poprt::kernels::testing::quantized
