#include <algorithm>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/index/index.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// Indices [outer, inner] become [outer, depth, inner].
struct OneHot {
  std::int64_t outer = 1;
  std::int64_t depth = 0;
  std::int64_t inner = 1;
  Converter load;

  template <typename T>
  void Run(const KernelArguments& args) const {
    if (inner == 0) return;
    const T off = args.in<T>(1)[0];
    const T on = args.in<T>(1)[1];
    ForRanges(args.pool, outer, GrainFor(depth * inner),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                for (std::int64_t o = begin; o < end; ++o) {
                  T* plane = args.out<T>(0) + o * depth * inner;
                  std::fill_n(plane, depth * inner, off);
                  for (std::int64_t i = 0; i < inner; i += kBlock) {
                    SetOn(args, o * inner + i, std::min(kBlock, inner - i), on, plane + i);
                  }
                }
              });
  }

  static constexpr std::int64_t kBlock = 256;  // indices converted at a time

  /// Of the indices [first, first + n), n <= kBlock. Negative ones count from the end, those
  /// outside select nothing.
  template <typename T>
  void SetOn(const KernelArguments& args, std::int64_t first, std::int64_t n, T on,
             T* column) const {
    std::int64_t indices[kBlock];
    load(args.inputs[0] + static_cast<std::size_t>(first) * load.from_bytes(),
         reinterpret_cast<std::byte*>(indices), n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t index = indices[i];
      if (index < -depth || index >= depth) continue;
      column[(index < 0 ? index + depth : index) * inner + i] = on;
    }
  }
};

/// ONNX lets the depth be a float.
std::int64_t Depth(const KernelCall& call) {
  const AttributeValue* value = call.attributes.find("depth");
  Require(value != nullptr, "attribute 'depth' is missing");
  std::int64_t depth = -1;
  if (const auto* floats = std::get_if<Floats>(value); floats != nullptr && floats->size() == 1) {
    const float number = floats->front();
    if (number >= 0 && number < 0x1p62F) depth = static_cast<std::int64_t>(number);
  } else {
    depth = ScalarAttribute(call, "depth", 0);
  }
  Require(depth >= 0,
          "attribute " + ToString(Attributes::Entry{"depth", *value}) + " is no extent");
  return depth;
}

}  // namespace

BoundKernel BindOneHot(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& indices = call.inputs[0];
  const TensorType& values = call.inputs[1];
  RequireElement(indices, kNumericTypes, "input 0");
  RequireElement(values, kStoredTypes, "input 1");
  RequireType(values, {values.element, {2}}, "input 1");
  const std::int64_t depth = Depth(call);
  const std::size_t axis = AxisAttribute(call, "axis", -1, indices.shape.size() + 1);
  Shape shape = indices.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  RequireType(call.outputs[0], {values.element, shape}, "output 0");

  OneHot op{.depth = depth, .load = {indices.element, ElementType::kInt64}};
  for (std::size_t d = 0; d < indices.shape.size(); ++d) {
    (d < axis ? op.outer : op.inner) *= indices.shape[d];
  }
  return VisitSize<BoundKernel>(values.element, [&](auto type) -> BoundKernel {
    using T = typename decltype(type)::type;
    return {.run = [op](const KernelArguments& args) { op.Run<T>(args); }};
  });
}

}  // namespace poprt::kernels
