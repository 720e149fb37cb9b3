#include <array>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

ConvertMode ReadMode(const KernelCall& call) {
  const std::string rounding = StringAttribute(call, "round_mode", "up");
  Require(rounding == "up" || rounding == "down" || rounding == "nearest",
          "attribute 'round_mode' is \"" + rounding + "\", allowed are up, down, nearest");
  return {
      .overflow = FlagAttribute(call, "saturate", true) ? Overflow::kSaturate : Overflow::kSpecial,
      .rounding = rounding == "up"     ? PowerRounding::kUp
                  : rounding == "down" ? PowerRounding::kDown
                                       : PowerRounding::kNearest};
}

// The target type is that of the output; attribute "to" repeats it.
BoundKernel BindCast(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  const TensorType& output = call.outputs[0];
  RequireElement(input, kStoredTypes, "input 0");
  RequireElement(output, kStoredTypes, "output 0");
  RequireType(output, {output.element, input.shape}, "output 0");
  const Converter convert(input.element, output.element, ReadMode(call));
  const std::int64_t count = ElementCount(input.shape);
  return {.run = [convert, count](const KernelArguments& args) {
    const std::byte* from = args.inputs[0];
    std::byte* to = args.outputs[0];
    ForLines(args.pool, count, kElementsPerTask, to, convert.to_bytes(),
             [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
               convert(from + static_cast<std::size_t>(begin) * convert.from_bytes(),
                       to + static_cast<std::size_t>(begin) * convert.to_bytes(), end - begin);
             });
  }};
}

}  // namespace

std::span<const KernelDef> CastKernels() {
  static constexpr std::array<KernelDef, 1> kKernels{{{"Cast", BindCast}}};
  return kKernels;
}

}  // namespace poprt::kernels
