#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

/// Attributes and shapes of DFT and STFT, shared by the shape rules of the compiler and the
/// kernels. All throw KernelError for what does not fit and std::invalid_argument for an attribute
/// of another type.
namespace poprt::kernels {

/// Signals have a last axis of 1 (real) or 2 (complex).
struct DftShape {
  std::size_t axis = 0;
  std::int64_t length = 0;  ///< of the transform; the signal is cut or filled up with zeros
  bool inverse = false;
  bool onesided = false;  ///< half of a symmetric spectrum: the output, or the input when inverse
  Shape output;
};

/// Attributes axis (-2 by default), dft_length, inverse, onesided. With both of the latter the
/// output is real and the length 2 (n - 1) by default.
DftShape ResolveDft(const Attributes& attributes, const Shape& input);

struct StftShape {
  std::int64_t step = 0;
  std::int64_t length = 0;  ///< of a frame
  std::int64_t frames = 0;
  std::int64_t bins = 0;
  std::int64_t components = 1;  ///< of a sample: 1 (real) or 2 (complex)
  Shape output;                 ///< [batch, frames, bins, 2]
};

/// Attributes frame_step, frame_length (by default the window's length, else the signal's) and
/// onesided (1 by default). The signal is [batch, time, components] or, when it is real, [batch,
/// time], which the specification does not have, but exporters write. `window` is undefined when
/// there is none.
StftShape ResolveStft(const Attributes& attributes, const Shape& signal, const TensorType& window);

}  // namespace poprt::kernels
