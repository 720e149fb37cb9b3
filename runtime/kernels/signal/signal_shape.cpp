#include "runtime/kernels/signal/signal_shape.hpp"

#include <string>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/signal/fourier_transform.hpp"

namespace poprt::kernels {
namespace {

/// A static input of one integer, as a list or not.
std::int64_t Scalar(const Attributes& attributes, std::string_view name, std::int64_t otherwise) {
  const AttributeValue* value = attributes.find(name);
  if (value == nullptr) return otherwise;
  if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
  const Ints numbers = attributes.get_ints(name);
  Require(numbers.size() == 1, "attribute '" + std::string(name) + "' has " +
                                   std::to_string(numbers.size()) + " numbers, it must have one");
  return numbers[0];
}

std::int64_t Length(const Attributes& attributes, std::string_view name, std::int64_t otherwise) {
  const std::int64_t length = Scalar(attributes, name, otherwise);
  Require(length >= 1 && length <= FourierTransform::kLongest,
          "the length of the transform, '" + std::string(name) + "', is " + std::to_string(length) +
              ", allowed are 1 to " + std::to_string(FourierTransform::kLongest));
  return length;
}

void RequireComponents(const Shape& shape) {
  Require(shape.size() >= 2 && (shape.back() == 1 || shape.back() == 2),
          "the signal has the shape " + ToString(shape) +
              ", its rank must be 2 or more and its last extent 1 (real) or 2 (complex)");
}

}  // namespace

DftShape ResolveDft(const Attributes& attributes, const Shape& input) {
  RequireComponents(input);
  DftShape dft;
  const std::int64_t given = Scalar(attributes, "axis", -2);
  const auto axis = NormalizeAxis(given, input.size());
  Require(axis && *axis + 1 < static_cast<std::int64_t>(input.size()),
          "attribute 'axis' is " + std::to_string(given) + ", which is no axis of the signal " +
              ToString(input) + " or the one of real and imaginary parts");
  dft.axis = static_cast<std::size_t>(*axis);
  dft.inverse = attributes.get_int("inverse", 0) != 0;
  dft.onesided = attributes.get_int("onesided", 0) != 0;
  Require(!dft.onesided || dft.inverse || input.back() == 1,
          "attribute 'onesided' is set, but the spectrum of a complex signal has no symmetry");
  const std::int64_t extent = input[dft.axis];
  const bool to_real = dft.onesided && dft.inverse;
  Require(!to_real || extent <= FourierTransform::kLongest, "the signal is too long");
  dft.length = Length(attributes, "dft_length", to_real ? 2 * (extent - 1) : extent);
  dft.output = input;
  dft.output[dft.axis] = dft.onesided && !dft.inverse ? dft.length / 2 + 1 : dft.length;
  dft.output.back() = to_real ? 1 : 2;
  return dft;
}

StftShape ResolveStft(const Attributes& attributes, const Shape& signal, const TensorType& window) {
  Require(signal.size() == 2 || signal.size() == 3,
          "the signal has the shape " + ToString(signal) +
              ", its rank must be 3: batch, time, components, or 2 when it is real");
  if (signal.size() == 3) RequireComponents(signal);
  Require(!window.defined() || window.shape.size() == 1,
          "the window is " + ToString(window) + ", its rank must be 1");
  StftShape stft;
  if (signal.size() == 3) stft.components = signal[2];
  stft.length = Length(attributes, "frame_length", window.defined() ? window.shape[0] : signal[1]);
  Require(!window.defined() || window.shape[0] == stft.length, "the window is " + ToString(window) +
                                                                   ", but frames have the length " +
                                                                   std::to_string(stft.length));
  stft.step = Scalar(attributes, "frame_step", 0);
  Require(stft.step >= 1,
          "attribute 'frame_step' is " + std::to_string(stft.step) + ", it must be at least 1");
  Require(stft.length <= signal[1], "a frame of " + std::to_string(stft.length) +
                                        " is longer than the signal " + ToString(signal));
  const bool onesided = attributes.get_int("onesided", 1) != 0;
  Require(!onesided || stft.components == 1,
          "attribute 'onesided' is set, but the spectrum of a complex signal has no symmetry");
  stft.frames = (signal[1] - stft.length) / stft.step + 1;
  stft.bins = onesided ? stft.length / 2 + 1 : stft.length;
  stft.output = {signal[0], stft.frames, stft.bins, 2};
  return stft;
}

}  // namespace poprt::kernels
