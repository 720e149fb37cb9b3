#include <algorithm>

#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/vision/vision.hpp"
#include "runtime/kernels/vision/vision_shape.hpp"
#include "runtime/kernels/window/window_rows.hpp"

namespace poprt::kernels {
namespace {

struct BlockPlan {
  std::int64_t planes = 0;  // N * C
  TransposedRows rows;
  std::size_t scratch_bytes = 0;
};

template <typename T>
void RunCol2Im(const BlockPlan& plan, const KernelArguments& args) {
  using Acc = Accumulator<T>;
  const TransposedRows& rows = plan.rows;
  const std::int64_t width = rows.width();
  const std::int64_t stride = rows.stride();
  const std::int64_t blocks = rows.input_plane();
  ForRanges(args.pool, plan.planes * rows.rows(),
            GrainFor(width * std::min<std::int64_t>(rows.taps(), 64)),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              auto* sums = reinterpret_cast<Acc*>(args.scratch + static_cast<std::size_t>(worker) *
                                                                     plan.scratch_bytes);
              for (std::int64_t i = begin; i < end; ++i) {
                const T* in = args.in<T>(0) + i / rows.rows() * rows.taps() * blocks;
                std::fill(sums, sums + width, Acc{});
                rows.Visit(i % rows.rows(), [&](const TransposedRows::Tap& tap) {
                  const T* from = in + tap.index * blocks + tap.in;
                  POPRT_INDEPENDENT_LOOP
                  for (std::int64_t x = 0; x < tap.count; ++x) {
                    sums[tap.out + x * stride] += static_cast<Acc>(from[x]);
                  }
                });
                T* to = args.out<T>(0) + i * width;
                for (std::int64_t x = 0; x < width; ++x) to[x] = static_cast<T>(sums[x]);
              }
            });
}

}  // namespace

BoundKernel BindCol2Im(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& data = call.inputs[0];
  RequireElement(data, kNumericTypes, "input 0");
  RequireCount(data.shape, "input 0");
  const BlockGeometry geometry = ResolveBlocks(call.attributes, data.shape);
  RequireType(call.outputs[0], {data.element, geometry.output}, "output 0");
  if (RequireCount(geometry.output, "the output") == 0) return NothingToRun();
  const Shape image(geometry.output.begin() + 2, geometry.output.end());
  const std::int64_t planes = geometry.output[0] * geometry.output[1];
  return VisitElement<BoundKernel, kNumericTypes>(data.element, [&]<typename T>(
                                                                    std::type_identity<T>) {
    const std::size_t scratch =
        ScratchBytes(static_cast<std::size_t>(image.back()) * sizeof(Accumulator<T>));
    const BlockPlan plan{planes, TransposedRows(geometry.window, geometry.blocks, image), scratch};
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunCol2Im<T>(plan, args); },
                       .scratch_bytes = scratch};
  });
}

}  // namespace poprt::kernels
