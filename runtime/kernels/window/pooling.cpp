#include "runtime/kernels/window/pooling.hpp"

#include <array>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"

namespace poprt::kernels {

PoolGeometry CheckPool(const KernelCall& call) {
  const TensorType& data = call.inputs[0];
  RequireCount(data.shape, "input 0");
  Require(data.shape.size() >= 3, "input 0 is " + ToString(data) + ", expected rank 3 or more");
  const Ints kernel = IntsAttribute(call, "kernel_shape");
  Require(!kernel.empty(), "attribute 'kernel_shape' is missing");
  PoolGeometry found;
  found.input.assign(data.shape.begin() + 2, data.shape.end());
  found.window = ResolveWindow(call.attributes, found.input, kernel);
  RequireCount(kernel, "the window");
  found.output =
      WindowOutputExtents(found.window, found.input, FlagAttribute(call, "ceil_mode", false));
  TensorType wanted{data.element, {data.shape[0], data.shape[1]}};
  wanted.shape.insert(wanted.shape.end(), found.output.begin(), found.output.end());
  RequireType(call.outputs[0], wanted, "output 0");
  found.empty = RequireCount(wanted.shape, "the output") == 0;
  found.planes = found.empty ? 0 : data.shape[0] * data.shape[1];
  return found;
}

std::span<const KernelDef> PoolingKernels() {
  static constexpr std::array kTable{
      KernelDef{"AveragePool", &GuardedBind<BindAveragePool>},
      KernelDef{"GlobalAveragePool", &GuardedBind<BindGlobalAveragePool>},
      KernelDef{"GlobalLpPool", &GuardedBind<BindGlobalLpPool>},
      KernelDef{"GlobalMaxPool", &GuardedBind<BindGlobalMaxPool>},
      KernelDef{"LpPool", &GuardedBind<BindLpPool>},
      KernelDef{"MaxPool", &GuardedBind<BindMaxPool>},
  };
  return kTable;
}

}  // namespace poprt::kernels
