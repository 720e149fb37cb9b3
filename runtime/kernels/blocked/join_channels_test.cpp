#include <vector>

#include "runtime/kernels/blocked/blocked_testing.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

TensorType Blocked(std::int64_t batch, std::int64_t channels, std::int64_t height,
                   std::int64_t width) {
  return BlockedImageType(batch, channels, height, width);
}

TEST(JoinChannelsTest, TakesChannelsInTheirOrder) {
  ForSeeds(60, [](std::mt19937& random) {
    const std::int64_t batch = Draw(random, 1, 2);
    const std::int64_t height = Draw(random, 1, 3);
    const std::int64_t width = random() % 8 == 0 ? 400 : Draw(random, 1, 5);
    std::vector<Tensor> inputs;
    std::vector<Values> given;
    Ints first;
    Ints channels;
    // Of every channel of the result, where it comes from.
    std::vector<std::pair<std::size_t, std::int64_t>> sources;
    for (std::size_t i = 0, count = 1 + random() % 3; i < count; ++i) {
      const std::int64_t there = Draw(random, 1, 50);
      first.push_back(random() % 2 == 0 ? 0 : Draw(random, 0, static_cast<int>(there) - 1));
      channels.push_back(Draw(random, 1, static_cast<int>(there - first[i])));
      inputs.push_back(RandomTensor(random, ElementType::kFloat32,
                                    Blocked(batch, there, height, width).shape, -1, 1));
      given.push_back(ToValues(inputs.back()));
      for (std::int64_t c = 0; c < channels[i]; ++c) sources.emplace_back(i, first[i] + c);
    }
    const TensorType type =
        Blocked(batch, static_cast<std::int64_t>(sources.size()), height, width);
    const Values found =
        ToValues(Run1("join_channels", inputs, type, {{"first", first}, {"channels", channels}}));
    for (std::size_t k = 0; k < found.size(); ++k) {
      BlockedPosition at = BlockedPosition::Of(static_cast<std::int64_t>(k), type.shape);
      double wanted = 0;  // behind the channels
      if (at.channel < static_cast<std::int64_t>(sources.size())) {
        const auto [input, channel] = sources[static_cast<std::size_t>(at.channel)];
        at.channel = channel;
        wanted = given[input][at.In(inputs[input].shape())];
      }
      ASSERT_EQ(found[k], wanted) << "element " << k;
    }
  });
}

TEST(JoinChannelsTest, RefusesWhatDoesNotFit) {
  const auto error = [](const std::vector<TensorType>& inputs, const TensorType& output,
                        const Ints& first, const Ints& channels) {
    return BindError("join_channels", inputs, {output}, {{"first", first}, {"channels", channels}});
  };
  const TensorType x = Blocked(1, 24, 2, 2);
  EXPECT_EQ(error({x, x}, Blocked(1, 48, 2, 2), {0, 0}, {24, 24}), "");
  EXPECT_EQ(error({x, x}, Blocked(1, 48, 2, 2), {0}, {24, 24}),
            "attributes 'first' and 'channels' need a number for each of the 2 inputs");
  EXPECT_EQ(error({x}, Blocked(1, 24, 2, 2), {16}, {24}),
            "input 0 has 32 channels, which 24 from 16 on do not fit in");
  EXPECT_EQ(error({x}, Blocked(1, 24, 2, 2), {-1}, {24}),
            "input 0 has 32 channels, which 24 from -1 on do not fit in");
  EXPECT_EQ(error({x, Blocked(1, 24, 2, 3)}, Blocked(1, 48, 2, 2), {0, 0}, {24, 24}),
            "input 1 is float32[1, 2, 2, 3, 16], expected float32[1, 2, 2, 2, 16]");
  EXPECT_EQ(error({x}, Blocked(1, 33, 2, 2), {0}, {24}),
            "output 0 is float32[1, 3, 2, 2, 16], expected float32[1, 2, 2, 2, 16]");
  EXPECT_NE(error({}, x, {}, {}), "");
}

}  // namespace
}  // namespace poprt::kernels::testing
