#include <cstring>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// The joined tensor as rows: what is before the axis counts them, axis and inside make one.
struct Layout {
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;
  std::vector<std::int64_t> part_bytes;  // of every part in a row
  std::vector<std::int64_t> part_offsets;
};

/// Checks that `parts`, joined along the axis, are `whole`, and lays them out.
Layout LayOut(const TensorType& whole, const std::vector<TensorType>& parts,
              std::int64_t axis_value, std::string_view part_name) {
  RequireCount(whole.shape, "the joined tensor");
  const std::size_t axis = CheckedAxis(axis_value, whole.shape.size(), "axis");
  std::int64_t inside = static_cast<std::int64_t>(ElementSize(whole.element));
  Require(inside > 0, "the element type is unknown");
  Layout layout;
  for (std::size_t i = 0; i < whole.shape.size(); ++i) {
    if (i < axis) layout.rows *= whole.shape[i];
    if (i > axis) inside *= whole.shape[i];
  }
  std::int64_t left = whole.shape[axis];
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TensorType wanted = whole;
    const bool fits = parts[i].shape.size() == whole.shape.size() && parts[i].shape[axis] >= 0 &&
                      parts[i].shape[axis] <= left;
    wanted.shape[axis] = fits ? parts[i].shape[axis] : left;
    RequireType(parts[i], wanted, std::string(part_name) + " " + std::to_string(i));
    layout.part_offsets.push_back(layout.row_bytes);
    layout.part_bytes.push_back(wanted.shape[axis] * inside);
    layout.row_bytes += layout.part_bytes.back();
    left -= wanted.shape[axis];
  }
  if (left != 0) {
    throw KernelError("the " + std::string(part_name) + "s have " +
                      std::to_string(whole.shape[axis] - left) + " of the " +
                      std::to_string(whole.shape[axis]) + " positions of axis " +
                      std::to_string(axis));
  }
  return layout;
}

/// Rows of kBytes, without a call for each.
template <std::int64_t kBytes>
void CopyShortRows(std::byte* to, std::int64_t to_pitch, const std::byte* from,
                   std::int64_t from_pitch, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * to_pitch, from + row * from_pitch, kBytes);
  }
}

void CopyRange(std::byte* to, std::int64_t to_pitch, const std::byte* from, std::int64_t from_pitch,
               std::int64_t bytes, std::int64_t rows) {
  switch (bytes) {
    case 1:
      return CopyShortRows<1>(to, to_pitch, from, from_pitch, rows);
    case 2:
      return CopyShortRows<2>(to, to_pitch, from, from_pitch, rows);
    case 4:
      return CopyShortRows<4>(to, to_pitch, from, from_pitch, rows);
    case 8:
      return CopyShortRows<8>(to, to_pitch, from, from_pitch, rows);
    case 16:
      return CopyShortRows<16>(to, to_pitch, from, from_pitch, rows);
    default:
      for (std::int64_t row = 0; row < rows; ++row) {
        std::memcpy(to + row * to_pitch, from + row * from_pitch, static_cast<std::size_t>(bytes));
      }
  }
}

/// Copies `rows` rows of `bytes`; a single row is cut into pieces instead.
void CopyRows(std::byte* to, std::int64_t to_pitch, const std::byte* from, std::int64_t from_pitch,
              std::int64_t bytes, std::int64_t rows, ThreadPool* pool) {
  if (bytes == 0 || rows == 0) return;
  if (rows == 1) {
    ForRanges(pool, bytes, 1 << 17, [=](std::int64_t begin, std::int64_t end, int) {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
    return;
  }
  ForRanges(pool, rows, GrainFor(bytes / 4), [=](std::int64_t begin, std::int64_t end, int) {
    CopyRange(to + begin * to_pitch, to_pitch, from + begin * from_pitch, from_pitch, bytes,
              end - begin);
  });
}

}  // namespace

BoundKernel BindConcat(const KernelCall& call) {
  RequireArity(call, 1, call.inputs.size());
  const Layout layout =
      LayOut(call.outputs[0], call.inputs, call.attributes.get_int("axis", 0), "input");
  return {.run = [layout](const KernelArguments& args) {
    for (std::size_t i = 0; i < layout.part_bytes.size(); ++i) {
      CopyRows(args.outputs[0] + layout.part_offsets[i], layout.row_bytes, args.inputs[i],
               layout.part_bytes[i], layout.part_bytes[i], layout.rows, args.pool);
    }
  }};
}

BoundKernel BindSplit(const KernelCall& call) {
  RequireArity(call, 1, 1, 1, call.outputs.size());
  const Layout layout =
      LayOut(call.inputs[0], call.outputs, call.attributes.get_int("axis", 0), "output");
  return {.run = [layout](const KernelArguments& args) {
    for (std::size_t i = 0; i < layout.part_bytes.size(); ++i) {
      CopyRows(args.outputs[i], layout.part_bytes[i], args.inputs[0] + layout.part_offsets[i],
               layout.row_bytes, layout.part_bytes[i], layout.rows, args.pool);
    }
  }};
}

}  // namespace poprt::kernels
