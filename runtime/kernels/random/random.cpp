#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/random/mersenne_twister.hpp"

/// Every run starts from the seed again: kernels have no state. The numbers come in one sequence,
/// so one thread makes them.
namespace poprt::kernels {
namespace {

MersenneTwister GeneratorOf(const KernelCall& call) {
  Require(call.attributes.has("seed"), "attribute 'seed' is missing");
  const float seed = FloatAttribute(call, "seed", 0.0F);
  Require(std::fabs(seed) < 0x1p62F, "attribute 'seed' is too large or no number");
  return MersenneTwister(static_cast<std::uint32_t>(static_cast<std::int64_t>(seed)));
}

/// The output of a generator of `shape`.
const TensorType& CheckedOutput(const KernelCall& call) {
  RequireArity(call, 0, 0);
  RequireElement(call.outputs[0], kFloatTypes, "output 0");
  RequireType(call.outputs[0], {call.outputs[0].element, IntsAttribute(call, "shape")}, "output 0");
  return call.outputs[0];
}

BoundKernel BindUniform(const KernelCall& call) {
  const TensorType& output = CheckedOutput(call);
  const MersenneTwister seeded = GeneratorOf(call);
  const double low = static_cast<double>(FloatAttribute(call, "low", 0.0F));
  const double range = static_cast<double>(FloatAttribute(call, "high", 1.0F)) - low;
  const std::int64_t count = RequireCount(output.shape, "output 0");
  return VisitElement<BoundKernel, kFloatTypes>(output.element, [&](auto type) {
    using T = typename decltype(type)::type;
    return BoundKernel{.run = [=](const KernelArguments& args) {
      MersenneTwister generator = seeded;
      T* to = args.out<T>(0);
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = FromDouble<T>(low + range * generator.NextUniform());
      }
    }};
  });
}

/// Two independent numbers of the standard normal distribution, by the polar method.
struct NormalPair {
  double first;
  double second;
};

NormalPair NextNormals(MersenneTwister& generator) {
  for (;;) {
    const double x = 2.0 * generator.NextUniform() - 1.0;
    const double y = 2.0 * generator.NextUniform() - 1.0;
    const double square = x * x + y * y;
    if (square >= 1.0 || square == 0.0) continue;
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    return {factor * y, factor * x};
  }
}

BoundKernel BindNormal(const KernelCall& call) {
  const TensorType& output = CheckedOutput(call);
  const MersenneTwister seeded = GeneratorOf(call);
  const double mean = static_cast<double>(FloatAttribute(call, "mean", 0.0F));
  const double scale = static_cast<double>(FloatAttribute(call, "scale", 1.0F));
  const std::int64_t count = RequireCount(output.shape, "output 0");
  return VisitElement<BoundKernel, kFloatTypes>(output.element, [&](auto type) {
    using T = typename decltype(type)::type;
    return BoundKernel{.run = [=](const KernelArguments& args) {
      MersenneTwister generator = seeded;
      T* to = args.out<T>(0);
      for (std::int64_t i = 0; i < count; i += 2) {
        const NormalPair pair = NextNormals(generator);
        to[i] = FromDouble<T>(mean + scale * pair.first);
        if (i + 1 < count) to[i + 1] = FromDouble<T>(mean + scale * pair.second);
      }
    }};
  });
}

/// Rows of logarithms of odds; `samples` draws from each.
struct Draws {
  std::int64_t rows;
  std::int64_t classes;
  std::int64_t samples;
};

/// Sums of the odds, the largest of which counts 1, up to each class.
template <typename T>
void AddUp(const T* logs, std::int64_t classes, double* sums) {
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < classes; ++i) most = std::max(most, ToDouble(logs[i]));
  double sum = 0.0;
  for (std::int64_t i = 0; i < classes; ++i) {
    sum += std::exp(ToDouble(logs[i]) - most);
    sums[i] = sum;
  }
}

template <typename T, typename I>
void RunDraws(const Draws& draws, MersenneTwister generator, const KernelArguments& args) {
  auto* sums = reinterpret_cast<double*>(args.scratch);
  for (std::int64_t row = 0; row < draws.rows; ++row) {
    AddUp(args.in<T>(0) + row * draws.classes, draws.classes, sums);
    for (std::int64_t i = 0; i < draws.samples; ++i) {
      const double drawn = generator.NextUniform() * sums[draws.classes - 1];
      const std::int64_t at = std::upper_bound(sums, sums + draws.classes, drawn) - sums;
      args.out<I>(0)[row * draws.samples + i] = static_cast<I>(std::min(at, draws.classes - 1));
    }
  }
}

BoundKernel BindMultinomial(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kFloatTypes, "input 0");
  Require(input.shape.size() == 2, "input 0 must have 2 dimensions");
  const Draws draws{.rows = input.shape[0],
                    .classes = input.shape[1],
                    .samples = IntAttribute(call, "sample_size", 1)};
  Require(draws.samples >= 0, "attribute 'sample_size' is negative");
  const TensorType& output = call.outputs[0];
  RequireElement(output, Types({ElementType::kInt32, ElementType::kInt64}), "output 0");
  RequireType(output, {output.element, {draws.rows, draws.samples}}, "output 0");
  Require(draws.classes > 0 && draws.classes <= std::numeric_limits<std::int32_t>::max(),
          "input 0 has " + std::to_string(draws.classes) + " classes, expected 1 to 2147483647");
  const MersenneTwister generator = GeneratorOf(call);
  return VisitElement<BoundKernel, kFloatTypes>(input.element, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto run = output.element == ElementType::kInt32 ? RunDraws<T, std::int32_t>
                                                           : RunDraws<T, std::int64_t>;
    return BoundKernel{
        .run = [=](const KernelArguments& args) { run(draws, generator, args); },
        .scratch_bytes = ScratchBytes(static_cast<std::size_t>(draws.classes) * sizeof(double))};
  });
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"Multinomial", GuardedBind<BindMultinomial>},
    {"RandomNormal", GuardedBind<BindNormal>},
    {"RandomUniform", GuardedBind<BindUniform>},
});

}  // namespace

std::span<const KernelDef> RandomKernels() { return kKernels; }

}  // namespace poprt::kernels
