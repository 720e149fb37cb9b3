#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/plane_tasks.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/quantized/quantized.hpp"
#include "runtime/kernels/window/window.hpp"

namespace poprt::kernels {
namespace {

/// The taps of a window along one axis that are not padding: tap i is input first + i * dilation.
struct Taps {
  Taps(const Window& window, std::size_t axis, std::int64_t output, std::int64_t extent) {
    const std::int64_t dilation = window.dilations[axis];
    const std::int64_t begin = output * window.strides[axis] - window.pads_begin[axis];
    const std::int64_t skipped = begin < 0 ? (-begin + dilation - 1) / dilation : 0;
    first = begin + skipped * dilation;
    const std::int64_t room = first < extent ? (extent - 1 - first) / dilation + 1 : 0;
    count = std::max<std::int64_t>(0, std::min(window.kernel[axis] - skipped, room));
    if (count == 0) first = 0;
  }
  std::int64_t first;
  std::int64_t count;
};

using Bytes [[gnu::vector_size(kBlock)]] = std::uint8_t;

Bytes LoadPixel(const std::uint8_t* from) {
  Bytes pixel;
  std::memcpy(&pixel, from, sizeof(pixel));
  return pixel;
}

struct ByteMaxPool {
  ByteMaxPool(const BlockedImage& from, const BlockedImage& to, Window of)
      : in(from), out(to), window(std::move(of)), tasks(out, ElementCount(window.kernel)) {
    for (std::int64_t c = 0; c < out.width; ++c) columns.emplace_back(window, 1, c, in.width);
  }

  /// A row of one block of the result.
  void RunRow(const std::uint8_t* x, std::int64_t row, std::uint8_t* y) const {
    const Taps rows(window, 0, row, in.height);
    const std::int64_t row_step = window.dilations[0] * in.width * kBlock;
    const std::int64_t column_step = window.dilations[1] * kBlock;
    x += rows.first * in.width * kBlock;
    for (const Taps& of : columns) {
      Bytes largest{};  // of nothing, as the operator has it
      for (std::int64_t i = 0; i < rows.count; ++i) {
        const std::uint8_t* pixel = x + i * row_step + of.first * kBlock;
        for (std::int64_t k = 0; k < of.count; ++k, pixel += column_step) {
          const Bytes next = LoadPixel(pixel);
          largest = next > largest ? next : largest;
        }
      }
      std::memcpy(y, &largest, sizeof(largest));
      y += kBlock;
    }
  }

  void Run(const KernelArguments& args) const {
    tasks.Run(*args.pool, [&](std::int64_t plane, std::int64_t begin, std::int64_t end) {
      const std::uint8_t* const x = args.in<std::uint8_t>(0) + plane * in.BlockFloats();
      std::uint8_t* const y = args.out<std::uint8_t>(0) + plane * out.BlockFloats();
      for (std::int64_t row = begin; row < end; ++row) {
        RunRow(x, row, y + row * out.width * kBlock);
      }
    });
  }

  BlockedImage in;
  BlockedImage out;
  Window window;
  PlaneTasks tasks;
  std::vector<Taps> columns;  ///< of every column of the result
};

}  // namespace

BoundKernel BindByteMaxPool(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const BlockedImage in = RequireBlockedImage(call.inputs[0], "input 0", ElementType::kUint8);
  Window window =
      ResolveWindow(call.attributes, {in.height, in.width}, RequireKernelShape(call.attributes));
  RequireSmallOffsets(window, in.height, in.width);
  const bool ceil_mode = FlagAttribute(call, "ceil_mode", false);
  const Shape extents = WindowOutputExtents(window, {in.height, in.width}, ceil_mode);
  const BlockedImage out{in.batch, in.blocks, extents[0], extents[1]};
  RequireType(call.outputs[0],
              {ElementType::kUint8, {out.batch, out.blocks, out.height, out.width, kBlock}},
              "output 0");
  const auto pool = std::make_shared<const ByteMaxPool>(in, out, std::move(window));
  return {.run = [pool](const KernelArguments& args) { pool->Run(args); }};
}

}  // namespace poprt::kernels
