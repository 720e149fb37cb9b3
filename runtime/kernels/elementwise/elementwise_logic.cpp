#include <array>

#include "runtime/kernels/elementwise/elementwise.hpp"
#include "runtime/kernels/elementwise/elementwise_map.hpp"
#include "runtime/kernels/kernel_attributes.hpp"

namespace poprt::kernels {
namespace {

// clang-format off
#define POPRT_BINARY(NAME, EXPRESSION) \
  struct NAME { template <typename T> T operator()(T a, T b) const { \
    return static_cast<T>(EXPRESSION); } };
#define POPRT_COMPARE(NAME, EXPRESSION) \
  struct NAME { template <typename T> bool operator()(T a, T b) const { return EXPRESSION; } };
// clang-format on

POPRT_BINARY(AndOp, a& b)
POPRT_BINARY(OrOp, a | b)
POPRT_BINARY(XorOp, a ^ b)
POPRT_COMPARE(EqualOp, a == b)
POPRT_COMPARE(LessOp, a < b)
POPRT_COMPARE(LessOrEqualOp, a <= b)
POPRT_COMPARE(GreaterOp, a > b)
POPRT_COMPARE(GreaterOrEqualOp, a >= b)

/// Shifting by the number of bits or more leaves zero.
struct ShiftLeftOp {
  template <typename T>
  T operator()(T x, T bits) const {
    constexpr T kBits = sizeof(T) * 8;
    return Select<T>(bits < kBits, static_cast<T>(std::uint64_t{x} << (bits % kBits)), 0);
  }
};
struct ShiftRightOp {
  template <typename T>
  T operator()(T x, T bits) const {
    constexpr T kBits = sizeof(T) * 8;
    return Select<T>(bits < kBits, static_cast<T>(x >> (bits % kBits)), 0);
  }
};

BoundKernel BindBitShift(const KernelCall& call) {
  const std::string direction = StringAttribute(call, "direction", "");
  if (direction == "LEFT") return BindBinary<ShiftLeftOp, kUnsignedTypes>(call);
  if (direction == "RIGHT") return BindBinary<ShiftRightOp, kUnsignedTypes>(call);
  throw KernelError("attribute 'direction' is \"" + direction +
                    "\", allowed are \"LEFT\" and \"RIGHT\"");
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"And", BindBinary<AndOp, kBoolType>},
    {"BitShift", BindBitShift},
    {"BitwiseAnd", BindBinary<AndOp, kIntegerTypes>},
    {"BitwiseOr", BindBinary<OrOp, kIntegerTypes>},
    {"BitwiseXor", BindBinary<XorOp, kIntegerTypes>},
    {"Equal", BindBinary<EqualOp, kAllTypes>},
    {"Greater", BindBinary<GreaterOp, kNumericTypes>},
    {"GreaterOrEqual", BindBinary<GreaterOrEqualOp, kNumericTypes>},
    {"Less", BindBinary<LessOp, kNumericTypes>},
    {"LessOrEqual", BindBinary<LessOrEqualOp, kNumericTypes>},
    {"Or", BindBinary<OrOp, kBoolType>},
    {"Xor", BindBinary<XorOp, kBoolType>},
});

}  // namespace

std::span<const KernelDef> LogicKernels() { return kKernels; }

}  // namespace poprt::kernels
