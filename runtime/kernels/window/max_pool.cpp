#include <limits>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/window/pool_lines.hpp"
#include "runtime/kernels/window/pool_rows.hpp"

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
  return (a > b) | (a != a);
}

template <typename T>
void RunMaxPool(const PoolLines<Compared<T>>& lines, const KernelArguments& args) {
  using V = Compared<T>;
  const WindowRows& window = lines.window();
  lines.template Run<T>(
      args, Lowest<V>(), [](T element) { return static_cast<V>(element); },
      [](V best, V value) { return LargerOrNan(value, best); },
      [&](std::int64_t row, const V* best) {
        T* out = args.out<T>(0) + row * window.width();
        for (std::int64_t x = 0; x < window.width(); ++x) out[x] = static_cast<T>(best[x]);
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

/// A maximum and its offset in the plane, -1 before there is one.
template <typename V>
struct Located {
  V value;
  std::int64_t at;
};

struct IndexForm {
  ElementType element = ElementType::kUndefined;  ///< undefined: no indices are wanted
  bool column_major = false;
  Shape input;
};

template <typename T>
void RunMaxPoolIndices(const PoolRows<Located<Compared<T>>>& rows, const IndexForm& form,
                       const KernelArguments& args) {
  using V = Compared<T>;
  const WindowRows& window = rows.window();
  rows.template Run<T>(
      args, {Lowest<V>(), -1},
      [](Located<V>& best, T element, std::int64_t at) {
        const V value = static_cast<V>(element);
        // A first NaN is not replaced by a later one.
        const bool is_taken =
            (best.at < 0) | ((best.value == best.value) & Exceeds(value, best.value));
        best = {Select(is_taken, value, best.value), Select(is_taken, at, best.at)};
      },
      [&](std::int64_t plane, std::int64_t row, const Located<V>* best) {
        const std::int64_t base = (plane * window.rows() + row) * window.width();
        for (std::int64_t x = 0; x < window.width(); ++x) {
          args.out<T>(0)[base + x] = static_cast<T>(best[x].value);
          std::int64_t at = best[x].at;
          if (at >= 0) {
            at = plane * window.input_plane() +
                 (form.column_major ? ColumnMajor(at, form.input) : at);
          }
          if (form.element == ElementType::kInt64) {
            args.out<std::int64_t>(1)[base + x] = at;
          } else {
            args.out<std::int32_t>(1)[base + x] = static_cast<std::int32_t>(at);
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
  const IndexForm form{.element = indexed ? call.outputs[1].element : ElementType::kUndefined,
                       .column_major = column_major,
                       .input = geometry.input};
  return VisitElement<BoundKernel, kMaxPoolTypes>(
      call.inputs[0].element, [&]<typename T>(std::type_identity<T>) {
        if (indexed) {
          const PoolRows<Located<Compared<T>>> rows(geometry);
          return BoundKernel{
              .run = [rows, form](
                         const KernelArguments& args) { RunMaxPoolIndices<T>(rows, form, args); },
              .scratch_bytes = rows.scratch_bytes()};
        }
        const PoolLines<Compared<T>> lines(geometry);
        return BoundKernel{
            .run = [lines](const KernelArguments& args) { RunMaxPool<T>(lines, args); },
            .scratch_bytes = lines.scratch_bytes()};
      });
}

}  // namespace poprt::kernels
