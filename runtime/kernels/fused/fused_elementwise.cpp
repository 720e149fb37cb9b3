#include "runtime/kernels/fused/fused_elementwise.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>

#include "runtime/kernels/bind_best.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/fused/byte_table.hpp"
#include "runtime/kernels/fused/element_functions.hpp"
#include "runtime/kernels/fused/elementwise_pieces.hpp"
#include "runtime/kernels/fused/softmax_columns.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/quantized/quantized.hpp"

namespace poprt::kernels {
namespace {

using Access = FusedElementwise::Access;
using Operand = FusedElementwise::Operand;
using Instruction = FusedElementwise::Instruction;
constexpr std::size_t kMostValues = FusedElementwise::kMostValues;
constexpr std::int64_t kShortestPiece = FusedElementwise::kShortestPiece;
constexpr std::int64_t kShortestRow = FusedElementwise::kShortestRow;
/// Elements of a piece, at most, and together: buffers, operands and results of pieces shall stay
/// in the first-level cache.
constexpr std::int64_t kLongestPiece = 2048;
constexpr std::int64_t kPieceElements = 6144;

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
  RequireArity(call, 1, FusedElementwise::kMostInputs);
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
