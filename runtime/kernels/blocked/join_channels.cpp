#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/blocked/pack_blocked.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

constexpr std::int64_t kPixelsOfTask = 512;

/// Lanes of a block of the result that are neighbours in a block of an input too.
struct Piece {
  std::size_t input;
  std::int64_t block;
  std::int64_t from;
  std::int64_t to;
  std::int64_t count;
};

struct JoinPlan {
  std::int64_t pixels;
  std::vector<std::int64_t> input_blocks;
  std::vector<std::vector<Piece>> blocks;  ///< of the result
};

/// Pieces of the blocks of the result for `channels` of an input from `first` on, which are those
/// of the result from `at` on.
void AddPieces(std::size_t input, std::int64_t first, std::int64_t channels, std::int64_t at,
               std::vector<std::vector<Piece>>& blocks) {
  while (channels > 0) {
    const std::int64_t from = first % kBlock;
    const std::int64_t to = at % kBlock;
    const std::int64_t count = std::min(channels, kBlock - std::max(from, to));
    blocks[static_cast<std::size_t>(at / kBlock)].push_back(
        {.input = input, .block = first / kBlock, .from = from, .to = to, .count = count});
    first += count;
    at += count;
    channels -= count;
  }
}

/// kCount lanes of every pixel.
template <std::size_t kCount>
void CopyLanes(const float* from, std::int64_t pixels, float* to) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    std::memcpy(to + p * kBlock, from + p * kBlock, kCount * sizeof(float));
  }
}

void CopyPiece(const float* from, std::int64_t count, std::int64_t pixels, float* to) {
  const auto copy = [&]<std::size_t... kCounts>(std::index_sequence<kCounts...>) {
    ((count == kCounts + 1 ? CopyLanes<kCounts + 1>(from, pixels, to) : void()), ...);
  };
  copy(std::make_index_sequence<static_cast<std::size_t>(kBlock)>());
}

void RunTask(const JoinPlan& plan, const KernelArguments& args, std::int64_t image,
             std::size_t block, std::int64_t first, std::int64_t last) {
  const auto index =
      image * static_cast<std::int64_t>(plan.blocks.size()) + static_cast<std::int64_t>(block);
  float* const to = args.out<float>(0) + (index * plan.pixels + first) * kBlock;
  const std::vector<Piece>& pieces = plan.blocks[block];
  // What lies behind the channels.
  if (pieces.back().to + pieces.back().count < kBlock) std::fill_n(to, (last - first) * kBlock, 0);
  for (const Piece& piece : pieces) {
    const std::int64_t source = image * plan.input_blocks[piece.input] + piece.block;
    const float* const from =
        args.in<float>(piece.input) + (source * plan.pixels + first) * kBlock + piece.from;
    CopyPiece(from, piece.count, last - first, to + piece.to);
  }
}

}  // namespace

BoundKernel BindJoinChannels(const KernelCall& call) {
  Require(!call.inputs.empty() && call.outputs.size() == 1, "expected inputs and one output");
  const Ints first = IntsAttribute(call, "first");
  const Ints channels = IntsAttribute(call, "channels");
  Require(first.size() == call.inputs.size() && channels.size() == call.inputs.size(),
          "attributes 'first' and 'channels' need a number for each of the " +
              std::to_string(call.inputs.size()) + " inputs");
  const BlockedImage image = RequireBlockedImage(call.inputs[0], "input 0");
  JoinPlan plan{.pixels = 0, .input_blocks = {}, .blocks = {}};
  std::int64_t all = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string name = "input " + std::to_string(i);
    const std::int64_t blocks = RequireBlockedImage(call.inputs[i], name).blocks;
    RequireType(call.inputs[i],
                {ElementType::kFloat32, {image.batch, blocks, image.height, image.width, kBlock}},
                name);
    RequireCount(call.inputs[i].shape, name);
    const std::int64_t there = blocks * kBlock;
    Require(
        channels[i] > 0 && channels[i] <= there && first[i] >= 0 && first[i] <= there - channels[i],
        name + " has " + std::to_string(there) + " channels, which " + std::to_string(channels[i]) +
            " from " + std::to_string(first[i]) + " on do not fit in");
    plan.input_blocks.push_back(blocks);
    all += channels[i];
  }
  const TensorType result = BlockedImageType(image.batch, all, image.height, image.width);
  RequireType(call.outputs[0], result, "output 0");
  if (RequireCount(result.shape, "output 0") == 0) return NothingToRun();
  plan.pixels = image.height * image.width;
  plan.blocks.resize(static_cast<std::size_t>(BlocksOf(all)));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    AddPieces(i, first[i], channels[i], at, plan.blocks);
    at += channels[i];
  }
  const EvenSplit parts(plan.pixels, kPixelsOfTask);
  const std::int64_t blocks = BlocksOf(all);
  const std::int64_t tasks = image.batch * blocks * parts.blocks();
  return {.run = [plan = std::move(plan), parts, blocks, tasks](const KernelArguments& args) {
    ForWideRanges(args.pool, tasks, 1, [&](std::int64_t task, std::int64_t, int /*worker*/) {
      const std::int64_t part = task % parts.blocks();
      const std::int64_t block = task / parts.blocks();
      RunTask(plan, args, block / blocks, static_cast<std::size_t>(block % blocks),
              parts.begin(part), parts.end(part));
    });
  }};
}

}  // namespace poprt::kernels
