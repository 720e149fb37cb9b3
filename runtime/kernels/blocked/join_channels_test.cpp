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
    Ints extents;
    Ints images;
    Ints first;
    Ints channels;
    // Of every channel of the result, where it comes from.
    std::vector<std::pair<std::size_t, std::int64_t>> sources;
    for (std::size_t i = 0, count = 1 + random() % 3; i < count; ++i) {
      extents.push_back(Draw(random, 1, 50));
      inputs.push_back(RandomTensor(random, ElementType::kFloat32,
                                    Blocked(batch, extents[i], height, width).shape, -1, 1));
      given.push_back(ToValues(inputs.back()));
    }
    const bool one_by_one = random() % 2 == 0;
    for (std::int64_t i = 0, count = Draw(random, 1, one_by_one ? 40 : 4); i < count; ++i) {
      const auto input = static_cast<std::size_t>(random() % inputs.size());
      const std::int64_t there = extents[input];
      images.push_back(static_cast<std::int64_t>(input));
      first.push_back(random() % 2 == 0 ? 0 : Draw(random, 0, static_cast<int>(there) - 1));
      channels.push_back(one_by_one ? 1 : Draw(random, 1, static_cast<int>(there - first.back())));
      for (std::int64_t c = 0; c < channels.back(); ++c) {
        sources.emplace_back(input, first.back() + c);
      }
    }
    const TensorType type =
        Blocked(batch, static_cast<std::int64_t>(sources.size()), height, width);
    const Values found =
        ToValues(Run1("join_channels", inputs, type,
                      {{"images", images}, {"first", first}, {"channels", channels}}));
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
                        const Ints& images, const Ints& first, const Ints& channels) {
    return BindError("join_channels", inputs, {output},
                     {{"images", images}, {"first", first}, {"channels", channels}});
  };
  const TensorType x = Blocked(1, 24, 2, 2);
  EXPECT_EQ(error({x, x}, Blocked(1, 48, 2, 2), {0, 1}, {0, 0}, {24, 24}), "");
  EXPECT_EQ(error({x}, Blocked(1, 2, 2, 2), {0, 0}, {23, 1}, {1, 1}), "");
  EXPECT_EQ(error({x, x}, Blocked(1, 48, 2, 2), {0, 1}, {0}, {24, 24}),
            "attributes 'images', 'first' and 'channels' have 2, 1 and 2 numbers, expected as many "
            "each");
  EXPECT_EQ(error({x}, Blocked(1, 24, 2, 2), {0}, {16}, {24}),
            "input 0 has 32 channels, which 24 from 16 on do not fit in");
  EXPECT_EQ(error({x}, Blocked(1, 24, 2, 2), {0}, {-1}, {24}),
            "input 0 has 32 channels, which 24 from -1 on do not fit in");
  for (const std::int64_t image : {-1, 1}) {
    EXPECT_EQ(error({x}, Blocked(1, 24, 2, 2), {image}, {0}, {24}),
              "attribute 'images' has " + std::to_string(image) + " for one of the 1 inputs");
  }
  EXPECT_EQ(error({x, Blocked(1, 24, 2, 3)}, Blocked(1, 48, 2, 2), {0, 1}, {0, 0}, {24, 24}),
            "input 1 is float32[1, 2, 2, 3, 16], expected float32[1, 2, 2, 2, 16]");
  EXPECT_EQ(error({x}, Blocked(1, 33, 2, 2), {0}, {0}, {24}),
            "output 0 is float32[1, 3, 2, 2, 16], expected float32[1, 2, 2, 2, 16]");
  EXPECT_NE(error({}, x, {}, {}, {}), "");
}

}  // namespace
}  // namespace poprt::kernels::testing
