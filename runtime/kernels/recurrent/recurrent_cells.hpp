#pragma once

/// What a step makes of the sums of the gates of 16 hidden units of a sequence, with the functions
/// that recurrent operators have by default. All in registers: one vector alone waits for itself in
/// each function, several functions do not wait for each other. This header is included by files
/// that are compiled for more than the baseline processor: it must stay free of inline functions.
namespace poprt::kernels {

struct RecurrentCells {
  /// next = sigmoid(forget) * cell + sigmoid(in) * tanh(next), out = sigmoid(out) * tanh(next).
  void (*lstm)(const float* in, const float* forget, const float* cell, float* next, float* out);
  /// update = sigmoid(update), passed = sigmoid(reset) * before.
  void (*gru_gates)(const float* reset, const float* before, float* update, float* passed);
  /// candidate = (1 - update) * tanh(candidate) + update * before.
  void (*gru)(const float* update, const float* before, float* candidate);
  /// The same with sigmoid(update) and candidate + sigmoid(reset) * linear.
  void (*linear_gru)(const float* update, const float* reset, const float* linear,
                     const float* before, float* candidate);
};

/// For each instruction set, see inner_loops.hpp.
extern const RecurrentCells kPortableRecurrentCells;
extern const RecurrentCells kAvx2RecurrentCells;
extern const RecurrentCells kAvx512RecurrentCells;

}  // namespace poprt::kernels
