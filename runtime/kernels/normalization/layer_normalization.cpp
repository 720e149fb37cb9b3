#include <array>
#include <memory>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/normalization/moments.hpp"
#include "runtime/kernels/normalization/normalization.hpp"
#include "runtime/kernels/strided_index.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Scale or bias: broadcast to the normalized dimensions.
struct Parameter {
  bool defined = false;
  bool in_place = false;  // stored exactly as it is computed with
  StridedDims dims;
  Converter load;
};

Parameter MakeParameter(const TensorType& type, const Shape& shape, ElementType compute,
                        const std::string& what) {
  Parameter parameter;
  parameter.defined = type.defined();
  if (!parameter.defined) return parameter;
  const auto both = Broadcast(type.shape, shape);
  Require(both.has_value() && *both == shape,
          what + " is " + ToString(type) + ", which does not broadcast to " + ToString(shape));
  parameter.load = Converter(type.element, compute);
  const std::int64_t count = ElementCount(shape);
  parameter.in_place = parameter.load.is_copy() && ElementCount(type.shape) == count;
  if (count == 0) return parameter;
  const Shape strides = Strides(type.shape);
  const std::size_t missing = shape.size() - strides.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool varies = d >= missing && type.shape[d - missing] != 1;
    parameter.dims.Append(shape[d], varies ? strides[d - missing] : 0);
  }
  return parameter;
}

/// Both forms: with the mean taken off and a bias, or (RMS) without.
template <typename C, bool kCentered>
struct LayerNorm {
  std::int64_t rows = 1;
  std::int64_t length = 1;
  double epsilon = 0;
  Parameter scale;
  Parameter bias;
  Converter load;
  Converter store;
  bool mean_output = false;
  bool deviation_output = false;

  std::size_t row_bytes() const {
    return (static_cast<std::size_t>(length) * sizeof(C) + 63) / 64 * 64;
  }
  std::size_t scratch_bytes() const { return rows == 0 || length == 0 ? 0 : 3 * row_bytes(); }

  const C* Prepare(const Parameter& parameter, const std::byte* from, std::byte* to) const {
    if (!parameter.defined) return nullptr;
    if (parameter.in_place) return reinterpret_cast<const C*>(from);
    StridedWalk walk(parameter.dims, 0);
    for (std::int64_t i = 0; i < length; ++i, walk.Next()) {
      const auto offset = static_cast<std::size_t>(walk.offset());
      parameter.load(from + offset * parameter.load.from_bytes(),
                     to + static_cast<std::size_t>(i) * sizeof(C), 1);
    }
    return reinterpret_cast<const C*>(to);
  }

  void RunRow(const KernelArguments& args, std::int64_t row, const C* weights, const C* offsets,
              const C* x, C* y) const {
    double mean = 0;
    double variance = 0;
    if constexpr (kCentered) {
      const Moments moments = MomentsOf(x, length);
      mean = moments.mean;
      variance = moments.variance;
    } else {
      variance = LaneSum<C>(length, [&](std::int64_t i) { return x[i] * x[i]; }) /
                 static_cast<double>(length);
    }
    const double inverse = 1.0 / std::sqrt(variance + epsilon);
    if (mean_output) args.out<float>(1)[row] = static_cast<float>(mean);
    if (deviation_output) args.out<float>(2)[row] = static_cast<float>(inverse);
    const C center = static_cast<C>(mean);
    const C factor = static_cast<C>(inverse);
    if (offsets != nullptr) {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < length; ++i) {
        y[i] = (x[i] - center) * factor * weights[i] + offsets[i];
      }
    } else {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < length; ++i) y[i] = (x[i] - center) * factor * weights[i];
    }
  }

  void Run(const KernelArguments& args) const {
    if (rows == 0) return;
    ForWideRanges(
        args.pool, rows, GrainFor(2 * length),
        [&](std::int64_t begin, std::int64_t end, int worker) {
          std::byte* scratch = args.scratch + static_cast<std::size_t>(worker) * scratch_bytes();
          const C* weights = Prepare(scale, args.inputs[1], scratch + row_bytes());
          const C* offsets =
              bias.defined ? Prepare(bias, args.inputs[2], scratch + 2 * row_bytes()) : nullptr;
          for (std::int64_t row = begin; row < end; ++row) {
            const auto at = static_cast<std::size_t>(row * length);
            const std::byte* from = args.inputs[0] + at * load.from_bytes();
            std::byte* to = args.outputs[0] + at * store.to_bytes();
            if (load.is_copy() && store.is_copy()) {
              RunRow(args, row, weights, offsets, reinterpret_cast<const C*>(from),
                     reinterpret_cast<C*>(to));
            } else {
              C* line = reinterpret_cast<C*>(scratch);
              load(from, scratch, length);
              RunRow(args, row, weights, offsets, line, line);
              store(scratch, to, length);
            }
          }
        });
  }
};

bool CheckStatistic(const KernelCall& call, std::size_t i, const Shape& shape) {
  if (i >= call.outputs.size() || !call.outputs[i].defined()) return false;
  RequireType(call.outputs[i], {ElementType::kFloat32, shape}, "output " + std::to_string(i));
  return true;
}

template <bool kCentered>
BoundKernel BindLayerNorm(const KernelCall& call) {
  RequireArity(call, 2, kCentered ? 3 : 2, 1, kCentered ? 3 : 1);
  const TensorType& input = call.inputs[0];
  const TensorType& bias = InputOrAbsent(call, 2);
  RequireElement(input, kFloatTypes, "input 0");
  RequireElement(call.inputs[1], kFloatTypes, "input 1");
  if (bias.defined()) RequireElement(bias, Types({call.inputs[1].element}), "input 2");
  // The scale of RMSNormalization may be of another type, which the output then has.
  RequireType(call.outputs[0], {kCentered ? input.element : call.inputs[1].element, input.shape},
              "output 0");
  const std::int64_t stash = IntAttribute(call, "stash_type", 1);
  Require(stash == 1,
          "attribute 'stash_type' is " + std::to_string(stash) + ", allowed is 1 (float32)");
  const auto axis =
      static_cast<std::ptrdiff_t>(AxisAttribute(call, "axis", -1, input.shape.size()));
  const Shape outer(input.shape.begin(), input.shape.begin() + axis);
  const Shape inner(input.shape.begin() + axis, input.shape.end());
  Shape statistics = outer;
  statistics.resize(input.shape.size(), 1);

  return VisitCompute<BoundKernel, kFloatTypes>(input.element, [&](auto type) -> BoundKernel {
    using C = typename decltype(type)::type;
    LayerNorm<C, kCentered> norm{
        .rows = ElementCount(outer),
        .length = ElementCount(inner),
        .epsilon = static_cast<double>(FloatAttribute(call, "epsilon", 1e-5F)),
        .scale = MakeParameter(call.inputs[1], inner, kElementOf<C>, "input 1"),
        .bias = MakeParameter(bias, inner, kElementOf<C>, "input 2"),
        .load = {input.element, kElementOf<C>},
        .store = {kElementOf<C>, call.outputs[0].element},
        .mean_output = CheckStatistic(call, 1, statistics),
        .deviation_output = CheckStatistic(call, 2, statistics)};
    const auto shared = std::make_shared<const LayerNorm<C, kCentered>>(std::move(norm));
    return {.run = [shared](const KernelArguments& args) { shared->Run(args); },
            .scratch_bytes = shared->scratch_bytes()};
  });
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"LayerNormalization", BindLayerNorm<true>},
    {"RMSNormalization", BindLayerNorm<false>},
});

}  // namespace

std::span<const KernelDef> LayerNormalizationKernels() { return kKernels; }

}  // namespace poprt::kernels
