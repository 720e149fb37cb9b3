#include "runtime/kernels/attention/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/kernels/packed/packed_testing.hpp"

namespace poprt::kernels::testing {
namespace {

using ::testing::HasSubstr;

struct Extents {
  std::int64_t b = 1;
  std::int64_t h = 1;
  std::int64_t s = 1;
  std::int64_t t = 1;
  std::int64_t d = 1;
  std::int64_t e = 1;
};

/// A tensor that holds [batch, head, row, channel] with its axes in another order, perhaps as one
/// of several such tensors that are packed into one.
struct Packed {
  Shape shape;
  Ints view;
};

/// `order` lists the axes 0 to 3 (batch, head, row, channel), outermost first. With `parts` > 1 the
/// tensor holds that many before the row's head, of which this is `part`.
Packed Arrange(const Shape& logical, const Ints& order, std::int64_t parts = 1,
               std::int64_t part = 0, bool repeat_batch = false) {
  Packed packed{.shape = {}, .view = Ints(5, 0)};
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[i]);
    if (axis == 0 && repeat_batch) continue;
    packed.view[axis + 1] = stride;
    packed.shape.insert(packed.shape.begin(), logical[axis]);
    stride *= logical[axis];
    if (parts > 1 && i + 2 == order.size()) {
      packed.view[0] = part * stride;
      packed.shape.insert(packed.shape.begin(), parts);
      stride *= parts;
    }
  }
  return packed;
}

struct AttentionCase {
  Extents size;
  Packed q;
  Packed k;
  Packed v;
  Packed y;
  Shape mask = {};  ///< empty for none
  Shape keep = {};
  bool keep_if = true;
  float fill = 0;
  float scale = 1;
  std::int64_t visible = 0;  ///< 0 for all
  ElementType element = ElementType::kFloat32;
};

std::size_t At(const Ints& view, std::int64_t b, std::int64_t h, std::int64_t r, std::int64_t c) {
  return static_cast<std::size_t>(view[0] + b * view[1] + h * view[2] + r * view[3] + c * view[4]);
}

/// softmax(scale * Q K^T + mask) V in double.
Values Reference(const AttentionCase& test, const Values& q, const Values& k, const Values& v,
                 const Values& mask, const Values& keep, std::size_t y_count) {
  const Extents& n = test.size;
  Values y(y_count);
  const Shape scores{n.b, n.h, n.s, n.t};
  for (std::int64_t row = 0; row < n.b * n.h * n.s; ++row) {
    const std::int64_t b = row / (n.h * n.s);
    const std::int64_t h = row / n.s % n.h;
    const std::int64_t s = row % n.s;
    const std::int64_t keys = test.visible == 0 ? n.t : std::min(n.t, test.visible + s);
    Values weights;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t t = 0; t < keys; ++t) {
      double score = 0;
      for (std::int64_t d = 0; d < n.d; ++d) {
        score += q[At(test.q.view, b, h, s, d)] * k[At(test.k.view, b, h, t, d)];
      }
      score *= static_cast<double>(test.scale);
      const std::int64_t at = row * n.t + t;
      if (!keep.empty() && (keep[BroadcastIndex(scores, test.keep, at)] != 0) != test.keep_if) {
        score = static_cast<double>(test.fill);
      }
      if (!mask.empty()) score += mask[BroadcastIndex(scores, test.mask, at)];
      weights.push_back(score);
      largest = std::max(largest, score);
    }
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (std::int64_t e = 0; e < n.e; ++e) {
      double value = 0;
      for (std::int64_t t = 0; t < keys; ++t) {
        value += weights[static_cast<std::size_t>(t)] * v[At(test.v.view, b, h, t, e)] / sum;
      }
      y[At(test.y.view, b, h, s, e)] = value;
    }
  }
  return y;
}

Attributes AttributesOf(const AttentionCase& test) {
  const Extents& n = test.size;
  Attributes attributes{{"sizes", Ints{n.b, n.h, n.s, n.t, n.d, n.e}},
                        {"q_view", test.q.view},
                        {"k_view", test.k.view},
                        {"v_view", test.v.view},
                        {"y_view", test.y.view},
                        {"keep_if", std::int64_t{test.keep_if ? 1 : 0}},
                        {"fill", test.fill},
                        {"scale", test.scale}};
  if (test.visible > 0) attributes.set("visible", test.visible);
  return attributes;
}

void CheckAttention(Random& random, const AttentionCase& test) {
  const ElementType element = test.element;
  const Tensor q = random.Values({element, test.q.shape});
  const Tensor k = random.Values({element, test.k.shape});
  const Tensor v = random.Values({element, test.v.shape});
  Tensor mask;
  if (!test.mask.empty()) mask = random.Values({element, test.mask});
  Tensor keep;
  if (!test.keep.empty()) {
    keep = Tensor({ElementType::kBool, test.keep});
    for (Bool& x : keep.as_mutable<Bool>()) x = Bool(random.Int(0, 3) > 0);
  }
  const TensorType y{element, test.y.shape};
  const Values expected = Reference(test, ToValues(q), ToValues(k), ToValues(v), Doubles(mask),
                                    Doubles(keep), static_cast<std::size_t>(ElementCount(y.shape)));
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const double tolerance = element == ElementType::kFloat16 ? 1e-3
                             : loops->matrix_unit == nullptr  ? 2e-6
                                                              : 1e-5;
    const auto run = [&](int threads) {
      return RunPacked(BindAttention, {q, k, v, mask, keep}, y, AttributesOf(test), *loops,
                       threads);
    };
    const Tensor result = run(1);
    const Values found = ToValues(result);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], tolerance) << "element " << i;
    }
    EXPECT_TRUE(result == run(3)) << "other bits with 3 threads";
  }
}

/// A mask for [b, h, s, t] with some of its leading axes repeated or left out.
Shape MaskShape(Random& random, const Extents& n) {
  Shape shape{random.Flip() ? n.b : 1, random.Flip() ? n.h : 1, random.Flip() ? n.s : 1, n.t};
  while (shape.size() > 1 && shape.front() == 1 && random.Flip()) shape.erase(shape.begin());
  return shape;
}

AttentionCase RandomCase(Random& random, const Extents& n) {
  const std::vector<Ints> orders = {{0, 1, 2, 3}, {0, 2, 1, 3}, {1, 0, 2, 3}, {2, 0, 1, 3}};
  const std::int64_t parts = random.Flip() ? 1 : 3;
  const Ints k_order = random.Flip() ? Ints{0, 1, 3, 2} : random.Of(orders);
  return {.size = n,
          .q = Arrange({n.b, n.h, n.s, n.d}, random.Of(orders), parts, 0),
          .k = Arrange({n.b, n.h, n.t, n.d}, k_order, parts, parts / 2, random.Int(0, 3) == 0),
          .v = Arrange({n.b, n.h, n.t, n.e}, random.Of(orders), parts, parts - 1),
          .y = Arrange({n.b, n.h, n.s, n.e}, random.Of(orders)),
          .mask = random.Flip() ? MaskShape(random, n) : Shape{},
          .keep = random.Int(0, 2) == 0 ? MaskShape(random, n) : Shape{},
          .keep_if = random.Flip(),
          .fill = -2,
          .scale = random.Flip() ? 1.0F : 0.25F,
          .visible = random.Int(0, 3) == 0 ? random.Int(1, n.t) : 0,
          .element = random.FloatType()};
}

TEST(Attention, AgreesWithDoubleOnRandomSizesLayoutsAndMasks) {
  ForSeeds(120, [](std::mt19937& seeds) {
    Random random(seeds());
    CheckAttention(random, RandomCase(random, {.b = random.Int(1, 3),
                                               .h = random.Int(1, 4),
                                               .s = random.Int(1, random.Flip() ? 4 : 60),
                                               .t = random.Int(1, 60),
                                               .d = random.Int(1, 40),
                                               .e = random.Int(1, 40)}));
  });
}

TEST(Attention, CutsLongSequencesIntoBlocks) {
  ForSeeds(4, [](std::mt19937& seeds) {
    Random random(seeds());
    CheckAttention(random, RandomCase(random, {.b = 1,
                                               .h = random.Int(1, 2),
                                               .s = random.Int(100, 300),
                                               .t = random.Int(1000, 1500),
                                               .d = 16,
                                               .e = 20}));
  });
}

/// Large enough for a matrix unit, which is emulated where there is none.
TEST(Attention, AgreesOnSizesForAMatrixUnit) {
  ForSeeds(8, [](std::mt19937& seeds) {
    Random random(seeds());
    CheckAttention(random, RandomCase(random, {.b = 1,
                                               .h = random.Int(8, 10),
                                               .s = random.Int(60, 150),
                                               .t = random.Int(60, 150),
                                               .d = random.Int(48, 100),
                                               .e = random.Int(40, 70)}));
  });
}

AttentionCase Plain(const Extents& n) {
  const Ints order{0, 1, 2, 3};
  return {.size = n,
          .q = Arrange({n.b, n.h, n.s, n.d}, order),
          .k = Arrange({n.b, n.h, n.t, n.d}, order),
          .v = Arrange({n.b, n.h, n.t, n.e}, order),
          .y = Arrange({n.b, n.h, n.s, n.e}, order)};
}

/// Two queries of depth 1 over three keys, values 1, 2 and 4.
Values RunSmall(const std::vector<float>& q, const std::vector<float>& mask) {
  const AttentionCase test = Plain({.s = 2, .t = 3});
  const auto tensor = [](const Shape& shape, const std::vector<float>& values) {
    Tensor result({ElementType::kFloat32, shape});
    std::ranges::copy(values, result.as_mutable<float>().begin());
    return result;
  };
  return ToValues(RunPacked(BindAttention,
                            {tensor(test.q.shape, q), tensor(test.k.shape, {1, 1, 1}),
                             tensor(test.v.shape, {1, 2, 4}), tensor({2, 3}, mask)},
                            {ElementType::kFloat32, test.y.shape}, AttributesOf(test),
                            BestInnerLoops()));
}

TEST(Attention, InfiniteMasksHideAndNanSpreadsOverItsRowOnly) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(RunSmall({0, 0}, {0, -inf, -inf, -inf, 0, 0}), (Values{1, 3}));
  EXPECT_EQ(RunSmall({500, -500}, {0, 0, -inf, 0, -1e30F, -1e30F}), (Values{1.5, 1}));
  const Values hidden = RunSmall({0, 0}, {-inf, -inf, -inf, 0, -inf, -inf});
  EXPECT_TRUE(std::isnan(hidden[0]));
  EXPECT_EQ(hidden[1], 1);
  const Values spread = RunSmall({nan, 0}, {0, 0, 0, 0, 0, -inf});
  EXPECT_TRUE(std::isnan(spread[0]));
  EXPECT_EQ(spread[1], 1.5);
}

TEST(Attention, NanSpreadsOverItsRowOnlyOnAMatrixUnit) {
  Random random(3);
  const Extents n{.h = 8, .s = 100, .t = 90, .d = 64, .e = 64};
  const AttentionCase test = Plain(n);
  Tensor q = random.Values({ElementType::kFloat32, test.q.shape});
  const Tensor k = random.Values({ElementType::kFloat32, test.k.shape});
  const Tensor v = random.Values({ElementType::kFloat32, test.v.shape});
  const auto run = [&](const InnerLoops& loops) {
    return ToValues(RunPacked(BindAttention, {q, k, v}, {ElementType::kFloat32, test.y.shape},
                              AttributesOf(test), loops));
  };
  const Values finite = run(EmulatedUnitLoops());
  EXPECT_NE(finite, run(PortableInnerLoops())) << "the unit is not used";
  q.as_mutable<float>()[static_cast<std::size_t>(17 * n.d + 5)] = std::nanf("");
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const Values found = run(*loops);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i / static_cast<std::size_t>(n.e) == 17) {
        ASSERT_TRUE(std::isnan(found[i])) << "element " << i;
      } else {
        ASSERT_NEAR(found[i], finite[i], 2e-5) << "element " << i;
      }
    }
  }
}

TEST(Attention, BindRejectsWhatDoesNotFit) {
  const AttentionCase test = Plain({.b = 2, .h = 3, .s = 4, .t = 5, .d = 6, .e = 7});
  const KernelCall good{.inputs = {{ElementType::kFloat32, test.q.shape},
                                   {ElementType::kFloat32, test.k.shape},
                                   {ElementType::kFloat32, test.v.shape},
                                   {ElementType::kFloat32, {3, 1, 5}},
                                   {ElementType::kBool, {5}}},
                        .outputs = {{ElementType::kFloat32, test.y.shape}},
                        .attributes = AttributesOf(test)};
  EXPECT_EQ(BindError(BindAttention, good), "");
  const auto error_with = [&](const char* name, AttributeValue value) {
    KernelCall call = good;
    call.attributes.set(name, std::move(value));
    return BindError(BindAttention, call);
  };
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(error_with("sizes", Ints{2, 3, 4, 5, 6}), HasSubstr("must hold six sizes"));
  EXPECT_THAT(error_with("sizes", Ints{2, 3, 4, 0, 6, 7}), HasSubstr("must hold six sizes"));
  EXPECT_THAT(error_with("q_view", Ints{1, 72, 24, 6, 1}), HasSubstr("q_view reaches beyond"));
  EXPECT_THAT(error_with("q_view", Ints{0, huge, 24, 6, 1}), HasSubstr("q_view reaches beyond"));
  EXPECT_THAT(error_with("k_view", Ints{0, 90, 30, 6, -1}), HasSubstr("none negative"));
  EXPECT_THAT(error_with("k_view", Ints{0, 90, 30, 6}), HasSubstr("an offset and four strides"));
  EXPECT_THAT(error_with("k_view", Ints{0, 0, 0, 6, 2}), HasSubstr("must follow each other"));
  EXPECT_THAT(error_with("y_view", Ints{0, 84, 28, 0, 1}), HasSubstr("does not fill the output"));
  EXPECT_THAT(error_with("visible", std::int64_t{0}), HasSubstr("must be at least 1"));
  KernelCall call = good;
  call.inputs[3].shape = {4, 1};
  EXPECT_THAT(BindError(BindAttention, call), HasSubstr("does not broadcast to the scores"));
  call = good;
  call.inputs[4].element = ElementType::kFloat32;
  EXPECT_THAT(BindError(BindAttention, call), HasSubstr("expected is bool"));
  call = good;
  call.inputs[1].element = ElementType::kFloat16;
  EXPECT_THAT(BindError(BindAttention, call), HasSubstr("must all have the type of input 0"));
}

}  // namespace
}  // namespace poprt::kernels::testing
