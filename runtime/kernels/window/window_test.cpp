#include "runtime/kernels/window/window.hpp"

#include <gtest/gtest.h>

#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {
namespace {

std::string Error(const Attributes& attributes, const Shape& input, const Ints& kernel) {
  try {
    WindowOutputExtents(ResolveWindow(attributes, input, kernel), input, false);
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

TEST(WindowTest, ComputesOutputExtents) {
  struct Case {
    Attributes attributes;
    Shape input;
    Ints kernel;
    bool ceil;
    Shape output;
    Ints pads_begin;
    Ints pads_end;
  };
  const std::vector<Case> cases{
      {{}, {7}, {3}, false, {5}, {0}, {0}},
      {{{"pads", Ints{1, 2, 3, 4}}}, {5, 5}, {3, 3}, false, {7, 9}, {1, 2}, {3, 4}},
      {{{"strides", Ints{2}}, {"dilations", Ints{2}}}, {10}, {3}, false, {3}, {0}, {0}},
      {{{"strides", Ints{2}}}, {4}, {3}, true, {2}, {0}, {0}},
      {{{"strides", Ints{2}}}, {4}, {3}, false, {1}, {0}, {0}},
      // The second window would start in the end padding.
      {{{"strides", Ints{3}}, {"pads", Ints{1, 1}}}, {2}, {3}, true, {1}, {1}, {1}},
      {{{"strides", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}},
       {5},
       {2},
       false,
       {3},
       {0},
       {1}},
      {{{"strides", Ints{2}}, {"auto_pad", std::string("SAME_LOWER")}},
       {5},
       {2},
       false,
       {3},
       {1},
       {0}},
      {{{"auto_pad", std::string("VALID")}, {"pads", Ints{9, 9}}}, {5}, {2}, false, {4}, {0}, {0}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = cases[i];
    const Window window = ResolveWindow(c.attributes, c.input, c.kernel);
    EXPECT_EQ(window.pads_begin, c.pads_begin);
    EXPECT_EQ(window.pads_end, c.pads_end);
    EXPECT_EQ(WindowOutputExtents(window, c.input, c.ceil), c.output);
  }
}

TEST(WindowTest, RefusesNonsense) {
  EXPECT_EQ(Error({{"strides", Ints{0}}}, {5}, {3}),
            "attribute 'strides' holds 0, allowed are 1 to 1073741823");
  EXPECT_EQ(Error({{"pads", Ints{-1, 0}}}, {5}, {3}),
            "attribute 'pads' holds -1, allowed are 0 to 1073741823");
  EXPECT_EQ(Error({{"pads", Ints{1}}}, {5}, {3}), "attribute 'pads' has 1 numbers, expected 2");
  EXPECT_EQ(Error({}, {5, 5}, {3}), "the window has 1 axes, the input has 2 spatial axes");
  EXPECT_EQ(Error({}, {5}, {0}), "the window's extent is 0, allowed are 1 to 1073741823");
  EXPECT_EQ(Error({{"dilations", Ints{std::int64_t{1} << 40}}}, {5}, {3}),
            "attribute 'dilations' holds 1099511627776, allowed are 1 to 1073741823");
  EXPECT_EQ(Error({}, {2}, {3}),
            "a window of 3 does not fit into 2, the padded input of spatial axis 0");
  EXPECT_EQ(Error({{"auto_pad", std::string("SAME")}}, {5}, {3}),
            "attribute 'auto_pad' is \"SAME\", allowed are NOTSET, VALID, SAME_UPPER, SAME_LOWER");
}

TEST(WindowTest, ResolvesTransposedWindows) {
  const auto extents = [](const Attributes& attributes, const Shape& input, const Ints& kernel) {
    return ResolveTransposedWindow(attributes, input, kernel).output;
  };
  EXPECT_EQ(extents({}, {3}, {3}), (Shape{5}));
  EXPECT_EQ(extents({{"strides", Ints{3}}, {"output_padding", Ints{1}}}, {3}, {3}), (Shape{10}));
  EXPECT_EQ(extents({{"strides", Ints{3}}, {"pads", Ints{1, 2}}}, {3}, {3}), (Shape{6}));
  EXPECT_EQ(extents({{"strides", Ints{3}}, {"auto_pad", std::string("SAME_UPPER")}}, {4}, {1}),
            Shape{10})
      << "windows leave gaps, also behind the last";
  EXPECT_EQ(extents({{"strides", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}}, {3}, {3}),
            (Shape{6}));
  const TransposedWindow window = ResolveTransposedWindow(
      {{"strides", Ints{2}}, {"output_shape", Ints{4}}, {"auto_pad", std::string("SAME_LOWER")}},
      {3}, {3});
  EXPECT_EQ(window.output, (Shape{4}));
  EXPECT_EQ(window.window.pads_begin, (Ints{2}));
  EXPECT_EQ(window.window.pads_end, (Ints{1}));
  EXPECT_THROW(extents({{"pads", Ints{4, 4}}}, {3}, {3}), KernelError);
}

}  // namespace
}  // namespace poprt::kernels
