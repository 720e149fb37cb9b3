#include <algorithm>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/index/index.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

struct Trilu {
  std::int64_t rows = 0;  // of all matrices
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t k = 0;  // within [-height, width]
  bool upper = true;

  template <typename T>
  void Run(const KernelArguments& args) const {
    if (width == 0) return;
    ForRanges(args.pool, rows, GrainFor(width),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                for (std::int64_t row = begin; row < end; ++row) {
                  // Lower triangles include the diagonal, upper ones begin with it.
                  const std::int64_t diagonal = row % height + k + (upper ? 0 : 1);
                  const std::int64_t cut = std::clamp<std::int64_t>(diagonal, 0, width);
                  const T* x = args.in<T>(0) + row * width;
                  T* y = args.out<T>(0) + row * width;
                  std::copy(x + (upper ? cut : 0), x + (upper ? width : cut),
                            y + (upper ? cut : 0));
                  std::fill(y + (upper ? 0 : cut), y + (upper ? cut : width), T{});
                }
              });
  }
};

}  // namespace

BoundKernel BindTrilu(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kStoredTypes, "input 0");
  RequireType(call.outputs[0], input, "output 0");
  const std::size_t rank = input.shape.size();
  Require(rank >= 2, "input 0 is " + ToString(input) + ", expected at least 2 dimensions");
  Trilu op{.height = input.shape[rank - 2],
           .width = input.shape[rank - 1],
           .upper = FlagAttribute(call, "upper", true)};
  op.rows = ElementCount({input.shape.begin(), input.shape.end() - 1});
  // Beyond these bounds nothing changes any more, and the sum with a row number can't overflow.
  op.k = std::clamp(ScalarAttribute(call, "k", 0), -op.height - 1, op.width);
  return VisitSize<BoundKernel>(input.element, [&](auto type) -> BoundKernel {
    using T = typename decltype(type)::type;
    return {.run = [op](const KernelArguments& args) { op.Run<T>(args); }};
  });
}

}  // namespace poprt::kernels
