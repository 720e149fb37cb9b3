#include <limits>
#include <string>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// What the bytes of an operand or the result stand for.
struct ByteScale {
  float scale;
  float point;
};

ByteScale ScaleOf(const KernelCall& call, const std::string& name) {
  const float scale = FloatAttribute(call, name + "_scale", 0);
  const std::uint8_t point = ByteAttribute(call, name + "_point");
  Require(scale > 0 && scale <= std::numeric_limits<float>::max(),
          "attribute '" + name + "_scale' must be a positive number");
  return {scale, static_cast<float>(point)};
}

/// Parameters by value: bytes that are written might be theirs.
POPRT_INLINE void Add(const std::uint8_t* left, ByteScale a, const std::uint8_t* right, ByteScale b,
                      std::int64_t count, ByteScale y, std::uint8_t* to) {
  POPRT_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = (static_cast<float>(left[i]) - a.point) * a.scale +
                      (static_cast<float>(right[i]) - b.point) * b.scale;
    to[i] = static_cast<std::uint8_t>(ToInteger(sum / y.scale, y.point, 0.0F, 255.0F));
  }
}

}  // namespace

BoundKernel BindAddBytes(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& type = call.outputs[0];
  RequireElement(type, Types({ElementType::kUint8}), "output 0");
  RequireType(call.inputs[0], type, "input 0");
  RequireType(call.inputs[1], type, "input 1");
  const std::int64_t count = RequireCount(type.shape, "output 0");
  const ByteScale a = ScaleOf(call, "a");
  const ByteScale b = ScaleOf(call, "b");
  const ByteScale y = ScaleOf(call, "y");
  return {.run =
              [=](const KernelArguments& args) {
                ForWideRanges(args.pool, count, kElementsPerTask,
                              [&args, a, b, y](std::int64_t begin, std::int64_t end, int) {
                                Add(args.in<std::uint8_t>(0) + begin, a,
                                    args.in<std::uint8_t>(1) + begin, b, end - begin, y,
                                    args.out<std::uint8_t>(0) + begin);
                              });
              },
          .in_place_inputs = {0, 1}};
}

}  // namespace poprt::kernels
