#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/elementwise/float_math.hpp"
#include "runtime/kernels/elementwise/integer_math.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/reduction/lane_sum.hpp"
#include "runtime/kernels/reduction/reduction.hpp"
#include "runtime/kernels/strided_index.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements converted at a time
constexpr std::int64_t kStrip = 128;   // columns, or results, handled together

// ---- Operators: C is the computing type, Total<C> what blocks are folded into -----------------

template <typename C>
using WideOf = std::conditional_t<std::is_same_v<C, float>, double, C>;

/// Adds up in C within a block, in double (or the integer type) across blocks.
struct Additive {
  template <typename C>
  using Partial = C;
  template <typename T>
  static constexpr T Identity() {
    return T(0);
  }
  template <typename T>
  static T Combine(T a, T b) {
    return WrappingAdd(a, b);
  }
  template <typename C>
  static C Map(C x, C /*shift*/) {
    return x;
  }
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C /*shift*/) {
    return static_cast<C>(total);
  }
  static constexpr bool kShifted = false;    // needs the maximum first
  static constexpr bool kOnlyFloat = false;  // computes integers in double
};

struct SumReducer : Additive {};

struct MeanReducer : Additive {
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t count, C /*shift*/) {
    if constexpr (std::is_integral_v<C>) {
      return SafeDiv(total, static_cast<C>(count));
    } else {
      return static_cast<C>(total / static_cast<Total>(count));
    }
  }
};

struct L1Reducer : Additive {
  template <typename C>
  static C Map(C x, C /*shift*/) {
    if constexpr (std::is_floating_point_v<C>) {
      return Abs(x);
    } else {
      return x < C(0) ? WrappingSub<C>(0, x) : x;
    }
  }
};

struct SumSquareReducer : Additive {
  template <typename C>
  static C Map(C x, C /*shift*/) {
    return WrappingMul(x, x);
  }
};

struct L2Reducer : SumSquareReducer {
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C /*shift*/) {
    return static_cast<C>(Sqrt(total));
  }
  static constexpr bool kOnlyFloat = true;
};

struct LogSumReducer : Additive {
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C /*shift*/) {
    return static_cast<C>(std::log(total));
  }
  static constexpr bool kOnlyFloat = true;
};

struct LogSumExpReducer : Additive {
  template <typename C>
  static C Map(C x, C shift) {
    return Exp(x - shift);
  }
  template <typename C, typename Total>
  static C Finish(Total total, std::int64_t /*count*/, C shift) {
    return static_cast<C>(std::log(total) + static_cast<Total>(shift));
  }
  static constexpr bool kShifted = true;
  static constexpr bool kOnlyFloat = true;
};

struct ProdReducer : Additive {
  // A product of floats may leave their range on the way.
  template <typename C>
  using Partial = WideOf<C>;
  template <typename T>
  static constexpr T Identity() {
    return T(1);
  }
  template <typename T>
  static T Combine(T a, T b) {
    return WrappingMul(a, b);
  }
};

/// NaN if any element is.
struct MaxReducer : Additive {
  template <typename T>
  static constexpr T Identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T Combine(T a, T b) {
    return Select((a > b) | (a != a), a, b);
  }
};
struct MinReducer : Additive {
  template <typename T>
  static constexpr T Identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
  template <typename T>
  static T Combine(T a, T b) {
    return Select((a < b) | (a != a), a, b);
  }
};

// ---- The walk over the tensor
// --------------------------------------------------------------------

/// A tensor of dimensions that are kept and dimensions that are reduced; the innermost run of
/// either kind is contiguous.
struct ReduceShape {
  StridedDims kept;     // without the contiguous run
  StridedDims reduced;  // without the contiguous run
  std::int64_t run = 1;
  bool run_is_kept = false;
  std::int64_t results = 1;
  std::int64_t count = 1;  // elements per result
};

ReduceShape Analyse(const Shape& shape, const std::vector<bool>& mask) {
  ReduceShape walk;
  const Shape strides = Strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (mask[d] ? walk.count : walk.results) *= shape[d];
  }
  if (walk.count == 0 || walk.results == 0) return walk;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (mask[d] ? walk.reduced : walk.kept).Append(shape[d], strides[d]);
  }
  walk.run_is_kept = !walk.kept.strides.empty() && walk.kept.strides.back() == 1;
  StridedDims& inner = walk.run_is_kept ? walk.kept : walk.reduced;
  if (!inner.extents.empty()) {
    walk.run = inner.extents.back();
    inner.extents.pop_back();
    inner.strides.pop_back();
  }
  return walk;
}

template <typename Op, typename C>
class Reducer {
 public:
  using Partial = typename Op::template Partial<C>;
  using Total = WideOf<C>;

  Reducer(ReduceShape walk, ElementType input, ElementType output)
      : walk_(std::move(walk)), load_(input, kElementOf<C>), store_(kElementOf<C>, output) {}

  void Run(const KernelArguments& args) const {
    if (walk_.count == 0) {
      RunEmpty(args);
    } else if (walk_.run_is_kept) {
      RunColumns(args);
    } else {
      RunRows(args);
    }
  }

 private:
  void Store(const KernelArguments& args, std::int64_t at, const C* values, std::int64_t n) const {
    store_(reinterpret_cast<const std::byte*>(values),
           args.outputs[0] + static_cast<std::size_t>(at) * store_.to_bytes(), n);
  }

  void RunEmpty(const KernelArguments& args) const {
    const C value = Op::template Finish<C, Total>(Op::template Identity<Total>(), 0, C(0));
    for (std::int64_t i = 0; i < walk_.results; ++i) Store(args, i, &value, 1);
  }

  /// n elements in the computing type: in place or in `block`.
  const C* Load(const std::byte* base, std::int64_t offset, std::int64_t n, C* block) const {
    const std::byte* from = base + static_cast<std::size_t>(offset) * load_.from_bytes();
    if (load_.is_copy()) return reinterpret_cast<const C*>(from);
    load_(from, reinterpret_cast<std::byte*>(block), n);
    return block;
  }

  /// The reduced dimension is contiguous: one result after the other.
  template <typename R>
  Total ReduceRow(const std::byte* base, std::int64_t start, C shift) const {
    C block[kBlock];
    Total total = R::template Identity<Total>();
    const std::int64_t runs = walk_.reduced.count();
    StridedWalk outer(walk_.reduced, 0);
    for (std::int64_t r = 0; r < runs; ++r, outer.Next()) {
      for (std::int64_t i = 0; i < walk_.run; i += kBlock) {
        const std::int64_t n = std::min(kBlock, walk_.run - i);
        const C* x = Load(base, start + outer.offset() + i, n, block);
        const auto partial = FoldLanes<typename R::template Partial<C>>(
            n, R::template Identity<typename R::template Partial<C>>(),
            [&](std::int64_t j) {
              return static_cast<typename R::template Partial<C>>(R::Map(x[j], shift));
            },
            [](auto a, auto b) { return R::Combine(a, b); });
        total = R::Combine(total, static_cast<Total>(partial));
      }
    }
    return total;
  }

  void RunRows(const KernelArguments& args) const {
    ForRanges(args.pool, walk_.results, GrainFor(walk_.count),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                StridedWalk kept(walk_.kept, begin);
                for (std::int64_t i = begin; i < end; ++i, kept.Next()) {
                  C shift{};
                  if constexpr (Op::kShifted) {
                    shift = Finite(ReduceRow<MaxReducer>(args.inputs[0], kept.offset(), shift));
                  }
                  const Total total = ReduceRow<Op>(args.inputs[0], kept.offset(), shift);
                  const C value = Op::template Finish<C, Total>(total, walk_.count, shift);
                  Store(args, i, &value, 1);
                }
              });
  }

  static C Finite(Total maximum) {
    const auto shift = static_cast<C>(maximum);
    return shift - shift == C(0) ? shift : C(0);
  }

  /// A kept dimension is contiguous: strips of columns, each row added to all of them.
  template <typename R>
  void ReduceStrip(const std::byte* base, std::int64_t start, std::int64_t n, const C* shifts,
                   Total* totals) const {
    using RowPartial = typename R::template Partial<C>;
    constexpr std::int64_t kRowsPerBlock = 64;
    C block[kStrip];
    RowPartial partials[kStrip];
    std::fill_n(totals, n, R::template Identity<Total>());
    const std::int64_t rows = walk_.reduced.count();
    StridedWalk row(walk_.reduced, 0);
    for (std::int64_t done = 0; done < rows; done += kRowsPerBlock) {
      std::fill_n(partials, n, R::template Identity<RowPartial>());
      const std::int64_t end = std::min(rows, done + kRowsPerBlock);
      for (std::int64_t r = done; r < end; ++r, row.Next()) {
        const C* x = Load(base, start + row.offset(), n, block);
        POPRT_INDEPENDENT_LOOP
        for (std::int64_t i = 0; i < n; ++i) {
          partials[i] = R::Combine(partials[i], static_cast<RowPartial>(R::Map(x[i], shifts[i])));
        }
      }
      for (std::int64_t i = 0; i < n; ++i) {
        totals[i] = R::Combine(totals[i], static_cast<Total>(partials[i]));
      }
    }
  }

  void RunColumns(const KernelArguments& args) const {
    const std::int64_t strips = (walk_.run - 1) / kStrip + 1;
    const std::int64_t outer = walk_.results / walk_.run;
    const std::int64_t cost = std::min(walk_.run, kStrip) * walk_.count;
    ForRanges(args.pool, outer * strips, GrainFor(cost),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                for (std::int64_t task = begin; task < end; ++task) {
                  RunStrip(args, task / strips, task % strips * kStrip);
                }
              });
  }

  void RunStrip(const KernelArguments& args, std::int64_t outer, std::int64_t column) const {
    const std::int64_t n = std::min(kStrip, walk_.run - column);
    const std::int64_t start = StridedWalk(walk_.kept, outer).offset() + column;
    C shifts[kStrip] = {};
    Total totals[kStrip];
    C values[kStrip];
    if constexpr (Op::kShifted) {
      ReduceStrip<MaxReducer>(args.inputs[0], start, n, shifts, totals);
      for (std::int64_t i = 0; i < n; ++i) shifts[i] = Finite(totals[i]);
    }
    ReduceStrip<Op>(args.inputs[0], start, n, shifts, totals);
    for (std::int64_t i = 0; i < n; ++i) {
      values[i] = Op::template Finish<C, Total>(totals[i], walk_.count, shifts[i]);
    }
    Store(args, outer * walk_.run + column, values, n);
  }

  ReduceShape walk_;
  Converter load_;
  Converter store_;
};

/// The axes to reduce: those named, else all unless the call says that none means none.
std::vector<bool> ReducedAxes(const KernelCall& call, std::size_t rank) {
  const Ints axes = IntsAttribute(call, "axes");
  const bool noop = FlagAttribute(call, "noop_with_empty_axes", false);
  if (axes.empty()) return std::vector<bool>(rank, !noop);
  return AxesMask(axes, rank, "axes");
}

Shape ReducedShape(const Shape& shape, const std::vector<bool>& mask, bool keepdims) {
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!mask[d]) {
      result.push_back(shape[d]);
    } else if (keepdims) {
      result.push_back(1);
    }
  }
  return result;
}

template <typename Op, typename C>
BoundKernel BindReducer(const ReduceShape& walk, ElementType element) {
  const auto reducer = std::make_shared<const Reducer<Op, C>>(walk, element, element);
  return {.run = [reducer](const KernelArguments& args) { reducer->Run(args); }};
}

template <typename Op, TypeSet kTypes>
BoundKernel BindReduce(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& input = call.inputs[0];
  RequireElement(input, kTypes, "input 0");
  const std::vector<bool> mask = ReducedAxes(call, input.shape.size());
  const bool keepdims = FlagAttribute(call, "keepdims", true);
  RequireType(call.outputs[0], {input.element, ReducedShape(input.shape, mask, keepdims)},
              "output 0");
  const ReduceShape walk = Analyse(input.shape, mask);
  if (input.element == ElementType::kFloat64) return BindReducer<Op, double>(walk, input.element);
  if (IsFloat(input.element)) return BindReducer<Op, float>(walk, input.element);
  if constexpr (Op::kOnlyFloat) {
    return BindReducer<Op, double>(walk, input.element);
  } else {
    if (Contains(kSignedTypes, input.element)) {
      return BindReducer<Op, std::int64_t>(walk, input.element);
    }
    return BindReducer<Op, std::uint64_t>(walk, input.element);
  }
}

constexpr TypeSet kSummable = kFloatTypes | Types({ElementType::kInt32, ElementType::kInt64,
                                                   ElementType::kUint32, ElementType::kUint64});
constexpr TypeSet kComparable =
    kSummable | Types({ElementType::kInt8, ElementType::kUint8, ElementType::kBool});

constexpr auto kKernels = std::to_array<KernelDef>({
    {"ReduceL1", BindReduce<L1Reducer, kSummable>},
    {"ReduceL2", BindReduce<L2Reducer, kSummable>},
    {"ReduceLogSum", BindReduce<LogSumReducer, kSummable>},
    {"ReduceLogSumExp", BindReduce<LogSumExpReducer, kSummable>},
    {"ReduceMax", BindReduce<MaxReducer, kComparable>},
    {"ReduceMean", BindReduce<MeanReducer, kSummable>},
    {"ReduceMin", BindReduce<MinReducer, kComparable>},
    {"ReduceProd", BindReduce<ProdReducer, kSummable>},
    {"ReduceSum", BindReduce<SumReducer, kSummable>},
    {"ReduceSumSquare", BindReduce<SumSquareReducer, kSummable>},
});

}  // namespace

std::span<const KernelDef> ReduceKernels() { return kKernels; }

}  // namespace poprt::kernels
