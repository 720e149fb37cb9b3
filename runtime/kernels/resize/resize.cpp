#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/resize/resize_table.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Sums are kept in float for float types up to 32 bits, else in double, which rounds integers
/// right.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<Accumulator<T>, float>, float, double>;

/// [outer, axes..., inner]: only `axes` change, and the last of them is done for whole lines.
struct ResizePlan {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  std::vector<ResizeAxis> axes;
  std::vector<std::int64_t> strides;  // of the input, per axis
  std::int64_t in_block = 1;          // input elements per outer position
  std::int64_t rows = 1;              // output lines per outer position
  std::size_t scratch_bytes = 0;
  std::array<std::byte, 8> extrapolated{};
  bool any_outside = false;    ///< on the last axis
  bool lines_outside = false;  ///< on any other
  /// Of the last axis, all of the first tap before those of the second: weights, and positions,
  /// which are [in] where the weight is 0. Empty where ResizeLineByTaps does not apply.
  std::vector<float> tap_weights;
  std::vector<std::int32_t> tap_positions;
  /// Nearest: every element of a line that many times; 0 if that does not say it.
  std::int64_t repeats = 0;
};

template <typename T>
T Rounded(double value) {
  if constexpr (std::is_integral_v<T>) {
    const double whole = std::nearbyint(value);
    // The largest 64-bit integers are no doubles; the next double above them is 2^n.
    const auto low = static_cast<double>(std::numeric_limits<T>::min());
    const auto high = static_cast<double>(std::numeric_limits<T>::max());
    if (!(whole > low)) return std::numeric_limits<T>::min();
    if (whole >= high) return std::numeric_limits<T>::max();
    return static_cast<T>(whole);
  } else {
    return FromDouble<T>(value);
  }
}

/// line[i] += weight * input line, for all combinations of taps of the axes before the last one.
template <typename T>
void AddLines(const ResizePlan& plan, std::size_t axis, std::int64_t row, std::int64_t rows,
              const T* in, double weight, Sum<T>* line) {
  const ResizeAxis& a = plan.axes[axis];
  if (axis + 1 == plan.axes.size()) {
    const auto factor = static_cast<Sum<T>>(weight);
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < a.in * plan.inner; ++i) {
      line[i] += factor * static_cast<Sum<T>>(in[i]);
    }
    return;
  }
  rows /= a.out;
  const std::int64_t first = row / rows * a.taps;
  for (std::int64_t k = first; k < first + a.taps; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (a.weight[at] == 0) continue;
    AddLines(plan, axis + 1, row % rows, rows, in + a.index[at] * plan.strides[axis],
             weight * a.weight[at], line);
  }
}

/// True when the line lies outside in an axis before the last one.
bool LineOutside(const ResizePlan& plan, std::int64_t row) {
  if (!plan.lines_outside) return false;
  bool outside = false;
  for (std::size_t i = plan.axes.size() - 1; i-- > 0;) {
    outside =
        outside || plan.axes[i].outside[static_cast<std::size_t>(row % plan.axes[i].out)] != 0;
    row /= plan.axes[i].out;
  }
  return outside;
}

/// Adds the taps k and, for kTaps = 2, k + 1 to `out`; the first ones begin it.
template <int kTaps, bool kFirst>
void AddTaps(const ResizePlan& plan, std::int64_t k, const float* line, float* out) {
  const std::int64_t width = plan.axes.back().out;
  const std::int64_t inner = plan.inner;
  const float* weights = plan.tap_weights.data() + k * width;
  const std::int32_t* positions = plan.tap_positions.data() + k * width;
  const auto sum = [](float so_far, float weight, float value, float next_weight, float next) {
    const float first = kFirst ? weight * value : so_far + weight * value;
    return kTaps == 1 ? first : first + next_weight * next;
  };
  constexpr std::int64_t kNext = kTaps - 1;
  if (inner == 1) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t x = 0; x < width; ++x) {
      out[x] = sum(kFirst ? 0 : out[x], weights[x], line[positions[x]], weights[kNext * width + x],
                   line[positions[kNext * width + x]]);
    }
    return;
  }
  for (std::int64_t x = 0; x < width; ++x) {
    const float weight = weights[x];
    const float next_weight = weights[kNext * width + x];
    const float* from = line + positions[x] * inner;
    const float* next = line + positions[kNext * width + x] * inner;
    float* to = out + x * inner;
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t j = 0; j < inner; ++j) {
      to[j] = sum(kFirst ? 0 : to[j], weight, from[j], next_weight, next[j]);
    }
  }
}

/// Behind the line stand zeros in place of one more position.
inline void ResizeLineByTaps(const ResizePlan& plan, const float* line, float* out) {
  const std::int64_t taps = plan.axes.back().taps;
  if (taps == 1) return AddTaps<1, true>(plan, 0, line, out);
  AddTaps<2, true>(plan, 0, line, out);
  std::int64_t k = 2;
  for (; k + 2 <= taps; k += 2) AddTaps<2, false>(plan, k, line, out);
  if (k < taps) AddTaps<1, false>(plan, k, line, out);
}

template <typename T>
void ResizeLine(const ResizePlan& plan, const Sum<T>* line, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (!plan.tap_weights.empty()) return ResizeLineByTaps(plan, line, out);
  }
  const ResizeAxis& last = plan.axes.back();
  T extrapolated;
  std::memcpy(&extrapolated, plan.extrapolated.data(), sizeof(T));
  for (std::int64_t x = 0; x < last.out; ++x) {
    const bool outside = last.outside[static_cast<std::size_t>(x)] != 0;
    for (std::int64_t j = 0; j < plan.inner; ++j) {
      Sum<T> sum{};
      for (std::int64_t k = x * last.taps; k < (x + 1) * last.taps; ++k) {
        const auto at = static_cast<std::size_t>(k);
        if (last.weight[at] == 0) continue;
        sum += static_cast<Sum<T>>(last.weight[at]) * line[last.index[at] * plan.inner + j];
      }
      out[x * plan.inner + j] = outside ? extrapolated : Rounded<T>(static_cast<double>(sum));
    }
  }
}

template <typename T>
void RunWeighted(const ResizePlan& plan, const KernelArguments& args) {
  const ResizeAxis& last = plan.axes.back();
  const std::int64_t width = last.out * plan.inner;
  T extrapolated;
  std::memcpy(&extrapolated, plan.extrapolated.data(), sizeof(T));
  ForWideRanges(args.pool, plan.outer * plan.rows, GrainFor(4 * (width + last.in * plan.inner)),
                [&](std::int64_t begin, std::int64_t end, int worker) {
                  auto* line = reinterpret_cast<Sum<T>*>(
                      args.scratch + static_cast<std::size_t>(worker) * plan.scratch_bytes);
                  for (std::int64_t i = begin; i < end; ++i) {
                    const std::int64_t row = i % plan.rows;
                    T* out = args.out<T>(0) + i * width;
                    if (LineOutside(plan, row)) {
                      std::fill(out, out + width, extrapolated);
                      continue;
                    }
                    std::fill(line, line + (last.in + 1) * plan.inner, Sum<T>{});
                    AddLines(plan, 0, row, plan.rows, args.in<T>(0) + i / plan.rows * plan.in_block,
                             1.0, line);
                    ResizeLine(plan, line, out);
                  }
                });
}

template <typename Unit>
void NearestLine(const ResizePlan& plan, const Unit* in, Unit extrapolated, Unit* out) {
  const ResizeAxis& last = plan.axes.back();
  if (plan.repeats == 2) {
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t x = 0; x < last.in; ++x) {
      out[2 * x] = in[x];
      out[2 * x + 1] = in[x];
    }
  } else if (plan.inner == 1) {
    const std::int64_t* index = last.index.data();
    for (std::int64_t x = 0; x < last.out; ++x) out[x] = in[index[x]];
  } else {
    for (std::int64_t x = 0; x < last.out; ++x) {
      std::copy_n(in + last.index[static_cast<std::size_t>(x)] * plan.inner, plan.inner,
                  out + x * plan.inner);
    }
  }
  if (!plan.any_outside) return;
  for (std::int64_t x = 0; x < last.out; ++x) {
    if (last.outside[static_cast<std::size_t>(x)] == 0) continue;
    std::fill_n(out + x * plan.inner, plan.inner, extrapolated);
  }
}

/// Nearest: where the input line of an output line begins.
std::int64_t LineAt(const ResizePlan& plan, std::int64_t row) {
  std::int64_t at = 0;
  for (std::size_t k = plan.axes.size() - 1; k-- > 0;) {
    const ResizeAxis& axis = plan.axes[k];
    const std::int64_t i = k == 0 ? row : row % axis.out;
    at += axis.index[static_cast<std::size_t>(i)] * plan.strides[k];
    row = k == 0 ? 0 : row / axis.out;
  }
  return at;
}

template <typename Unit>
void RunNearest(const ResizePlan& plan, const KernelArguments& args) {
  const ResizeAxis& last = plan.axes.back();
  const std::int64_t width = last.out * plan.inner;
  Unit extrapolated;
  std::memcpy(&extrapolated, plan.extrapolated.data(), sizeof(Unit));
  ForWideRanges(args.pool, plan.outer * plan.rows, GrainFor(width),
                [&](std::int64_t begin, std::int64_t end, int) {
                  const Unit* previous = nullptr;
                  const Unit* block = args.in<Unit>(0) + begin / plan.rows * plan.in_block;
                  std::int64_t row = begin % plan.rows;
                  for (std::int64_t i = begin; i < end; ++i) {
                    Unit* out = args.out<Unit>(0) + i * width;
                    const Unit* in = LineOutside(plan, row) ? nullptr : block + LineAt(plan, row);
                    if (in == nullptr) {
                      std::fill(out, out + width, extrapolated);
                    } else if (in == previous) {
                      std::copy_n(out - width, width, out);
                    } else {
                      NearestLine(plan, in, extrapolated, out);
                    }
                    previous = in;
                    if (++row == plan.rows) {
                      row = 0;
                      block += plan.in_block;
                    }
                  }
                });
}

/// What the loops take besides the tables of the axes.
void PrepareLoops(bool nearest, ResizePlan& plan) {
  const ResizeAxis& last = plan.axes.back();
  const auto reaches_outside = [](const ResizeAxis& axis) {
    return std::ranges::any_of(axis.outside, [](std::uint8_t flag) { return flag != 0; });
  };
  plan.any_outside = reaches_outside(last);
  plan.lines_outside = std::any_of(plan.axes.begin(), plan.axes.end() - 1, reaches_outside);
  if (last.in >= std::numeric_limits<std::int32_t>::max()) return;
  if (nearest) {
    bool doubled = plan.inner == 1 && last.out == 2 * last.in;
    for (std::int64_t x = 0; x < last.out && doubled; ++x) {
      doubled = last.index[static_cast<std::size_t>(x)] == x / 2;
    }
    plan.repeats = doubled ? 2 : 0;
  } else if (!plan.any_outside) {
    for (std::int64_t k = 0; k < last.taps; ++k) {
      for (std::int64_t x = 0; x < last.out; ++x) {
        const auto at = static_cast<std::size_t>(x * last.taps + k);
        const bool used = last.weight[at] != 0;
        plan.tap_weights.push_back(static_cast<float>(last.weight[at]));
        plan.tap_positions.push_back(static_cast<std::int32_t>(used ? last.index[at] : last.in));
      }
    }
  }
}

std::array<std::byte, 8> ExtrapolationValue(ElementType element, float value) {
  std::array<std::byte, 8> bytes{};
  VisitElement<void, kAllTypes>(element, [&]<typename T>(std::type_identity<T>) {
    T typed{};
    if constexpr (std::is_same_v<T, Bool>) {
      typed = Bool(value != 0.0F);
    } else {
      typed = Rounded<T>(static_cast<double>(value));
    }
    std::memcpy(bytes.data(), &typed, sizeof(T));
  });
  return bytes;
}

/// Leaves out the axes in front and behind that stay as they are.
ResizePlan MakePlan(std::vector<ResizeAxis> axes) {
  ResizePlan plan;
  std::size_t begin = 0;
  while (begin < axes.size() && axes[begin].identity) plan.outer *= axes[begin++].in;
  std::size_t end = axes.size();
  while (end > begin && axes[end - 1].identity) plan.inner *= axes[--end].in;
  plan.axes.assign(axes.begin() + static_cast<std::ptrdiff_t>(begin),
                   axes.begin() + static_cast<std::ptrdiff_t>(end));
  plan.strides.resize(plan.axes.size());
  plan.in_block = plan.inner;
  for (std::size_t i = plan.axes.size(); i-- > 0;) {
    plan.strides[i] = plan.in_block;
    plan.in_block *= plan.axes[i].in;
    if (i + 1 < plan.axes.size()) plan.rows *= plan.axes[i].out;
  }
  return plan;
}

/// Inputs 1 to 3 of the operator are attributes here: roi, scales, sizes.
BoundKernel BindResize(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  const ResizeOptions options = ReadResizeOptions(call);
  const bool nearest = options.mode == ResizeMode::kNearest;
  RequireElement(input, nearest ? kAllTypes : kNumericTypes, "input 0");
  RequireCount(input.shape, "input 0");
  const ResizeGeometry geometry = ResolveResize(call.attributes, input.shape);
  RequireType(call.outputs[0], {input.element, geometry.output}, "output 0");
  const float extrapolation = FloatAttribute(call, "extrapolation_value", 0.0F);
  if (RequireCount(geometry.output, "the output") == 0) return NothingToRun();
  Require(ElementCount(input.shape) > 0,
          "input 0 is " + ToString(input) + ", which has no elements to resize");
  ResizePlan plan = MakePlan(MakeResizeAxes(options, geometry, input.shape));
  if (plan.axes.empty()) return CopyWhole(input);
  plan.extrapolated = ExtrapolationValue(input.element, extrapolation);
  PrepareLoops(nearest, plan);
  if (nearest) {
    return VisitSize<BoundKernel>(input.element, [&]<typename Unit>(std::type_identity<Unit>) {
      return BoundKernel{
          .run = [plan](const KernelArguments& args) { RunNearest<Unit>(plan, args); }};
    });
  }
  return VisitElement<BoundKernel, kNumericTypes>(input.element, [&]<typename T>(
                                                                     std::type_identity<T>) {
    plan.scratch_bytes = ScratchBytes(
        static_cast<std::size_t>((plan.axes.back().in + 1) * plan.inner) * sizeof(Sum<T>));
    return BoundKernel{.run = [plan](const KernelArguments& args) { RunWeighted<T>(plan, args); },
                       .scratch_bytes = plan.scratch_bytes};
  });
}

}  // namespace

std::span<const KernelDef> ResizeKernels() {
  static constexpr std::array kTable{KernelDef{"Resize", &GuardedBind<BindResize>}};
  return kTable;
}

}  // namespace poprt::kernels
