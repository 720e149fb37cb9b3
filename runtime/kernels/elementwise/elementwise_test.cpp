#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels::testing {
namespace {

using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<ElementType> kFloats{kFloat32, kFloat64, kFloat16, kBFloat16};
const std::vector<ElementType> kNumbers{kFloat32, kFloat64, kFloat16, kBFloat16, kInt8,   kInt16,
                                        kInt32,   kInt64,   kUint8,   kUint16,   kUint32, kUint64};
const std::vector<ElementType> kBools{kBool};
const std::vector<ElementType> kIntegers{kInt8,  kInt16,  kInt32,  kInt64,
                                         kUint8, kUint16, kUint32, kUint64};
const std::vector<ElementType> kSigned{kFloat32, kFloat64, kFloat16, kBFloat16,
                                       kInt8,    kInt16,   kInt32,   kInt64};

// ---- Unary
// ---------------------------------------------------------------------------------------

struct UnaryCase {
  const char* name;
  const std::vector<ElementType>* types;
  double low;
  double high;
  double (*exact)(double);
  Attributes attributes = {};
  double ulps = 2.5;
  double scale = 0;  // of an absolute error
  bool to_bool = false;
};

double Sigmoid1(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<UnaryCase> UnaryCases() {
  return {
      {"Abs", &kNumbers, 0, 100, [](double x) { return std::fabs(x); }},
      {"Abs", &kSigned, -100, 100, [](double x) { return std::fabs(x); }},
      {"Acos", &kFloats, -1, 1, [](double x) { return std::acos(x); }},
      {"Acosh", &kFloats, 1, 10, [](double x) { return std::acosh(x); }},
      {"Asin", &kFloats, -1, 1, [](double x) { return std::asin(x); }},
      {"Asinh", &kFloats, -10, 10, [](double x) { return std::asinh(x); }},
      {"Atan", &kFloats, -10, 10, [](double x) { return std::atan(x); }},
      {"Atanh", &kFloats, -1, 1, [](double x) { return std::atanh(x); }},
      {"Ceil", &kFloats, -10, 10, [](double x) { return std::ceil(x); }},
      {"Celu",
       &kFloats,
       -3,
       3,
       [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); },
       {{"alpha", 2.0F}},
       3},
      {"Cos", &kFloats, -30, 30, [](double x) { return std::cos(x); }},
      {"Cosh", &kFloats, -5, 5, [](double x) { return std::cosh(x); }},
      {"Elu", &kFloats, -3, 3, [](double x) { return x > 0 ? x : std::expm1(x); }, {}, 3},
      {"Erf", &kFloats, -4, 4, [](double x) { return std::erf(x); }},
      {"Erf", &kIntegers, 0, 9, [](double x) { return std::trunc(std::erf(x)); }},
      {"Exp", &kFloats, -9, 9, [](double x) { return std::exp(x); }},
      {"Floor", &kFloats, -10, 10, [](double x) { return std::floor(x); }},
      {"Gelu",
       &kFloats,
       -6,
       6,
       [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); },
       {},
       4,
       2},
      {"Gelu",
       &kFloats,
       -6,
       6,
       [](double x) {
         return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
       },
       {{"approximate", std::string("tanh")}},
       4,
       2},
      {"HardSigmoid",
       &kFloats,
       -5,
       5,
       [](double x) { return std::max(0.0, std::min(1.0, double{0.2F} * x + 0.5)); },
       {},
       3,
       1},
      {"HardSwish",
       &kFloats,
       -5,
       5,
       [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); },
       {},
       3,
       1},
      {"IsInf", &kFloats, -5, 5, [](double) { return 0.0; }, {}, 0, 0, true},
      {"IsNaN", &kFloats, -5, 5, [](double) { return 0.0; }, {}, 0, 0, true},
      {"LeakyRelu",
       &kFloats,
       -5,
       5,
       [](double x) { return x < 0 ? 0.25 * x : x; },
       {{"alpha", 0.25F}}},
      {"Log", &kFloats, 0.01, 100, [](double x) { return std::log(x); }},
      {"Mish",
       &kFloats,
       -9,
       9,
       [](double x) { return x * std::tanh(std::log1p(std::exp(x))); },
       {},
       4},
      {"Neg", &kSigned, -100, 100, [](double x) { return -x; }},
      {"Not", &kBools, 0, 1, [](double x) { return x == 0 ? 1.0 : 0.0; }, {}, 0, 0, true},
      {"Reciprocal", &kFloats, 0.1, 9, [](double x) { return 1 / x; }},
      {"Relu", &kSigned, -100, 100, [](double x) { return x < 0 ? 0 : x; }},
      {"Round", &kFloats, -10, 10, [](double x) { return std::nearbyint(x); }},
      {"Selu",
       &kFloats,
       -3,
       3,
       [](double x) {
         return double{1.05070102214813232421875F} *
                (x > 0 ? x : double{1.67326319217681884765625F} * std::expm1(x));
       },
       {},
       4},
      {"Shrink",
       &kSigned,
       -10,
       10,
       [](double x) { return x < -1.5  ? x + 1
                             : x > 1.5 ? x - 1
                                       : 0; },
       {{"lambd", 1.5F}, {"bias", 1.0F}}},
      {"Sigmoid", &kFloats, -9, 9, Sigmoid1, {}, 3},
      {"Sign", &kSigned, -3, 3, [](double x) { return x > 0   ? 1.0
                                                      : x < 0 ? -1.0
                                                              : 0.0; }},
      {"Sin", &kFloats, -30, 30, [](double x) { return std::sin(x); }},
      {"Sinh", &kFloats, -5, 5, [](double x) { return std::sinh(x); }},
      {"Softplus", &kFloats, -9, 9, [](double x) { return std::log1p(std::exp(x)); }, {}, 3},
      {"Softsign", &kFloats, -9, 9, [](double x) { return x / (1 + std::fabs(x)); }},
      {"Sqrt", &kFloats, 0, 100, [](double x) { return std::sqrt(x); }},
      {"Swish",
       &kFloats,
       -9,
       9,
       [](double x) { return x * Sigmoid1(1.5 * x); },
       {{"alpha", 1.5F}},
       12},
      {"Tan", &kFloats, -1.5, 1.5, [](double x) { return std::tan(x); }},
      {"Tanh", &kFloats, -9, 9, [](double x) { return std::tanh(x); }},
      {"ThresholdedRelu",
       &kFloats,
       -3,
       3,
       [](double x) { return x > 0.5 ? x : 0; },
       {{"alpha", 0.5F}}},
      {"BitwiseNot", &kIntegers, 0, 1, [](double) { return -1.0; }},
  };
}

TEST(ElementwiseTest, UnaryMatchesDouble) {
  for (const UnaryCase& c : UnaryCases()) {
    std::mt19937 random(7);
    for (const ElementType type : *c.types) {
      for (const Shape& shape :
           {Shape{}, Shape{3, 0}, Shape{1, 2, 3, 1, 5, 1, 2, 2}, Shape{40009}}) {
        SCOPED_TRACE(std::string(c.name) + " seed 7 " + ToString(TensorType{type, shape}));
        const Tensor input = RandomTensor(random, type, shape, c.low, c.high);
        Values wanted = ToValues(input);
        for (double& value : wanted) value = c.exact(value);
        const TensorType output{c.to_bool ? kBool : type, shape};
        if (std::string_view(c.name) == "BitwiseNot") {
          for (double& v : wanted) v = ToValues(FromValues(type, {}, {-1})).front();
        }
        ExpectClose(Run1(c.name, {input}, output, c.attributes), wanted, c.ulps, c.scale);
        if (HasFailure()) return;
      }
    }
  }
}

/// NaN stays NaN, infinities and zeros give what they give in double where that is a number.
TEST(ElementwiseTest, UnaryLimitsMatchDouble) {
  const Values specials{kInf, -kInf, kNan, 0, -0.0};
  for (const UnaryCase& c : UnaryCases()) {
    for (const ElementType type : *c.types) {
      if (!IsFloat(type) || c.to_bool) continue;
      SCOPED_TRACE(std::string(c.name) + " " + std::string(ElementName(type)));
      const Tensor found =
          Run1(c.name, {FromValues(type, {5}, specials)}, {type, {5}}, c.attributes);
      Values wanted = ToValues(found);
      for (std::size_t i = 0; i < specials.size(); ++i) {
        const double exact = c.exact(specials[i]);
        if (!std::isnan(exact)) wanted[i] = exact;
      }
      if (std::string_view(c.name) != "Shrink") wanted[2] = kNan;
      ExpectClose(found, wanted, c.ulps, c.scale);
      if (HasFailure()) return;
    }
  }
}

TEST(ElementwiseTest, UnarySpecialValues) {
  const Values x{kInf, -kInf, kNan, -0.0, 2.5, -2.5};
  const auto run = [&](const char* name, ElementType to = kFloat32, const Attributes& a = {}) {
    return Run1(name, {FromValues(kFloat32, {6}, x)}, {to, {6}}, a);
  };
  ExpectClose(run("Relu"), {kInf, 0, kNan, 0, 2.5, 0}, 0);
  ExpectClose(run("Round"), {kInf, -kInf, kNan, 0, 2, -2}, 0);
  ExpectClose(run("Sign"), {1, -1, kNan, 0, 1, -1}, 0);
  ExpectClose(run("Softplus"), {kInf, 0, kNan, std::log(2), 2.5788898, 0.0788897}, 4);
  ExpectClose(run("Mish"), {kInf, 0, kNan, 0, 2.47139188, -0.196816176}, 4);
  ExpectClose(run("IsNaN", kBool), {0, 0, 1, 0, 0, 0}, 0);
  ExpectClose(run("IsInf", kBool), {1, 1, 0, 0, 0, 0}, 0);
  ExpectClose(run("IsInf", kBool, {{"detect_negative", std::int64_t{0}}}), {1, 0, 0, 0, 0, 0}, 0);
  ExpectClose(Run1("Neg", {FromValues(kInt8, {2}, {-128, 5})}, {kInt8, {2}}), {-128, -5}, 0);
  // Any byte but zero is true.
  Tensor bools({kBool, {3}});
  bools.as_mutable<std::uint8_t>()[1] = 2;
  bools.as_mutable<std::uint8_t>()[2] = 1;
  EXPECT_EQ(ToValues(Run1("Not", {bools}, {kBool, {3}})), (Values{1, 0, 0}));
}

// ---- Binary
// --------------------------------------------------------------------------------------

struct BinaryCase {
  const char* name;
  const std::vector<ElementType>* types;
  double (*exact)(double, double);
  bool to_bool = false;
  Attributes attributes = {};
  double low = 1;
  double high = 11;
};

const std::vector<ElementType> kUnsigned{kUint8, kUint16, kUint32, kUint64};
const std::vector<ElementType> kPowBases{kFloat32, kFloat64, kFloat16, kBFloat16, kInt32, kInt64};

template <typename F>
double OnBits(double a, double b, F f) {
  return static_cast<double>(f(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

std::vector<BinaryCase> BinaryCases() {
  return {
      {"Add", &kNumbers, [](double a, double b) { return a + b; }},
      {"Sub", &kSigned, [](double a, double b) { return a - b; }},
      {"Mul", &kNumbers, [](double a, double b) { return a * b; }},
      {"Div", &kFloats, [](double a, double b) { return a / b; }},
      {"Div", &kIntegers, [](double a, double b) { return std::trunc(a / b); }},
      {"Mod", &kIntegers, [](double a, double b) { return a - b * std::floor(a / b); }},
      {"Mod",
       &kNumbers,
       [](double a, double b) { return std::fmod(a, b); },
       false,
       {{"fmod", std::int64_t{1}}}},
      {"Pow", &kPowBases, [](double a, double b) { return std::pow(a, b); }, false, {}, 0, 4},
      {"PRelu", &kFloats, [](double a, double b) { return a < 0 ? a * b : a; }, false, {}, -3, 3},
      {"Equal", &kNumbers, [](double a, double b) { return double(a == b); }, true},
      {"Less", &kNumbers, [](double a, double b) { return double(a < b); }, true},
      {"LessOrEqual", &kNumbers, [](double a, double b) { return double(a <= b); }, true},
      {"Greater", &kNumbers, [](double a, double b) { return double(a > b); }, true},
      {"GreaterOrEqual", &kNumbers, [](double a, double b) { return double(a >= b); }, true},
      {"Equal", &kBools, [](double a, double b) { return double(a == b); }, true, {}, 0, 0.5},
      {"And", &kBools, [](double a, double b) { return double(a != 0 && b != 0); }, true},
      {"Or", &kBools, [](double a, double b) { return double(a != 0 || b != 0); }, true},
      {"Xor", &kBools, [](double a, double b) { return double((a != 0) != (b != 0)); }, true},
      {"BitwiseAnd", &kIntegers,
       [](double a, double b) { return OnBits(a, b, [](auto x, auto y) { return x & y; }); }},
      {"BitwiseOr", &kIntegers,
       [](double a, double b) { return OnBits(a, b, [](auto x, auto y) { return x | y; }); }},
      {"BitwiseXor", &kIntegers,
       [](double a, double b) { return OnBits(a, b, [](auto x, auto y) { return x ^ y; }); }},
      {"BitShift",
       &kUnsigned,
       [](double a, double b) { return std::ldexp(a, int(b)); },
       false,
       {{"direction", std::string("LEFT")}},
       0,
       4},
      {"BitShift",
       &kUnsigned,
       [](double a, double b) { return std::floor(std::ldexp(a, -int(b))); },
       false,
       {{"direction", std::string("RIGHT")}}},
      {"Max", &kNumbers, [](double a, double b) { return std::max(a, b); }},
      {"Min", &kNumbers, [](double a, double b) { return std::min(a, b); }},
      {"Sum", &kFloats, [](double a, double b) { return a + b; }},
      {"Mean", &kFloats, [](double a, double b) { return (a + b) / 2; }},
  };
}

TEST(ElementwiseTest, BinaryMatchesDoubleWithBroadcasting) {
  for (const BinaryCase& c : BinaryCases()) {
    for (unsigned seed = 0; seed < 24; ++seed) {
      std::mt19937 random(seed);
      const ElementType type = (*c.types)[seed % c.types->size()];
      const Shape shape = AnyShape(random);
      const Shape a_shape = Narrowed(random, shape);
      const bool is_prelu = std::string_view(c.name) == "PRelu";
      const Tensor a = RandomTensor(random, type, is_prelu ? shape : a_shape, c.low, c.high);
      const Tensor b = RandomTensor(random, type, Narrowed(random, shape), c.low, c.high);
      SCOPED_TRACE(std::string(c.name) + " seed " + std::to_string(seed) + " " +
                   ToString(a.type()) + " " + ToString(b.type()));
      const Shape both = *Broadcast(a.shape(), b.shape());
      const Values x = ToValues(a);
      const Values y = ToValues(b);
      Values wanted;
      for (std::int64_t i = 0; i < ElementCount(both); ++i) {
        wanted.push_back(
            c.exact(x[BroadcastIndex(both, a.shape(), i)], y[BroadcastIndex(both, b.shape(), i)]));
      }
      ExpectClose(Run1(c.name, {a, b}, {c.to_bool ? kBool : type, both}, c.attributes), wanted,
                  1.01);
      if (HasFailure()) return;
    }
  }
}

TEST(ElementwiseTest, BinaryLimitsMatchDouble) {
  const Values specials{kInf, -kInf, kNan, 0, -0.0, 2.5, -3};
  const auto n = static_cast<std::int64_t>(specials.size());
  for (const BinaryCase& c : BinaryCases()) {
    const std::string_view name = c.name;
    for (const ElementType type : *c.types) {
      if (!IsFloat(type)) continue;
      SCOPED_TRACE(std::string(name) + " " + std::string(ElementName(type)));
      Values a, b, wanted;
      for (const double x : specials) {
        for (const double y : specials) {
          a.push_back(x);
          b.push_back(y);
          const bool extremum = name == "Max" || name == "Min";
          const bool is_nan = extremum && (std::isnan(x) || std::isnan(y));
          wanted.push_back(is_nan ? kNan : c.exact(x, y));
        }
      }
      ExpectClose(Run1(name, {FromValues(type, {n, n}, a), FromValues(type, {n, n}, b)},
                       {c.to_bool ? kBool : type, {n, n}}, c.attributes),
                  wanted, 1.01);
      if (HasFailure()) return;
    }
  }
}

/// Huge angles take another way than the loop over their neighbours.
TEST(ElementwiseTest, AnglesDoNotDependOnTheirNeighbours) {
  Values angles;
  for (int i = 0; i < 700; ++i) angles.push_back(0.37 * i - 100);
  angles[300] = 3e7;
  angles[301] = kInf;
  angles[302] = -0x1p19;
  const Tensor x = FromValues(kFloat32, {700}, angles);
  for (const char* name : {"Sin", "Cos"}) {
    SCOPED_TRACE(name);
    Values together = ToValues(Run1(name, {x}, x.type()));
    Values alone;
    Values wanted;
    for (const double angle : ToValues(x)) {
      alone.push_back(
          ToValues(Run1(name, {FromValues(kFloat32, {1}, {angle})}, {kFloat32, {1}})).front());
      wanted.push_back(name[0] == 'S' ? std::sin(angle) : std::cos(angle));
    }
    ExpectClose(Run1(name, {x}, x.type()), wanted, 1.01);
    EXPECT_TRUE(std::isnan(together[301]));
    alone[301] = together[301] = 0;
    EXPECT_EQ(together, alone);
  }
}

TEST(ElementwiseTest, LongRowsAndColumnsBroadcast) {
  std::mt19937 random(3);
  for (const ElementType type : {kFloat32, kFloat16, kInt64}) {
    for (const Shape& other : {Shape{}, Shape{1500}, Shape{33, 1}, Shape{2, 1, 1},
                               Shape{2, 1, 1500}, Shape{1, 33, 1500}, Shape{2, 33, 1500}}) {
      const Shape shape{2, 33, 1500};
      SCOPED_TRACE(ToString(TensorType{type, other}));
      const Tensor a = RandomTensor(random, type, shape, -9, 9);
      const Tensor b = RandomTensor(random, type, other, -9, 9);
      const Values x = ToValues(a);
      const Values y = ToValues(b);
      Values wanted;
      for (std::size_t i = 0; i < x.size(); ++i) {
        wanted.push_back(x[i] - y[BroadcastIndex(shape, other, static_cast<std::int64_t>(i))]);
      }
      ExpectClose(Run1("Sub", {a, b}, {type, shape}), wanted, 0.51);
      for (double& value : wanted) value = -value;
      ExpectClose(Run1("Sub", {b, a}, {type, shape}), wanted, 0.51);
    }
  }
}

TEST(ElementwiseTest, IntegersNeverTrap) {
  const auto run = [](const char* name, ElementType type, const Values& a, const Values& b,
                      const Attributes& attributes = {}) {
    const Shape shape{static_cast<std::int64_t>(a.size())};
    return ToValues(Run1(name, {FromValues(type, shape, a), FromValues(type, shape, b)},
                         {type, shape}, attributes));
  };
  EXPECT_EQ(run("Div", kInt32, {-0x1p31, 5, -7}, {-1, 0, 2}), (Values{-0x1p31, 0, -3}));
  EXPECT_EQ(run("Mod", kInt64, {-0x1p63, 5, -7, 7}, {-1, 0, 3, -3}), (Values{0, 0, 2, -2}));
  EXPECT_EQ(run("Mod", kInt8, {-7, 7, -128}, {3, -3, -1}, {{"fmod", std::int64_t{1}}}),
            (Values{-1, 1, 0}));
  EXPECT_EQ(run("Mul", kUint16, {65535}, {65535}), (Values{1}));
  EXPECT_EQ(run("Pow", kInt32, {2, -1, 1, 0, 3}, {-1, -3, -9, -1, 4}), (Values{0, -1, 1, 0, 81}));
  EXPECT_EQ(run("BitShift", kUint8, {255, 1}, {8, 7}, {{"direction", std::string("LEFT")}}),
            (Values{0, 128}));
}

/// Chunks of ordinary numbers are computed with vectors, others one by one.
TEST(ElementwiseTest, RemaindersOfFloatsAreThoseOfFmod) {
  ForSeeds(40, [](std::mt19937& random) {
    const bool has_all = random() % 2 == 0;
    std::uniform_int_distribution<std::uint32_t> bits;
    const auto any = [&] {
      const auto number = std::bit_cast<float>(bits(random));
      if (has_all) return number;
      int exponent = 0;
      // Of like magnitude, so that quotients stay small.
      return std::ldexp(std::frexp(std::isfinite(number) ? number : 1.0F, &exponent),
                        static_cast<int>(random() % 12));
    };
    Tensor a({kFloat32, {1000}});
    Tensor b({kFloat32, {1000}});
    for (std::size_t i = 0; i < 1000; ++i) {
      float& divisor = b.as_mutable<float>()[i];
      divisor = any();
      if (divisor == 0 && !has_all) divisor = 1;
      // Multiples, and their neighbours.
      const float multiple = divisor * static_cast<float>(random() % 100);
      a.as_mutable<float>()[i] = random() % 2 == 0   ? any()
                                 : random() % 2 == 0 ? multiple
                                                     : std::nextafter(multiple, 0.0F);
    }
    const Tensor found = Run1("Mod", {a, b}, {kFloat32, {1000}}, {{"fmod", std::int64_t{1}}});
    for (std::size_t i = 0; i < 1000; ++i) {
      const float wanted = std::fmod(a.as<float>()[i], b.as<float>()[i]);
      const float is = found.as<float>()[i];
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(is)) << a.as<float>()[i] << ' ' << b.as<float>()[i];
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(is), std::bit_cast<std::uint32_t>(wanted))
            << a.as<float>()[i] << ' ' << b.as<float>()[i];
      }
    }
  });
}

TEST(ElementwiseTest, PowMixesTypes) {
  const Tensor base = FromValues(kFloat32, {3}, {1, 2, 3});
  EXPECT_EQ(ToValues(Run1("Pow", {base, FromValues(kInt64, {3}, {4, 5, 6})}, {kFloat32, {3}})),
            (Values{1, 32, 729}));
  EXPECT_EQ(
      ToValues(Run1("Pow", {FromValues(kInt32, {3}, {1, 2, 3}), FromValues(kFloat32, {}, {0.5})},
                    {kInt32, {3}})),
      (Values{1, 1, 1}));
  EXPECT_EQ(ToValues(Run1("Pow", {FromValues(kFloat16, {2}, {3, -5}), FromValues(kUint8, {}, {2})},
                          {kFloat16, {2}})),
            (Values{9, 25}));
}

// ---- Variadic, Clip, Where
// -------------------------------------------------------------------------

TEST(ElementwiseTest, FoldsRoundHalvesOnce) {
  const auto constant = [](double value) { return FromValues(kFloat16, {1}, {value}); };
  // In steps of float16 the small addends would vanish.
  EXPECT_EQ(ToValues(Run1("Sum", {constant(2048), constant(1), constant(1)}, {kFloat16, {1}})),
            (Values{2050}));
  EXPECT_EQ(ToValues(Run1("Mean", {constant(2048), constant(1), constant(4)}, {kFloat16, {1}})),
            (Values{684.5}));
  const Tensor a = FromValues(kFloat32, {2, 2}, {1, kNan, 3, 4});
  const Tensor b = FromValues(kFloat32, {2}, {2, 3});
  const Tensor c = FromValues(kFloat32, {2, 1}, {0, 9});
  ExpectClose(Run1("Max", {a, b, c}, {kFloat32, {2, 2}}), {2, kNan, 9, 9}, 0);
  ExpectClose(Run1("Min", {b, a, c}, {kFloat32, {2, 2}}), {0, kNan, 2, 3}, 0);
  ExpectClose(Run1("Sum", {a}, {kFloat32, {2, 2}}), {1, kNan, 3, 4}, 0);
}

TEST(ElementwiseTest, ClipTakesEitherBound) {
  for (const ElementType type : {kFloat32, kFloat16, kInt8, kInt64, kFloat64}) {
    const Tensor x = FromValues(type, {5}, {-9, -2, 0, 2, 9});
    const Tensor low = FromValues(type, {}, {-3});
    const Tensor high = FromValues(type, {1}, {1});
    const auto run = [&](const std::vector<Tensor>& inputs) {
      return ToValues(Run1("Clip", inputs, {type, {5}}));
    };
    EXPECT_EQ(run({x, low, high}), (Values{-3, -2, 0, 1, 1}));
    EXPECT_EQ(run({x, low}), (Values{-3, -2, 0, 2, 9}));
    EXPECT_EQ(run({x, Tensor(), high}), (Values{-9, -2, 0, 1, 1}));
    EXPECT_EQ(run({x}), (Values{-9, -2, 0, 2, 9}));
    EXPECT_EQ(run({x, high, low}), (Values{-3, -3, -3, -3, -3}));
  }
  const Tensor nan = FromValues(kFloat32, {}, {kNan});
  ExpectClose(Run1("Clip", {nan, FromValues(kFloat32, {}, {0})}, {kFloat32, {}}), {kNan}, 0);
}

TEST(ElementwiseTest, WhereSelectsAnyType) {
  std::mt19937 random(11);
  for (const ElementType type : {kBool, kFloat16, kFloat32, kInt64}) {
    const Shape shape{3, 70};
    const Tensor condition = FromValues(kBool, {3, 1}, {1, 0, 1});
    const Tensor x = RandomTensor(random, type, {70}, 0, 50);
    const Tensor y = RandomTensor(random, type, shape, 0, 50);
    const Values xs = ToValues(x);
    const Values ys = ToValues(y);
    Values wanted;
    for (std::size_t i = 0; i < 210; ++i) wanted.push_back(i / 70 != 1 ? xs[i % 70] : ys[i]);
    EXPECT_EQ(ToValues(Run1("Where", {condition, x, y}, {type, shape})), wanted);
  }
}

TEST(ElementwiseTest, ThreadsDoNotChangeResults) {
  std::mt19937 random(5);
  const Tensor x = RandomTensor(random, kFloat32, {100003}, -5, 5);
  const BoundKernel gelu = FindKernel("Gelu")->bind({{x.type()}, {x.type()}, {}});
  Tensor one(x.type());
  Tensor four(x.type());
  ThreadPool pool(4);
  const std::byte* in = x.data();
  std::byte* to_one = one.mutable_data();
  std::byte* to_four = four.mutable_data();
  gelu.run({.inputs = {&in, 1}, .outputs = {&to_one, 1}});
  gelu.run({.inputs = {&in, 1}, .outputs = {&to_four, 1}, .pool = &pool});
  EXPECT_TRUE(one == four);
}

TEST(ElementwiseTest, BindErrors) {
  const TensorType f23{kFloat32, {2, 3}};
  const TensorType f4{kFloat32, {4}};
  EXPECT_EQ(BindError("Add", {f23, f4}, {f23}),
            "inputs float32[2, 3], float32[4] do not broadcast");
  EXPECT_EQ(BindError("Add", {f23, f23}, {f4}), "output 0 is float32[4], expected float32[2, 3]");
  EXPECT_EQ(BindError("Add", {f23, {kInt8, {3}}}, {f23}),
            "input 1 is int8[3], allowed element types are float32");
  EXPECT_EQ(BindError("Not", {f4}, {f4}), "input 0 is float32[4], allowed element types are bool");
  EXPECT_EQ(BindError("Less", {f4, f4}, {f4}), "output 0 is float32[4], expected bool[4]");
  EXPECT_EQ(BindError("Relu", {f4, f4}, {f4}), "has 2 inputs, allowed are 1 to 1");
  EXPECT_EQ(BindError("Elu", {f4}, {f4}, {{"alpha", std::int64_t{1}}}),
            "attribute 'alpha' is not a float");
  EXPECT_EQ(BindError("Gelu", {f4}, {f4}, {{"approximate", std::string("sigmoid")}}),
            "attribute 'approximate' is \"sigmoid\", allowed are \"none\" and \"tanh\"");
  EXPECT_EQ(BindError("Mod", {f4, f4}, {f4}),
            "attribute 'fmod' is 0, but inputs of a float type need 1");
  EXPECT_EQ(BindError("Clip", {f4, f4}, {f4}), "input 1 is float32[4], expected a scalar");
  EXPECT_EQ(BindError("Max", {f4, {}}, {f4}),
            "input 1 is undefined[], allowed element types are float32");
  EXPECT_EQ(BindError("PRelu", {{kFloat32, {1}}, f4}, {f4}),
            "output 0 is float32[4], expected float32[1]");
}

}  // namespace
}  // namespace poprt::kernels::testing
