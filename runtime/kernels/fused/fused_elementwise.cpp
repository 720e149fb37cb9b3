#include "runtime/kernels/fused/fused_elementwise.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "runtime/kernels/bind_best.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/fused/byte_table.hpp"
#include "runtime/kernels/fused/element_functions.hpp"
#include "runtime/kernels/fused/softmax_columns.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::size_t kMostInputs = 16;
constexpr std::size_t kMostValues = 96;
constexpr std::size_t kMostRank = 63;
/// Elements of a piece, at least and at most: buffers, operands and results of pieces shall stay in
/// the first-level cache.
constexpr std::int64_t kShortestPiece = 512;
constexpr std::int64_t kLongestPiece = 2048;
constexpr std::int64_t kPieceElements = 6144;  ///< together
/// Shorter rows are gathered so that pieces may go across them.
constexpr std::int64_t kShortestRow = 48;
/// Elements of gathered rows that are written at a time; buffers have room for as many more.
constexpr std::int64_t kChunk = 16;
/// Elements of a cache line.
constexpr std::int64_t kLine = 16;

/// How an operand lies along the output, of which adjacent dimensions are joined.
enum class Access : std::uint8_t {
  kFlat,     ///< element by element
  kRow,      ///< rows are contiguous
  kRepeat,   ///< one element for a whole row
  kCycle,    ///< the same few elements again and again, for a whole row
  kGathered  ///< neither, or rows are short
};

struct Operand {
  ElementType element = ElementType::kFloat32;
  Access access = Access::kFlat;
  std::vector<std::int64_t> strides;  ///< per dimension, in elements
  std::int64_t buffer = -1;           ///< of float32 elements when they cannot be read in place
  std::int64_t period = 0;            ///< of kCycle
  std::int64_t count = 0;             ///< of all its elements
};

struct Instruction {
  ElementLoop loop = nullptr;
  std::size_t a = 0;
  std::size_t b = 0;
  bool binary = false;
  std::int64_t buffer = -1;  ///< none: the output itself
  bool is_single = false;    ///< of operands that are one element for the whole piece
};

/// Where a task is: the index of the current row, and each operand's first element of it. As many
/// of them as there are dimensions and operands are set.
struct Cursor {
  std::array<std::int64_t, kMostRank> index;
  std::array<std::int64_t, kMostInputs> offsets;
};

struct FusedElementwise {
  const GemmMicroKernels* kernels = nullptr;
  ElementType element = ElementType::kFloat32;  // of the output
  float point = 0;                              // of an output of bytes
  std::int64_t count = 0;
  std::vector<std::int64_t> extents;
  std::vector<Operand> operands;
  std::vector<float> constants;
  std::vector<Instruction> instructions;
  std::int64_t buffers = 0;
  std::int64_t piece = kShortestPiece;
  std::size_t scratch_bytes = 0;

  std::int64_t inner() const { return extents.empty() ? 1 : extents.back(); }
  bool by_row() const { return inner() >= kShortestRow; }
  bool writes_floats() const { return element == ElementType::kFloat32; }

  /// Those that are read element by element as the output is written.
  std::vector<std::size_t> InPlaceInputs() const {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool same_element = operands[i].element == element;
      if (same_element && operands[i].access == Access::kFlat) inputs.push_back(i);
    }
    return inputs;
  }

  void Run(const KernelArguments& args) const {
    ForRanges(args.pool, count, kElementsPerTask,
              [&](std::int64_t begin, std::int64_t end, int worker) {
                RunRange(args, begin, end, WorkerScratch(args, worker, scratch_bytes));
              });
  }

  std::int64_t BufferFloats() const { return piece + kChunk + kLine; }

 private:
  float* Buffer(float* scratch, std::int64_t i) const { return scratch + i * BufferFloats(); }

  /// How far buffers are moved in scratch memory so that they lie to cache lines as the results
  /// do, which are stored in whole lines. The same for all pieces of a row.
  std::int64_t Shift(const KernelArguments& args, std::int64_t at) const {
    if (!writes_floats()) return 0;
    const auto place = reinterpret_cast<std::uintptr_t>(args.out<float>(0) + at);
    return static_cast<std::int64_t>(place / sizeof(float) % kLine);
  }

  void RunRange(const KernelArguments& args, std::int64_t begin, std::int64_t end,
                float* scratch) const {
    Cursor cursor;
    MoveTo(begin, cursor);
    bool new_row = true;
    std::int64_t column = begin % inner();
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t left = by_row() ? std::min(inner() - column, end - at) : end - at;
      const std::int64_t n = std::min(left, piece);
      RunPiece(args, cursor, at, column, n, new_row, scratch + Shift(args, at));
      at += n;
      column += n;
      new_row = column >= inner();
      if (by_row() && new_row) {
        NextRow(cursor);
        column = 0;
      } else if (!by_row() && at < end) {
        MoveTo(at, cursor);
        column = at % inner();
      }
    }
  }

  void MoveTo(std::int64_t position, Cursor& cursor) const {
    std::fill_n(cursor.offsets.begin(), operands.size(), std::int64_t{0});
    position /= inner();
    for (std::size_t d = extents.empty() ? 0 : extents.size() - 1; d-- > 0;) {
      cursor.index[d] = position % extents[d];
      position /= extents[d];
      for (std::size_t i = 0; i < operands.size(); ++i) {
        cursor.offsets[i] += cursor.index[d] * operands[i].strides[d];
      }
    }
  }

  void NextRow(Cursor& cursor) const {
    for (std::size_t d = extents.empty() ? 0 : extents.size() - 1; d-- > 0;) {
      const bool wraps = ++cursor.index[d] == extents[d];
      for (std::size_t i = 0; i < operands.size(); ++i) {
        cursor.offsets[i] += operands[i].strides[d] * (wraps ? 1 - extents[d] : 1);
      }
      if (!wraps) return;
      cursor.index[d] = 0;
    }
  }

  void RunPiece(const KernelArguments& args, const Cursor& cursor, std::int64_t at,
                std::int64_t column, std::int64_t n, bool new_row, float* scratch) const {
    std::array<const float*, kMostValues> values;
    std::size_t next = 0;
    for (; next < operands.size(); ++next) {
      values[next] = Load(args, next, cursor, at, column, n, new_row, scratch);
    }
    for (const float& constant : constants) values[next++] = &constant;
    for (const Instruction& step : instructions) {
      float* to = step.buffer < 0 ? args.out<float>(0) + at : Buffer(scratch, step.buffer);
      step.loop(values[step.a], step.binary ? values[step.b] : nullptr, to, step.is_single ? 1 : n);
      if (step.is_single && &step == &instructions.back()) std::fill_n(to, n, *to);
      values[next++] = to;
    }
    if (!writes_floats()) Store(args, values[next - 1], at, n);
  }

  void Store(const KernelArguments& args, const float* from, std::int64_t at,
             std::int64_t n) const {
    if (element == ElementType::kFloat16) {
      Epilogue store;
      store.out = args.out<std::uint16_t>(0) + at;
      store.half = true;
      kernels->finish(store, from, n, 1, n, 0, 0);
    } else if (element == ElementType::kInt8) {
      StoreBytes(from, n, point, args.out<std::int8_t>(0) + at);
    } else {
      StoreBytes(from, n, point, args.out<std::uint8_t>(0) + at);
    }
  }

  template <typename T>
  static void StoreBytes(const float* from, std::int64_t n, float point, T* to) {
    RunWide([=] {
      constexpr auto kLowest = static_cast<float>(std::numeric_limits<T>::lowest());
      constexpr auto kHighest = static_cast<float>(std::numeric_limits<T>::max());
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<T>(ToInteger(from[i], point, kLowest, kHighest));
      }
    });
  }

  /// Calls f with the elements of operand i.
  template <typename F>
  auto WithElements(const KernelArguments& args, std::size_t i, const F& f) const {
    switch (operands[i].element) {
      case ElementType::kFloat16:
        return f(args.in<Float16>(i));
      case ElementType::kInt8:
        return f(args.in<std::int8_t>(i));
      case ElementType::kUint8:
        return f(args.in<std::uint8_t>(i));
      default:
        return f(args.in<float>(i));
    }
  }

  /// Contiguous elements of operand i as floats.
  const float* Widened(const KernelArguments& args, std::size_t i, std::int64_t first,
                       std::int64_t n, float* buffer) const {
    if (operands[i].element == ElementType::kFloat32) return args.in<float>(i) + first;
    if (operands[i].element == ElementType::kFloat16) {
      kernels->widen(args.in<std::uint16_t>(i) + first, n, buffer);
      return buffer;
    }
    WithElements(args, i, [=](const auto* from) {
      RunWide([from = from + first, n, buffer] {
        POPRT_INDEPENDENT_LOOP
        for (std::int64_t k = 0; k < n; ++k) buffer[k] = static_cast<float>(from[k]);
      });
    });
    return buffer;
  }

  const float* Load(const KernelArguments& args, std::size_t i, const Cursor& cursor,
                    std::int64_t at, std::int64_t column, std::int64_t n, bool new_row,
                    float* scratch) const {
    const Operand& operand = operands[i];
    float* const buffer = operand.buffer < 0 ? nullptr : Buffer(scratch, operand.buffer);
    switch (operand.access) {
      case Access::kRepeat:
        return Widened(args, i, cursor.offsets[i], 1, buffer);
      case Access::kCycle:
        if (new_row) {
          WithElements(args, i, [&](const auto* from) {
            for (std::int64_t k = 0; k < operand.period; ++k) {
              buffer[k] = static_cast<float>(from[cursor.offsets[i] + k]);
            }
          });
          for (std::int64_t k = operand.period; k < std::min(piece, inner()); k += operand.period) {
            std::copy_n(buffer, operand.period, buffer + k);
          }
        }
        return buffer;
      case Access::kGathered:
        WithElements(args, i,
                     [&](const auto* from) { Gather(from, i, cursor, column, n, buffer); });
        return buffer;
      case Access::kFlat:
      case Access::kRow:
        break;
    }
    const std::int64_t first = operand.access == Access::kFlat ? at : cursor.offsets[i] + column;
    return Widened(args, i, first, n, buffer);
  }

  /// Writes whole chunks: what is too much is overwritten by the next row or lies behind the piece.
  template <typename F>
  static void WriteChunks(std::int64_t n, float* to, F value_at) {
    for (std::int64_t k = 0; k < n; k += kChunk) {
      POPRT_INDEPENDENT_LOOP
      for (std::int64_t c = k; c < k + kChunk; ++c) to[c] = value_at(c);
    }
  }

  /// n elements from `column` of the row of the cursor on, across rows.
  template <typename T>
  void Gather(const T* from, std::size_t i, const Cursor& cursor, std::int64_t column,
              std::int64_t n, float* to) const {
    const std::vector<std::int64_t>& strides = operands[i].strides;
    const std::int64_t stride = extents.empty() ? 0 : strides.back();
    std::array<std::int64_t, kMostRank> index;
    std::copy_n(cursor.index.begin(), extents.empty() ? 0 : extents.size() - 1, index.begin());
    std::int64_t offset = cursor.offsets[i];
    const T* const end = from + operands[i].count;
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t run = std::min(n - done, inner() - column);
      const T* row = from + offset + column * stride;
      if (stride == 0) {
        const auto value = static_cast<float>(*row);
        WriteChunks(run, to + done, [value](std::int64_t) { return value; });
      } else if (stride == 1 && end - row >= run + kChunk) {
        WriteChunks(run, to + done, [row](std::int64_t k) { return static_cast<float>(row[k]); });
      } else {
        for (std::int64_t k = 0; k < run; ++k) to[done + k] = static_cast<float>(row[k]);
      }
      done += run;
      column = 0;
      for (std::size_t d = extents.empty() ? 0 : extents.size() - 1; d-- > 0;) {
        offset += strides[d];
        if (++index[d] < extents[d]) break;
        offset -= strides[d] * extents[d];
        index[d] = 0;
      }
    }
  }
};

/// Strides of an operand along the output's dimensions, zero where it is repeated.
Ints BroadcastStrides(const TensorType& input, const TensorType& output) {
  const Shape own = Strides(input.shape);
  Ints strides(output.shape.size(), 0);
  Require(own.size() <= strides.size() &&
              Broadcast(input.shape, output.shape) == std::optional<Shape>(output.shape),
          "an input is " + ToString(input) + ", which does not broadcast to the output, " +
              ToString(output));
  const std::size_t offset = strides.size() - own.size();
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (input.shape[d] != 1) strides[offset + d] = own[d];
  }
  return strides;
}

/// Joins short rows that are the same for every index of the dimension before, as a factor for each
/// channel is in an image in blocks of channels. Pieces and tasks begin where a period does.
void JoinCycles(const KernelCall& call, FusedElementwise& fused) {
  const std::size_t rank = fused.extents.size();
  const std::int64_t period = fused.inner();
  if (rank < 2 || fused.by_row() || kShortestPiece % period != 0 || kElementsPerTask % period != 0)
    return;
  // Pieces go across rows that stay short, but the buffer of a cycle holds those of one row.
  if (fused.extents[rank - 2] * period < kShortestRow) return;
  const auto is_flat = [&](std::size_t i) {
    return ElementCount(call.inputs[i].shape) == fused.count;
  };
  for (std::size_t i = 0; i < fused.operands.size(); ++i) {
    if (!is_flat(i) && fused.operands[i].strides[rank - 2] != 0) return;
  }
  fused.extents[rank - 2] *= period;
  fused.extents.pop_back();
  for (std::size_t i = 0; i < fused.operands.size(); ++i) {
    Operand& operand = fused.operands[i];
    if (!is_flat(i) && operand.strides.back() != 0) operand.period = period;
    operand.strides.pop_back();
    operand.strides.back() = is_flat(i) ? 1 : 0;
  }
}

void LayOut(const KernelCall& call, FusedElementwise& fused) {
  const TensorType& output = call.outputs[0];
  std::vector<Ints> strides;
  for (const TensorType& input : call.inputs) strides.push_back(BroadcastStrides(input, output));
  fused.operands.resize(call.inputs.size());
  for (std::size_t d = 0; d < output.shape.size(); ++d) {
    if (output.shape[d] == 1) continue;
    bool merge = !fused.extents.empty();
    for (std::size_t i = 0; i < strides.size() && merge; ++i) {
      merge = fused.operands[i].strides.back() == strides[i][d] * output.shape[d];
    }
    if (!merge) fused.extents.push_back(1);
    fused.extents.back() *= output.shape[d];
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (!merge) fused.operands[i].strides.push_back(0);
      fused.operands[i].strides.back() = strides[i][d];
    }
  }
  JoinCycles(call, fused);
  for (std::size_t i = 0; i < fused.operands.size(); ++i) {
    Operand& operand = fused.operands[i];
    operand.element = call.inputs[i].element;
    operand.count = ElementCount(call.inputs[i].shape);
    if (operand.count == fused.count) {
      operand.access = Access::kFlat;
    } else if (operand.period > 0) {
      operand.access = Access::kCycle;
    } else if (!fused.by_row()) {
      operand.access = Access::kGathered;
    } else {
      operand.access = operand.strides.back() == 0 ? Access::kRepeat : Access::kRow;
    }
    const bool in_place = operand.access != Access::kCycle && operand.access != Access::kGathered;
    if (!in_place || operand.element != ElementType::kFloat32) operand.buffer = fused.buffers++;
  }
}

/// Gives every result a buffer, which is used again once nothing reads it any more.
void AssignBuffers(FusedElementwise& fused, std::size_t first_result) {
  std::vector<std::size_t> last_use(first_result + fused.instructions.size(), 0);
  for (std::size_t k = 0; k < fused.instructions.size(); ++k) {
    last_use[fused.instructions[k].a] = k;
    if (fused.instructions[k].binary) last_use[fused.instructions[k].b] = k;
  }
  std::vector<std::int64_t> free;
  for (std::size_t k = 0; k < fused.instructions.size(); ++k) {
    Instruction& step = fused.instructions[k];
    const auto release = [&](std::size_t value) {
      if (value >= first_result && last_use[value] == k) {
        free.push_back(fused.instructions[value - first_result].buffer);
      }
    };
    release(step.a);
    if (step.binary && step.b != step.a) release(step.b);
    if (k + 1 == fused.instructions.size() && fused.writes_floats()) break;
    if (free.empty()) free.push_back(fused.buffers++);
    step.buffer = free.back();
    free.pop_back();
  }
}

void ReadInstructions(const KernelCall& call, const ElementFunctions& functions,
                      FusedElementwise& fused) {
  const Strings names = call.attributes.get_strings("functions");
  const Ints reads = call.attributes.get_ints("operands");
  fused.constants = call.attributes.get_floats("constants");
  const std::size_t first_result = fused.operands.size() + fused.constants.size();
  Require(!names.empty(), "attribute 'functions' is empty");
  Require(
      names.size() <= kMostValues && fused.constants.size() <= kMostValues &&
          first_result + names.size() <= kMostValues,
      "there are more than " + std::to_string(kMostValues) + " inputs, constants and functions");
  // Which values are one element for a whole piece.
  std::vector<bool> is_single;
  for (const Operand& operand : fused.operands) {
    is_single.push_back(operand.access == Access::kRepeat);
  }
  is_single.resize(first_result, true);
  std::size_t at = 0;
  const auto read = [&] {
    const auto known = static_cast<std::int64_t>(first_result + fused.instructions.size());
    Require(at < reads.size() && reads[at] >= 0 && reads[at] < known,
            "attribute 'operands' is " + ToString(reads) + ", number " + std::to_string(at) +
                " must exist and be below " + std::to_string(known));
    return static_cast<std::size_t>(reads[at++]);
  };
  for (const std::string& name : names) {
    const ElementFunction* function = FunctionNamed(functions, name.c_str());
    Require(function != nullptr,
            "attribute 'functions' names \"" + name + "\", which does not exist");
    Instruction step{.loop = function->loop};
    step.a = read();
    step.binary = function->operands == 2;
    if (step.binary) step.b = read();
    step.is_single = is_single[step.a] && (!step.binary || is_single[step.b]);
    if (step.binary && !step.is_single) {
      if (is_single[step.a]) step.loop = function->repeating_a;
      if (is_single[step.b]) step.loop = function->repeating_b;
    }
    is_single.push_back(step.is_single);
    fused.instructions.push_back(step);
  }
  Require(at == reads.size(), "attribute 'operands' has " + std::to_string(reads.size()) +
                                  " numbers, the functions read " + std::to_string(at));
  AssignBuffers(fused, first_result);
}

constexpr TypeSet kElements = kByteTypes | Types({ElementType::kFloat32, ElementType::kFloat16});

/// Inputs of floats have one type, which is that of an output of floats.
void RequireElements(const KernelCall& call) {
  RequireElement(call.outputs[0], kElements, "output 0");
  ElementType floats = call.outputs[0].element;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorType& input = call.inputs[i];
    RequireElement(input, kElements, "input " + std::to_string(i));
    if (Contains(kByteTypes, input.element)) continue;
    if (Contains(kByteTypes, floats)) floats = input.element;
    Require(input.element == floats, "an input is " + ToString(input) +
                                         ", expected elements of type " +
                                         std::string(ElementName(floats)));
  }
}

/// Whatever the functions are.
BoundKernel BindLoops(const KernelCall& call, std::int64_t count, const InnerLoops& loops) {
  const TensorType& output = call.outputs[0];
  auto fused = std::make_shared<FusedElementwise>();
  fused->kernels = &loops.gemm;
  fused->element = output.element;
  if (Contains(kByteTypes, output.element)) fused->point = PointAttribute(call, "point");
  fused->count = count;
  LayOut(call, *fused);
  ReadInstructions(call, loops.element_functions, *fused);
  if (fused->count == 0) return NothingToRun();
  const std::int64_t streams = fused->buffers + static_cast<std::int64_t>(call.inputs.size()) + 1;
  while (2 * fused->piece <= kLongestPiece && 2 * fused->piece * streams <= kPieceElements) {
    fused->piece *= 2;
  }
  fused->scratch_bytes = FloatScratchBytes(fused->buffers * fused->BufferFloats());
  return {.run = [fused](const KernelArguments& args) { fused->Run(args); },
          .scratch_bytes = fused->scratch_bytes,
          .in_place_inputs = fused->InPlaceInputs()};
}

/// Bytes of one input, so many that a table of all results pays.
bool IsFunctionOfBytes(const KernelCall& call, std::int64_t count) {
  constexpr std::int64_t kFewest = 1024;
  if (call.inputs.size() != 1 || call.inputs[0].shape != call.outputs[0].shape) return false;
  return Contains(kByteTypes, call.inputs[0].element) &&
         Contains(kByteTypes, call.outputs[0].element) && count >= kFewest;
}

/// Takes less than a microsecond, so that programs need not hold it.
ByteTable TableOf(KernelCall call, const InnerLoops& loops) {
  ByteTable bytes;
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  constexpr auto kBytes = static_cast<std::int64_t>(bytes.size());
  call.inputs[0].shape = call.outputs[0].shape = {kBytes};
  const BoundKernel kernel = BindLoops(call, kBytes, loops);
  Tensor scratch({ElementType::kUint8, {static_cast<std::int64_t>(kernel.scratch_bytes)}});
  ByteTable table;
  const std::array inputs{reinterpret_cast<const std::byte*>(bytes.data())};
  const std::array outputs{reinterpret_cast<std::byte*>(table.data())};
  kernel.run({.inputs = inputs, .outputs = outputs, .scratch = scratch.mutable_data()});
  return table;
}

}  // namespace

BoundKernel BindFusedElementwise(const KernelCall& call, const InnerLoops& loops) {
  RequireArity(call, 1, kMostInputs);
  RequireElements(call);
  const std::int64_t count = RequireCount(call.outputs[0].shape, "output 0");
  if (IsFunctionOfBytes(call, count)) return BindByteTable(TableOf(call, loops), count);
  return BindLoops(call, count, loops);
}

std::span<const KernelDef> FusedKernels() {
  static constexpr std::array kTable{
      KernelDef{"fused_elementwise", &GuardedBind<BindBest<BindFusedElementwise>>},
      KernelDef{"softmax_columns", &GuardedBind<BindBest<BindSoftmaxColumns>>},
  };
  return kTable;
}

}  // namespace poprt::kernels
