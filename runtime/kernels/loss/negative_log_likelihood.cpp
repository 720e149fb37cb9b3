#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

enum class Reduction : std::uint8_t { kNone, kSum, kMean };

Reduction ReductionOf(const KernelCall& call) {
  const std::string name = StringAttribute(call, "reduction", "mean");
  if (name == "none") return Reduction::kNone;
  if (name == "sum") return Reduction::kSum;
  Require(name == "mean", "attribute 'reduction' is '" + name + "', expected none, sum or mean");
  return Reduction::kMean;
}

/// Inputs [batch, classes, points], labels and losses [batch, points].
struct Losses {
  std::int64_t batch = 1;
  std::int64_t classes = 1;
  std::int64_t points = 1;
  bool weighted = false;
  std::optional<std::int64_t> ignored;

  std::int64_t count() const { return batch * points; }
};

struct Loss {
  double value;
  double weight;
};

/// The loss at one label; NaN for labels that name no class.
template <typename T, typename L>
Loss LossAt(const Losses& losses, const KernelArguments& args, std::int64_t at) {
  const std::int64_t label = args.in<L>(1)[at];
  if (losses.ignored == label) return {0.0, 0.0};
  if (label < 0 || label >= losses.classes) {
    return {std::numeric_limits<double>::quiet_NaN(), 0.0};
  }
  const double weight = losses.weighted ? ToDouble(args.in<T>(2)[label]) : 1.0;
  const std::int64_t from =
      (at / losses.points * losses.classes + label) * losses.points + at % losses.points;
  return {-ToDouble(args.in<T>(0)[from]) * weight, weight};
}

template <typename T, typename L>
BoundKernel BindOf(const Losses& losses, Reduction reduction) {
  if (reduction == Reduction::kNone) {
    return {.run = [losses](const KernelArguments& args) {
      ForRanges(args.pool, losses.count(), kElementsPerTask,
                [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                  for (std::int64_t i = begin; i < end; ++i) {
                    args.out<T>(0)[i] = FromDouble<T>(LossAt<T, L>(losses, args, i).value);
                  }
                });
    }};
  }
  const bool is_mean = reduction == Reduction::kMean;
  // One element is read for each label; one thread does that fast enough, in one order.
  return {.run = [losses, is_mean](const KernelArguments& args) {
    double sum = 0.0;
    double weights = 0.0;
    for (std::int64_t i = 0; i < losses.count(); ++i) {
      const Loss loss = LossAt<T, L>(losses, args, i);
      sum += loss.value;
      weights += loss.weight;
    }
    args.out<T>(0)[0] = FromDouble<T>(is_mean ? sum / weights : sum);
  }};
}

BoundKernel Bind(const KernelCall& call) {
  RequireArity(call, 2, 3);
  const TensorType& input = call.inputs[0];
  const TensorType& labels = call.inputs[1];
  RequireElement(input, kFloatTypes, "input 0");
  RequireElement(labels, Types({ElementType::kInt32, ElementType::kInt64}), "input 1");
  Require(input.shape.size() >= 2, "input 0 has fewer than 2 dimensions");
  Shape expected = input.shape;
  expected.erase(expected.begin() + 1);
  RequireType(labels, {labels.element, expected}, "input 1");
  Losses losses;
  losses.batch = input.shape[0];
  losses.classes = input.shape[1];
  losses.points = RequireCount(Shape(input.shape.begin() + 2, input.shape.end()), "input 0");
  RequireCount(expected, "input 1");
  const TensorType& weight = InputOrAbsent(call, 2);
  losses.weighted = weight.defined();
  if (losses.weighted) RequireType(weight, {input.element, {losses.classes}}, "input 2");
  if (call.attributes.has("ignore_index")) {
    losses.ignored = IntAttribute(call, "ignore_index", 0);
  }
  const Reduction reduction = ReductionOf(call);
  RequireType(call.outputs[0], {input.element, reduction == Reduction::kNone ? expected : Shape()},
              "output 0");
  return VisitElement<BoundKernel, kFloatTypes>(input.element, [&](auto type) {
    using T = typename decltype(type)::type;
    return labels.element == ElementType::kInt32 ? BindOf<T, std::int32_t>(losses, reduction)
                                                 : BindOf<T, std::int64_t>(losses, reduction);
  });
}

constexpr auto kKernels = std::to_array<KernelDef>({
    {"NegativeLogLikelihoodLoss", GuardedBind<Bind>},
});

}  // namespace

std::span<const KernelDef> LossKernels() { return kKernels; }

}  // namespace poprt::kernels
