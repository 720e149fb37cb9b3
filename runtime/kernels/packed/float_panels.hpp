#pragma once

#include <cstdint>
#include <string>

#include "runtime/kernels/kernel.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/thread_pool.hpp"
#include "runtime/tensor/tensor.hpp"

/// What both forms in which panels of float32, [panels..., depth, 16], are stored in fewer bits
/// share.
namespace poprt::kernels {

/// Their type as lines of 16 words, lines_of(depth) of them. Throws KernelError, which says what
/// they cannot be, where these are no such panels.
inline TensorType LinesType(const TensorType& panels, ElementType words,
                            std::int64_t (*lines_of)(std::int64_t depth), const char* what) {
  Require(panels.element == ElementType::kFloat32 && panels.shape.size() >= 3 &&
              panels.shape.back() == kPanel,
          "panels of type " + ToString(panels) + " cannot be " + what);
  TensorType type{words, panels.shape};
  std::int64_t& rows = type.shape[type.shape.size() - 2];
  rows = lines_of(rows);
  return type;
}

/// Calls each(index, panel, depth) for all of them, on all threads of the process.
template <typename Each>
void EachPanel(const Tensor& panels, const Each& each) {
  const Shape& shape = panels.shape();
  const std::int64_t depth = shape[shape.size() - 2];
  const std::int64_t count = ElementCount(Shape(shape.begin(), shape.end() - 2));
  const float* const first = panels.as<float>().data();
  ProcessThreadPool().Run(count, [&](std::int64_t panel, int /*worker*/) {
    each(panel, first + panel * depth * kPanel, depth);
  });
}

}  // namespace poprt::kernels
