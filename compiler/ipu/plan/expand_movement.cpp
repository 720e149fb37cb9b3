#include <algorithm>
#include <numeric>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/elementwise.hpp"
#include "compiler/ipu/plan/operation.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"

/// Operators that put elements of their operands elsewhere: an exchange and a copy (section 2.10).
namespace poprt::ipu {
namespace {

/// The operand with most elements: its layout says in which order the result lies.
const Placed& Largest(const Operation& operation) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < operation.input_count(); ++i) {
    if (Elements(operation.input(i).type) > Elements(operation.input(best).type)) best = i;
  }
  return operation.input(best);
}

/// Like `like`, spread over all tiles with `type`'s elements.
Layout SpreadLike(StepBuilder& steps, const Layout& like, const TensorType& type) {
  Layout layout = LinearLayout(steps.target(), steps.tiles(), type);
  layout.run = std::max<std::uint64_t>(like.run, 1);
  layout.stride = std::max<std::uint64_t>(like.stride, 1);
  layout.signature = MixSignature(layout.signature, like.signature);
  layout.mapping.grain_bytes = layout.run * ElementBytes(type.element);
  return layout;
}

/// An exchange and a copy of what every tile has of a result; elements keep together in `atom`.
void MoveInto(StepBuilder& steps, const std::string& name, const Layout& from, const Layout& to,
              std::uint64_t bytes, std::uint64_t atom_bytes) {
  const std::uint64_t sources = std::max<std::uint64_t>(std::max(from.parts, to.parts), 1);
  steps.Hold(bytes);
  steps.Exchange("exchange " + name, to.mapping.tiles,
                 {.bytes_received = bytes,
                  .bytes_sent = bytes,
                  .sends = sources,
                  .receives = sources,
                  .pointer_changes = sources,
                  .fragmented = atom_bytes < steps.target().vector_bytes});
  steps.Copy(name, to.mapping.tiles, bytes, atom_bytes);
  steps.Release(bytes);
}

void MoveToOutput(Operation& operation, std::size_t i, const Placed& from, std::uint64_t atom) {
  StepBuilder& steps = operation.steps();
  const TensorType& type = operation.output_type(i);
  Layout to = SpreadLike(steps, from.layout, type);
  to.run = std::max<std::uint64_t>(atom, 1);
  // Neighbours on the inner axis are as far apart as the other axes of the result say.
  if (const auto axis = InnerAxis(from.layout, from.type.shape);
      axis && from.type.shape.size() == type.shape.size()) {
    to.stride = 1;
    for (std::size_t k = *axis + 1; k < type.shape.size(); ++k) {
      to.stride *= static_cast<std::uint64_t>(std::max<std::int64_t>(type.shape[k], 1));
    }
  }
  MoveInto(steps, std::string(operation.op()), from.layout, to, to.mapping.bytes_per_tile,
           std::max<std::uint64_t>(atom, 1) * ElementBytes(type.element));
  operation.SetOutput(i, {type, to, false, true});
}

/// Where operands begin on an axis of the result.
std::vector<std::uint64_t> Offsets(const Operation& operation, std::size_t axis, std::size_t rank) {
  const Attributes& attributes = operation.node().attributes;
  std::vector<std::uint64_t> offsets;
  const auto add = [&](std::int64_t offset) {
    offsets.push_back(static_cast<std::uint64_t>(offset < 0 ? -offset : offset));
  };
  if (operation.op() == "Pad") {
    const Ints pads = attributes.get_ints("pads");
    if (axis < pads.size() && pads.size() == 2 * rank) add(pads[axis]);
  } else {
    const auto cut = NormalizeAxis(attributes.get_int("axis", 0), rank);
    if (!cut || static_cast<std::size_t>(*cut) != axis) return offsets;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i + 1 < operation.input_count(); ++i) {
      const Shape& part = operation.input(i).type.shape;
      if (axis < part.size()) add(offset += part[axis]);
    }
  }
  return offsets;
}

/// Pad, Concat: runs are cut where operands begin in the middle of one.
void ExpandParts(Operation& operation) {
  const Placed& from = Largest(operation);
  const auto axis = InnerAxis(from.layout, from.type.shape);
  std::uint64_t atom = from.layout.run;
  if (axis) {
    for (const std::uint64_t offset : Offsets(operation, *axis, from.type.shape.size())) {
      atom = std::gcd(atom, offset);
    }
  }
  for (std::size_t i = 0; i < operation.output_count(); ++i) {
    if (!operation.has_output(i)) continue;
    const TensorType& type = operation.output_type(i);
    const bool same_rank = axis && *axis < type.shape.size();
    const auto extent =
        static_cast<std::uint64_t>(same_rank ? std::max<std::int64_t>(type.shape[*axis], 1) : 1);
    MoveToOutput(operation, i, from, std::min(atom, extent));
  }
}

/// Every tile receives what it has of the result; values are repeated as they arrive.
void ExpandRepeat(Operation& operation) {
  StepBuilder& steps = operation.steps();
  const Placed& x = operation.input(0);
  const TensorType& type = operation.output_type(0);
  if (Elements(x.type) == Elements(type)) {
    operation.SetOutput(0, {type, x.layout, x.constant, x.overwrite, x.origin});
    return;
  }
  const Layout to = LinearLayout(steps.target(), steps.tiles(), type);
  const std::uint64_t bytes = to.mapping.bytes_per_tile;
  Broadcast(steps, "broadcast " + std::string(operation.op()), to.mapping.tiles,
            std::min(bytes, DeviceBytes(x.type)), x);
  const auto row = static_cast<std::uint64_t>(
      x.type.shape.empty() ? 1 : std::max<std::int64_t>(x.type.shape.back(), 1));
  steps.Copy(std::string(operation.op()), to.mapping.tiles, bytes,
             std::gcd(row, to.run) * ElementBytes(type.element));
  operation.SetOutput(0, {type, to, false, true});
}

/// Blocks of `blocksize` change places: their elements stand together in neither layout.
void ExpandBlocks(Operation& operation) { MoveToOutput(operation, 0, operation.input(0), 1); }

/// Rows turned round up to a length known when it runs: a dynamic slice of every row.
void ExpandReverse(Operation& operation) {
  const Placed& x = operation.input(0);
  MoveToOutput(operation, 0, x,
               std::min<std::uint64_t>(x.layout.run, InnerExtent(x.layout, x.type.shape)));
}

void ExpandFill(Operation& operation) {
  for (std::size_t i = 0; i < operation.output_count(); ++i) {
    if (operation.has_output(i)) {
      operation.SetOutput(
          i, AddFill(operation.steps(), std::string(operation.op()), operation.output_type(i)));
    }
  }
}

/// A value for every element: start + i * delta.
void ExpandRange(Operation& operation) {
  const TensorType& type = operation.output_type(0);
  Placed y = AddFill(operation.steps(), std::string(operation.op()), type);
  operation.SetOutput(0, AddScalar(operation.steps(), "step", ElementwiseOp::kMultiply, y, type));
}

/// What is outside of a triangle becomes zero.
void ExpandTrilu(Operation& operation) {
  const Placed& x = operation.input(0);
  operation.SetOutput(0, AddScalar(operation.steps(), "Trilu", ElementwiseOp::kMultiply, x,
                                   operation.output_type(0)));
}

constexpr ExpandRow kRows[] = {
    {"Concat", ExpandParts},
    {"Pad", ExpandParts},
    {"Expand", ExpandRepeat},
    {"Tile", ExpandRepeat},
    {"DepthToSpace", ExpandBlocks},
    {"SpaceToDepth", ExpandBlocks},
    {"ReverseSequence", ExpandReverse},
    {"ConstantOfShape", ExpandFill},
    {"EyeLike", ExpandFill},
    {"Shape", ExpandFill},
    {"Size", ExpandFill},
    {"Range", ExpandRange},
    {"Trilu", ExpandTrilu},
};

}  // namespace

std::span<const ExpandRow> MovementRules() { return kRows; }

}  // namespace poprt::ipu
