#include "runtime/kernels/quantized/scale_grid.hpp"

#include <algorithm>
#include <limits>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {
namespace {

std::string Mismatch(const TensorType& tensor, const TensorType& scales) {
  return "scales " + ToString(scales) + " do not fit " + ToString(tensor);
}

}  // namespace

ScaleGrid ScaleGrid::Resolve(const KernelCall& call, const TensorType& tensor,
                             const TensorType& scales) {
  ScaleGrid grid;
  RequireCount(tensor.shape, "input 0");
  const std::int64_t count = RequireCount(scales.shape, "input 1");
  const std::int64_t block = IntAttribute(call, "block_size", 0);
  const std::size_t rank = tensor.shape.size();
  Require(block >= 0, "attribute 'block_size' is " + std::to_string(block) + ", must be 0 or more");
  if (block == 0 && count == 1 && scales.shape.size() <= 1) return grid;
  Require(rank >= 1, Mismatch(tensor, scales));
  // A vector has one axis, whatever the attribute's default says.
  const std::int64_t given = IntAttribute(call, "axis", 1);
  const std::size_t axis = rank == 1 && given == 1 ? 0 : CheckedAxis(given, rank, "axis");
  const std::int64_t extent = tensor.shape[axis];
  grid.is_uniform_ = false;
  grid.extent_ = extent;
  for (std::size_t i = axis + 1; i < rank; ++i) grid.inner_ *= tensor.shape[i];
  if (block == 0) {
    Require(scales.shape == Shape{extent},
            Mismatch(tensor, scales) + " along axis " + std::to_string(axis));
    return grid;
  }
  Shape wanted = tensor.shape;
  wanted[axis] = extent == 0 ? 0 : (extent - 1) / block + 1;
  Require(scales.shape == wanted, Mismatch(tensor, scales) + " in blocks of " +
                                      std::to_string(block) + " along axis " +
                                      std::to_string(axis) + ", expected " + ToString(wanted));
  grid.block_ = block;
  grid.block_stride_ = grid.inner_;
  grid.outer_stride_ = grid.inner_ * wanted[axis];
  grid.inner_stride_ = 1;
  return grid;
}

ScaleGrid::Run ScaleGrid::RunAt(std::int64_t begin) const {
  constexpr std::int64_t kShortest = 16;  // for fewer, runs cost more than indices
  if (is_uniform_) return {.index = 0, .count = std::numeric_limits<std::int64_t>::max()};
  if (inner_stride_ != 0 || inner_ < kShortest) return {};
  const std::int64_t position = begin / inner_ % extent_;
  return {.index = begin / inner_ / extent_ * outer_stride_ + position / block_ * block_stride_,
          .count = inner_ - begin % inner_};
}

void ScaleGrid::Indices(std::int64_t begin, std::int64_t count, std::int64_t* indices) const {
  if (is_uniform_) {
    std::fill_n(indices, count, std::int64_t{0});
    return;
  }
  std::int64_t inner = begin % inner_;
  std::int64_t position = begin / inner_ % extent_;
  std::int64_t outer = begin / inner_ / extent_;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t first = outer * outer_stride_ + position / block_ * block_stride_;
    const std::int64_t run = std::min(inner_ - inner, count - done);
    for (std::int64_t i = 0; i < run; ++i) {
      indices[done + i] = first + (inner + i) * inner_stride_;
    }
    done += run;
    inner = 0;
    if (++position == extent_) {
      position = 0;
      ++outer;
    }
  }
}

}  // namespace poprt::kernels
