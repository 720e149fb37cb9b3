#pragma once

#include <cstdint>

#include "runtime/tensor/shape.hpp"
#include "runtime/tensor/tensor.hpp"

/// Right operands of "integer_gemm" in the order in which it reads them, which is part of the
/// container format.
namespace poprt::kernels {

/// Type of a packed matrix of bytes: [ceil(n / 48), ceil(depth / 4) + 1, 48, 4] of its element
/// type. Panels of 48 columns, zeros behind column n; quads of four rows as unsigned values, see
/// byte_quads.hpp, and last the sum of the values of each column, 32 bits with the lowest first.
/// Throws KernelError unless depth and n are at least 1 and the sizes fit.
TensorType PackedQuadsType(std::int64_t depth, std::int64_t n, ElementType element);

/// Packs B [depth, n] of int8 or uint8.
Tensor PackQuads(const Tensor& b);

}  // namespace poprt::kernels
