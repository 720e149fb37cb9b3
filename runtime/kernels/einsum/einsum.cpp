#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "runtime/kernels/einsum/einsum_equation.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/movement/strided_copy.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// Sums in double, which is exact enough for every float type; integers wrap.
template <typename T>
using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// One axis of the computation and how far a step along it moves in every operand, in elements.
struct Axis {
  std::int64_t extent;
  std::vector<std::int64_t> strides;
};

struct EinsumPlan {
  std::size_t operands = 0;
  std::vector<Axis> output;  ///< outermost first
  std::vector<Axis> summed;
  std::int64_t results = 1;
  std::int64_t products = 1;  ///< in the sum of one result
  std::size_t scratch_bytes = 0;
};

Axis AxisOf(const EinsumEquation& equation, std::size_t label, std::span<const TensorType> inputs) {
  Axis axis{equation.extents[label], {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape strides = Strides(inputs[i].shape);
    std::int64_t step = 0;
    for (std::size_t k = 0; k < strides.size(); ++k) {
      // On a diagonal all axes of the label move at once.
      if (equation.inputs[i][k] == label && inputs[i].shape[k] != 1) step += strides[k];
    }
    axis.strides.push_back(step);
  }
  return axis;
}

/// Walks over axes, keeping the offset in every operand.
class Walk {
 public:
  Walk(const std::vector<Axis>& axes, std::int64_t* offsets) : axes_(axes), offsets_(offsets) {
    std::fill_n(index_.begin(), axes.size(), 0);
  }

  void MoveTo(std::int64_t position) {
    for (std::size_t d = axes_.size(); d-- > 0;) {
      index_[d] = position % axes_[d].extent;
      position /= axes_[d].extent;
      Move(axes_[d], index_[d]);
    }
  }
  void Next() {
    for (std::size_t d = axes_.size(); d-- > 0;) {
      Move(axes_[d], 1);
      if (++index_[d] < axes_[d].extent) return;
      Move(axes_[d], -index_[d]);
      index_[d] = 0;
    }
  }

 private:
  void Move(const Axis& axis, std::int64_t steps) {
    for (std::size_t i = 0; i < axis.strides.size(); ++i) offsets_[i] += axis.strides[i] * steps;
  }

  const std::vector<Axis>& axes_;
  std::int64_t* offsets_;
  std::array<std::int64_t, kMostEinsumLabels> index_;  // as many of them as there are axes
};

template <typename T>
Sum<T> Widen(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return ToDouble(value);
  }
}

template <typename T>
Sum<T> SumOfProducts(const EinsumPlan& plan, const KernelArguments& args, std::int64_t* offsets) {
  Sum<T> sum{};
  // The walk ends where it began.
  Walk walk(plan.summed, offsets);
  for (std::int64_t k = 0; k < plan.products; ++k, walk.Next()) {
    Sum<T> product = Widen(args.in<T>(0)[offsets[0]]);
    for (std::size_t i = 1; i < plan.operands; ++i) product *= Widen(args.in<T>(i)[offsets[i]]);
    sum += product;
  }
  return sum;
}

template <typename T>
void RunEinsum(const EinsumPlan& plan, const KernelArguments& args) {
  ForRanges(args.pool, plan.results, GrainFor(plan.products),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              auto* offsets = reinterpret_cast<std::int64_t*>(
                  args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes);
              std::fill_n(offsets, plan.operands, 0);
              Walk walk(plan.output, offsets);
              walk.MoveTo(begin);
              for (std::int64_t i = begin; i < end; ++i, walk.Next()) {
                const Sum<T> sum = SumOfProducts<T>(plan, args, offsets);
                if constexpr (std::is_integral_v<T>) {
                  args.out<T>(0)[i] = static_cast<T>(sum);
                } else {
                  args.out<T>(0)[i] = FromDouble<T>(sum);
                }
              }
            });
}

/// One operand without sums: diagonals and axes in another order.
BoundKernel BindView(const EinsumPlan& plan, const Shape& output, std::size_t element_size) {
  StridedView view{.extents = output, .strides = {}};
  for (const Axis& axis : plan.output) view.strides.push_back(axis.strides[0]);
  return {.run = [copy = StridedCopy(view, element_size)](const KernelArguments& args) {
    copy.Run(args.inputs[0], args.outputs[0], args.pool);
  }};
}

BoundKernel BindEinsum(const KernelCall& call) {
  constexpr std::size_t kMostOperands = 4096;
  RequireArity(call, 1, kMostOperands);
  const ElementType element = call.inputs[0].element;
  RequireElement(call.inputs[0], kNumericTypes, "input 0");
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    RequireType({call.inputs[i].element, {}}, {element, {}},
                "the element type of input " + std::to_string(i));
  }
  const EinsumEquation equation =
      ResolveEinsum(call.attributes.get_string("equation", ""), call.inputs);
  const auto plan = std::make_shared<EinsumPlan>();
  plan->operands = call.inputs.size();
  const Shape output = equation.OutputShape();
  RequireType(call.outputs[0], {element, output}, "output 0");
  Shape summed;
  for (const std::size_t label : equation.output) {
    plan->output.push_back(AxisOf(equation, label, call.inputs));
  }
  for (std::size_t label = 0; label < equation.extents.size(); ++label) {
    if (std::find(equation.output.begin(), equation.output.end(), label) != equation.output.end()) {
      continue;
    }
    plan->summed.push_back(AxisOf(equation, label, call.inputs));
    summed.push_back(equation.extents[label]);
  }
  plan->results = RequireCount(output, "the output");
  plan->products = RequireCount(summed, "the summed axes");
  if (plan->results == 0) return NothingToRun();
  if (plan->operands == 1 && plan->products == 1) {
    return BindView(*plan, output, RequireSameElement(call.inputs[0], call.outputs[0]));
  }
  plan->scratch_bytes = ScratchBytes(plan->operands * sizeof(std::int64_t));
  return VisitElement<BoundKernel, kNumericTypes>(
      element, [&]<typename T>(std::type_identity<T>) -> BoundKernel {
        return {.run = [plan](const KernelArguments& args) { RunEinsum<T>(*plan, args); },
                .scratch_bytes = plan->scratch_bytes};
      });
}

}  // namespace

std::span<const KernelDef> EinsumKernels() {
  static constexpr std::array kTable{KernelDef{"Einsum", &GuardedBind<BindEinsum>}};
  return kTable;
}

}  // namespace poprt::kernels
