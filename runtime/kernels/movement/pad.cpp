#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kConstant = -1;

/// Where the positions of one output axis come from.
struct PadAxis {
  std::int64_t in_stride = 0;   // elements
  std::int64_t kept_begin = 0;  // output positions [kept_begin, kept_end) are a run of the input
  std::int64_t kept_end = 0;
  std::vector<std::int64_t> source;  // input position or kConstant
};

struct PadAmount {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::vector<PadAmount> ReadPads(const Attributes& attributes, std::size_t rank) {
  const Ints pads = attributes.get_ints("pads");
  Ints axes = attributes.get_ints("axes");
  if (!attributes.has("axes")) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size()) {
    throw KernelError("attribute 'pads' has " + std::to_string(pads.size()) +
                      " numbers, expected " + std::to_string(2 * axes.size()) +
                      ", two for every padded axis");
  }
  std::vector<PadAmount> amounts(rank);
  std::vector<bool> seen(rank);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = CheckedAxis(axes[i], rank, "axes");
    Require(!seen[axis], "attribute 'axes' names axis " + std::to_string(axis) + " twice");
    seen[axis] = true;
    amounts[axis] = {pads[i], pads[axes.size() + i]};
  }
  return amounts;
}

std::int64_t PaddedExtent(std::int64_t extent, const PadAmount& pad) {
  // Every output position takes eight bytes in a table.
  constexpr std::int64_t kLimit = std::int64_t{1} << 27;
  const bool sane = extent < kLimit && pad.begin > -kLimit && pad.begin < kLimit &&
                    pad.end > -kLimit && pad.end < kLimit;
  if (!sane || extent + pad.begin + pad.end < 0) {
    throw KernelError("attribute 'pads' holds " + std::to_string(pad.begin) + " and " +
                      std::to_string(pad.end) + " for an axis of extent " + std::to_string(extent));
  }
  return extent + pad.begin + pad.end;
}

/// The position of [0, extent) that stands for `at`, any number.
std::int64_t Fold(std::int64_t at, std::int64_t extent, const std::string& mode) {
  if (at >= 0 && at < extent) return at;
  if (mode == "constant") return kConstant;
  if (mode == "edge") return at < 0 ? 0 : extent - 1;
  const std::int64_t period = mode == "wrap" ? extent : std::max<std::int64_t>(1, 2 * (extent - 1));
  const std::int64_t folded = (at % period + period) % period;
  return folded < extent ? folded : period - folded;
}

/// Negative pads crop the input first; the mode then works on what is left.
PadAxis MakeAxis(std::int64_t extent, const PadAmount& pad, const std::string& mode) {
  const std::int64_t skipped = std::max<std::int64_t>(0, -pad.begin);
  const std::int64_t kept =
      std::max<std::int64_t>(0, extent - skipped - std::max<std::int64_t>(0, -pad.end));
  const std::int64_t count = PaddedExtent(extent, pad);
  Require(kept > 0 || count == 0 || mode == "constant",
          "an axis without elements cannot be padded in mode \"" + mode + "\"");
  PadAxis axis;
  axis.kept_begin = std::min(count, std::max<std::int64_t>(0, pad.begin));
  axis.kept_end = std::min(count, axis.kept_begin + kept);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = Fold(i - axis.kept_begin, kept, mode);
    axis.source.push_back(at == kConstant ? kConstant : at + skipped);
  }
  return axis;
}

/// An axis of the input and how much of it is padded.
struct PaddedAxis {
  std::int64_t extent = 1;
  PadAmount pad;

  bool is_whole() const { return pad.begin == 0 && pad.end == 0; }
};

/// Neighbouring axes of which none is padded are one. Every position takes eight bytes in a table,
/// so they don't become arbitrarily long.
std::vector<PaddedAxis> JoinedAxes(const Shape& shape, const std::vector<PadAmount>& amounts) {
  constexpr std::int64_t kLongest = 1 << 14;
  std::vector<PaddedAxis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const PaddedAxis axis{shape[i], amounts[i]};
    const bool joins = !axes.empty() && axes.back().is_whole() && axis.is_whole() &&
                       axes.back().extent * axis.extent <= kLongest;
    if (joins) {
      axes.back().extent *= axis.extent;
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

/// Rows whose positions are `inner` elements, which follow each other, as rows of elements.
PadAxis RowsOf(const PadAxis& axis, std::int64_t inner) {
  PadAxis rows;
  rows.kept_begin = axis.kept_begin * inner;
  rows.kept_end = axis.kept_end * inner;
  rows.source.reserve(axis.source.size() * static_cast<std::size_t>(inner));
  for (const std::int64_t at : axis.source) {
    for (std::int64_t i = 0; i < inner; ++i) {
      rows.source.push_back(at == kConstant ? kConstant : at * inner + i);
    }
  }
  return rows;
}

/// Few elements behind the last padded axis, as channels that come last, are part of its rows.
std::vector<PadAxis> AxesOf(const std::vector<PaddedAxis>& joined, const std::string& mode) {
  constexpr std::int64_t kFew = 32;
  constexpr std::size_t kLongest = 1 << 16;
  std::vector<PadAxis> axes;
  Shape extents;
  for (const PaddedAxis& axis : joined) {
    axes.push_back(MakeAxis(axis.extent, axis.pad, mode));
    extents.push_back(axis.extent);
  }
  const Shape strides = Strides(extents);
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i].in_stride = strides[i];
  if (axes.size() > 1 && joined.back().is_whole() && extents.back() <= kFew &&
      axes[axes.size() - 2].source.size() <= kLongest) {
    axes.pop_back();
    axes.back() = RowsOf(axes.back(), extents.back());
  }
  return axes;
}

struct PadPlan {
  std::vector<PadAxis> axes;  // the last one is copied in rows
  std::int64_t rows = 1;
  std::size_t size = 0;
};

template <std::size_t kSize>
void Fill(std::byte* to, std::int64_t count, const std::byte* value) {
  // A copy, which what is written cannot change.
  std::array<std::byte, kSize> element;
  std::memcpy(element.data(), value, kSize);
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * static_cast<std::int64_t>(kSize), element.data(), kSize);
  }
}

template <std::size_t kSize>
void CopyBorder(const PadAxis& axis, std::int64_t begin, std::int64_t end, std::byte* to,
                const std::byte* from, const std::byte* value) {
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t at = axis.source[static_cast<std::size_t>(i)];
    std::memcpy(to + i * static_cast<std::int64_t>(kSize),
                at == kConstant ? value : from + at * static_cast<std::int64_t>(kSize), kSize);
  }
}

template <std::size_t kSize>
void RunPad(const PadPlan& plan, const KernelArguments& args) {
  constexpr auto kBytes = static_cast<std::int64_t>(kSize);
  static constexpr std::array<std::byte, 8> kZero{};
  const std::byte* value =
      args.inputs.size() > 1 && args.inputs[1] != nullptr ? args.inputs[1] : kZero.data();
  const PadAxis& last = plan.axes.back();
  const auto width = static_cast<std::int64_t>(last.source.size());
  ForRanges(args.pool, plan.rows, GrainFor(width), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::byte* to = args.outputs[0] + row * width * kBytes;
      std::int64_t rest = row;
      std::int64_t offset = 0;
      bool constant = false;
      for (std::size_t i = plan.axes.size() - 1; i-- > 0;) {
        const auto& axis = plan.axes[i];
        const auto extent = static_cast<std::int64_t>(axis.source.size());
        const std::int64_t at = axis.source[static_cast<std::size_t>(rest % extent)];
        rest /= extent;
        constant = constant || at == kConstant;
        offset += at * axis.in_stride;
      }
      if (constant) {
        Fill<kSize>(to, width, value);
        continue;
      }
      const std::byte* from = args.inputs[0] + offset * kBytes;
      CopyBorder<kSize>(last, 0, last.kept_begin, to, from, value);
      if (last.kept_end > last.kept_begin) {
        const std::int64_t at = last.source[static_cast<std::size_t>(last.kept_begin)];
        std::memcpy(to + last.kept_begin * kBytes, from + at * kBytes,
                    static_cast<std::size_t>((last.kept_end - last.kept_begin) * kBytes));
      }
      CopyBorder<kSize>(last, last.kept_end, width, to, from, value);
    }
  });
}

}  // namespace

BoundKernel BindPad(const KernelCall& call) {
  RequireArity(call, 1, 2);
  const TensorType& input = call.inputs[0];
  const TensorType& constant = InputOrAbsent(call, 1);
  const std::size_t size = RequireSameElement(input, call.outputs[0]);
  RequireCount(input.shape, "the input");
  if (constant.defined() &&
      (constant.element != input.element || RequireCount(constant.shape, "input 1") != 1)) {
    throw KernelError("input 1 is " + ToString(constant) + ", expected one element of " +
                      std::string(ElementName(input.element)));
  }
  const std::string mode = call.attributes.get_string("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    throw KernelError("attribute 'mode' is \"" + mode +
                      "\", allowed are constant, reflect, edge, wrap");
  }
  const std::vector<PadAmount> amounts = ReadPads(call.attributes, input.shape.size());
  TensorType wanted{input.element, {}};
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    wanted.shape.push_back(PaddedExtent(input.shape[i], amounts[i]));
  }
  RequireType(call.outputs[0], wanted, "output 0");
  const std::int64_t count = RequireCount(wanted.shape, "the output");
  if (count == 0) return NothingToRun();
  if (wanted.shape.empty()) return CopyWhole(input);
  PadPlan plan;
  plan.size = size;
  plan.axes = AxesOf(JoinedAxes(input.shape, amounts), mode);
  plan.rows = count / static_cast<std::int64_t>(plan.axes.back().source.size());
  return {.run = [plan](const KernelArguments& args) {
    switch (plan.size) {
      case 1:
        return RunPad<1>(plan, args);
      case 2:
        return RunPad<2>(plan, args);
      case 4:
        return RunPad<4>(plan, args);
      default:
        return RunPad<8>(plan, args);
    }
  }};
}

}  // namespace poprt::kernels
