#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// A static input of Range: one number, as an integer or a float.
template <typename T>
T Number(const KernelCall& call, std::string_view name) {
  const AttributeValue* value = call.attributes.find(name);
  const std::string quoted = "attribute '" + std::string(name) + "'";
  Require(value != nullptr, quoted + " is missing");
  if (const auto* ints = std::get_if<Ints>(value); ints != nullptr && ints->size() == 1) {
    return static_cast<T>(ints->front());
  }
  if (const auto* floats = std::get_if<Floats>(value); floats != nullptr && floats->size() == 1) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(floats->front());
  }
  if (const auto* tensor = std::get_if<Tensor>(value);
      tensor != nullptr && tensor->element() == ElementType::kFloat64 && tensor->count() == 1) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(tensor->as<double>()[0]);
  }
  throw KernelError(quoted + " is " + ToString(Attributes::Entry{std::string(name), *value}) +
                    ", expected one number of the output's kind");
}

std::int64_t RangeCount(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  Require(count < 0x1p62, "attributes 'start', 'limit' and 'delta' do not span a finite range");
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

std::int64_t RangeCount(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  __extension__ using Wide = __int128;
  const Wide span = delta > 0 ? Wide{limit} - start : Wide{start} - limit;
  const Wide step = delta > 0 ? Wide{delta} : -Wide{delta};
  if (span <= 0) return 0;
  const Wide count = (span - 1) / step + 1;
  Require(count < (Wide{1} << 62),
          "attributes 'start', 'limit' and 'delta' span too large a range");
  return static_cast<std::int64_t>(count);
}

/// T is the type of the elements, Wide the one it is computed in.
template <typename T, typename Wide>
BoundKernel BindRangeOf(const KernelCall& call) {
  const Wide start = Number<Wide>(call, "start");
  const Wide limit = Number<Wide>(call, "limit");
  const Wide delta = Number<Wide>(call, "delta");
  Require(delta != 0, "attribute 'delta' is 0");
  const std::int64_t count = RangeCount(start, limit, delta);
  RequireType(call.outputs[0], {kElementOf<T>, {count}}, "output 0");
  return {.run = [=](const KernelArguments& args) {
    T* y = args.out<T>(0);
    ForRanges(args.pool, count, kElementsPerTask,
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                for (std::int64_t i = begin; i < end; ++i) {
                  const Wide value = WrappingAdd(start, WrappingMul(static_cast<Wide>(i), delta));
                  if constexpr (std::is_arithmetic_v<T>) {
                    y[i] = static_cast<T>(value);
                  } else {
                    y[i] = T(static_cast<float>(value));
                  }
                }
              });
  }};
}

BoundKernel BindRange(const KernelCall& call) {
  RequireArity(call, 0, 0);
  constexpr TypeSet kTypes =
      kFloatTypes | Types({ElementType::kInt16, ElementType::kInt32, ElementType::kInt64});
  RequireElement(call.outputs[0], kTypes, "output 0");
  return VisitElement<BoundKernel, kTypes>(call.outputs[0].element, [&](auto type) {
    using T = typename decltype(type)::type;
    using Wide = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
    return BindRangeOf<T, Wide>(call);
  });
}

/// The fill value: one element, as its bytes in an integer. Zero of type float32 unless given.
template <typename T>
T FillValue(const KernelCall& call) {
  T value{};
  if (const AttributeValue* tensor = call.attributes.find("value")) {
    std::copy_n(std::get<Tensor>(*tensor).data(), sizeof(T), reinterpret_cast<std::byte*>(&value));
  }
  return value;
}

BoundKernel BindConstantOfShape(const KernelCall& call) {
  RequireArity(call, 0, 0);
  Require(call.attributes.has("shape"), "attribute 'shape' is missing");
  ElementType element = ElementType::kFloat32;
  if (const AttributeValue* value = call.attributes.find("value")) {
    const Tensor* tensor = std::get_if<Tensor>(value);
    Require(tensor != nullptr && tensor->count() == 1,
            "attribute 'value' is not a tensor of one element");
    element = tensor->element();
  }
  RequireType(call.outputs[0], {element, IntsAttribute(call, "shape")}, "output 0");
  RequireElement(call.outputs[0], kStoredTypes, "output 0");
  const std::int64_t count = ElementCount(call.outputs[0].shape);
  return VisitSize<BoundKernel>(element, [&](auto type) -> BoundKernel {
    using T = typename decltype(type)::type;
    const T value = FillValue<T>(call);
    return {.run = [=](const KernelArguments& args) { std::fill_n(args.out<T>(0), count, value); }};
  });
}

/// The number one.
template <typename T>
T One() {
  if constexpr (std::is_same_v<T, Bool>) {
    return Bool(true);
  } else {
    return static_cast<T>(1.0F);
  }
}

// The element type is that of the output; attribute "dtype" repeats it.
BoundKernel BindEyeLike(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const Shape& shape = call.inputs[0].shape;
  RequireElement(call.inputs[0], kAllTypes, "input 0");
  Require(shape.size() == 2, "input 0 is " + ToString(call.inputs[0]) + ", expected 2 dimensions");
  RequireElement(call.outputs[0], kAllTypes, "output 0");
  RequireType(call.outputs[0], {call.outputs[0].element, shape}, "output 0");
  const std::int64_t height = shape[0];
  const std::int64_t width = shape[1];
  const std::int64_t k = std::clamp(IntAttribute(call, "k", 0), -height, width);
  return VisitElement<BoundKernel, kAllTypes>(
      call.outputs[0].element, [&](auto type) -> BoundKernel {
        using T = typename decltype(type)::type;
        return {.run = [=](const KernelArguments& args) {
          T* y = args.out<T>(0);
          std::fill_n(y, height * width, T{});
          const std::int64_t first = std::max<std::int64_t>(0, -k);
          for (std::int64_t i = first; i < height && i + k < width; ++i) {
            y[i * width + i + k] = One<T>();
          }
        }};
      });
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"ConstantOfShape", BindConstantOfShape},
    {"EyeLike", BindEyeLike},
    {"Range", BindRange},
});

}  // namespace

std::span<const KernelDef> GeneratorKernels() { return kKernels; }

}  // namespace poprt::kernels
