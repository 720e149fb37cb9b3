#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/normalization/lrn.hpp"
#include "runtime/kernels/normalization/moments.hpp"
#include "runtime/kernels/normalization/normalization.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kBlock = 1024;

/// A tensor [batch, channels, spatial...].
struct ChannelShape {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t plane = 1;
  bool empty = false;
};

ChannelShape ChannelsOf(const TensorType& type, std::size_t min_rank) {
  Require(type.shape.size() >= min_rank, "input 0 is " + ToString(type) + ", expected at least " +
                                             std::to_string(min_rank) + " dimensions");
  ChannelShape shape{.batch = type.shape[0],
                     .channels = type.shape.size() > 1 ? type.shape[1] : 1,
                     .empty = ElementCount(type.shape) == 0};
  for (std::size_t d = 2; d < type.shape.size(); ++d) shape.plane *= type.shape[d];
  return shape;
}

/// Reads one element per channel.
template <typename C>
struct ChannelParameter {
  std::size_t input;
  Converter load;

  ChannelParameter(const KernelCall& call, std::size_t i)
      : input(i), load(call.inputs[i].element, kElementOf<C>) {}
  C At(const KernelArguments& args, std::int64_t channel) const {
    C value{};
    load(args.inputs[input] + static_cast<std::size_t>(channel) * load.from_bytes(),
         reinterpret_cast<std::byte*>(&value), 1);
    return value;
  }
};

void RequireChannelParameter(const KernelCall& call, std::size_t i, std::int64_t channels) {
  const std::string what = "input " + std::to_string(i);
  RequireElement(call.inputs[i], kFloatTypes, what);
  RequireType(call.inputs[i], {call.inputs[i].element, {channels}}, what);
}

/// y = (x - center) * factor + offset over n elements.
template <typename C>
void Affine(const std::byte* from, std::byte* to, std::int64_t n, const Converter& load,
            const Converter& store, C center, C factor, C offset) {
  C block[kBlock];
  for (std::int64_t i = 0; i < n; i += kBlock) {
    const std::int64_t length = std::min(kBlock, n - i);
    const std::byte* source = from + static_cast<std::size_t>(i) * load.from_bytes();
    std::byte* target = to + static_cast<std::size_t>(i) * store.to_bytes();
    const C* x = reinterpret_cast<const C*>(source);
    C* y = reinterpret_cast<C*>(target);
    if (!load.is_copy()) {
      load(source, reinterpret_cast<std::byte*>(block), length);
      x = block;
      y = block;
    }
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t j = 0; j < length; ++j) y[j] = (x[j] - center) * factor + offset;
    if (!load.is_copy()) store(reinterpret_cast<const std::byte*>(block), target, length);
  }
}

template <typename C>
BoundKernel BindBatchNormOf(const KernelCall& call, const ChannelShape& shape) {
  const Converter load(call.inputs[0].element, kElementOf<C>);
  const Converter store(kElementOf<C>, call.inputs[0].element);
  const ChannelParameter<C> scale(call, 1);
  const ChannelParameter<C> bias(call, 2);
  const ChannelParameter<C> mean(call, 3);
  const ChannelParameter<C> variance(call, 4);
  const C epsilon = FloatAttribute(call, "epsilon", 1e-5F);
  return {.run = [=](const KernelArguments& args) {
    if (shape.empty) return;
    ForWideRanges(args.pool, shape.batch * shape.channels, GrainFor(shape.plane),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    // A channel of all images before the next.
                    for (std::int64_t i = begin; i < end;) {
                      const std::int64_t c = i / shape.batch;
                      const C center = mean.At(args, c);
                      const C factor = scale.At(args, c) / Sqrt(variance.At(args, c) + epsilon);
                      const C offset = bias.At(args, c);
                      for (; i < end && i / shape.batch == c; ++i) {
                        const std::int64_t image = i % shape.batch;
                        const auto at =
                            static_cast<std::size_t>((image * shape.channels + c) * shape.plane);
                        Affine<C>(args.inputs[0] + at * load.from_bytes(),
                                  args.outputs[0] + at * store.to_bytes(), shape.plane, load, store,
                                  center, factor, offset);
                      }
                    }
                  });
  }};
}

BoundKernel BindBatchNorm(const KernelCall& call) {
  RequireArity(call, 5, 5);
  RequireElement(call.inputs[0], kFloatTypes, "input 0");
  RequireType(call.outputs[0], call.inputs[0], "output 0");
  Require(!FlagAttribute(call, "training_mode", false),
          "attribute 'training_mode' is 1, allowed is 0: this is inference");
  const ChannelShape shape = ChannelsOf(call.inputs[0], 1);
  for (std::size_t i = 1; i < 5; ++i) RequireChannelParameter(call, i, shape.channels);
  return VisitCompute<BoundKernel, kFloatTypes>(call.inputs[0].element, [&](auto type) {
    return BindBatchNormOf<typename decltype(type)::type>(call, shape);
  });
}

/// Groups of channels are normalized together; instances are groups of one channel.
template <typename C>
BoundKernel BindGroupNormOf(const KernelCall& call, const ChannelShape& shape,
                            std::int64_t groups) {
  const Converter load(call.inputs[0].element, kElementOf<C>);
  const Converter store(kElementOf<C>, call.inputs[0].element);
  const ChannelParameter<C> scale(call, 1);
  const ChannelParameter<C> bias(call, 2);
  const auto epsilon = static_cast<double>(FloatAttribute(call, "epsilon", 1e-5F));
  const std::int64_t channels = shape.empty ? 0 : shape.channels / groups;
  const std::int64_t length = channels * shape.plane;
  const std::size_t scratch =
      load.is_copy() ? 0 : (static_cast<std::size_t>(length) * sizeof(C) + 63) / 64 * 64;
  return {.run =
              [=](const KernelArguments& args) {
                if (shape.empty) return;
                ForWideRanges(
                    args.pool, shape.batch * groups, GrainFor(2 * length),
                    [&](std::int64_t begin, std::int64_t end, int worker) {
                      std::byte* line = args.scratch + static_cast<std::size_t>(worker) * scratch;
                      for (std::int64_t i = begin; i < end; ++i) {
                        const auto at = static_cast<std::size_t>(i * length);
                        const std::byte* from = args.inputs[0] + at * load.from_bytes();
                        std::byte* to = args.outputs[0] + at * store.to_bytes();
                        const std::byte* x = from;
                        if (!load.is_copy()) {
                          load(from, line, length);
                          x = line;
                        }
                        const Moments moments = MomentsOf(reinterpret_cast<const C*>(x), length);
                        const double inverse = 1.0 / std::sqrt(moments.variance + epsilon);
                        for (std::int64_t j = 0; j < channels; ++j) {
                          const std::int64_t c = i % groups * channels + j;
                          const auto plane = static_cast<std::size_t>(j * shape.plane);
                          const C factor = static_cast<C>(inverse) * scale.At(args, c);
                          Affine<C>(from + plane * load.from_bytes(), to + plane * store.to_bytes(),
                                    shape.plane, load, store, static_cast<C>(moments.mean), factor,
                                    bias.At(args, c));
                        }
                      }
                    });
              },
          .scratch_bytes = scratch};
}

BoundKernel BindGroups(const KernelCall& call, std::size_t min_rank, const std::int64_t* groups) {
  RequireArity(call, 3, 3);
  RequireElement(call.inputs[0], kFloatTypes, "input 0");
  RequireType(call.outputs[0], call.inputs[0], "output 0");
  const ChannelShape shape = ChannelsOf(call.inputs[0], min_rank);
  for (std::size_t i = 1; i < 3; ++i) RequireChannelParameter(call, i, shape.channels);
  const std::int64_t count = groups == nullptr ? shape.channels : *groups;
  Require(shape.empty || (count > 0 && shape.channels % count == 0),
          "attribute 'num_groups' is " + std::to_string(count) + ", which does not divide " +
              std::to_string(shape.channels) + " channels");
  return VisitCompute<BoundKernel, kFloatTypes>(call.inputs[0].element, [&](auto type) {
    return BindGroupNormOf<typename decltype(type)::type>(call, shape, count);
  });
}

BoundKernel BindInstanceNorm(const KernelCall& call) { return BindGroups(call, 2, nullptr); }

BoundKernel BindGroupNorm(const KernelCall& call) {
  Require(call.attributes.has("num_groups"), "attribute 'num_groups' is missing");
  const std::int64_t groups = IntAttribute(call, "num_groups", 1);
  return BindGroups(call, 2, &groups);
}

/// Local response normalization: each element by the squares of `size` neighbouring channels.
template <typename C>
struct Lrn {
  ChannelShape shape;
  LrnParameters parameters;
  Converter load;
  Converter store;

  static constexpr std::int64_t kStrip = 128;

  void RunStrip(const KernelArguments& args, std::int64_t batch, std::int64_t channel,
                std::int64_t column) const {
    const std::int64_t n = std::min(kStrip, shape.plane - column);
    C row[kStrip];
    C center[kStrip];
    C sums[kStrip] = {};
    const std::int64_t first = channel - std::min(parameters.before, channel);
    const std::int64_t last = channel + std::min(parameters.after, shape.channels - 1 - channel);
    for (std::int64_t c = first; c <= last; ++c) {
      const auto at = static_cast<std::size_t>((batch * shape.channels + c) * shape.plane + column);
      load(args.inputs[0] + at * load.from_bytes(), reinterpret_cast<std::byte*>(row), n);
      for (std::int64_t i = 0; i < n; ++i) sums[i] += row[i] * row[i];
      if (c == channel) std::copy_n(row, n, center);
    }
    NormalizeBySums(parameters, sums, n, center);
    const auto at =
        static_cast<std::size_t>((batch * shape.channels + channel) * shape.plane + column);
    store(reinterpret_cast<const std::byte*>(center), args.outputs[0] + at * store.to_bytes(), n);
  }

  void Run(const KernelArguments& args) const {
    if (shape.empty) return;
    const std::int64_t strips = (shape.plane - 1) / kStrip + 1;
    ForWideRanges(args.pool, shape.batch * shape.channels * strips, GrainFor(8 * kStrip),
                  [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                    for (std::int64_t task = begin; task < end; ++task) {
                      const std::int64_t image = task / strips;
                      RunStrip(args, image / shape.channels, image % shape.channels,
                               task % strips * kStrip);
                    }
                  });
  }
};

BoundKernel BindLrn(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kFloatTypes, "input 0");
  RequireType(call.outputs[0], input, "output 0");
  const ChannelShape shape = ChannelsOf(input, 2);
  const LrnParameters parameters = RequireLrn(call, std::max<std::int64_t>(1, shape.channels));
  return VisitCompute<BoundKernel, kFloatTypes>(input.element, [&](auto type) -> BoundKernel {
    using C = typename decltype(type)::type;
    const Lrn<C> lrn{.shape = shape,
                     .parameters = parameters,
                     .load = {input.element, kElementOf<C>},
                     .store = {kElementOf<C>, input.element}};
    const auto shared = std::make_shared<const Lrn<C>>(lrn);
    return {.run = [shared](const KernelArguments& args) { shared->Run(args); }};
  });
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"BatchNormalization", BindBatchNorm},
    {"GroupNormalization", BindGroupNorm},
    {"InstanceNormalization", BindInstanceNorm},
    {"LRN", BindLrn},
});

}  // namespace

std::span<const KernelDef> ChannelNormalizationKernels() { return kKernels; }

}  // namespace poprt::kernels
