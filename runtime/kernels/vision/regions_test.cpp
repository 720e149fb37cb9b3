// RoiAlign and MaxRoiPool.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

struct AlignOptions {
  std::int64_t height, width, ratio;
  double scale;
  bool half_pixel, maximum;
};

/// NaN is larger than all numbers.
double Larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// The weighted pixels of one sample; all zero outside.
Values Corners(const Values& x, std::size_t plane, double height, double width, double py,
               double px) {
  if (py < -1 || py > height || px < -1 || px > width) return {0, 0, 0, 0};
  py = std::fmax(py, 0);
  px = std::fmax(px, 0);
  double y0 = std::floor(py), x0 = std::floor(px), y1 = y0 + 1, x1 = x0 + 1;
  if (y0 >= height - 1) py = y0 = y1 = height - 1;
  if (x0 >= width - 1) px = x0 = x1 = width - 1;
  const double ty = py - y0, tx = px - x0;
  const auto at = [&](double row, double column) {
    return x[plane + static_cast<std::size_t>(row * width + column)];
  };
  return {(1 - ty) * (1 - tx) * at(y0, x0), (1 - ty) * tx * at(y0, x1), ty * (1 - tx) * at(y1, x0),
          ty * tx * at(y1, x1)};
}

Values AlignReference(const Tensor& data, const Tensor& regions, const Tensor& images,
                      const AlignOptions& o) {
  const Values x = ToValues(data), r = ToValues(regions), batch = ToValues(images);
  const auto height = static_cast<double>(data.shape()[2]);
  const auto width = static_cast<double>(data.shape()[3]);
  const double offset = o.half_pixel ? 0.5 : 0;
  Values result;
  for (std::size_t n = 0; n < batch.size(); ++n) {
    const double x0 = r[n * 4] * o.scale - offset, y0 = r[n * 4 + 1] * o.scale - offset;
    double w = r[n * 4 + 2] * o.scale - offset - x0, h = r[n * 4 + 3] * o.scale - offset - y0;
    if (!o.half_pixel) w = std::fmax(w, 1), h = std::fmax(h, 1);
    if (!std::isfinite(x0 + y0 + w + h)) {
      // Such a region covers nothing.
      result.resize(result.size() + static_cast<std::size_t>(data.shape()[1] * o.height * o.width));
      continue;
    }
    const double bin_h = h / static_cast<double>(o.height);
    const double bin_w = w / static_cast<double>(o.width);
    const double rows = o.ratio > 0 ? static_cast<double>(o.ratio) : std::fmax(std::ceil(bin_h), 0);
    const double columns =
        o.ratio > 0 ? static_cast<double>(o.ratio) : std::fmax(std::ceil(bin_w), 0);
    for (std::int64_t c = 0; c < data.shape()[1]; ++c) {
      const auto plane = static_cast<std::size_t>(
          (batch[n] * static_cast<double>(data.shape()[1]) + static_cast<double>(c)) * height *
          width);
      for (std::int64_t i = 0; i < o.height; ++i) {
        for (std::int64_t j = 0; j < o.width; ++j) {
          double sum = 0, most = -std::numeric_limits<double>::infinity();
          for (double a = 0; a < rows; ++a) {
            for (double b = 0; b < columns; ++b) {
              const double py = y0 + static_cast<double>(i) * bin_h + (a + 0.5) * bin_h / rows;
              const double px = x0 + static_cast<double>(j) * bin_w + (b + 0.5) * bin_w / columns;
              for (const double value : Corners(x, plane, height, width, py, px)) {
                sum += value;
                most = Larger(most, value);
              }
            }
          }
          const double count = rows * columns;
          result.push_back(count == 0 ? 0 : o.maximum ? most : sum / count);
        }
      }
    }
  }
  return result;
}

TEST(RoiAlignTest, PoolsLikeTheReference) {
  ForSeeds(120, [&](std::mt19937& random) {
    const std::int64_t channels = random() % 4 == 0    ? Draw(random, 15, 80)
                                  : random() % 10 == 0 ? 0
                                                       : Draw(random, 1, 3);
    const Shape shape{Draw(random, 1, 3), channels, Draw(random, 1, 9), Draw(random, 1, 9)};
    const std::int64_t regions = Draw(random, 0, 4);
    const AlignOptions o{Draw(random, 1, 4),     Draw(random, 1, 4), Draw(random, 0, 3),
                         random() % 2 ? 0.5 : 1, random() % 2 == 0,  random() % 2 == 0};
    // Double: where a sample lies must not depend on rounding.
    const Tensor data = RandomOperand(random, kFloat64, shape, -1, 1);
    const Tensor boxes = RandomOperand(random, kFloat64, {regions, 4}, -6, 16);
    const ElementType index = random() % 2 ? kInt32 : kInt64;
    const Tensor images = RandomTensor(random, index, {regions}, 0, static_cast<double>(shape[0]));
    const Attributes attributes{{"output_height", o.height},
                                {"output_width", o.width},
                                {"sampling_ratio", o.ratio},
                                {"spatial_scale", static_cast<float>(o.scale)},
                                {"mode", std::string(o.maximum ? "max" : "avg")},
                                {"coordinate_transformation_mode",
                                 std::string(o.half_pixel ? "half_pixel" : "output_half_pixel")}};
    const TensorType out{kFloat64, {regions, shape[1], o.height, o.width}};
    ExpectClose(Run1("RoiAlign", {data, boxes, images}, out, attributes),
                AlignReference(data, boxes, images, o), 64, 1);
  });
}

TEST(RoiAlignTest, SurvivesAnyRegion) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const ElementType type : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    const Tensor data = FromValues(type, {1, 1, 2, 2}, {1, 1, 1, 1});
    const Tensor boxes =
        FromValues(type, {6, 4}, {nan, 0, 1,  1, 0, 0, inf,  inf, -inf, -inf, inf, inf,
                                  3,   3, -9, 1, 0, 0, 3e38, 3e4, -6e4, -6e4, 6e4, 6e4});
    const Tensor images = FromValues(kInt64, {6}, {0, 9, -7, 0, 0, 0});
    for (const char* mode : {"avg", "max"}) {
      const Tensor found = Run1("RoiAlign", {data, boxes, images}, {type, {6, 1, 1, 1}},
                                {{"mode", std::string(mode)}});
      for (const double value : ToValues(found)) EXPECT_TRUE(value >= 0 && value <= 1) << value;
    }
  }
}

TEST(RoiAlignTest, RefusesWrongOperands) {
  const TensorType data{kFloat32, {1, 2, 4, 4}}, boxes{kFloat32, {3, 4}}, images{kInt64, {3}};
  const TensorType out{kFloat32, {3, 2, 1, 1}};
  EXPECT_EQ(BindError("RoiAlign", {data, boxes, images}, {out}), "");
  EXPECT_NE(BindError("RoiAlign", {data, boxes, {kInt64, {2}}}, {out}), "");
  EXPECT_NE(BindError("RoiAlign", {data, boxes, {kFloat32, {3}}}, {out}), "");
  EXPECT_NE(BindError("RoiAlign", {{kFloat32, {1, 2, 4}}, boxes, images}, {out}), "");
  for (const char* name : {"output_height", "sampling_ratio"}) {
    EXPECT_NE(BindError("RoiAlign", {data, boxes, images}, {out}, {{name, std::int64_t{-1}}}), "");
  }
  EXPECT_NE(BindError("RoiAlign", {data, boxes, images}, {out}, {{"mode", std::string("min")}}),
            "");
  EXPECT_NE(BindError("RoiAlign", {{kFloat32, {0, 2, 4, 4}}, boxes, images}, {out}), "");
}

Values PoolReference(const Tensor& data, const Tensor& regions, std::int64_t height,
                     std::int64_t width, double scale) {
  const Values x = ToValues(data), r = ToValues(regions);
  Values result;
  for (std::int64_t n = 0; n < regions.shape()[0]; ++n) {
    const auto* box = &r[static_cast<std::size_t>(n) * 5];
    // What is no number is 0, what is infinite far outside.
    const auto corner = [&](int k) {
      return std::isnan(box[k]) ? 0 : std::fmin(std::fmax(std::round(box[k] * scale), -1e9), 1e9);
    };
    const double x0 = corner(1), y0 = corner(2);
    const double w = std::fmax(corner(3) - x0 + 1, 1), h = std::fmax(corner(4) - y0 + 1, 1);
    const auto bin = [](double start, double length, std::int64_t i, std::int64_t bins,
                        std::int64_t extent) {
      const double size = length / static_cast<double>(bins);
      const auto most = static_cast<double>(extent);
      const double low = start + std::floor(static_cast<double>(i) * size);
      const double high = start + std::ceil(static_cast<double>(i + 1) * size);
      return std::pair(static_cast<std::int64_t>(std::fmin(std::fmax(low, 0), most)),
                       static_cast<std::int64_t>(std::fmin(std::fmax(high, 0), most)));
    };
    for (std::int64_t c = 0; c < data.shape()[1]; ++c) {
      const auto image = static_cast<std::int64_t>(box[0]);
      for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          const auto [top, bottom] = bin(y0, h, i, height, data.shape()[2]);
          const auto [left, right] = bin(x0, w, j, width, data.shape()[3]);
          double most = -std::numeric_limits<double>::infinity();
          for (std::int64_t row = top; row < bottom; ++row) {
            for (std::int64_t column = left; column < right; ++column) {
              most = Larger(most, x[Flat(data.shape(), {image, c, row, column})]);
            }
          }
          result.push_back(top >= bottom || left >= right ? 0 : most);
        }
      }
    }
  }
  return result;
}

TEST(MaxRoiPoolTest, PoolsLikeTheReference) {
  constexpr ElementType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(80, [&](std::mt19937& random) {
    const ElementType type = kTypes[random() % 4];
    const Shape shape{Draw(random, 1, 2), Draw(random, random() % 10 == 0 ? 0 : 1, 3),
                      Draw(random, 1, 9), Draw(random, 1, 30)};
    const std::int64_t regions = Draw(random, 0, 4);
    Values boxes = ToValues(RandomOperand(random, kFloat64, {regions, 5}, -8, 64));
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      boxes[i] = i % 5 == 0 ? static_cast<double>(Draw(random, 0, shape[0] - 1))
                            : std::floor(boxes[i]) / 2;
    }
    const Tensor data = RandomOperand(random, type, shape, -1, 1);
    const Tensor rois = FromValues(type, {regions, 5}, boxes);
    const std::int64_t height = Draw(random, 1, 4), width = Draw(random, 1, 4);
    const float scale = random() % 2 ? 0.5F : 1.0F;
    ExpectClose(Run1("MaxRoiPool", {data, rois}, {type, {regions, shape[1], height, width}},
                     {{"pooled_shape", Ints{height, width}}, {"spatial_scale", scale}}),
                PoolReference(data, rois, height, width, static_cast<double>(scale)), 0);
  });
}

TEST(MaxRoiPoolTest, RefusesWrongOperands) {
  const TensorType data{kFloat32, {1, 2, 4, 4}}, boxes{kFloat32, {3, 5}};
  const TensorType out{kFloat32, {3, 2, 2, 2}};
  const Attributes pooled{{"pooled_shape", Ints{2, 2}}};
  EXPECT_EQ(BindError("MaxRoiPool", {data, boxes}, {out}, pooled), "");
  EXPECT_NE(BindError("MaxRoiPool", {data, boxes}, {out}), "");
  EXPECT_NE(BindError("MaxRoiPool", {data, boxes}, {out}, {{"pooled_shape", Ints{2, 0}}}), "");
  EXPECT_NE(BindError("MaxRoiPool", {data, {kFloat32, {3, 4}}}, {out}, pooled), "");
}

}  // namespace
}  // namespace poprt::kernels::testing
