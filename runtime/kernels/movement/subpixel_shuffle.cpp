#include "runtime/kernels/movement/subpixel_shuffle.hpp"

#include <algorithm>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/movement/data_movement.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// kWidth rows become one: to[i * kWidth + p] = rows[p * phase_step + i].
template <int kWidth, typename Unit>
void Interleave(const Unit* rows, std::int64_t phase_step, std::int64_t count, Unit* to) {
  POPRT_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    for (int p = 0; p < kWidth; ++p) to[i * kWidth + p] = rows[p * phase_step + i];
  }
}

template <typename Unit>
void InterleaveAny(const Unit* rows, std::int64_t phase_step, std::int64_t width,
                   std::int64_t count, Unit* to) {
  for (std::int64_t p = 0; p < width; ++p) {
    for (std::int64_t i = 0; i < count; ++i) to[i * width + p] = rows[p * phase_step + i];
  }
}

/// One output row from the rows of its phases.
template <typename Unit>
void ShuffleRow(const SubpixelShuffle& s, const Unit* rows, Unit* to) {
  const auto at = [&](std::int64_t x) {
    const std::int64_t shifted = x + s.crop_width;
    return rows[shifted % s.block_width * s.phase_step + shifted / s.block_width];
  };
  const std::int64_t rest = s.crop_width % s.block_width;
  const std::int64_t head = std::min(s.out_width, rest == 0 ? 0 : s.block_width - rest);
  const std::int64_t whole = (s.out_width - head) / s.block_width;
  for (std::int64_t x = 0; x < head; ++x) to[x] = at(x);
  const Unit* from = rows + (head + s.crop_width) / s.block_width;
  switch (s.block_width) {
    case 1:
      std::copy_n(from, whole, to + head);
      break;
    case 2:
      Interleave<2>(from, s.phase_step, whole, to + head);
      break;
    case 4:
      Interleave<4>(from, s.phase_step, whole, to + head);
      break;
    default:
      InterleaveAny(from, s.phase_step, s.block_width, whole, to + head);
      break;
  }
  for (std::int64_t x = head + whole * s.block_width; x < s.out_width; ++x) to[x] = at(x);
}

template <typename Unit>
void Run(const SubpixelShuffle& s, const KernelArguments& args) {
  const std::int64_t plane = s.in_height * s.in_width;
  const std::int64_t block = s.block_height * s.block_width;
  ForRanges(args.pool, s.batch * s.channels * s.out_height, GrainFor(s.out_width),
            [&](std::int64_t begin, std::int64_t end, int) {
              for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t y = i % s.out_height + s.crop_height;
                const std::int64_t image = i / s.out_height / s.channels;
                const std::int64_t channel = i / s.out_height % s.channels;
                const std::int64_t first = image * s.channels * block + channel * s.channel_planes +
                                           y % s.block_height * s.block_row_planes;
                ShuffleRow(s, args.in<Unit>(0) + first * plane + y / s.block_height * s.in_width,
                           args.out<Unit>(0) + i * s.out_width);
              }
            });
}

/// One pixel of a blocked image.
struct Pixel {
  std::byte bytes[64];
};

std::int64_t Extent(const Attributes& attributes, std::string_view name, std::size_t axis,
                    std::int64_t least) {
  constexpr std::int64_t kMost = 1 << 20;
  const Ints values = attributes.get_ints(name);
  Require(values.size() == 2, "attribute '" + std::string(name) + "' must hold two numbers");
  Require(values[axis] >= least && values[axis] <= kMost,
          "attribute '" + std::string(name) + "' is " + ToString(values) + ", allowed are " +
              std::to_string(least) + " to " + std::to_string(kMost));
  return values[axis];
}

}  // namespace

BoundKernel BindShuffle(const SubpixelShuffle& shuffle, ElementType element) {
  if (shuffle.batch * shuffle.channels * shuffle.out_height * shuffle.out_width == 0) {
    return NothingToRun();
  }
  return VisitSize<BoundKernel>(element, [&]<typename Unit>(std::type_identity<Unit>) {
    return BoundKernel{.run = [shuffle](const KernelArguments& args) { Run<Unit>(shuffle, args); }};
  });
}

BoundKernel BindSubpixelShuffle(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& x = call.inputs[0];
  const TensorType& y = call.outputs[0];
  const std::size_t size = RequireSameElement(x, y);
  constexpr std::size_t kImageRank = 4;
  const bool is_blocked = x.shape.size() == kImageRank + 1;
  Require(x.shape.size() == y.shape.size() && (x.shape.size() == kImageRank || is_blocked),
          "operands are " + ToString(x) + " and " + ToString(y) +
              ", expected is rank 4, or 5 for "
              "blocks of channels");
  RequireCount(x.shape, "the input");
  RequireCount(y.shape, "the output");
  SubpixelShuffle s{.batch = y.shape[0],
                    .channels = y.shape[1],
                    .in_height = x.shape[2],
                    .in_width = x.shape[3],
                    .out_height = y.shape[2],
                    .out_width = y.shape[3],
                    .block_height = Extent(call.attributes, "blocks", 0, 1),
                    .block_width = Extent(call.attributes, "blocks", 1, 1),
                    .crop_height = Extent(call.attributes, "crops", 0, 0),
                    .crop_width = Extent(call.attributes, "crops", 1, 0)};
  const std::int64_t phases = s.block_height * s.block_width;
  const auto reaches = [](std::int64_t out, std::int64_t crop, std::int64_t in,
                          std::int64_t block) { return out == 0 || (out - 1 + crop) / block < in; };
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 40;
  Require(x.shape[0] == s.batch && x.shape[1] % phases == 0 && x.shape[1] / phases == s.channels &&
              s.out_height <= kMostPixels && s.out_width <= kMostPixels &&
              reaches(s.out_height, s.crop_height, s.in_height, s.block_height) &&
              reaches(s.out_width, s.crop_width, s.in_width, s.block_width),
          "output 0 is " + ToString(y) + ", which input 0, " + ToString(x) +
              ", does not fill in blocks of " + std::to_string(s.block_height) + " x " +
              std::to_string(s.block_width));
  const bool phases_first = call.attributes.get_int("phases_first", 0) != 0;
  const std::int64_t phase_planes = phases_first ? s.channels : 1;
  s.channel_planes = phases_first ? 1 : phases;
  s.block_row_planes = s.block_width * phase_planes;
  s.phase_step = phase_planes * s.in_height * s.in_width;
  if (!is_blocked) return BindShuffle(s, x.element);
  Require(phases_first && x.shape.back() == y.shape.back() &&
              static_cast<std::int64_t>(size) * x.shape.back() == sizeof(Pixel),
          "operands are " + ToString(x) + " and " + ToString(y) +
              ", expected are pixels of 64 bytes and the attribute phases_first");
  if (ElementCount(y.shape) == 0) return NothingToRun();
  return {.run = [s](const KernelArguments& args) { Run<Pixel>(s, args); }};
}

}  // namespace poprt::kernels
