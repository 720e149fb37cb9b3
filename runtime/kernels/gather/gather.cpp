#include "runtime/kernels/gather/gather.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

std::int64_t Product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = begin; i < end; ++i) product *= shape[i];
  return product;
}

/// memcpy that is one move for the sizes of single elements.
void CopyPiece(std::byte* to, const std::byte* from, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    default:
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

/// Data as [outer, extent, piece], output as [outer, indices, piece].
struct GatherPlan {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t indices = 1;
  std::int64_t piece = 1;  // bytes
};

template <typename Index>
void RunGather(const GatherPlan& plan, const KernelArguments& args) {
  const auto* indices = args.in<Index>(1);
  ForRanges(args.pool, plan.outer * plan.indices, GrainFor(plan.piece / 4 + 1),
            [&](std::int64_t begin, std::int64_t end, int) {
              std::int64_t outer = begin / plan.indices;
              std::int64_t at = begin % plan.indices;
              for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t from =
                    outer * plan.extent + ClampedIndex(indices[at], plan.extent);
                CopyPiece(args.outputs[0] + i * plan.piece, args.inputs[0] + from * plan.piece,
                          plan.piece);
                if (++at == plan.indices) {
                  at = 0;
                  ++outer;
                }
              }
            });
}

/// The same where a piece is one Unit.
template <typename Index, typename Unit>
void RunGatherUnits(const GatherPlan& plan, const KernelArguments& args) {
  const auto* indices = args.in<Index>(1);
  const auto* data = args.in<Unit>(0);
  auto* out = args.out<Unit>(0);
  ForWideRanges(args.pool, plan.outer * plan.indices, GrainFor(2),
                [&](std::int64_t begin, std::int64_t end, int) {
                  const std::int64_t extent = plan.extent;
                  if (plan.indices == 1) {
                    const Unit* const from = data + ClampedIndex(indices[0], extent);
                    POPRT_INDEPENDENT_LOOP
                    for (std::int64_t i = begin; i < end; ++i) out[i] = from[i * extent];
                    return;
                  }
                  for (std::int64_t i = begin; i < end;) {
                    const Index* const at = indices + i % plan.indices;
                    const std::int64_t count = std::min(end - i, plan.indices - i % plan.indices);
                    const Unit* const from = data + i / plan.indices * extent;
                    POPRT_INDEPENDENT_LOOP
                    for (std::int64_t k = 0; k < count; ++k)
                      out[i + k] = from[ClampedIndex(at[k], extent)];
                    i += count;
                  }
                });
}

/// Every output element takes the data element at its own position, but for the axis.
struct GatherElementsPlan {
  Shape shape;   // of indices and output
  Ints strides;  // of the data, 0 for the axis; 1 for the last one, if that is another
  std::int64_t extent = 1;
  std::int64_t axis_stride = 1;
};

template <typename Index, typename Unit>
void RunGatherElements(const GatherElementsPlan& plan, const KernelArguments& args) {
  const auto* indices = args.in<Index>(1);
  const auto* data = args.in<Unit>(0);
  auto* out = args.out<Unit>(0);
  const std::size_t last = plan.shape.size() - 1;
  const std::int64_t width = plan.shape[last];
  const std::int64_t rows = ElementCount(plan.shape) / width;
  const bool is_last = plan.strides[last] == 0;
  ForWideRanges(args.pool, rows, GrainFor(width), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t base = 0;
      std::int64_t rest = row;
      for (std::size_t i = last; i-- > 0;) {
        base += rest % plan.shape[i] * plan.strides[i];
        rest /= plan.shape[i];
      }
      const auto gather = [indices = indices + row * width, data = data + base,
                           out = out + row * width, width,
                           extent = plan.extent](std::int64_t step, std::int64_t axis_stride) {
        POPRT_INDEPENDENT_LOOP
        for (std::int64_t k = 0; k < width; ++k) {
          out[k] = data[k * step + ClampedIndex(indices[k], extent) * axis_stride];
        }
      };
      is_last ? gather(0, 1) : gather(1, plan.axis_stride);
    }
  });
}

struct GatherNdPlan {
  std::int64_t tuples = 1;  // per batch
  std::int64_t batches = 1;
  std::int64_t batch_bytes = 0;
  std::int64_t piece = 1;  // bytes
  Shape extents;           // of the axes an index tuple names
  Ints strides;            // bytes
};

template <typename Index>
void RunGatherNd(const GatherNdPlan& plan, const KernelArguments& args) {
  const auto* indices = args.in<Index>(1);
  const auto arity = static_cast<std::int64_t>(plan.extents.size());
  ForRanges(args.pool, plan.batches * plan.tuples, GrainFor(plan.piece / 4 + arity),
            [&](std::int64_t begin, std::int64_t end, int) {
              for (std::int64_t i = begin; i < end; ++i) {
                std::int64_t offset = i / plan.tuples * plan.batch_bytes;
                for (std::int64_t k = 0; k < arity; ++k) {
                  const auto axis = static_cast<std::size_t>(k);
                  offset +=
                      ClampedIndex(indices[i * arity + k], plan.extents[axis]) * plan.strides[axis];
                }
                CopyPiece(args.outputs[0] + i * plan.piece, args.inputs[0] + offset, plan.piece);
              }
            });
}

const TensorType& RequireData(const KernelCall& call) {
  RequireArity(call, 2, 2);
  const TensorType& data = call.inputs[0];
  RequireElement(data, kStoredTypes, "input 0");
  RequireCount(data.shape, "input 0");
  RequireCount(call.inputs[1].shape, "input 1");
  return data;
}

void RequireNonEmpty(const TensorType& data) {
  Require(ElementCount(data.shape) > 0,
          "input 0 is " + ToString(data) + ", which has no elements to gather");
}

}  // namespace

BoundKernel BindGather(const KernelCall& call) {
  const TensorType& data = RequireData(call);
  const Shape& indices = call.inputs[1].shape;
  const std::size_t axis = CheckedAxis(IntAttribute(call, "axis", 0), data.shape.size(), "axis");
  Shape shape(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
               data.shape.end());
  RequireType(call.outputs[0], {data.element, shape}, "output 0");
  const bool empty = RequireCount(shape, "the output") == 0;
  if (!empty) RequireNonEmpty(data);
  const GatherPlan plan{.outer = empty ? 0 : Product(data.shape, 0, axis),
                        .extent = data.shape[axis],
                        .indices = empty ? 1 : Product(indices, 0, indices.size()),
                        .piece = empty ? 1
                                       : Product(data.shape, axis + 1, data.shape.size()) *
                                             static_cast<std::int64_t>(ElementSize(data.element))};
  const bool is_unit = plan.piece == static_cast<std::int64_t>(ElementSize(data.element));
  return VisitIndex(call.inputs[1], "input 1", [&]<typename Index>(std::type_identity<Index>) {
    if (!is_unit) {
      return BoundKernel{
          .run = [plan](const KernelArguments& args) { RunGather<Index>(plan, args); }};
    }
    return VisitSize<BoundKernel>(data.element, [&]<typename Unit>(std::type_identity<Unit>) {
      return BoundKernel{
          .run = [plan](const KernelArguments& args) { RunGatherUnits<Index, Unit>(plan, args); }};
    });
  });
}

BoundKernel BindGatherElements(const KernelCall& call) {
  const TensorType& data = RequireData(call);
  const TensorType& indices = call.inputs[1];
  RequireElement(indices, kIndexTypes, "input 1");
  const std::size_t axis = CheckedAxis(IntAttribute(call, "axis", 0), data.shape.size(), "axis");
  bool fits = indices.shape.size() == data.shape.size();
  for (std::size_t i = 0; fits && i < data.shape.size(); ++i) {
    fits = i == axis || indices.shape[i] <= data.shape[i];
  }
  Require(fits, "input 1 is " + ToString(indices) + ", which does not lie inside input 0, " +
                    ToString(data));
  RequireType(call.outputs[0], {data.element, indices.shape}, "output 0");
  if (ElementCount(indices.shape) == 0) return NothingToRun();
  RequireNonEmpty(data);
  GatherElementsPlan plan{
      .shape = indices.shape, .strides = Strides(data.shape), .extent = data.shape[axis]};
  plan.axis_stride = plan.strides[axis];
  plan.strides[axis] = 0;
  return VisitIndex(indices, "input 1", [&]<typename Index>(std::type_identity<Index>) {
    return VisitSize<BoundKernel>(data.element, [&]<typename Unit>(std::type_identity<Unit>) {
      return BoundKernel{.run = [plan](const KernelArguments& args) {
        RunGatherElements<Index, Unit>(plan, args);
      }};
    });
  });
}

BoundKernel BindGatherNd(const KernelCall& call) {
  const TensorType& data = RequireData(call);
  const TensorType& indices = call.inputs[1];
  const std::int64_t batch_dims = IntAttribute(call, "batch_dims", 0);
  const std::size_t rank = data.shape.size();
  Require(rank >= 1 && !indices.shape.empty(), "inputs of GatherND have rank 1 or more");
  Require(batch_dims >= 0 &&
              batch_dims < static_cast<std::int64_t>(std::min(rank, indices.shape.size())),
          "attribute 'batch_dims' is " + std::to_string(batch_dims) +
              ", allowed are 0 to the smaller rank minus 1");
  const auto batch = static_cast<std::size_t>(batch_dims);
  const std::int64_t arity = indices.shape.back();
  Require(arity >= 1 && arity <= static_cast<std::int64_t>(rank - batch),
          "the last extent of input 1 is " + std::to_string(arity) + ", allowed are 1 to " +
              std::to_string(rank - batch));
  for (std::size_t i = 0; i < batch; ++i) {
    Require(data.shape[i] == indices.shape[i], "inputs " + ToString(data) + " and " +
                                                   ToString(indices) + " differ in batch axis " +
                                                   std::to_string(i));
  }
  const std::size_t inner = batch + static_cast<std::size_t>(arity);
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(inner),
               data.shape.end());
  RequireType(call.outputs[0], {data.element, shape}, "output 0");
  RequireElement(indices, kIndexTypes, "input 1");
  if (RequireCount(shape, "the output") == 0) return NothingToRun();
  RequireNonEmpty(data);
  const auto size = static_cast<std::int64_t>(ElementSize(data.element));
  const Shape strides = Strides(data.shape);
  GatherNdPlan plan{.tuples = Product(indices.shape, batch, indices.shape.size() - 1),
                    .batches = Product(indices.shape, 0, batch),
                    .batch_bytes = Product(data.shape, batch, rank) * size,
                    .piece = Product(data.shape, inner, rank) * size,
                    .extents = {},
                    .strides = {}};
  for (std::size_t i = batch; i < inner; ++i) {
    plan.extents.push_back(data.shape[i]);
    plan.strides.push_back(strides[i] * size);
  }
  return VisitIndex(indices, "input 1", [&]<typename Index>(std::type_identity<Index>) {
    return BoundKernel{
        .run = [plan](const KernelArguments& args) { RunGatherNd<Index>(plan, args); }};
  });
}

std::span<const KernelDef> GatherKernels() {
  static constexpr std::array kTable{
      KernelDef{"Gather", &GuardedBind<BindGather>},
      KernelDef{"GatherElements", &GuardedBind<BindGatherElements>},
      KernelDef{"GatherND", &GuardedBind<BindGatherNd>},
      KernelDef{"ScatterElements", &GuardedBind<BindScatterElements>},
      KernelDef{"ScatterND", &GuardedBind<BindScatterNd>},
  };
  return kTable;
}

}  // namespace poprt::kernels
