#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

/// One image plane, sampled as ONNX's description says: recursively over the axes. A coordinate
/// that is no number, and an infinite one that would be mirrored forever, is 0 or outside.
struct Plane {
  const Values& values;
  Shape extents;
  std::string padding;
  bool align;

  double Reflect(double x, double extent) const {
    const double low = align ? 0 : -0.5;
    const double high = align ? extent - 1 : extent - 0.5;
    if (high <= low) return 0;
    while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
    return x;
  }

  /// The element at a whole position.
  double At(const Index& position, std::size_t offset) const {
    Index inside = position;
    for (std::size_t d = 0; d < inside.size(); ++d) {
      const auto extent = static_cast<double>(extents[d]);
      if (inside[d] >= 0 && inside[d] < extents[d]) continue;
      if (padding == "zeros") return 0;
      auto x = static_cast<double>(inside[d]);
      if (padding == "reflection") x = std::trunc(Reflect(x, extent));
      inside[d] = static_cast<std::int64_t>(std::fmin(std::fmax(x, 0), extent - 1));
    }
    return values[offset + Flat(extents, inside)];
  }

  double Coordinate(double n, std::size_t d, const std::string& mode) const {
    const auto extent = static_cast<double>(extents[d]);
    double x = align ? (n + 1) / 2 * (extent - 1) : ((n + 1) * extent - 1) / 2;
    if (mode == "nearest") x = std::nearbyint(x);
    const double low = align ? 0 : -0.5;
    const double high = align ? extent - 1 : extent - 0.5;
    if (x >= low && x <= high) return x;
    // PyTorch pads the taps of cubic interpolation only, not the point; so does ONNX Runtime.
    const bool stays = padding == "zeros" || (padding == "border" && mode == "cubic");
    if (stays) return std::isnan(x) ? -9 : std::fmin(std::fmax(x, -9), extent + 9);
    if (std::isnan(x) || (std::isinf(x) && padding == "reflection")) return 0;
    return padding == "border" ? std::fmin(std::fmax(x, 0), extent - 1) : Reflect(x, extent);
  }

  double Sample(const std::string& mode, const Values& point, Index& at, std::size_t offset) const {
    const std::size_t d = at.size();
    if (d == extents.size()) return At(at, offset);
    const double x = Coordinate(point[point.size() - 1 - d], d, mode);
    const double base = std::floor(x), t = x - base;
    Values weights;
    std::int64_t first = static_cast<std::int64_t>(base);
    if (mode == "nearest") {
      weights = {1};
    } else if (mode == "linear") {
      weights = {1 - t, t};
    } else {
      first -= 1;
      for (const double s : {1 + t, t, 1 - t, 2 - t}) {
        const double a = -0.75;
        weights.push_back(s <= 1 ? (a + 2) * s * s * s - (a + 3) * s * s + 1
                                 : a * s * s * s - 5 * a * s * s + 8 * a * s - 4 * a);
      }
    }
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      at.push_back(first + static_cast<std::int64_t>(k));
      sum += weights[k] * Sample(mode, point, at, offset);
      at.pop_back();
    }
    return sum;
  }
};

Values Reference(const Tensor& data, const Tensor& grid, const std::string& mode,
                 const std::string& padding, bool align) {
  const Values x = ToValues(data), points = ToValues(grid);
  const Plane plane{x, Shape(data.shape().begin() + 2, data.shape().end()), padding, align};
  const std::size_t rank = plane.extents.size();
  const auto in_plane = static_cast<std::size_t>(ElementCount(plane.extents));
  const Shape out(grid.shape().begin() + 1, grid.shape().end() - 1);
  const auto out_plane = static_cast<std::size_t>(ElementCount(out));
  const auto channels = static_cast<std::size_t>(data.shape()[1]);
  Values result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(data.shape()[0]) * channels; ++i) {
    for (std::size_t p = 0; p < out_plane; ++p) {
      const auto* point = &points[(i / channels * out_plane + p) * rank];
      Index at;
      result.push_back(plane.Sample(mode, Values(point, point + rank), at, i * in_plane));
    }
  }
  return result;
}

TensorType OutputOf(const Tensor& data, const Tensor& grid) {
  Shape shape{data.shape()[0], data.shape()[1]};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  return {data.element(), shape};
}

TEST(GridSampleTest, SamplesLikeTheReference) {
  constexpr const char* kModes[] = {"nearest", "linear", "cubic"};
  constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  constexpr ElementType kData[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(200, [&](std::mt19937& random) {
    const std::size_t rank = 1 + random() % 4;
    Shape shape{
        Draw(random, random() % 12 == 0 ? 0 : 1, 2),
        random() % 4 == 0 ? Draw(random, 4, 80) : Draw(random, random() % 12 == 0 ? 0 : 1, 3)};
    Shape points{shape[0]};
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(Draw(random, 1, rank < 4 ? 6 : 3));
      points.push_back(Draw(random, 1, rank < 4 ? 7 : 2));
    }
    if (random() % 12 == 0) points[1] = 0;
    points.push_back(static_cast<std::int64_t>(rank));
    const std::string mode = kModes[random() % 3], padding = kPaddings[random() % 3];
    const bool align = random() % 2 == 0;
    const Tensor data = RandomOperand(random, kData[random() % 4], shape, -1, 1);
    // In double there are no ties between the kernel's and the reference's rounding; of few binary
    // digits float is as exact, and linear interpolation has no ties.
    Tensor grid = RandomOperand(random, kFloat64, points, -3, 3);
    if (mode == "linear" && data.element() != kFloat64 && random() % 4 != 0) {
      Values rounded = ToValues(grid);
      for (double& x : rounded) x = std::round(x * 64) / 64;
      grid = FromValues(kFloat32, points, rounded);
    }
    const Attributes attributes{{"mode", mode},
                                {"padding_mode", padding},
                                {"align_corners", static_cast<std::int64_t>(align)}};
    ExpectClose(Run1("GridSample", {data, grid}, OutputOf(data, grid), attributes),
                Reference(data, grid, mode, padding, align), 8, 1);
  });
}

TEST(GridSampleTest, TakesEveryTypeOfGridAndInteger) {
  const Tensor data = FromValues(kUint8, {1, 1, 2, 2}, {10, 20, 30, 41});
  for (const ElementType type : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    const Tensor grid = FromValues(type, {1, 1, 3, 2}, {-1, -1, 0, 0, 1, 1});
    const Attributes linear{{"align_corners", std::int64_t{1}}};
    // The mean of all is 25.25; integers are cut off.
    EXPECT_EQ(ToValues(Run1("GridSample", {data, grid}, OutputOf(data, grid), linear)),
              (Values{10, 25, 41}));
  }
  const Tensor flags = FromValues(kBool, {1, 1, 1, 2}, {0, 1});
  const Tensor grid = FromValues(kFloat32, {1, 1, 2, 2}, {0.5, 0, -3, 0});
  const Attributes nearest{{"mode", std::string("nearest")}};
  EXPECT_EQ(ToValues(Run1("GridSample", {flags, grid}, OutputOf(flags, grid), nearest)),
            (Values{1, 0}));
}

TEST(GridSampleTest, RoundsHalvesToEven) {
  const Tensor data = FromValues(kFloat32, {1, 1, 4}, {1, 2, 3, 4});
  // Aligned corners put -1 + 2 x / 3 on pixel x.
  const Tensor grid = FromValues(kFloat64, {1, 3, 1}, {0.5 * 2 / 3 - 1, 0, 2.5 * 2 / 3 - 1});
  const Attributes attributes{{"mode", std::string("nearest")}, {"align_corners", std::int64_t{1}}};
  EXPECT_EQ(ToValues(Run1("GridSample", {data, grid}, OutputOf(data, grid), attributes)),
            (Values{1, 3, 3}));
}

TEST(GridSampleTest, CubicPointsBeyondTheBorderSeeThePixelsInside) {
  const Tensor data = FromValues(kFloat32, {1, 1, 4}, {1, 2, 4, 8});
  // Half a pixel outside; without aligned corners that is the image's edge.
  const Tensor edges = FromValues(kFloat32, {1, 2, 1}, {-1, 1});
  const Attributes attributes{{"mode", std::string("cubic")},
                              {"padding_mode", std::string("border")}};
  // The weights half-way are -3/32, 19/32, 19/32, -3/32; three of the taps see the outermost pixel.
  EXPECT_EQ(ToValues(Run1("GridSample", {data, edges}, OutputOf(data, edges), attributes)),
            (Values{1 - 3.0 / 32, 8 + 4 * 3.0 / 32}));
}

TEST(GridSampleTest, SurvivesAnyCoordinate) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor data = FromValues(kFloat32, {1, 1, 2}, {5, 7});
  const Tensor grid = FromValues(kFloat32, {1, 6, 1}, {nan, inf, -inf, 3e38, -3e38, 1e18});
  const TensorType out = OutputOf(data, grid);
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    Attributes attributes{{"mode", std::string(mode)}};
    EXPECT_EQ(ToValues(Run1("GridSample", {data, grid}, out, attributes)), Values(6, 0.0));
    attributes.set("padding_mode", std::string("border"));
    EXPECT_EQ(ToValues(Run1("GridSample", {data, grid}, out, attributes)),
              (Values{5, 7, 5, 7, 5, 7}));
    attributes.set("padding_mode", std::string("reflection"));
    for (const double value : ToValues(Run1("GridSample", {data, grid}, out, attributes))) {
      EXPECT_TRUE(value > 4 && value < 8) << value;
    }
  }
}

TEST(GridSampleTest, RefusesWrongOperands) {
  const TensorType data{kFloat32, {1, 1, 4, 4}}, grid{kFloat32, {1, 2, 3, 2}};
  const TensorType out{kFloat32, {1, 1, 2, 3}};
  EXPECT_EQ(BindError("GridSample", {data, grid}, {out}), "");
  EXPECT_NE(BindError("GridSample", {data, {kFloat32, {1, 2, 3, 3}}}, {out}), "");
  EXPECT_NE(BindError("GridSample", {data, {kInt32, {1, 2, 3, 2}}}, {out}), "");
  EXPECT_NE(BindError("GridSample", {data, {kFloat32, {2, 2, 3, 2}}}, {out}), "");
  EXPECT_NE(BindError("GridSample", {data, grid}, {{kFloat32, {1, 1, 3, 2}}}), "");
  EXPECT_NE(BindError("GridSample", {data, grid}, {out}, {{"mode", std::string("sinc")}}), "");
  EXPECT_NE(BindError("GridSample", {data, grid}, {out}, {{"padding_mode", std::string("wrap")}}),
            "");
  EXPECT_NE(BindError("GridSample", {{kFloat32, {1, 1, 0, 4}}, grid}, {out}), "");
}

}  // namespace
}  // namespace poprt::kernels::testing
