#include <algorithm>
#include <limits>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/window/pooling.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {
namespace {

constexpr TypeSet kMaxPoolTypes = kFloatTypes | Types({ElementType::kInt8, ElementType::kUint8});

/// What maxima are compared as.
template <typename T>
using Compared = std::conditional_t<std::is_integral_v<T>, T, Accumulator<T>>;

template <typename V>
constexpr V Lowest() {
  if constexpr (std::is_floating_point_v<V>) return -std::numeric_limits<V>::infinity();
  return std::numeric_limits<V>::lowest();
}

/// True when `a` replaces `b` as the maximum: NaN wins, and among equals the first.
template <typename V>
bool Exceeds(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) {
    return static_cast<bool>(static_cast<int>(a > b) | static_cast<int>(a != a));
  } else {
    return a > b;
  }
}

struct MaxPoolPlan {
  std::int64_t planes = 0;
  WindowRows rows;
  std::size_t scratch_bytes = 0;
  bool wide_indices = true;
  bool column_major = false;
  Shape input;
};

template <typename T, typename V>
void MaxTap(const T* in, std::int64_t stride, std::int64_t count, V* best) {
  const auto run = [&](std::int64_t step) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t x = 0; x < count; ++x) {
      const V value = static_cast<V>(in[x * step]);
      best[x] = Exceeds(value, best[x]) ? value : best[x];
    }
  };
  if (stride == 1) {
    run(1);
  } else if (stride == 2) {
    run(2);
  } else {
    run(stride);
  }
}

template <typename T>
void RunMaxPool(const MaxPoolPlan& plan, const KernelArguments& args) {
  using V = Compared<T>;
  const WindowRows& rows = plan.rows;
  const std::int64_t width = rows.width();
  ForRanges(args.pool, plan.planes,
            GrainFor(rows.rows() * width * std::min<std::int64_t>(rows.taps(), 64)),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              auto* best = reinterpret_cast<V*>(args.scratch + static_cast<std::size_t>(worker) *
                                                                   plan.scratch_bytes);
              for (std::int64_t i = begin; i < end; ++i) {
                const T* in = args.in<T>(0) + i * rows.input_plane();
                for (std::int64_t row = 0; row < rows.rows(); ++row) {
                  std::fill(best, best + width, Lowest<V>());
                  rows.Visit(row, [&](const WindowRows::Tap& tap) {
                    MaxTap(in + tap.offset + tap.begin * rows.stride(), rows.stride(),
                           tap.end - tap.begin, best + tap.begin);
                  });
                  T* out = args.out<T>(0) + (i * rows.rows() + row) * width;
                  for (std::int64_t x = 0; x < width; ++x) out[x] = static_cast<T>(best[x]);
                }
              }
            });
}

/// The position in a plane in column-major order.
std::int64_t ColumnMajor(std::int64_t at, const Shape& extents) {
  std::int64_t result = 0;
  // In row-major order the last axis is found first; in column-major order it weighs most.
  std::int64_t weight = ElementCount(extents);
  for (std::size_t i = extents.size(); i-- > 0;) {
    weight /= extents[i];
    result += at % extents[i] * weight;
    at /= extents[i];
  }
  return result;
}

template <typename T>
void RunMaxPoolIndices(const MaxPoolPlan& plan, const KernelArguments& args) {
  using V = Compared<T>;
  const WindowRows& rows = plan.rows;
  const std::int64_t width = rows.width();
  ForRanges(args.pool, plan.planes, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    std::byte* scratch = args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes;
    auto* where = reinterpret_cast<std::int64_t*>(scratch);
    auto* best = reinterpret_cast<V*>(where + width);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* in = args.in<T>(0) + i * rows.input_plane();
      for (std::int64_t row = 0; row < rows.rows(); ++row) {
        std::fill(where, where + width, -1);
        std::fill(best, best + width, Lowest<V>());
        rows.Visit(row, [&](const WindowRows::Tap& tap) {
          for (std::int64_t x = tap.begin; x < tap.end; ++x) {
            const std::int64_t at = tap.offset + x * rows.stride();
            const V value = static_cast<V>(in[at]);
            // A first NaN is not replaced by a later one.
            if (where[x] < 0 || (best[x] == best[x] && Exceeds(value, best[x]))) {
              best[x] = value;
              where[x] = at;
            }
          }
        });
        const std::int64_t base = (i * rows.rows() + row) * width;
        for (std::int64_t x = 0; x < width; ++x) {
          args.out<T>(0)[base + x] = static_cast<T>(best[x]);
          std::int64_t at = where[x];
          if (at >= 0) {
            at = i * rows.input_plane() + (plan.column_major ? ColumnMajor(at, plan.input) : at);
          }
          if (plan.wide_indices) {
            args.out<std::int64_t>(1)[base + x] = at;
          } else {
            args.out<std::int32_t>(1)[base + x] = static_cast<std::int32_t>(at);
          }
        }
      }
    }
  });
}

}  // namespace

BoundKernel BindMaxPool(const KernelCall& call) {
  RequireArity(call, 1, 1, 1, 2);
  RequireElement(call.inputs[0], kMaxPoolTypes, "input 0");
  const PoolGeometry geometry = CheckPool(call);
  const bool indexed = call.outputs.size() > 1 && call.outputs[1].defined();
  const bool column_major = FlagAttribute(call, "storage_order", false);
  if (indexed) {
    RequireElement(call.outputs[1], Types({ElementType::kInt32, ElementType::kInt64}), "output 1");
    RequireType(call.outputs[1], {call.outputs[1].element, call.outputs[0].shape}, "output 1");
  }
  if (geometry.empty) return NothingToRun();
  MaxPoolPlan plan{.planes = geometry.planes,
                   .rows = WindowRows(geometry.window, geometry.input, geometry.output),
                   .wide_indices = indexed && call.outputs[1].element == ElementType::kInt64,
                   .column_major = column_major,
                   .input = geometry.input};
  return VisitElement<BoundKernel, kMaxPoolTypes>(
      call.inputs[0].element, [&]<typename T>(std::type_identity<T>) {
        const std::size_t item = sizeof(Compared<T>) + (indexed ? sizeof(std::int64_t) : 0);
        plan.scratch_bytes = ScratchBytes(static_cast<std::size_t>(geometry.output.back()) * item);
        BoundKernel bound{.run = {}, .scratch_bytes = plan.scratch_bytes};
        if (indexed) {
          bound.run = [plan](const KernelArguments& args) { RunMaxPoolIndices<T>(plan, args); };
        } else {
          bound.run = [plan](const KernelArguments& args) { RunMaxPool<T>(plan, args); };
        }
        return bound;
      });
}

}  // namespace poprt::kernels
