#include <algorithm>
#include <type_traits>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/ml/ml.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// The order of keys: ascending, NaN last and equal to itself.
template <typename T>
bool IsBefore(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    const auto x = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(a);
    const auto y = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(b);
    return x < y || (x == x && y != y);
  }
}

template <typename Key, typename Value>
void Encode(const KernelArguments& args, std::int64_t count, std::int64_t keys) {
  const Key* first = args.in<Key>(1);
  const Key* last = first + keys;
  const Value* values = args.in<Value>(2);
  const Value otherwise = args.in<Value>(3)[0];
  ForRanges(args.pool, count, GrainFor(16),
            [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
              for (std::int64_t i = begin; i < end; ++i) {
                const Key wanted = args.in<Key>(0)[i];
                const Key* at = std::lower_bound(first, last, wanted, IsBefore<Key>);
                const bool is_known = at != last && !IsBefore(wanted, *at);
                args.out<Value>(0)[i] = is_known ? values[at - first] : otherwise;
              }
            });
}

}  // namespace

BoundKernel BindLabelEncoder(const KernelCall& call) {
  RequireArity(call, 4, 4);
  const TensorType& data = call.inputs[0];
  const TensorType& keys = call.inputs[1];
  const TensorType& values = call.inputs[2];
  RequireElement(data, kNumericTypes, "input 0");
  Require(keys.shape.size() == 1, "input 1 must have one dimension");
  RequireType(keys, {data.element, keys.shape}, "input 1");
  RequireElement(values, kStoredTypes, "input 2");
  RequireType(values, {values.element, keys.shape}, "input 2");
  RequireType(call.inputs[3], {values.element, {}}, "input 3");
  RequireType(call.outputs[0], {values.element, data.shape}, "output 0");
  const std::int64_t count = ElementCount(data.shape);
  const std::int64_t extent = keys.shape[0];
  return VisitElement<BoundKernel, kNumericTypes>(data.element, [&](auto key) {
    return VisitSize<BoundKernel>(values.element, [&](auto value) -> BoundKernel {
      using Key = typename decltype(key)::type;
      using Value = typename decltype(value)::type;
      return {.run = [count, extent](const KernelArguments& args) {
        Encode<Key, Value>(args, count, extent);
      }};
    });
  });
}

}  // namespace poprt::kernels
