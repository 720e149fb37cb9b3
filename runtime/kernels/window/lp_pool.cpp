#include <cmath>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/window/pool_lines.hpp"

namespace poprt::kernels {

std::int64_t ReadNorm(const KernelCall& call) {
  const std::int64_t p = IntAttribute(call, "p", 2);
  constexpr std::int64_t kMaxNorm = 1 << 20;
  if (p < 1 || p > kMaxNorm) {
    throw KernelError("attribute 'p' is " + std::to_string(p) + ", allowed are 1 to " +
                      std::to_string(kMaxNorm));
  }
  return p;
}

double PowerOf(double value, std::int64_t p) {
  const double magnitude = std::fabs(value);
  if (p == 1) return magnitude;
  if (p == 2) return magnitude * magnitude;
  if (p == 3) return magnitude * magnitude * magnitude;
  return std::pow(magnitude, static_cast<double>(p));
}

double RootOf(double sum, std::int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return std::sqrt(sum);
  return std::pow(sum, 1.0 / static_cast<double>(p));
}

BoundKernel BindLpPool(const KernelCall& call) {
  RequireArity(call, 1, 1);
  RequireElement(call.inputs[0], kFloatTypes, "input 0");
  const PoolGeometry geometry = CheckPool(call);
  const std::int64_t p = ReadNorm(call);
  if (geometry.empty) return NothingToRun();
  const PoolLines<double> lines(geometry);
  return VisitElement<BoundKernel, kFloatTypes>(
      call.inputs[0].element, [&]<typename T>(std::type_identity<T>) {
        const auto run = [lines, p](const KernelArguments& args) {
          const WindowRows& window = lines.window();
          lines.Run<T>(
              args, 0.0, [p](T element) { return PowerOf(ToDouble(element), p); },
              [](double a, double b) { return a + b; },
              [&](std::int64_t row, const double* sums) {
                T* out = args.out<T>(0) + row * window.width();
                for (std::int64_t x = 0; x < window.width(); ++x) {
                  out[x] = FromDouble<T>(RootOf(sums[x], p));
                }
              });
        };
        return BoundKernel{.run = run, .scratch_bytes = lines.scratch_bytes()};
      });
}

}  // namespace poprt::kernels
