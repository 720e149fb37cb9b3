#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace poprt::kernels {

/// A complex number as tensors store it.
struct Complex {
  double re = 0;
  double im = 0;

  friend Complex operator+(const Complex& a, const Complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend Complex operator-(const Complex& a, const Complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// The discrete Fourier transform of one length, in double: X[k] = sum x[j] e^(-2 pi i j k / n),
/// the inverse with the other sign and divided by n. Takes O(n log n) steps for every n: factors up
/// to 13 are split off, other lengths become a convolution of a power of two (Bluestein).
/// Immutable.
class FourierTransform {
 public:
  /// `length` in [1, kLongest].
  FourierTransform(std::int64_t length, bool inverse);

  static constexpr std::int64_t kLongest = std::int64_t{1} << 24;

  std::int64_t length() const { return length_; }
  /// Numbers that Run needs behind the data.
  std::int64_t scratch_numbers() const;
  /// Transforms data[0..length) in place. Allocates nothing.
  void Run(Complex* data, Complex* scratch) const;

 private:
  void RunFactors(Complex* data, Complex* scratch) const;
  void RunConvolution(Complex* data, Complex* scratch) const;

  std::int64_t length_;
  bool inverse_;
  std::vector<std::int64_t> factors_;  // empty for a convolution
  std::vector<Complex> roots_;         // e^(-+ 2 pi i k / n)
  // For a convolution: e^(-+ pi i k^2 / n), and the transform of its inverse.
  std::vector<Complex> chirp_;
  std::vector<Complex> filter_;
  std::shared_ptr<const FourierTransform> forward_;
  std::shared_ptr<const FourierTransform> backward_;
};

}  // namespace poprt::kernels
