#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/signal/fourier_transform.hpp"
#include "runtime/kernels/signal/signal_shape.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::Draw;
using testing::EitherSign;
using testing::ExpectClose;
using testing::Fill;
using testing::Flat;
using testing::ForSeeds;
using testing::FromValues;
using testing::Index;
using testing::RandomOperand;
using testing::RandomTensor;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

constexpr unsigned kSeed = 3141;

using Spectrum = std::vector<std::complex<double>>;

/// The defining sum.
Spectrum Transformed(const Spectrum& x, bool inverse) {
  const std::size_t n = x.size();
  Spectrum roots;
  for (std::size_t j = 0; j < n; ++j) {
    const double turns = static_cast<double>(j) / static_cast<double>(n);
    roots.push_back(std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * turns));
  }
  Spectrum y(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) y[k] += x[j] * roots[j * k % n];
    if (inverse) y[k] /= static_cast<double>(n);
  }
  return y;
}

TEST(FourierTransformTest, EqualsTheSumForAllLengths) {
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<std::int64_t> lengths{210, 256, 289, 360, 512, 1009, 2048, 2310};
  for (std::int64_t n = 1; n < 130; ++n) lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    for (const bool inverse : {false, true}) {
      SCOPED_TRACE("length " + std::to_string(n) + (inverse ? ", inverse" : ""));
      Spectrum x(static_cast<std::size_t>(n));
      std::vector<Complex> data;
      for (auto& value : x) {
        value = {draw(random), draw(random)};
        data.push_back({value.real(), value.imag()});
      }
      const FourierTransform transform(n, inverse);
      std::vector<Complex> scratch(static_cast<std::size_t>(transform.scratch_numbers()));
      transform.Run(data.data(), scratch.data());
      const Spectrum wanted = Transformed(x, inverse);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const std::complex<double> found{data[k].re, data[k].im};
        const double bound = 1e-15 * static_cast<double>(inverse ? 10 : 10 + n);
        ASSERT_LE(std::abs(found - wanted[k]), bound) << "element " << k;
      }
    }
  }
}

struct DftCase {
  ElementType element;
  Shape shape;
  Attributes attributes;
};

DftCase RandomDft(std::mt19937& random) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  DftCase test{.element = kElements[random() % 4], .shape = {}, .attributes = {}};
  const std::size_t rank = 2 + random() % 7;
  for (std::size_t i = 0; i < rank; ++i) {
    test.shape.push_back(random() % 20 == 0 ? 0 : Draw(random, 1, rank > 4 ? 3 : 9));
  }
  const bool inverse = random() % 2 == 0;
  const bool onesided = random() % 2 == 0;
  test.shape.back() = onesided && !inverse ? 1 : Draw(random, 1, 2);
  std::size_t axis = rank - 2;
  if (random() % 4 > 0) {
    axis = random() % (rank - 1);
    test.attributes.set("axis", Ints{EitherSign(random, axis, rank)});
  }
  if (random() % 2 == 0 || (inverse && onesided) || test.shape[axis] == 0) {
    test.attributes.set("dft_length", Ints{Draw(random, 1, 14)});
  }
  test.attributes.set("inverse", static_cast<std::int64_t>(inverse));
  test.attributes.set("onesided", static_cast<std::int64_t>(onesided));
  return test;
}

Values DftReference(const DftCase& test, const Tensor& input) {
  const DftShape dft = ResolveDft(test.attributes, test.shape);
  const Values values = ToValues(input);
  const auto n = static_cast<std::size_t>(dft.length);
  const bool to_real = dft.inverse && dft.onesided;
  return Fill(dft.output, [&](const Index& at) {
    Spectrum x(n);
    for (std::size_t j = 0; j < n; ++j) {
      Index from = at;
      const bool mirrored = to_real && j > n / 2;
      const std::size_t source = mirrored ? n - j : j;
      if (static_cast<std::int64_t>(source) >= test.shape[dft.axis]) continue;
      from[dft.axis] = static_cast<std::int64_t>(source);
      from.back() = 0;
      const double re = values[Flat(test.shape, from)];
      double im = 0;
      if (test.shape.back() == 2) {
        from.back() = 1;
        im = values[Flat(test.shape, from)];
      }
      if (to_real && (j == 0 || 2 * j == n)) im = 0;
      x[j] = {re, mirrored ? -im : im};
    }
    const auto y = Transformed(x, dft.inverse)[static_cast<std::size_t>(at[dft.axis])];
    return at.back() == 0 ? y.real() : y.imag();
  });
}

/// Compares spectra, whose last axis holds the components of a number. What a NaN or an infinity
/// enters isn't finite: which component it reaches, and as what, depends on the order of the sums.
void ExpectSpectrum(const Tensor& found, Values wanted) {
  Values values = ToValues(found);
  const auto components = static_cast<std::size_t>(found.shape().back());
  ASSERT_EQ(values.size(), wanted.size());
  const auto finite = [](double value) { return std::isfinite(value); };
  for (std::size_t i = 0; i < wanted.size(); i += components) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const auto next = at + static_cast<std::ptrdiff_t>(components);
    if (std::all_of(wanted.begin() + at, wanted.begin() + next, finite)) continue;
    EXPECT_FALSE(std::all_of(values.begin() + at, values.begin() + next, finite)) << "number " << i;
    std::fill(wanted.begin() + at, wanted.begin() + next, 0.0);
    std::fill(values.begin() + at, values.begin() + next, 0.0);
  }
  ExpectClose(FromValues(found.element(), found.shape(), values), wanted, 2, 4);
}

TEST(SignalTest, DftOfAnyAxis) {
  ForSeeds(400, [](std::mt19937& random) {
    const DftCase test = RandomDft(random);
    const DftShape dft = ResolveDft(test.attributes, test.shape);
    // Real results may miss the component that is not finite.
    const bool to_real = dft.output.back() == 1;
    const Tensor input =
        (to_real ? RandomTensor : RandomOperand)(random, test.element, test.shape, -1, 1);
    ExpectSpectrum(Run1("DFT", {input}, {test.element, dft.output}, test.attributes),
                   DftReference(test, input));
  });
}

TEST(SignalTest, DftShapes) {
  EXPECT_EQ(ResolveDft({}, {2, 7, 1}).output, (Shape{2, 7, 2}));
  EXPECT_EQ(ResolveDft({{"onesided", std::int64_t{1}}}, {2, 7, 1}).output, (Shape{2, 4, 2}));
  const Attributes irfft{{"onesided", std::int64_t{1}}, {"inverse", std::int64_t{1}}};
  EXPECT_EQ(ResolveDft(irfft, {2, 5, 2}).output, (Shape{2, 8, 1}));
  const TensorType signal{kFloat32, {2, 7, 2}};
  EXPECT_EQ(
      BindError("DFT", {signal}, {signal}, {{"axis", Ints{2}}}),
      "attribute 'axis' is 2, which is no axis of the signal [2, 7, 2] or the one of real and "
      "imaginary parts");
  EXPECT_EQ(BindError("DFT", {signal}, {signal}, {{"onesided", std::int64_t{1}}}),
            "attribute 'onesided' is set, but the spectrum of a complex signal has no symmetry");
  EXPECT_EQ(BindError("DFT", {signal}, {signal}, {{"dft_length", Ints{0}}}),
            "the length of the transform, 'dft_length', is 0, allowed are 1 to 16777216");
  EXPECT_EQ(BindError("DFT", {{kFloat32, {2, 3}}}, {signal}),
            "the signal has the shape [2, 3], its rank must be 2 or more and its last extent 1 "
            "(real) or 2 (complex)");
}

TEST(SignalTest, StftOfFrames) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(120, [&](std::mt19937& random) {
    const ElementType element = kElements[random() % 4];
    const std::int64_t components = Draw(random, 1, 2);
    Shape shape{Draw(random, 0, 3), Draw(random, 8, 40), components};
    const bool flat = components == 1 && random() % 2 == 0;
    const std::int64_t length = Draw(random, 1, 8);
    const bool has_window = random() % 2 == 0;
    const bool onesided = components == 1 && random() % 2 == 0;
    Attributes attributes{{"frame_step", Ints{Draw(random, 1, 5)}},
                          {"onesided", static_cast<std::int64_t>(onesided)}};
    if (!has_window || random() % 2 == 0) attributes.set("frame_length", Ints{length});
    const Tensor signal =
        RandomOperand(random, element, flat ? Shape{shape[0], shape[1]} : shape, -1, 1);
    const Tensor window = has_window ? RandomTensor(random, element, {length}, 0, 1) : Tensor();
    const StftShape stft = ResolveStft(attributes, signal.shape(), window.type());
    const Values x = ToValues(signal);
    const Values w = has_window ? ToValues(window) : Values(static_cast<std::size_t>(length), 1.0);
    const Values wanted = Fill(stft.output, [&](const Index& at) {
      Spectrum frame;
      for (std::int64_t k = 0; k < length; ++k) {
        const Index from{at[0], at[1] * stft.step + k, 0};
        const double re = x[Flat(shape, from)];
        const double im = components == 2 ? x[Flat(shape, from) + 1] : 0;
        frame.push_back(std::complex<double>(re, im) * w[static_cast<std::size_t>(k)]);
      }
      const auto y = Transformed(frame, false)[static_cast<std::size_t>(at[2])];
      return at[3] == 0 ? y.real() : y.imag();
    });
    const std::vector<Tensor> inputs =
        has_window ? std::vector<Tensor>{signal, window} : std::vector<Tensor>{signal};
    ExpectSpectrum(Run1("STFT", inputs, {element, stft.output}, attributes), wanted);
  });
}

TEST(SignalTest, StftRefusesWhatDoesNotFit) {
  const TensorType signal{kFloat32, {1, 10, 1}}, window{kFloat32, {4}};
  const auto error = [&](const Attributes& attributes) {
    return BindError("STFT", {signal, window}, {signal}, attributes);
  };
  EXPECT_EQ(error({{"frame_step", Ints{0}}}), "attribute 'frame_step' is 0, it must be at least 1");
  EXPECT_EQ(error({{"frame_step", Ints{1}}, {"frame_length", Ints{5}}}),
            "the window is float32[4], but frames have the length 5");
  EXPECT_EQ(
      BindError("STFT", {signal}, {signal}, {{"frame_step", Ints{1}}, {"frame_length", Ints{11}}}),
      "a frame of 11 is longer than the signal [1, 10, 1]");
}

/// The formulas of the specification.
TEST(SignalTest, WindowsOfAnySize) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  ForSeeds(120, [&](std::mt19937& random) {
    const std::size_t which = random() % 3;
    const ElementType element = kElements[random() % 4];
    const std::int64_t size = Draw(random, 0, random() % 3 == 0 ? 3 : 300);
    const std::int64_t periodic = random() % 2;
    const Values wanted = Fill({size}, [&](const Index& at) {
      if (size == 1 && periodic == 0) return 1.0;
      const auto turns =
          static_cast<double>(at[0]) / static_cast<double>(periodic != 0 ? size : size - 1);
      const double first = std::cos(2 * std::numbers::pi * turns);
      const double second = std::cos(4 * std::numbers::pi * turns);
      if (which == 0) return 0.5 - 0.5 * first;
      return which == 1 ? 25.0 / 46 - 21.0 / 46 * first : 0.42 - 0.5 * first + 0.08 * second;
    });
    const char* const kernels[] = {"HannWindow", "HammingWindow", "BlackmanWindow"};
    SCOPED_TRACE(std::string(kernels[which]) + " of " + std::to_string(size));
    ExpectClose(Run1(kernels[which], {}, {element, {size}}, {{"periodic", periodic}}), wanted, 1,
                1);
  });
}

TEST(SignalTest, Windows) {
  const auto window = [](const char* op, std::int64_t size, std::int64_t periodic) {
    return ToValues(Run1(op, {}, {kFloat64, {size}}, {{"periodic", periodic}}));
  };
  const auto expect_near = [](const Values& found, const Values& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-15);
  };
  expect_near(window("HannWindow", 4, 1), {0, 0.5, 1, 0.5});
  expect_near(window("HannWindow", 5, 0), {0, 0.5, 1, 0.5, 0});
  expect_near(window("HammingWindow", 4, 1), {4.0 / 46, 25.0 / 46, 1, 25.0 / 46});
  expect_near(window("BlackmanWindow", 5, 0), {0, 0.34, 1, 0.34, 0});
  expect_near(window("HannWindow", 1, 0), {1});
  expect_near(window("HannWindow", 1, 1), {0});
  expect_near(window("HannWindow", 0, 1), {});
  EXPECT_EQ(ToValues(Run1("HannWindow", {}, {kInt32, {4}})), (Values{0, 0, 1, 0}));
}

/// As ONNX's reference fills it; nothing when an edge lies so near to a row that rounding decides
/// which one it falls into.
std::optional<Values> MelReference(std::int64_t bins, std::int64_t length, std::int64_t rate,
                                   double low, double high) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  Ints edges;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double hertz =
        700 * (std::pow(10, (mel(low) + static_cast<double>(i) * step) / 2595) - 1);
    const double row = static_cast<double>(length + 1) * hertz / static_cast<double>(rate);
    if (std::fabs(row - std::nearbyint(row)) < 1e-3 && row > 1e-3) return std::nullopt;
    edges.push_back(static_cast<std::int64_t>(row + 1e-3));
  }
  return Fill({length / 2 + 1, bins}, [&](const Index& at) {
    const std::int64_t row = at[0];
    const std::int64_t* const edge = edges.data() + at[1];
    const auto rise = static_cast<double>(edge[1] - edge[0]);
    const auto fall = static_cast<double>(edge[2] - edge[1]);
    if (row >= edge[1] && row < edge[2]) return static_cast<double>(edge[2] - row) / fall;
    if (rise == 0) return row == edge[1] ? 1.0 : 0.0;
    return row >= edge[0] && row <= edge[1] ? static_cast<double>(row - edge[0]) / rise : 0.0;
  });
}

TEST(SignalTest, MelWeightMatrixOfAnySize) {
  constexpr ElementType kElements[] = {kFloat32, kFloat64, kFloat16, kBFloat16};
  int compared = 0;
  ForSeeds(150, [&](std::mt19937& random) {
    const std::int64_t bins = Draw(random, 0, 12);
    const std::int64_t length = Draw(random, 0, random() % 2 == 0 ? 20 : 200);
    const std::int64_t rate = Draw(random, 1000, 48000);
    const auto low = static_cast<double>(Draw(random, 0, rate / 4));
    const auto high = low + static_cast<double>(Draw(random, 0, rate));
    const auto wanted = MelReference(bins, length, rate, low, high);
    if (!wanted) return;
    ++compared;
    const Tensor found =
        Run1("MelWeightMatrix", {}, {kElements[random() % 4], {length / 2 + 1, bins}},
             {{"num_mel_bins", Ints{bins}},
              {"dft_length", Ints{length}},
              {"sample_rate", Ints{rate}},
              {"lower_edge_hertz", Floats{static_cast<float>(low)}},
              {"upper_edge_hertz", Floats{static_cast<float>(high)}}});
    ExpectClose(found, *wanted, 1);
  });
  EXPECT_GT(compared, 100);
}

TEST(SignalTest, MelWeightMatrix) {
  const Attributes attributes{{"num_mel_bins", Ints{2}},
                              {"dft_length", Ints{8}},
                              {"sample_rate", Ints{8000}},
                              {"lower_edge_hertz", Floats{0}},
                              {"upper_edge_hertz", Floats{4000}}};
  // The edges of the triangles fall into rows 0, 0, 1 and 2.
  EXPECT_EQ(ToValues(Run1("MelWeightMatrix", {}, {kFloat32, {5, 2}}, attributes)),
            (Values{1, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(BindError("MelWeightMatrix", {}, {{kFloat32, {5, 2}}},
                      {{"num_mel_bins", Ints{2}}, {"dft_length", Ints{8}}}),
            "attribute 'sample_rate' is 0, it must be at least 1");
}

}  // namespace
}  // namespace poprt::kernels
