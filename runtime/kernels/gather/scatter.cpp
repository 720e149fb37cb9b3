#include <cstring>

#include "runtime/kernels/gather/gather.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {
namespace {

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

Reduction ReadReduction(const KernelCall& call) {
  const std::string name = StringAttribute(call, "reduction", "none");
  if (name == "none") return Reduction::kNone;
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMul;
  if (name == "max") return Reduction::kMax;
  if (name == "min") return Reduction::kMin;
  throw KernelError("attribute 'reduction' is \"" + name +
                    "\", allowed are none, add, mul, max, min");
}

/// NaN wins over everything in kMax and kMin. For booleans kAdd and kMax are "or", kMul and kMin
/// "and".
template <Reduction kReduction, typename T>
void Update(T& to, const T& value) {
  if constexpr (kReduction == Reduction::kNone) {
    to = value;
  } else if constexpr (std::is_same_v<T, Bool>) {
    const bool a{to};
    const bool b{value};
    to = Bool(kReduction == Reduction::kAdd || kReduction == Reduction::kMax ? a || b : a && b);
  } else {
    const auto a = static_cast<Accumulator<T>>(to);
    const auto b = static_cast<Accumulator<T>>(value);
    if constexpr (kReduction == Reduction::kAdd) {
      to = static_cast<T>(a + b);
    } else if constexpr (kReduction == Reduction::kMul) {
      to = static_cast<T>(a * b);
    } else if constexpr (std::is_integral_v<T>) {
      if (kReduction == Reduction::kMax ? value > to : value < to) to = value;
    } else {
      if (b != b || (kReduction == Reduction::kMax ? b > a : b < a)) to = value;
    }
  }
}

/// Calls f(std::type_identity<T>, std::integral_constant<Reduction, r>): with T of the right size
/// for kNone, of the right type otherwise.
template <typename F>
BoundKernel VisitUpdate(ElementType element, Reduction reduction, F&& f) {
  if (reduction == Reduction::kNone) {
    return VisitSize<BoundKernel>(element, [&](auto type) {
      return f(type, std::integral_constant<Reduction, Reduction::kNone>{});
    });
  }
  return VisitElement<BoundKernel, kAllTypes>(element, [&](auto type) {
    switch (reduction) {
      case Reduction::kAdd:
        return f(type, std::integral_constant<Reduction, Reduction::kAdd>{});
      case Reduction::kMul:
        return f(type, std::integral_constant<Reduction, Reduction::kMul>{});
      case Reduction::kMax:
        return f(type, std::integral_constant<Reduction, Reduction::kMax>{});
      default:
        return f(type, std::integral_constant<Reduction, Reduction::kMin>{});
    }
  });
}

/// An index at run time: int32 or int64, wherever it stands.
struct IndexReader {
  const std::byte* data;
  bool wide;

  std::int64_t operator[](std::int64_t i) const {
    if (wide) return reinterpret_cast<const std::int64_t*>(data)[i];
    return reinterpret_cast<const std::int32_t*>(data)[i];
  }
};

/// The position an index names, or -1 when it is outside.
std::int64_t CheckedIndex(std::int64_t index, std::int64_t extent) {
  const std::int64_t at = index < 0 ? index + extent : index;
  return at >= 0 && at < extent ? at : -1;
}

void CopyData(const KernelArguments& args, std::size_t bytes) {
  if (args.outputs[0] != args.inputs[0] && bytes > 0) {
    std::memcpy(args.outputs[0], args.inputs[0], bytes);
  }
}

struct ScatterElementsPlan {
  std::size_t bytes = 0;  // of the data
  bool wide = false;
  Shape shape;   // of indices and updates
  Ints strides;  // of the data, 0 for the axis
  std::int64_t extent = 0;
  std::int64_t axis_stride = 0;
};

/// Updates are applied in order on one thread, since several may hit the same element.
template <typename T, Reduction kReduction>
void RunScatterElements(const ScatterElementsPlan& plan, const KernelArguments& args) {
  CopyData(args, plan.bytes);
  const std::int64_t count = ElementCount(plan.shape);
  if (count == 0) return;
  const IndexReader indices{args.inputs[1], plan.wide};
  const T* updates = args.in<T>(2);
  T* out = args.out<T>(0);
  const std::size_t last = plan.shape.size() - 1;
  const std::int64_t width = plan.shape[last];
  for (std::int64_t row = 0; row < count / width; ++row) {
    std::int64_t base = 0;
    std::int64_t rest = row;
    for (std::size_t i = last; i-- > 0;) {
      base += rest % plan.shape[i] * plan.strides[i];
      rest /= plan.shape[i];
    }
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t at = CheckedIndex(indices[row * width + k], plan.extent);
      if (at < 0) continue;
      Update<kReduction>(out[base + k * plan.strides[last] + at * plan.axis_stride],
                         updates[row * width + k]);
    }
  }
}

struct ScatterNdPlan {
  std::size_t bytes = 0;  // of the data
  bool wide = false;
  std::int64_t tuples = 0;
  std::int64_t piece = 0;  // elements
  Shape extents;
  Ints strides;
};

template <typename T, Reduction kReduction>
void RunScatterNd(const ScatterNdPlan& plan, const KernelArguments& args) {
  CopyData(args, plan.bytes);
  const IndexReader indices{args.inputs[1], plan.wide};
  const T* updates = args.in<T>(2);
  T* out = args.out<T>(0);
  const auto arity = static_cast<std::int64_t>(plan.extents.size());
  for (std::int64_t i = 0; i < plan.tuples; ++i) {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::int64_t k = 0; k < arity; ++k) {
      const auto axis = static_cast<std::size_t>(k);
      const std::int64_t at = CheckedIndex(indices[i * arity + k], plan.extents[axis]);
      inside = inside && at >= 0;
      offset += at * plan.strides[axis];
    }
    if (!inside) continue;
    for (std::int64_t j = 0; j < plan.piece; ++j) {
      Update<kReduction>(out[offset + j], updates[i * plan.piece + j]);
    }
  }
}

const TensorType& RequireData(const KernelCall& call) {
  RequireArity(call, 3, 3);
  const TensorType& data = call.inputs[0];
  RequireElement(data, ReadReduction(call) == Reduction::kNone ? kStoredTypes : kAllTypes,
                 "input 0");
  RequireElement(call.inputs[1], kIndexTypes, "input 1");
  for (std::size_t i = 0; i < 3; ++i) {
    RequireCount(call.inputs[i].shape, "input " + std::to_string(i));
  }
  RequireType(call.outputs[0], data, "output 0");
  return data;
}

}  // namespace

BoundKernel BindScatterElements(const KernelCall& call) {
  const TensorType& data = RequireData(call);
  const TensorType& indices = call.inputs[1];
  const std::size_t axis = CheckedAxis(IntAttribute(call, "axis", 0), data.shape.size(), "axis");
  const Reduction reduction = ReadReduction(call);
  RequireType(call.inputs[2], {data.element, indices.shape}, "input 2");
  bool fits = indices.shape.size() == data.shape.size();
  for (std::size_t i = 0; fits && i < data.shape.size(); ++i) {
    fits = i == axis || indices.shape[i] <= data.shape[i];
  }
  Require(fits, "input 1 is " + ToString(indices) + ", which does not lie inside input 0, " +
                    ToString(data));
  ScatterElementsPlan plan{.bytes = data.bytes(),
                           .wide = indices.element == ElementType::kInt64,
                           .shape = indices.shape,
                           .strides = Strides(data.shape),
                           .extent = data.shape[axis]};
  plan.axis_stride = plan.strides[axis];
  plan.strides[axis] = 0;
  return VisitUpdate(data.element, reduction, [&]<typename T>(std::type_identity<T>, auto r) {
    return BoundKernel{.run = [plan](const KernelArguments& args) {
      RunScatterElements<T, decltype(r)::value>(plan, args);
    }};
  });
}

BoundKernel BindScatterNd(const KernelCall& call) {
  const TensorType& data = RequireData(call);
  const TensorType& indices = call.inputs[1];
  const Reduction reduction = ReadReduction(call);
  const std::size_t rank = data.shape.size();
  Require(rank >= 1 && !indices.shape.empty(),
          "the data and indices of ScatterND have rank 1 or more");
  const std::int64_t arity = indices.shape.back();
  Require(arity >= 1 && arity <= static_cast<std::int64_t>(rank),
          "the last extent of input 1 is " + std::to_string(arity) + ", allowed are 1 to " +
              std::to_string(rank));
  const auto inner = static_cast<std::size_t>(arity);
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(inner),
               data.shape.end());
  RequireType(call.inputs[2], {data.element, shape}, "input 2");
  const bool empty = RequireCount(shape, "the updates") == 0;
  const Shape strides = Strides(data.shape);
  ScatterNdPlan plan;
  plan.bytes = data.bytes();
  plan.wide = indices.element == ElementType::kInt64;
  plan.piece = 1;
  for (std::size_t i = inner; i < rank; ++i) plan.piece *= data.shape[i];
  plan.tuples = empty ? 0 : ElementCount(shape) / plan.piece;
  plan.extents.assign(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(inner));
  plan.strides.assign(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(inner));
  return VisitUpdate(data.element, reduction, [&]<typename T>(std::type_identity<T>, auto r) {
    return BoundKernel{.run = [plan](const KernelArguments& args) {
      RunScatterNd<T, decltype(r)::value>(plan, args);
    }};
  });
}

}  // namespace poprt::kernels
