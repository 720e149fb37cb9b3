#include "runtime/kernels/kernel.hpp"

namespace poprt::kernels {

void Require(bool condition, std::string_view message) {
  if (!condition) throw KernelError(std::string(message));
}

void RequireArity(const KernelCall& call, std::size_t min_inputs, std::size_t max_inputs,
                  std::size_t min_outputs, std::size_t max_outputs) {
  const auto check = [](const char* what, std::size_t found, std::size_t low, std::size_t high) {
    if (found >= low && found <= high) return;
    throw KernelError("has " + std::to_string(found) + " " + what + ", allowed are " +
                      std::to_string(low) + " to " + std::to_string(high));
  };
  check("inputs", call.inputs.size(), min_inputs, max_inputs);
  check("outputs", call.outputs.size(), min_outputs, max_outputs);
  const auto check_defined = [](const std::string& what, const auto& types, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!types[i].defined()) throw KernelError(what + std::to_string(i) + " is missing");
    }
  };
  check_defined("input ", call.inputs, min_inputs);
  check_defined("output ", call.outputs, min_outputs);
}

const TensorType& InputOrAbsent(const KernelCall& call, std::size_t i) {
  static const TensorType absent;
  return i < call.inputs.size() ? call.inputs[i] : absent;
}

void RequireType(const TensorType& found, const TensorType& wanted, std::string_view what) {
  if (found == wanted) return;
  throw KernelError(std::string(what) + " is " + ToString(found) + ", expected " +
                    ToString(wanted));
}

std::vector<Tensor> RunOnce(std::string_view name, const std::vector<Tensor>& inputs,
                            const std::vector<TensorType>& outputs, const Attributes& attributes) {
  const KernelDef* def = FindKernel(name);
  if (def == nullptr) throw KernelError("there is no kernel '" + std::string(name) + "'");
  KernelCall call{.inputs = {}, .outputs = outputs, .attributes = attributes};
  std::vector<const std::byte*> sources;
  for (const Tensor& input : inputs) {
    call.inputs.push_back(input.type());
    sources.push_back(input.type().defined() ? input.data() : nullptr);
  }
  const BoundKernel kernel = def->bind(call);
  std::vector<Tensor> results;
  std::vector<std::byte*> targets;
  for (const TensorType& type : outputs) {
    results.push_back(type.defined() ? Tensor(type) : Tensor());
    targets.push_back(type.defined() ? results.back().mutable_data() : nullptr);
  }
  ThreadPool pool(1);
  Tensor scratch({ElementType::kUint8, {static_cast<std::int64_t>(kernel.scratch_bytes)}});
  kernel.run(
      {.inputs = sources, .outputs = targets, .scratch = scratch.mutable_data(), .pool = &pool});
  return results;
}

}  // namespace poprt::kernels
