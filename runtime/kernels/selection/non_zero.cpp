#include <algorithm>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/selection/selection.hpp"

namespace poprt::kernels {
namespace {

struct NonZero {
  std::int64_t size = 0;  ///< of the input
  Shape shape;            ///< the input's, at least one axis
  Shape strides;

  /// A bit that is not in `ignored` makes an element non-zero.
  template <typename Bits>
  void Run(const KernelArguments& args, Bits ignored) const {
    const Bits* x = args.in<Bits>(0);
    auto* y = args.out<std::int64_t>(0);
    const std::size_t last = shape.size() - 1;
    const std::int64_t length = shape[last];
    std::int64_t count = 0;
    for (std::int64_t start = 0; start < size; start += length) {
      // Of a line of neighbours only the last coordinate differs. Without branches on elements.
      std::int64_t* const found = y + static_cast<std::int64_t>(last) * size;
      const std::int64_t before = count;
      for (std::int64_t i = 0; i < length; ++i) {
        found[count] = i;
        count += (x[start + i] & static_cast<Bits>(~ignored)) != 0 ? 1 : 0;
      }
      if (count == before) continue;
      for (std::size_t axis = 0; axis < last; ++axis) {
        std::int64_t* const row = y + static_cast<std::int64_t>(axis) * size;
        std::fill(row + before, row + count, start / strides[axis] % shape[axis]);
      }
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      std::int64_t* const row = y + static_cast<std::int64_t>(axis) * size;
      std::fill(row + count, row + size, 0);
    }
    *args.out<std::int64_t>(1) = count;
  }
};

}  // namespace

BoundKernel BindNonZero(const KernelCall& call) {
  RequireArity(call, 1, 1, 2, 2);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kAllTypes, "input 0");
  // A scalar counts as a vector of one element.
  const Shape shape = input.shape.empty() ? Shape{1} : input.shape;
  const std::int64_t size = ElementCount(shape);
  RequireType(call.outputs[0],
              {ElementType::kInt64, {static_cast<std::int64_t>(shape.size()), size}}, "output 0");
  RequireType(call.outputs[1], {ElementType::kInt64, {}}, "output 1");
  const NonZero non_zero{.size = size, .shape = shape, .strides = Strides(shape)};
  return VisitSize<BoundKernel>(input.element, [&](auto type) -> BoundKernel {
    using Bits = typename decltype(type)::type;
    // Both zeros of floats are zero.
    const bool has_sign = IsFloat(input.element);
    const auto sign = static_cast<Bits>(has_sign ? std::uint64_t{1} << (8 * sizeof(Bits) - 1) : 0);
    return {.run = [non_zero, sign](const KernelArguments& args) { non_zero.Run(args, sign); }};
  });
}

}  // namespace poprt::kernels
