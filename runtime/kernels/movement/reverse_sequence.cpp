#include <algorithm>
#include <cstring>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

constexpr TypeSet kIndexTypes = Types({ElementType::kInt32, ElementType::kInt64});

/// Lengths outside [0, time] are clamped: they are known at run time only.
template <typename Index>
BoundKernel Bind(std::int64_t batch, std::int64_t time, std::int64_t row, bool time_first) {
  return {.run = [=](const KernelArguments& args) {
    const auto* lengths = args.in<Index>(1);
    const std::int64_t batch_pitch = time_first ? row : time * row;
    const std::int64_t time_pitch = time_first ? batch * row : row;
    ForRanges(args.pool, batch, GrainFor(time * row / 4),
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t b = begin; b < end; ++b) {
                  const std::int64_t length =
                      std::clamp<std::int64_t>(static_cast<std::int64_t>(lengths[b]), 0, time);
                  for (std::int64_t t = 0; t < time; ++t) {
                    const std::int64_t from = t < length ? length - 1 - t : t;
                    std::memcpy(args.outputs[0] + b * batch_pitch + t * time_pitch,
                                args.inputs[0] + b * batch_pitch + from * time_pitch,
                                static_cast<std::size_t>(row));
                  }
                }
              });
  }};
}

}  // namespace

BoundKernel BindReverseSequence(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& input = call.inputs[0];
  const std::int64_t batch_axis = call.attributes.get_int("batch_axis", 1);
  const std::int64_t time_axis = call.attributes.get_int("time_axis", 0);
  Require(input.shape.size() >= 2, "input 0 is " + ToString(input) + ", expected rank 2 or more");
  if (!(batch_axis == 0 && time_axis == 1) && !(batch_axis == 1 && time_axis == 0)) {
    throw KernelError("attributes 'batch_axis' and 'time_axis' are " + std::to_string(batch_axis) +
                      " and " + std::to_string(time_axis) + ", one must be 0, the other 1");
  }
  const std::int64_t count = RequireCount(input.shape, "the input");
  RequireElement(call.inputs[1], kIndexTypes, "input 1");
  const std::int64_t batch = input.shape[static_cast<std::size_t>(batch_axis)];
  const std::int64_t time = input.shape[static_cast<std::size_t>(time_axis)];
  RequireType(call.inputs[1], {call.inputs[1].element, {batch}}, "input 1");
  const std::size_t size = RequireSameElement(input, call.outputs[0]);
  RequireType(call.outputs[0], input, "output 0");
  if (count == 0) return NothingToRun();
  const std::int64_t row = count / (batch * time) * static_cast<std::int64_t>(size);
  return call.inputs[1].element == ElementType::kInt64
             ? Bind<std::int64_t>(batch, time, row, time_axis == 0)
             : Bind<std::int32_t>(batch, time, row, time_axis == 0);
}

}  // namespace poprt::kernels
