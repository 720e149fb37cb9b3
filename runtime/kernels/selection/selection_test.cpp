#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/reduction/axis_split.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

const TensorType kCount{kInt64, {}};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::int64_t CountOf(const std::vector<Tensor>& results) {
  return results.back().as<std::int64_t>()[0];
}

ElementType AnyType(std::mt19937& random) {
  return std::vector{kFloat32, kInt8, kFloat16, kBool, kUint64, kFloat64, kBFloat16}[random() % 7];
}

/// What an operator with an optional axis splits a tensor at; sets the attribute, of either sign.
struct AxisChoice {
  std::optional<std::size_t> axis;
  AxisSplit split;

  AxisChoice(std::mt19937& random, const Shape& shape, Attributes& attributes)
      : split{.outer = 1, .length = ElementCount(shape), .inner = 1} {
    if (shape.empty() || random() % 3 == 0) return;
    axis = random() % shape.size();
    split = SplitAt(shape, *axis);
    attributes.set("axis", EitherSign(random, *axis, shape.size()));
  }
};

TEST(NonZeroTest, MatchesReference) {
  ForSeeds(80, [](std::mt19937& random) {
    const Tensor x = RandomOperand(random, AnyType(random), AnyShape(random), -1, 2);
    const Values values = ToValues(x);
    const Shape shape = x.shape().empty() ? Shape{1} : x.shape();
    Values wanted(shape.size() * values.size(), 0);
    std::size_t count = 0;
    ForEach(shape, [&](const Index& at) {
      if (values[Flat(shape, at)] == 0) return;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        wanted[axis * values.size() + count] = static_cast<double>(at[axis]);
      }
      ++count;
    });
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto found = RunOnce("NonZero", {x}, {{kInt64, {rank, x.count()}}, kCount}, {});
    EXPECT_EQ(CountOf(found), static_cast<std::int64_t>(count));
    EXPECT_EQ(ToValues(found[0]), wanted);
  });
}

TEST(NonZeroTest, BothZerosAreZeroAndNanIsNot) {
  for (const ElementType type : {kFloat32, kFloat16, kBFloat16, kFloat64}) {
    const Tensor x = FromValues(type, {4}, {-0.0, kNan, 0, -1});
    const auto found = RunOnce("NonZero", {x}, {{kInt64, {1, 4}}, kCount}, {});
    EXPECT_EQ(CountOf(found), 2);
    EXPECT_EQ(ToValues(found[0]), (Values{1, 3, 0, 0}));
  }
}

TEST(CompressTest, MatchesReference) {
  ForSeeds(80, [](std::mt19937& random) {
    const Tensor x = RandomOperand(random, AnyType(random), AnyShape(random), 0, 9);
    Attributes attributes;
    const auto [axis, split] = AxisChoice(random, x.shape(), attributes);
    const std::int64_t length = Draw(random, 0, split.length + 2);
    const Tensor condition = RandomTensor(random, kBool, {length}, -1, 2);
    const Values values = ToValues(x);
    const Values chosen = ToValues(condition);
    const std::int64_t bound = std::min(length, split.length);
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < bound; ++i) {
      if (chosen[static_cast<std::size_t>(i)] != 0) indices.push_back(i);
    }
    Shape shape = axis ? x.shape() : Shape{0};
    shape[axis.value_or(0)] = bound;
    Values wanted;
    for (std::int64_t outer = 0; outer < split.outer; ++outer) {
      for (std::int64_t i = 0; i < bound * split.inner; ++i) {
        const auto place = static_cast<std::size_t>(i / split.inner);
        const std::int64_t inner = i % split.inner;
        wanted.push_back(place >= indices.size()
                             ? 0
                             : values[static_cast<std::size_t>(
                                   (outer * split.length + indices[place]) * split.inner + inner)]);
      }
    }
    const auto found =
        RunOnce("Compress", {x, condition}, {{x.element(), shape}, kCount}, attributes);
    EXPECT_EQ(CountOf(found), static_cast<std::int64_t>(indices.size()));
    ExpectClose(found[0], wanted, 0);
  });
}

/// Slices of [outer, length, inner] along the middle axis, as lists.
std::vector<Values> SlicesOf(const Values& values, const AxisSplit& split) {
  std::vector<Values> slices(static_cast<std::size_t>(split.length));
  for (std::int64_t outer = 0; outer < split.outer; ++outer) {
    for (std::int64_t i = 0; i < split.length; ++i) {
      const auto begin =
          values.begin() + static_cast<std::ptrdiff_t>((outer * split.length + i) * split.inner);
      Values& slice = slices[static_cast<std::size_t>(i)];
      slice.insert(slice.end(), begin, begin + static_cast<std::ptrdiff_t>(split.inner));
    }
  }
  return slices;
}

std::vector<Tensor> RunUnique(const Tensor& x, const Attributes& attributes, const Shape& shape,
                              std::int64_t length) {
  const TensorType positions{kInt64, {length}};
  return RunOnce("Unique", {x}, {{x.element(), shape}, positions, positions, positions, kCount},
                 attributes);
}

Values Padded(Values values, std::size_t size) {
  values.resize(size, 0);
  return values;
}

/// The same order without NaN: it is equal to itself and after infinity.
Values Ordered(Values values) {
  for (double& value : values) {
    if (std::isinf(value) && value > 0) value = std::numeric_limits<double>::max();
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  }
  return values;
}

TEST(UniqueTest, MatchesReference) {
  ForSeeds(120, [](std::mt19937& random) {
    const Tensor x = RandomOperand(random, AnyType(random), AnyShape(random), 0,
                                   static_cast<double>(random() % 2 == 0 ? 2 : 60));
    const bool sorted = random() % 2 == 0;
    Attributes attributes{{"sorted", std::int64_t{sorted}}};
    const auto [axis, split] = AxisChoice(random, x.shape(), attributes);
    const std::vector<Values> slices = SlicesOf(Ordered(ToValues(x)), split);

    std::vector<Values> groups;
    for (const Values& slice : slices) {
      if (std::find(groups.begin(), groups.end(), slice) == groups.end()) groups.push_back(slice);
    }
    if (sorted) std::sort(groups.begin(), groups.end());
    Values first(groups.size(), -1);
    Values counts(groups.size(), 0);
    Values inverse;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const auto group = static_cast<std::size_t>(
          std::find(groups.begin(), groups.end(), slices[i]) - groups.begin());
      if (first[group] < 0) first[group] = static_cast<double>(i);
      ++counts[group];
      inverse.push_back(static_cast<double>(group));
    }

    const Shape shape = axis ? x.shape() : Shape{x.count()};
    const auto found = RunUnique(x, attributes, shape, split.length);
    EXPECT_EQ(CountOf(found), static_cast<std::int64_t>(groups.size()));
    EXPECT_EQ(ToValues(found[1]), Padded(first, slices.size()));
    EXPECT_EQ(ToValues(found[2]), inverse);
    EXPECT_EQ(ToValues(found[3]), Padded(counts, slices.size()));
    groups.resize(slices.size(), Values(static_cast<std::size_t>(split.outer * split.inner), 0));
    EXPECT_EQ(SlicesOf(Ordered(ToValues(found[0])), split), groups);
  });
}

TEST(UniqueTest, NanIsLastAndEqualToItself) {
  for (const ElementType type : {kFloat32, kFloat16, kFloat64}) {
    const Tensor x = FromValues(type, {6}, {kNan, 1, -0.0, kNan, 0, -INFINITY});
    const auto found = RunUnique(x, {}, {6}, 6);
    EXPECT_EQ(CountOf(found), 4);
    EXPECT_EQ(ToValues(found[1]), (Values{5, 2, 1, 0, 0, 0}));
    EXPECT_EQ(ToValues(found[2]), (Values{3, 2, 1, 3, 1, 0}));
    EXPECT_EQ(ToValues(found[3]), (Values{1, 2, 1, 2, 0, 0}));
  }
}

// ---- NonMaxSuppression -------------------------------------------------------------------------

struct Suppression {
  std::int64_t most = 0;
  std::optional<float> iou_threshold = {};
  std::optional<float> score_threshold = {};
  bool by_center = false;
};

/// Corners as top, left, bottom, right.
std::vector<float> Corners(const float* box, bool by_center) {
  if (by_center) {
    return {box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2};
  }
  return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]),
          std::max(box[1], box[3])};
}

float Overlap(const std::vector<float>& a, const std::vector<float>& b) {
  const float height = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const auto area = [](const auto& box) { return (box[2] - box[0]) * (box[3] - box[1]); };
  if (height <= 0 || width <= 0 || area(a) <= 0 || area(b) <= 0) return -1;
  return height * width / (area(a) + area(b) - height * width);
}

Values Reference(const Tensor& boxes, const Tensor& scores, const Suppression& options) {
  Values rows;
  const std::int64_t count = boxes.shape()[1];
  for (std::int64_t batch = 0; batch < scores.shape()[0]; ++batch) {
    for (std::int64_t label = 0; label < scores.shape()[1]; ++label) {
      const float* score = scores.as<float>().data() + (batch * scores.shape()[1] + label) * count;
      std::vector<std::int64_t> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), 0);
      // NaN comes last.
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return score[a] > score[b] || std::isnan(score[b]) > std::isnan(score[a]);
      });
      std::vector<std::vector<float>> selected;
      for (const std::int64_t i : order) {
        if (static_cast<std::int64_t>(selected.size()) >= options.most) break;
        if (options.score_threshold && !(score[i] > *options.score_threshold)) continue;
        const auto box =
            Corners(boxes.as<float>().data() + (batch * count + i) * 4, options.by_center);
        const bool suppressed = std::any_of(selected.begin(), selected.end(), [&](const auto& s) {
          return Overlap(s, box) > options.iou_threshold.value_or(0);
        });
        if (suppressed) continue;
        selected.push_back(box);
        for (const std::int64_t number : {batch, label, i}) {
          rows.push_back(static_cast<double>(number));
        }
      }
    }
  }
  return rows;
}

Tensor FloatScalar(float value) { return FromValues(kFloat32, {1}, {value}); }

TEST(NonMaxSuppressionTest, MatchesReference) {
  ForSeeds(120, [](std::mt19937& random) {
    const std::int64_t batches = random() % 10 == 0 ? 0 : Draw(random, 1, 3);
    const std::int64_t classes = random() % 10 == 0 ? 0 : Draw(random, 1, 3);
    const std::int64_t count = random() % 10 == 0 ? 0 : Draw(random, 1, random() % 8 ? 30 : 400);
    const Tensor boxes = RandomOperand(random, kFloat32, {batches, count, 4}, 0, 2);
    Tensor scores = RandomOperand(random, kFloat32, {batches, classes, count}, 0, 20);
    // Few different scores, so that some are equal.
    for (float& score : scores.as_mutable<float>()) score = std::floor(score);
    Suppression options{
        .most = static_cast<std::int64_t>(random() % static_cast<unsigned>(count + 3)),
        .by_center = random() % 2 == 0};
    if (random() % 4 != 0) options.iou_threshold = static_cast<float>(random() % 10) / 10;
    if (random() % 2 == 0) options.score_threshold = static_cast<float>(random() % 20);
    const std::int64_t most = std::min(options.most, count);
    const Values wanted = Reference(boxes, scores, options);
    const std::vector<Tensor> inputs{
        boxes, scores, FromValues(kInt64, {}, {static_cast<double>(options.most)}),
        options.iou_threshold ? FloatScalar(*options.iou_threshold) : Tensor(),
        options.score_threshold ? FloatScalar(*options.score_threshold) : Tensor()};
    // The bound may be the number of boxes, too.
    const bool is_known = random() % 2 == 0;
    const std::int64_t rows = batches * classes * (is_known ? most : count);
    Attributes attributes{{"center_point_box", std::int64_t{options.by_center}}};
    if (is_known) attributes.set("most_boxes", options.most);
    const auto found =
        RunOnce("NonMaxSuppression", inputs, {{kInt64, {rows, 3}}, kCount}, attributes);
    EXPECT_EQ(CountOf(found), static_cast<std::int64_t>(wanted.size() / 3));
    EXPECT_EQ(ToValues(found[0]), Padded(wanted, static_cast<std::size_t>(3 * rows)));
  });
}

TEST(NonMaxSuppressionTest, WithoutALimitSelectsNothing) {
  const Tensor boxes = FromValues(kFloat32, {1, 1, 4}, {0, 0, 1, 1});
  const Tensor scores = FromValues(kFloat32, {1, 1, 1}, {1});
  const auto found = RunOnce("NonMaxSuppression", {boxes, scores}, {{kInt64, {0, 3}}, kCount}, {});
  EXPECT_EQ(CountOf(found), 0);
}

TEST(SelectionTest, RefuseWrongCalls) {
  EXPECT_EQ(BindError("NonZero", {{kFloat32, {2, 3}}}, {{kInt64, {2, 5}}, kCount}),
            "output 0 is int64[2, 5], expected int64[2, 6]");
  EXPECT_EQ(BindError("NonZero", {{kFloat32, {3}}}, {{kInt64, {1, 3}}}),
            "has 1 outputs, allowed are 2 to 2");
  EXPECT_EQ(BindError("Compress", {{kFloat32, {3}}, {kInt8, {3}}}, {{kFloat32, {3}}, kCount}),
            "input 1 is int8[3], expected bools of rank 1");
  EXPECT_EQ(BindError("Compress", {{kFloat32, {3}}, {kBool, {2}}}, {{kFloat32, {3}}, kCount}),
            "output 0 is float32[3], expected float32[2]");
  EXPECT_EQ(BindError("NonMaxSuppression", {{kFloat32, {1, 5, 4}}, {kFloat32, {1, 2, 6}}},
                      {{kInt64, {0, 3}}, kCount}),
            "input 1 is float32[1, 2, 6], expected float32[batches, classes, boxes] for "
            "float32[1, 5, 4]");
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(BindError("NonMaxSuppression",
                      {{kFloat32, {0, huge, 4}}, {kFloat32, {0, huge, huge}}, {kInt64, {}}},
                      {{kInt64, {0, 3}}, kCount}),
            "the largest result [0, 1099511627776, 1099511627776, 3] is too large");
}

}  // namespace
}  // namespace poprt::kernels::testing
