#include "runtime/kernels/signal/fourier_transform.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace poprt::kernels {
namespace {

constexpr std::int64_t kLargestFactor = 13;

/// Factors up to kLargestFactor, or none when others are left.
std::vector<std::int64_t> Factorize(std::int64_t length) {
  std::vector<std::int64_t> factors;
  for (const std::int64_t factor : {4, 2, 3, 5, 7, 11, 13}) {
    while (length % factor == 0) {
      factors.push_back(factor);
      length /= factor;
    }
  }
  return length == 1 ? factors : std::vector<std::int64_t>();
}

/// e^(sign 2 pi i k / n), computed from an angle of at most an eighth of a turn.
Complex Root(std::int64_t k, std::int64_t n, double sign) {
  const std::int64_t octant = 8 * k / n;
  // The distance from the nearest quarter of a turn, in units of 1 / (4 n) of a turn.
  const std::int64_t quarter = (octant + 1) / 2;
  const double angle =
      std::numbers::pi / 2 * static_cast<double>(4 * k - quarter * n) / static_cast<double>(n);
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  switch (quarter % 4) {
    case 0:
      return {c, sign * s};
    case 1:
      return {-s, sign * c};
    case 2:
      return {-c, sign * -s};
    default:
      return {s, sign * -c};
  }
}

std::vector<Complex> Roots(std::int64_t n, double sign) {
  std::vector<Complex> roots(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) roots[static_cast<std::size_t>(k)] = Root(k, n, sign);
  return roots;
}

/// One stage of Stockham's algorithm: `count` transforms of the length `factor`, a stride apart.
struct Stage {
  std::int64_t factor;
  std::int64_t count;   // what is left of the length when the factor is gone
  std::int64_t stride;  // product of the factors before
};

void RunPairs(const Stage& stage, const Complex* roots, const Complex* from, Complex* to) {
  const std::int64_t half = stage.count * stage.stride;
  for (std::int64_t p = 0; p < stage.count; ++p) {
    const Complex root = roots[p * stage.stride];
    for (std::int64_t q = 0; q < stage.stride; ++q) {
      const Complex a = from[q + stage.stride * p];
      const Complex b = from[q + stage.stride * p + half];
      to[q + stage.stride * 2 * p] = a + b;
      to[q + stage.stride * (2 * p + 1)] = (a - b) * root;
    }
  }
}

/// `turn` is the fourth root of unity: -i forward, i backward.
void RunFours(const Stage& stage, const Complex* roots, double turn, const Complex* from,
              Complex* to) {
  const std::int64_t quarter = stage.count * stage.stride;
  for (std::int64_t p = 0; p < stage.count; ++p) {
    const Complex root1 = roots[p * stage.stride];
    const Complex root2 = roots[2 * p * stage.stride];
    const Complex root3 = roots[3 * p * stage.stride];
    for (std::int64_t q = 0; q < stage.stride; ++q) {
      const Complex* at = from + q + stage.stride * p;
      const Complex sum02 = at[0] + at[2 * quarter];
      const Complex sum13 = at[quarter] + at[3 * quarter];
      const Complex difference02 = at[0] - at[2 * quarter];
      const Complex difference13 = at[quarter] - at[3 * quarter];
      const Complex turned{-turn * difference13.im, turn * difference13.re};
      Complex* out = to + q + stage.stride * 4 * p;
      out[0] = sum02 + sum13;
      out[stage.stride] = (difference02 + turned) * root1;
      out[2 * stage.stride] = (sum02 - sum13) * root2;
      out[3 * stage.stride] = (difference02 - turned) * root3;
    }
  }
}

void RunAny(const Stage& stage, const Complex* roots, const Complex* from, Complex* to) {
  const std::int64_t part = stage.count * stage.stride;
  const std::int64_t whole = part * stage.factor;
  std::array<Complex, kLargestFactor> values;
  for (std::int64_t p = 0; p < stage.count; ++p) {
    for (std::int64_t q = 0; q < stage.stride; ++q) {
      for (std::int64_t u = 0; u < stage.factor; ++u) {
        values[static_cast<std::size_t>(u)] = from[q + stage.stride * p + u * part];
      }
      for (std::int64_t v = 0; v < stage.factor; ++v) {
        Complex sum = values[0];
        for (std::int64_t u = 1; u < stage.factor; ++u) {
          const std::int64_t turns = u * v % stage.factor * (whole / stage.factor);
          sum = sum + values[static_cast<std::size_t>(u)] * roots[turns];
        }
        to[q + stage.stride * (stage.factor * p + v)] = sum * roots[p * v * stage.stride];
      }
    }
  }
}

}  // namespace

FourierTransform::FourierTransform(std::int64_t length, bool inverse)
    : length_(length), inverse_(inverse), factors_(Factorize(length)) {
  const double sign = inverse ? 1 : -1;
  if (!factors_.empty() || length == 1) {
    roots_ = Roots(length, sign);
    return;
  }
  const auto padded =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * length - 1)));
  forward_ = std::make_shared<FourierTransform>(padded, false);
  backward_ = std::make_shared<FourierTransform>(padded, true);
  filter_.resize(static_cast<std::size_t>(padded));
  for (std::int64_t k = 0; k < length; ++k) {
    // k * k fits: the length is at most kLongest.
    const Complex value = Root(k * k % (2 * length), 2 * length, sign);
    chirp_.push_back(value);
    const Complex conjugate{value.re, -value.im};
    filter_[static_cast<std::size_t>(k)] = conjugate;
    if (k > 0) filter_[static_cast<std::size_t>(padded - k)] = conjugate;
  }
  std::vector<Complex> scratch(static_cast<std::size_t>(forward_->scratch_numbers()));
  forward_->Run(filter_.data(), scratch.data());
}

std::int64_t FourierTransform::scratch_numbers() const {
  return forward_ == nullptr ? length_ : 2 * forward_->length();
}

void FourierTransform::Run(Complex* data, Complex* scratch) const {
  if (forward_ == nullptr) {
    RunFactors(data, scratch);
  } else {
    RunConvolution(data, scratch);
  }
  if (!inverse_) return;
  const double scale = 1.0 / static_cast<double>(length_);
  for (std::int64_t i = 0; i < length_; ++i) data[i] = {data[i].re * scale, data[i].im * scale};
}

void FourierTransform::RunFactors(Complex* data, Complex* scratch) const {
  Complex* from = data;
  Complex* to = scratch;
  Stage stage{1, length_, 1};
  for (const std::int64_t factor : factors_) {
    stage.factor = factor;
    stage.count /= factor;
    if (factor == 2) {
      RunPairs(stage, roots_.data(), from, to);
    } else if (factor == 4) {
      RunFours(stage, roots_.data(), inverse_ ? 1 : -1, from, to);
    } else {
      RunAny(stage, roots_.data(), from, to);
    }
    stage.stride *= factor;
    std::swap(from, to);
  }
  if (from != data) std::copy_n(from, length_, data);
}

void FourierTransform::RunConvolution(Complex* data, Complex* scratch) const {
  const std::int64_t padded = forward_->length();
  for (std::int64_t i = 0; i < length_; ++i) {
    scratch[i] = data[i] * chirp_[static_cast<std::size_t>(i)];
  }
  std::fill(scratch + length_, scratch + padded, Complex{});
  forward_->Run(scratch, scratch + padded);
  for (std::int64_t i = 0; i < padded; ++i) {
    scratch[i] = scratch[i] * filter_[static_cast<std::size_t>(i)];
  }
  backward_->Run(scratch, scratch + padded);
  for (std::int64_t i = 0; i < length_; ++i) {
    data[i] = scratch[i] * chirp_[static_cast<std::size_t>(i)];
  }
}

}  // namespace poprt::kernels
