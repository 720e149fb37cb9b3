#include <algorithm>
#include <cmath>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/window/pooling.hpp"
#include "runtime/kernels/window/window_rows.hpp"

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
  return std::pow(magnitude, static_cast<double>(p));
}

double RootOf(double sum, std::int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return std::sqrt(sum);
  return std::pow(sum, 1.0 / static_cast<double>(p));
}

namespace {

struct LpPoolPlan {
  std::int64_t planes = 0;
  WindowRows rows;
  std::int64_t p = 2;
  std::size_t scratch_bytes = 0;
};

template <typename T>
void RunLpPool(const LpPoolPlan& plan, const KernelArguments& args) {
  const WindowRows& rows = plan.rows;
  const std::int64_t width = rows.width();
  ForRanges(args.pool, plan.planes, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    auto* sums = reinterpret_cast<double*>(args.scratch +
                                           static_cast<std::size_t>(worker) * plan.scratch_bytes);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* in = args.in<T>(0) + i * rows.input_plane();
      for (std::int64_t row = 0; row < rows.rows(); ++row) {
        std::fill(sums, sums + width, 0.0);
        rows.Visit(row, [&](const WindowRows::Tap& tap) {
          for (std::int64_t x = tap.begin; x < tap.end; ++x) {
            sums[x] += PowerOf(ToDouble(in[tap.offset + x * rows.stride()]), plan.p);
          }
        });
        T* out = args.out<T>(0) + (i * rows.rows() + row) * width;
        for (std::int64_t x = 0; x < width; ++x) out[x] = FromDouble<T>(RootOf(sums[x], plan.p));
      }
    }
  });
}

}  // namespace

BoundKernel BindLpPool(const KernelCall& call) {
  RequireArity(call, 1, 1);
  RequireElement(call.inputs[0], kFloatTypes, "input 0");
  const PoolGeometry geometry = CheckPool(call);
  const std::int64_t p = ReadNorm(call);
  if (geometry.empty) return NothingToRun();
  const LpPoolPlan plan{.planes = geometry.planes,
                        .rows = WindowRows(geometry.window, geometry.input, geometry.output),
                        .p = p,
                        .scratch_bytes = ScratchBytes(
                            static_cast<std::size_t>(geometry.output.back()) * sizeof(double))};
  return VisitElement<BoundKernel, kFloatTypes>(
      call.inputs[0].element, [&]<typename T>(std::type_identity<T>) {
        return BoundKernel{.run = [plan](const KernelArguments& args) { RunLpPool<T>(plan, args); },
                           .scratch_bytes = plan.scratch_bytes};
      });
}

}  // namespace poprt::kernels
