#include <numeric>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/wide_loops.hpp"
#include "runtime/kernels/window/pooling.hpp"

namespace poprt::kernels {
namespace {

struct GlobalPlan {
  std::int64_t planes = 0;
  std::int64_t plane = 1;
  std::int64_t p = 0;
};

/// Calls plane_result(first element, count) -> double for every plane.
template <typename T, typename F>
void ForPlanes(const GlobalPlan& plan, const KernelArguments& args, const F& plane_result) {
  ForWideRanges(args.pool, plan.planes, GrainFor(plan.plane),
                [&](std::int64_t begin, std::int64_t end, int) {
                  for (std::int64_t i = begin; i < end; ++i) {
                    args.out<T>(0)[i] = FromDouble<T>(plane_result(args.in<T>(0) + i * plan.plane));
                  }
                });
}

GlobalPlan CheckGlobal(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& data = call.inputs[0];
  RequireElement(data, kFloatTypes, "input 0");
  RequireCount(data.shape, "input 0");
  Require(data.shape.size() >= 2, "input 0 is " + ToString(data) + ", expected rank 2 or more");
  TensorType wanted = data;
  GlobalPlan plan;
  for (std::size_t i = 2; i < wanted.shape.size(); ++i) {
    plan.plane *= wanted.shape[i];
    wanted.shape[i] = 1;
  }
  RequireType(call.outputs[0], wanted, "output 0");
  plan.planes = ElementCount(wanted.shape);
  Require(plan.planes == 0 || plan.plane > 0,
          "input 0 is " + ToString(data) + ", which has nothing to pool");
  return plan;
}

/// Binds run(plan, args, std::type_identity<T>) for the element type of the call.
template <typename Run>
BoundKernel BindGlobal(const KernelCall& call, const GlobalPlan& plan, const Run& run) {
  return VisitElement<BoundKernel, kFloatTypes>(call.inputs[0].element, [&](auto type) {
    return BoundKernel{
        .run = [plan, run, type](const KernelArguments& args) { run(plan, args, type); }};
  });
}

/// A reduction of the spatial axes.
BoundKernel BindReduction(const KernelCall& call, std::string_view name) {
  if (CheckGlobal(call).planes == 0) return NothingToRun();
  KernelCall reduction = call;
  Ints axes(call.inputs[0].shape.size() - 2);
  std::iota(axes.begin(), axes.end(), std::int64_t{2});
  // Without spatial axes nothing is reduced.
  reduction.attributes = {{"axes", axes}, {"noop_with_empty_axes", std::int64_t{1}}};
  return FindKernel(name)->bind(reduction);
}

}  // namespace

BoundKernel BindGlobalAveragePool(const KernelCall& call) {
  return BindReduction(call, "ReduceMean");
}

BoundKernel BindGlobalMaxPool(const KernelCall& call) { return BindReduction(call, "ReduceMax"); }

BoundKernel BindGlobalLpPool(const KernelCall& call) {
  GlobalPlan checked = CheckGlobal(call);
  checked.p = ReadNorm(call);
  return BindGlobal(
      call, checked,
      []<typename T>(const GlobalPlan& plan, const KernelArguments& args, std::type_identity<T>) {
        ForPlanes<T>(plan, args, [&](const T* in) {
          const double sum = FoldLanes(
              plan.plane, 0.0, [&](std::int64_t i) { return PowerOf(ToDouble(in[i]), plan.p); },
              [](double a, double b) { return a + b; });
          return RootOf(sum, plan.p);
        });
      });
}

}  // namespace poprt::kernels
