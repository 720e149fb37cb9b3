#include <cmath>
#include <numbers>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/signal/signal.hpp"

namespace poprt::kernels {
namespace {

/// w[k] = a[0] - a[1] cos(2 pi k / n) + a[2] cos(4 pi k / n), where n is the size, or one less for
/// a window that is symmetric rather than one period.
struct CosineWindow {
  double a[3];
  double period = 1;

  double operator()(std::int64_t k) const {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / period;
    return a[0] - a[1] * std::cos(angle) + a[2] * std::cos(2 * angle);
  }
};

BoundKernel BindWindow(const KernelCall& call, CosineWindow window) {
  RequireArity(call, 0, 0);
  const TensorType& output = call.outputs[0];
  RequireElement(output, kNumericTypes, "output 0");
  Require(output.shape.size() == 1, "output 0 is " + ToString(output) + ", its rank must be 1");
  const std::int64_t size = RequireCount(output.shape, "output 0");
  const bool periodic = IntAttribute(call, "periodic", 1) != 0;
  // A symmetric window of one element is its own maximum.
  window.period = static_cast<double>(periodic ? size : size - 1);
  if (!periodic && size == 1) window = {{1, 0, 0}};
  return VisitElement<BoundKernel, kNumericTypes>(
      output.element, [&]<typename T>(std::type_identity<T>) -> BoundKernel {
        return {.run = [size, window](const KernelArguments& args) {
          ForRanges(args.pool, size, kElementsPerTask / 8,
                    [&](std::int64_t begin, std::int64_t end, int) {
                      for (std::int64_t k = begin; k < end; ++k) {
                        args.out<T>(0)[k] = FromDouble<T>(window(k));
                      }
                    });
        }};
      });
}

}  // namespace

BoundKernel BindHannWindow(const KernelCall& call) { return BindWindow(call, {{0.5, 0.5, 0}}); }

BoundKernel BindHammingWindow(const KernelCall& call) {
  return BindWindow(call, {{25.0 / 46, 21.0 / 46, 0}});
}

BoundKernel BindBlackmanWindow(const KernelCall& call) {
  return BindWindow(call, {{0.42, 0.5, 0.08}});
}

}  // namespace poprt::kernels
