#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/kernels/families.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/resize/line_taps.hpp"
#include "runtime/kernels/resize/resize_table.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Sums are kept in float for float types up to 32 bits, else in double, which rounds integers
/// right.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<Accumulator<T>, float>, float, double>;

/// Lines that follow each other along the last axis but one and take the same line of the input.
struct EqualLines {
  std::int64_t first;
  std::int64_t count;
  std::int64_t taken;  ///< where that begins, as far as this axis is concerned; -1 if outside
};

/// [outer, axes..., inner]: only `axes` change, and the last of them is done for whole lines.
struct ResizePlan {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  std::vector<ResizeAxis> axes;
  std::vector<std::int64_t> strides;  // of the input, per axis
  std::int64_t in_block = 1;          // input elements per outer position
  std::int64_t rows = 1;              // output lines per outer position
  std::int64_t lines_of_row = 1;      // input lines that an output line is made of
  std::size_t scratch_bytes = 0;
  std::array<std::byte, 8> extrapolated{};
  bool any_outside = false;             ///< on the last axis
  bool lines_outside = false;           ///< on any other
  LineTaps line_taps;                   ///< of the last axis; empty where it does not apply
  std::vector<EqualLines> equal_lines;  ///< Nearest: of the last axis but one
  bool is_doubled = false;              ///< Nearest: every element of a line twice
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

/// Calls f(first element, weight) for the input lines that an output line is made of: all
/// combinations of taps of the axes before the last one.
template <typename F>
void EachInputLine(const ResizePlan& plan, std::int64_t row, F f) {
  for (std::int64_t combination = 0; combination < plan.lines_of_row; ++combination) {
    std::int64_t begin = 0;
    double weight = 1;
    const auto add = [&](std::size_t i, std::int64_t position, std::int64_t tap) {
      const auto at = static_cast<std::size_t>(position * plan.axes[i].taps + tap);
      begin += plan.axes[i].index[at] * plan.strides[i];
      weight *= plan.axes[i].weight[at];
    };
    std::int64_t position = row;
    std::int64_t tap = combination;
    for (std::size_t i = plan.axes.size() - 1; i-- > 1;) {
      const ResizeAxis& axis = plan.axes[i];
      add(i, position % axis.out, tap % axis.taps);
      position /= axis.out;
      tap /= axis.taps;
    }
    if (plan.axes.size() > 1) add(0, position, tap);  // an image's rows need no division
    f(begin, weight);
  }
}

/// The sum of these lines.
template <typename T>
void SumLines(const ResizePlan& plan, std::int64_t row, const T* in, Sum<T>* line) {
  const std::int64_t count = plan.axes.back().in * plan.inner;
  std::fill_n(line, count, Sum<T>{});
  EachInputLine(plan, row, [&](std::int64_t begin, double weight) {
    if (weight == 0) return;
    const auto factor = static_cast<Sum<T>>(weight);
    const T* const from = in + begin;
    POPRT_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) line[i] += factor * static_cast<Sum<T>>(from[i]);
  });
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

template <typename T>
void ResizeLine(const ResizePlan& plan, const Sum<T>* line, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (!plan.line_taps.empty()) return plan.line_taps.Run(line, out);
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
                  const T* block = args.in<T>(0) + begin / plan.rows * plan.in_block;
                  std::int64_t row = begin % plan.rows;
                  for (std::int64_t i = begin; i < end; ++i) {
                    T* out = args.out<T>(0) + i * width;
                    if (LineOutside(plan, row)) {
                      std::fill(out, out + width, extrapolated);
                    } else {
                      SumLines(plan, row, block, line);
                      ResizeLine(plan, line, out);
                    }
                    if (++row == plan.rows) {
                      row = 0;
                      block += plan.in_block;
                    }
                  }
                });
}

/// Every element twice.
template <typename Unit>
[[gnu::always_inline]] inline void DoubleInto(const Unit* in, std::int64_t count, Unit* out) {
  constexpr std::int64_t kTogether = 4;
  using Four [[gnu::vector_size(kTogether * sizeof(Unit))]] = Unit;
  const auto double_four = [&](std::int64_t x) __attribute__((always_inline)) {
    Four four;
    std::memcpy(&four, in + x, sizeof(four));
    const auto twice = __builtin_shufflevector(four, four, 0, 0, 1, 1, 2, 2, 3, 3);
    std::memcpy(out + 2 * x, &twice, sizeof(twice));
  };
  if (count < kTogether) {
    for (std::int64_t x = 0; x < count; ++x) out[2 * x] = out[2 * x + 1] = in[x];
    return;
  }
  for (std::int64_t x = 0; x + kTogether <= count; x += kTogether) double_four(x);
  double_four(count - kTogether);  // some again
}

/// What is done along the last axis, by value: the compiler knows that stores don't change it.
template <typename Unit>
class NearestLine {
 public:
  explicit NearestLine(const ResizePlan& plan)
      : index_(plan.axes.back().index.data()),
        outside_(plan.any_outside ? plan.axes.back().outside.data() : nullptr),
        in_(plan.axes.back().in),
        out_(plan.axes.back().out),
        inner_(plan.inner),
        is_doubled_(plan.is_doubled) {
    std::memcpy(&extrapolated_, plan.extrapolated.data(), sizeof(Unit));
  }

  /// `lines` equal lines, at least one, that follow each other.
  [[gnu::always_inline]] void Repeat(const Unit* in, std::int64_t lines, Unit* out) const {
    if (is_doubled_) {
      // From the input, which is faster to read than what was just written.
      for (std::int64_t line = 0; line < lines; ++line) DoubleInto(in, in_, out + line * width());
      return;
    }
    Take(in, out);
    for (std::int64_t line = 1; line < lines; ++line) {
      std::copy_n(out, width(), out + line * width());
    }
  }

  [[gnu::always_inline]] void FillOutside(std::int64_t lines, Unit* out) const {
    std::fill_n(out, lines * width(), extrapolated_);
  }

 private:
  std::int64_t width() const { return out_ * inner_; }

  void Take(const Unit* in, Unit* out) const {
    for (std::int64_t x = 0; x < out_; ++x) {
      if (inner_ == 1) {
        out[x] = in[index_[x]];
      } else {
        std::copy_n(in + index_[x] * inner_, inner_, out + x * inner_);
      }
    }
    for (std::int64_t x = 0; x < out_ && outside_ != nullptr; ++x) {
      if (outside_[x] != 0) std::fill_n(out + x * inner_, inner_, extrapolated_);
    }
  }

  const std::int64_t* index_;
  const std::uint8_t* outside_;  ///< null where nothing is
  std::int64_t in_;
  std::int64_t out_;
  std::int64_t inner_;
  bool is_doubled_;
  Unit extrapolated_{};
};

/// Where an axis takes position `at` from; -1 for what is outside.
std::int64_t NearestOf(const ResizePlan& plan, std::size_t axis, std::int64_t at) {
  const auto i = static_cast<std::size_t>(at);
  return plan.axes[axis].outside[i] != 0 ? -1 : plan.axes[axis].index[i] * plan.strides[axis];
}

/// At most so many together: they are one thread's work.
constexpr std::int64_t kMostEqualLines = 8;

std::vector<EqualLines> FindEqualLines(const ResizePlan& plan) {
  if (plan.axes.size() < 2) return {{.first = 0, .count = 1, .taken = 0}};
  const std::size_t axis = plan.axes.size() - 2;
  std::vector<EqualLines> found;
  for (std::int64_t line = 0; line < plan.axes[axis].out; ++line) {
    const std::int64_t taken = NearestOf(plan, axis, line);
    if (line > 0 && taken == found.back().taken && found.back().count < kMostEqualLines) {
      ++found.back().count;
    } else {
      found.push_back({.first = line, .count = 1, .taken = taken});
    }
  }
  return found;
}

/// What the axes before the last two take; -1 if any is outside.
std::int64_t NearestBlock(const ResizePlan& plan, std::int64_t position) {
  std::int64_t taken = 0;
  for (std::size_t i = plan.axes.size() < 2 ? 0 : plan.axes.size() - 2; i-- > 0;) {
    const std::int64_t of_axis = NearestOf(plan, i, position % plan.axes[i].out);
    if (of_axis < 0) return -1;
    taken += of_axis;
    position /= plan.axes[i].out;
  }
  return taken;
}

template <typename Unit>
void RunNearest(const ResizePlan& plan, const KernelArguments& args) {
  const std::int64_t width = plan.axes.back().out * plan.inner;
  const std::int64_t lines = plan.axes.size() < 2 ? 1 : plan.axes[plan.axes.size() - 2].out;
  const std::int64_t blocks = plan.rows / lines;
  const auto parts = static_cast<std::int64_t>(plan.equal_lines.size());
  ForWideRanges(args.pool, plan.outer * blocks * parts, GrainFor(width * lines / parts),
                [&](std::int64_t begin, std::int64_t end, int) {
                  const NearestLine<Unit> line(plan);
                  const EqualLines* const equal_lines = plan.equal_lines.data();
                  std::int64_t block = begin / parts;
                  std::int64_t part = begin % parts;
                  for (std::int64_t i = begin; i < end; ++block, part = 0) {
                    const std::int64_t taken = NearestBlock(plan, block % blocks);
                    const Unit* const in = args.in<Unit>(0) + block / blocks * plan.in_block;
                    Unit* const out = args.out<Unit>(0) + block * lines * width;
                    for (; part < parts && i < end; ++part, ++i) {
                      const EqualLines equal = equal_lines[part];
                      Unit* const to = out + equal.first * width;
                      if (taken < 0 || equal.taken < 0) {
                        line.FillOutside(equal.count, to);
                      } else {
                        line.Repeat(in + taken + equal.taken, equal.count, to);
                      }
                    }
                  }
                });
}

/// What the loops take besides the tables of the axes.
void PrepareLoops(bool nearest, ElementType element, ResizePlan& plan) {
  const ResizeAxis& last = plan.axes.back();
  const auto reaches_outside = [](const ResizeAxis& axis) {
    return std::ranges::any_of(axis.outside, [](std::uint8_t flag) { return flag != 0; });
  };
  plan.any_outside = reaches_outside(last);
  plan.lines_outside = std::any_of(plan.axes.begin(), plan.axes.end() - 1, reaches_outside);
  if (nearest) plan.equal_lines = FindEqualLines(plan);
  if (last.in >= std::numeric_limits<std::int32_t>::max()) return;
  if (nearest) {
    plan.is_doubled = !plan.any_outside && plan.inner == 1 && last.out == 2 * last.in;
    for (std::int64_t x = 0; x < last.out && plan.is_doubled; ++x) {
      plan.is_doubled = last.index[static_cast<std::size_t>(x)] == x / 2;
    }
  } else if (!plan.any_outside && element == ElementType::kFloat32) {
    plan.line_taps = LineTaps(last, plan.inner);
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
    if (i + 1 == plan.axes.size()) continue;
    plan.rows *= plan.axes[i].out;
    constexpr std::int64_t kMostLines = std::int64_t{1} << 31;
    Require(!__builtin_mul_overflow(plan.lines_of_row, plan.axes[i].taps, &plan.lines_of_row) &&
                plan.lines_of_row <= kMostLines,
            "an output line is made of more than 2^31 input lines; resize fewer axes at once");
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
  PrepareLoops(nearest, input.element, plan);
  if (nearest) {
    return VisitSize<BoundKernel>(input.element, [&]<typename Unit>(std::type_identity<Unit>) {
      return BoundKernel{
          .run = [plan](const KernelArguments& args) { RunNearest<Unit>(plan, args); }};
    });
  }
  return VisitElement<BoundKernel, kNumericTypes>(input.element, [&]<typename T>(
                                                                     std::type_identity<T>) {
    plan.scratch_bytes = ScratchBytes(
        static_cast<std::size_t>(plan.axes.back().in * plan.inner + LineTaps::kReadBehind) *
        sizeof(Sum<T>));
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
