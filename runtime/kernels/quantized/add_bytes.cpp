#include "runtime/kernels/quantized/add_bytes.hpp"

#include <algorithm>
#include <cmath>
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

/// The sum of two of these as a third.
struct ScaledSum {
  ByteScale a;
  ByteScale b;
  ByteScale y;

  /// One step after the other, as the operators compute it. By value: bytes that are written might
  /// be parameters.
  POPRT_INLINE static void Exactly(ScaledSum sum, const std::uint8_t* left,
                                   const std::uint8_t* right, std::int64_t count,
                                   std::uint8_t* to) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) {
      const float added = (static_cast<float>(left[i]) - sum.a.point) * sum.a.scale +
                          (static_cast<float>(right[i]) - sum.b.point) * sum.b.scale;
      to[i] = static_cast<std::uint8_t>(ToInteger(added / sum.y.scale, sum.y.point, 0.0F, 255.0F));
    }
  }

  /// As ByteMicroKernels::add has it.
  LinearSum InUnits() const {
    const double of_left = kByteUnit * (static_cast<double>(a.scale) / y.scale);
    const double of_right = kByteUnit * (static_cast<double>(b.scale) / y.scale);
    const double base = kByteUnit * y.point - a.point * of_left - b.point * of_right;
    return {static_cast<float>(of_left), static_cast<float>(of_right), static_cast<float>(base)};
  }
};

/// Whether a sum in units is as near as it should be to that in steps, all of whose roundings are
/// of numbers up to 2^23 units then and none of them infinite, and seldom near to a tie, as
/// multiples of simple fractions often are.
bool IsUseful(const ScaledSum& scaled, const LinearSum& sum) {
  constexpr float kLargest = 2 * kByteUnit;
  constexpr float kLargestScale = 0x1p100F;
  constexpr float kOff = 8;
  constexpr std::int32_t kSimple = kByteUnit / 64;
  const auto is_simple = [](float factor) {
    return std::abs(std::remainder(factor, static_cast<float>(kSimple))) <= kOff;
  };
  return scaled.a.scale <= kLargestScale && scaled.b.scale <= kLargestScale &&
         sum.of_left <= kLargest && sum.of_right <= kLargest &&
         !(is_simple(sum.of_left) && is_simple(sum.of_right));
}

}  // namespace

BoundKernel BindAddBytes(const KernelCall& call, const ByteMicroKernels& kernels) {
  RequireArity(call, 2, 2);
  const TensorType& type = call.outputs[0];
  RequireElement(type, Types({ElementType::kUint8}), "output 0");
  RequireType(call.inputs[0], type, "input 0");
  RequireType(call.inputs[1], type, "input 1");
  const std::int64_t count = RequireCount(type.shape, "output 0");
  const ScaledSum sum{ScaleOf(call, "a"), ScaleOf(call, "b"), ScaleOf(call, "y")};
  const LinearSum in_units = sum.InUnits();
  const auto add = IsUseful(sum, in_units) ? kernels.add : nullptr;
  return {.run =
              [=](const KernelArguments& args) {
                ForWideRanges(
                    args.pool, count, kElementsPerTask,
                    [&args, add, in_units, sum](std::int64_t begin, std::int64_t end, int) {
                      constexpr std::int64_t kTogether = 64;
                      const std::uint8_t* const left = args.in<std::uint8_t>(0);
                      const std::uint8_t* const right = args.in<std::uint8_t>(1);
                      std::uint8_t* const to = args.out<std::uint8_t>(0);
                      while (begin < end) {
                        std::int64_t exact = end - begin;
                        if (add != nullptr) {
                          begin += add(in_units, left + begin, right + begin, exact, to + begin);
                          exact = std::min(kTogether, end - begin);
                        }
                        ScaledSum::Exactly(sum, left + begin, right + begin, exact, to + begin);
                        begin += exact;
                      }
                    });
              },
          .in_place_inputs = {0, 1}};
}

}  // namespace poprt::kernels
