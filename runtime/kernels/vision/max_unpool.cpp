#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/kernels/gather/gather.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/vision/vision_shape.hpp"

namespace poprt::kernels {
namespace {

struct UnpoolPlan {
  std::int64_t planes = 0;
  std::int64_t in_plane = 0;
  std::int64_t indexed_plane = 0;
  std::int64_t out_plane = 0;
  Shape indexed;  // spatial
  Shape strides;  // of the output, spatial
  bool same = true;
};

/// Where position `at` of the indexed plane lies in the output plane.
std::int64_t OutputOffset(const UnpoolPlan& plan, std::int64_t at) {
  if (plan.same) return at;
  std::int64_t offset = 0;
  for (std::size_t i = plan.indexed.size(); i-- > 0;) {
    offset += at % plan.indexed[i] * plan.strides[i];
    at /= plan.indexed[i];
  }
  return offset;
}

/// Indices outside the tensor name nothing and are left out. Each task fills its own planes; the
/// few indices that name other planes follow one after the other, so that the last always wins.
template <typename Unit, typename Number>
void RunUnpool(const UnpoolPlan& plan, const KernelArguments& args) {
  const Unit* data = args.in<Unit>(0);
  const Number* indices = args.in<Number>(1);
  Unit* out = args.out<Unit>(0);
  std::atomic<bool> strays = false;
  ForRanges(args.pool, plan.planes, GrainFor(plan.out_plane + plan.in_plane),
            [&](std::int64_t begin, std::int64_t end, int) {
              bool stray = false;
              for (std::int64_t plane = begin; plane < end; ++plane) {
                Unit* to = out + plane * plan.out_plane;
                std::memset(to, 0, static_cast<std::size_t>(plan.out_plane) * sizeof(Unit));
                const std::int64_t first = plane * plan.indexed_plane;
                for (std::int64_t i = plane * plan.in_plane; i < (plane + 1) * plan.in_plane; ++i) {
                  const auto index = static_cast<std::int64_t>(indices[i]);
                  if (index >= first && index < first + plan.indexed_plane) {
                    to[OutputOffset(plan, index - first)] = data[i];
                  } else {
                    stray = true;
                  }
                }
              }
              if (stray) strays.store(true, std::memory_order_relaxed);
            });
  if (!strays.load()) return;
  for (std::int64_t i = 0; i < plan.planes * plan.in_plane; ++i) {
    const auto index = static_cast<std::int64_t>(indices[i]);
    if (index < 0 || index >= plan.planes * plan.indexed_plane) continue;
    const std::int64_t plane = index / plan.indexed_plane;
    if (plane == i / plan.in_plane) continue;
    out[plane * plan.out_plane + OutputOffset(plan, index % plan.indexed_plane)] = data[i];
  }
}

}  // namespace

BoundKernel BindMaxUnpool(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& data = call.inputs[0];
  const TensorType& indices = call.inputs[1];
  RequireElement(data, kNumericTypes, "input 0");
  RequireElement(indices, kIndexTypes, "input 1");
  RequireCount(data.shape, "input 0");
  RequireType(indices, {indices.element, data.shape}, "input 1");
  const UnpoolGeometry geometry = ResolveUnpool(call.attributes, data.shape);
  RequireType(call.outputs[0], {data.element, geometry.output}, "output 0");
  if (RequireCount(geometry.output, "the output") == 0) return NothingToRun();
  RequireCount(geometry.indexed, "the indexed tensor");
  UnpoolPlan plan;
  const Shape output(geometry.output.begin() + 2, geometry.output.end());
  plan.indexed.assign(geometry.indexed.begin() + 2, geometry.indexed.end());
  plan.planes = geometry.output[0] * geometry.output[1];
  plan.in_plane = ElementCount(data.shape) / plan.planes;
  plan.indexed_plane = ElementCount(plan.indexed);
  plan.out_plane = ElementCount(output);
  plan.strides = Strides(output);
  plan.same = plan.indexed == output;
  return VisitSize<BoundKernel>(data.element, [&]<typename Unit>(std::type_identity<Unit>) {
    return VisitIndex(indices, "input 1", [&]<typename Number>(std::type_identity<Number>) {
      return BoundKernel{
          .run = [plan](const KernelArguments& args) { RunUnpool<Unit, Number>(plan, args); }};
    });
  });
}

}  // namespace poprt::kernels
