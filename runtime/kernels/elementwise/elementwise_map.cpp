#include "runtime/kernels/elementwise/elementwise_map.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/kernels/convert.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kBlock = 512;
constexpr std::size_t kBlockBytes = kBlock * 8;
/// Rows of the innermost dimension that are at least this long are computed one by one; shorter
/// ones are gathered into blocks first.
constexpr std::int64_t kMinRow = 64;
/// Extents of at least 2 whose product fits into 63 bits.
constexpr std::size_t kMaxRank = 63;

struct alignas(64) Block {
  std::byte bytes[kBlockBytes];
};

enum class Access { kFlat, kScalar, kBroadcast };

struct Operand {
  Converter convert;
  Access access = Access::kFlat;
  std::vector<std::int64_t> strides;  // elements, per collapsed dimension
};

/// Position in the collapsed output.
struct Cursor {
  std::array<std::int64_t, kMaxRank> index{};
};

template <typename Unit>
void FillWithUnit(std::byte* block, std::int64_t n) {
  Unit first;
  std::memcpy(&first, block, sizeof(first));
  std::fill_n(reinterpret_cast<Unit*>(block), n, first);
}

void FillWithFirst(std::byte* block, std::size_t element, std::int64_t n) {
  switch (element) {
    case 1:
      return FillWithUnit<std::uint8_t>(block, n);
    case 2:
      return FillWithUnit<std::uint16_t>(block, n);
    case 4:
      return FillWithUnit<std::uint32_t>(block, n);
    default:
      return FillWithUnit<std::uint64_t>(block, n);
  }
}

class MapPlan {
 public:
  MapPlan(const KernelCall& call, MapSpec spec, const Shape& shape)
      : spec_(std::move(spec)), count_(ElementCount(shape)), store_(spec_.result, spec_.output) {
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      operands_.push_back({.convert = {call.inputs[i].element, spec_.inputs[i]}, .strides = {}});
    }
    if (count_ > 0) Collapse(call, shape);
  }

  /// Inputs whose every element is read before, and only for, the element of the output in its
  /// place. A fold reads the first of its inputs only before it writes.
  std::vector<std::size_t> InPlaceInputs(const KernelCall& call) const {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < operands_.size() && (i == 0 || !spec_.fold); ++i) {
      const bool same_size = operands_[i].convert.from_bytes() == store_.to_bytes();
      if (same_size && ElementCount(call.inputs[i].shape) == count_) inputs.push_back(i);
    }
    return inputs;
  }

  void Run(const KernelArguments& args) const {
    ForLines(args.pool, count_, kElementsPerTask, args.outputs[0], store_.to_bytes(),
             [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
               spec_.fold ? RunFold(args, begin, end) : RunMap(args, begin, end);
             });
  }

 private:
  void Collapse(const KernelCall& call, const Shape& shape) {
    std::vector<Shape> strides;
    for (const TensorType& input : call.inputs) strides.push_back(BroadcastStrides(input, shape));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      bool merge = !extents_.empty();
      for (std::size_t i = 0; i < operands_.size() && merge; ++i) {
        merge = operands_[i].strides.back() == strides[i][d] * shape[d];
      }
      if (!merge) extents_.push_back(1);
      extents_.back() *= shape[d];
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        if (!merge) operands_[i].strides.push_back(0);
        operands_[i].strides.back() = strides[i][d];
      }
    }
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const std::int64_t elements = ElementCount(call.inputs[i].shape);
      operands_[i].access = elements == count_ ? Access::kFlat
                            : elements == 1    ? Access::kScalar
                                               : Access::kBroadcast;
    }
  }

  static Shape BroadcastStrides(const TensorType& input, const Shape& shape) {
    Shape strides(shape.size(), 0);
    const Shape own = Strides(input.shape);
    const std::size_t offset = shape.size() - own.size();
    for (std::size_t d = 0; d < own.size(); ++d) {
      if (input.shape[d] != 1) strides[offset + d] = own[d];
    }
    return strides;
  }

  std::int64_t inner() const { return extents_.empty() ? 1 : extents_.back(); }

  Cursor CursorAt(std::int64_t position) const {
    Cursor cursor;
    for (std::size_t d = extents_.size(); d-- > 0;) {
      cursor.index[d] = position % extents_[d];
      position /= extents_[d];
    }
    return cursor;
  }

  /// Moves on by n elements that stay within the current row or end it.
  void Advance(Cursor& cursor, std::int64_t n) const {
    if (extents_.empty()) return;
    std::size_t d = extents_.size() - 1;
    cursor.index[d] += n;
    while (cursor.index[d] == extents_[d] && d > 0) {
      cursor.index[d] = 0;
      ++cursor.index[--d];
    }
  }

  static std::int64_t Offset(const Operand& operand, const Cursor& cursor) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < operand.strides.size(); ++d) {
      offset += operand.strides[d] * cursor.index[d];
    }
    return offset;
  }

  /// n elements from `cursor` on, across rows, of a broadcast operand.
  template <typename T>
  void Gather(const Operand& operand, const std::byte* base, Cursor cursor, std::byte* block,
              std::int64_t n) const {
    const T* from = reinterpret_cast<const T*>(base);
    T* to = reinterpret_cast<T*>(block);
    const std::int64_t stride = operand.strides.back();
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t run = std::min(n - done, inner() - cursor.index[extents_.size() - 1]);
      const T* row = from + Offset(operand, cursor);
      for (std::int64_t i = 0; i < run; ++i) to[done + i] = row[i * stride];
      done += run;
      Advance(cursor, run);
    }
  }

  /// The next n elements of an operand in its computing type: in place or in `block`.
  const std::byte* Load(const Operand& operand, const std::byte* base, std::int64_t position,
                        const Cursor& cursor, std::int64_t n, Block& block) const {
    const std::size_t size = operand.convert.from_bytes();
    if (operand.access == Access::kScalar) return block.bytes;
    std::int64_t offset = position;
    if (operand.access == Access::kBroadcast) {
      if (!by_row()) return LoadGathered(operand, base, cursor, n, block);
      offset = Offset(operand, cursor);
      if (operand.strides.back() == 0) {
        operand.convert(base + static_cast<std::size_t>(offset) * size, block.bytes, 1);
        FillWithFirst(block.bytes, operand.convert.to_bytes(), n);
        return block.bytes;
      }
    }
    const std::byte* from = base + static_cast<std::size_t>(offset) * size;
    if (operand.convert.is_copy()) return from;
    operand.convert(from, block.bytes, n);
    return block.bytes;
  }

  const std::byte* LoadGathered(const Operand& operand, const std::byte* base, const Cursor& cursor,
                                std::int64_t n, Block& block) const {
    Block stored;
    std::byte* to = operand.convert.is_copy() ? block.bytes : stored.bytes;
    switch (operand.convert.from_bytes()) {
      case 1:
        Gather<std::uint8_t>(operand, base, cursor, to, n);
        break;
      case 2:
        Gather<std::uint16_t>(operand, base, cursor, to, n);
        break;
      case 4:
        Gather<std::uint32_t>(operand, base, cursor, to, n);
        break;
      default:
        Gather<std::uint64_t>(operand, base, cursor, to, n);
        break;
    }
    if (to == stored.bytes) operand.convert(stored.bytes, block.bytes, n);
    return block.bytes;
  }

  bool by_row() const { return inner() >= kMinRow; }

  std::int64_t BlockLength(const Cursor& cursor, std::int64_t left, std::int64_t limit) const {
    const std::int64_t row = by_row() ? inner() - cursor.index[extents_.size() - 1] : left;
    return std::min({left, row, limit});
  }

  void LoadScalar(const Operand& operand, const std::byte* base, Block& block) const {
    if (operand.access != Access::kScalar) return;
    operand.convert(base, block.bytes, 1);
    FillWithFirst(block.bytes, operand.convert.to_bytes(), std::min(count_, kBlock));
  }

  void Skip(Cursor& cursor, std::int64_t& position, std::int64_t n) const {
    position += n;
    if (by_row()) {
      Advance(cursor, n);
    } else {
      cursor = CursorAt(position);
    }
  }

  void RunMap(const KernelArguments& args, std::int64_t begin, std::int64_t end) const {
    constexpr std::size_t kMaxOperands = 3;
    std::array<Block, kMaxOperands> blocks;
    Block result;
    std::array<const std::byte*, kMaxOperands> in{};
    bool direct = store_.is_copy();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      LoadScalar(operands_[i], args.inputs[i], blocks[i]);
      direct = direct && operands_[i].access == Access::kFlat && operands_[i].convert.is_copy();
    }
    Cursor cursor = CursorAt(begin);
    for (std::int64_t position = begin; position < end;) {
      const std::int64_t n = BlockLength(cursor, end - position, direct ? end - position : kBlock);
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        in[i] = Load(operands_[i], args.inputs[i], position, cursor, n, blocks[i]);
      }
      Store(args, position, n, result,
            [&](std::byte* out) { spec_.loop(spec_.op.get(), in.data(), out, n); });
      Skip(cursor, position, n);
    }
  }

  void RunFold(const KernelArguments& args, std::int64_t begin, std::int64_t end) const {
    Block block;
    Block result;
    Cursor cursor = CursorAt(begin);
    for (std::int64_t position = begin; position < end;) {
      const std::int64_t n = BlockLength(cursor, end - position, kBlock);
      Store(args, position, n, result, [&](std::byte* out) {
        for (std::size_t i = 0; i < operands_.size(); ++i) {
          LoadScalar(operands_[i], args.inputs[i], block);
          const std::byte* next = Load(operands_[i], args.inputs[i], position, cursor, n, block);
          const std::array<const std::byte*, 2> in{out, next};
          if (i == 0) {
            if (out != next)
              std::memcpy(out, next, static_cast<std::size_t>(n) * store_.from_bytes());
          } else {
            spec_.loop(spec_.op.get(), in.data(), out, n);
          }
        }
        const std::byte* folded = out;
        if (spec_.finish != nullptr) spec_.finish(spec_.op.get(), &folded, out, n);
      });
      Skip(cursor, position, n);
    }
  }

  template <typename F>
  void Store(const KernelArguments& args, std::int64_t position, std::int64_t n, Block& result,
             const F& compute) const {
    std::byte* to = args.outputs[0] + static_cast<std::size_t>(position) * store_.to_bytes();
    if (store_.is_copy()) {
      compute(to);
    } else {
      compute(result.bytes);
      store_(result.bytes, to, n);
    }
  }

  MapSpec spec_;
  std::int64_t count_;
  Converter store_;
  std::vector<std::int64_t> extents_;
  std::vector<Operand> operands_;
};

std::string ListTypes(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + ToString(type);
  return text;
}

}  // namespace

BoundKernel BindMap(const KernelCall& call, MapSpec spec) {
  Shape shape;
  for (const TensorType& input : call.inputs) {
    const auto both = Broadcast(shape, input.shape);
    Require(both.has_value(), "inputs " + ListTypes(call.inputs) + " do not broadcast");
    shape = *both;
  }
  RequireType(call.outputs[0], {spec.output, shape}, "output 0");
  auto plan = std::make_shared<const MapPlan>(call, std::move(spec), shape);
  return {.run = [plan](const KernelArguments& args) { plan->Run(args); },
          .in_place_inputs = plan->InPlaceInputs(call)};
}

}  // namespace poprt::kernels
