#include "passes/lowering/fuse_pointwise_depthwise.hpp"

#include <gtest/gtest.h>

#include "passes/lowering/network_for_test.hpp"

namespace poprt::passes {
namespace {

TEST(FusePointwiseDepthwiseTest, LeavesOutTheImageBetween) {
  Network g;
  const auto x = g.Input("x", {2, 20, 9, 8});
  const auto a = g.Conv("a", x, 40, 1, 4, ir::kAbsent,
                        {{"activation", "clip"}, {"min", -0.5F}, {"max", 1.0F}});
  const auto b =
      g.Op("b", "FusedConv",
           {a, g.Constant("b_w", {40, 1, 3, 3}, Ramp(360)), g.Constant("b_bias", {40}, Ramp(40))},
           {2, 40, 5, 4},
           {{"activation", "relu"},
            {"group", std::int64_t{40}},
            {"pads", Ints(4, 1)},
            {"strides", Ints{2, 2}}});
  g.Output(g.Conv("c", b, 24));
  EXPECT_EQ(g.Blocked({"block_channels", "fuse_pointwise_depthwise"}),
            "BlockChannels:2 BlockedPointwiseDepthwise:3 BlockedConv:2 UnblockChannels:24");
}

TEST(FusePointwiseDepthwiseTest, LeavesImagesThatOthersUse) {
  Network g;
  const auto a = g.Conv("a", g.Input("x", {1, 16, 4, 4}), 32);
  g.Output(g.Conv("c", g.Conv("b", a, 32, 3, 32), 16, 1, 1, g.Conv("d", a, 16)));
  EXPECT_EQ(g.Blocked({"block_channels", "fuse_pointwise_depthwise"}),
            "BlockChannels:1 BlockedConv:2 BlockedConv:1 BlockedConv:2 BlockedConv:1 "
            "UnblockChannels:16");
  Network residual;
  const auto x = residual.Input("x", {1, 32, 4, 4});
  residual.Output(residual.Conv("b", residual.Conv("a", x, 32, 1, 1, x), 32, 3, 32));
  EXPECT_EQ(
      residual.Blocked({"block_channels", "fuse_pointwise_depthwise", "eliminate_duplicate_nodes"}),
      "BlockChannels:2 BlockedConv:2 BlockedConv:2 UnblockChannels:32");
  Network wide;
  const auto w = wide.Conv("a", wide.Input("x", {1, 16, 3, 2000}), 32);
  wide.Output(wide.Conv("b", w, 32, 3, 32));
  EXPECT_EQ(wide.Blocked({"block_channels", "fuse_pointwise_depthwise"}),
            "BlockChannels:1 BlockedConv:2 BlockedConv:2 UnblockChannels:32");
}

}  // namespace
}  // namespace poprt::passes
