#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/matmul/matmul.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// The determinant of an n x n matrix, which it overwrites: Gaussian elimination with the largest
/// number of each column as pivot.
double Determinant(double* matrix, std::int64_t n) {
  double product = 1;
  for (std::int64_t column = 0; column < n; ++column) {
    std::int64_t pivot = column;
    for (std::int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(matrix[row * n + column]) > std::fabs(matrix[pivot * n + column])) pivot = row;
    }
    double* const top = matrix + column * n;
    if (pivot != column) {
      std::swap_ranges(top + column, top + n, matrix + pivot * n + column);
      product = -product;
    }
    product *= top[column];
    if (top[column] == 0) return product;
    for (std::int64_t row = column + 1; row < n; ++row) {
      double* const line = matrix + row * n;
      const double factor = line[column] / top[column];
      for (std::int64_t k = column + 1; k < n; ++k) line[k] -= factor * top[k];
    }
  }
  return product;
}

}  // namespace

BoundKernel BindDet(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kFloatTypes, "input 0");
  const std::size_t rank = input.shape.size();
  Require(rank >= 2 && input.shape[rank - 1] == input.shape[rank - 2],
          "input 0 is " + ToString(input) + ", its last two extents must be equal");
  RequireCount(input.shape, "input 0");
  const Shape batch(input.shape.begin(), input.shape.end() - 2);
  RequireType(call.outputs[0], {input.element, batch}, "output 0");
  const std::int64_t n = input.shape.back();
  const std::int64_t count = RequireCount(batch, "the output");
  if (count == 0) return NothingToRun();
  const std::size_t scratch_bytes = ScratchBytes(static_cast<std::size_t>(n * n) * sizeof(double));
  return VisitElement<BoundKernel, kFloatTypes>(
      input.element, [&]<typename T>(std::type_identity<T>) -> BoundKernel {
        return {.run =
                    [=](const KernelArguments& args) {
                      ForRanges(
                          args.pool, count, GrainFor(n * n * std::min<std::int64_t>(n, 64)),
                          [&](std::int64_t begin, std::int64_t end, int worker) {
                            auto* matrix = reinterpret_cast<double*>(
                                args.scratch + static_cast<std::size_t>(worker) * scratch_bytes);
                            for (std::int64_t i = begin; i < end; ++i) {
                              const T* from = args.in<T>(0) + i * n * n;
                              for (std::int64_t k = 0; k < n * n; ++k) {
                                matrix[k] = ToDouble(from[k]);
                              }
                              args.out<T>(0)[i] = FromDouble<T>(Determinant(matrix, n));
                            }
                          });
                    },
                .scratch_bytes = scratch_bytes};
      });
}

}  // namespace poprt::kernels
