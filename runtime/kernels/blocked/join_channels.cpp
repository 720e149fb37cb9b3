#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
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
/// Those of both vectors of a block, which are in the same lines of the cache.
constexpr std::int64_t kPixelsAtOnce = 64;

/// Lanes that are moved at once, half a block.
constexpr std::int64_t kLanes = 8;
using Floats = float __attribute__((vector_size(kLanes * 4)));
using Lanes = std::int32_t __attribute__((vector_size(kLanes * 4)));

/// Eight lanes of an input some of which are among eight of the result.
struct Source {
  std::size_t input;
  std::int64_t vector;                       ///< of the input, two to a block
  std::array<std::int32_t, kLanes> lanes{};  ///< for each lane of the result
  std::array<std::int32_t, kLanes> taken{};  ///< -1 for those of the result that are, else 0
};

struct JoinPlan {
  std::int64_t pixels;
  std::vector<std::int64_t> input_blocks;
  std::vector<std::vector<Source>> vectors;  ///< of the result, two to a block
};

/// Channel `at` of the result is channel `channel` of an input.
void Take(std::size_t input, std::int64_t channel, std::int64_t at, JoinPlan& plan) {
  std::vector<Source>& sources = plan.vectors[static_cast<std::size_t>(at / kLanes)];
  const std::int64_t vector = channel / kLanes;
  auto source = std::ranges::find_if(
      sources, [&](const Source& s) { return s.input == input && s.vector == vector; });
  if (source == sources.end()) {
    sources.push_back({.input = input, .vector = vector});
    source = sources.end() - 1;
  }
  const auto lane = static_cast<std::size_t>(at % kLanes);
  source->lanes[lane] = static_cast<std::int32_t>(channel % kLanes);
  source->taken[lane] = -1;
}

template <typename Vector, typename From>
void LoadVector(const From* from, Vector& to) {
  std::memcpy(&to, from, sizeof(to));
}

/// values[i] = values[lanes[i]]
void Permute(const Lanes& lanes, Floats& values) {
#if defined(__clang__)
  const Floats from = values;
  for (int i = 0; i < kLanes; ++i) values[i] = from[lanes[i]];
#else
  values = __builtin_shuffle(values, lanes);
#endif
}

/// Lanes from up to four sources, from[s] of which is the first pixel of source s; the first ones
/// of a vector begin it.
template <int kCount>
void MoveLanes(const Source* sources, const float* const* from, bool begins, std::int64_t pixels,
               float* to) {
  Lanes lanes[kCount];
  Lanes taken[kCount];
  for (int s = 0; s < kCount; ++s) {
    LoadVector(sources[s].lanes.data(), lanes[s]);
    LoadVector(sources[s].taken.data(), taken[s]);
  }
  for (std::int64_t p = 0; p < pixels * kBlock; p += kBlock) {
    Floats result{};
    if (!begins) LoadVector(to + p, result);
    for (int s = 0; s < kCount; ++s) {
      Floats values;
      LoadVector(from[s] + p, values);
      Permute(lanes[s], values);
      result = taken[s] != 0 ? values : result;
    }
    std::memcpy(to + p, &result, sizeof(result));
  }
}

/// One vector of some pixels of the result, from `to` on.
void RunVector(const JoinPlan& plan, const KernelArguments& args, std::int64_t image,
               const std::vector<Source>& sources, std::int64_t first, std::int64_t pixels,
               float* to) {
  constexpr std::size_t kAtOnce = 4;
  const float* from[kAtOnce];
  for (std::size_t begin = 0; begin < sources.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, sources.size() - begin);
    for (std::size_t s = 0; s < count; ++s) {
      const Source& source = sources[begin + s];
      const std::int64_t block =
          image * plan.input_blocks[source.input] + source.vector * kLanes / kBlock;
      from[s] = args.in<float>(source.input) + (block * plan.pixels + first) * kBlock +
                source.vector * kLanes % kBlock;
    }
    const auto move = [&]<int kCount>() {
      MoveLanes<kCount>(&sources[begin], from, begin == 0, pixels, to);
    };
    if (count == 1) move.template operator()<1>();
    if (count == 2) move.template operator()<2>();
    if (count == 3) move.template operator()<3>();
    if (count == 4) move.template operator()<4>();
  }
}

void RunTask(const JoinPlan& plan, const KernelArguments& args, std::int64_t image,
             std::int64_t block, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kVectors = kBlock / kLanes;
  const auto blocks = static_cast<std::int64_t>(plan.vectors.size()) / kVectors;
  for (std::int64_t at = first; at < last; at += kPixelsAtOnce) {
    const std::int64_t pixels = std::min(kPixelsAtOnce, last - at);
    float* const to = args.out<float>(0) + ((image * blocks + block) * plan.pixels + at) * kBlock;
    for (std::int64_t v = 0; v < kVectors; ++v) {
      const auto vector = static_cast<std::size_t>(block * kVectors + v);
      RunVector(plan, args, image, plan.vectors[vector], at, pixels, to + v * kLanes);
    }
  }
}

}  // namespace

BoundKernel BindJoinChannels(const KernelCall& call) {
  Require(!call.inputs.empty() && call.outputs.size() == 1, "expected inputs and one output");
  const Ints images = IntsAttribute(call, "images");
  const Ints first = IntsAttribute(call, "first");
  const Ints channels = IntsAttribute(call, "channels");
  Require(first.size() == images.size() && channels.size() == images.size(),
          "attributes 'images', 'first' and 'channels' have " + std::to_string(images.size()) +
              ", " + std::to_string(first.size()) + " and " + std::to_string(channels.size()) +
              " numbers, expected as many each");
  const BlockedImage image = RequireBlockedImage(call.inputs[0], "input 0");
  JoinPlan plan{.pixels = image.height * image.width, .input_blocks = {}, .vectors = {}};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::string name = "input " + std::to_string(i);
    const std::int64_t blocks = RequireBlockedImage(call.inputs[i], name).blocks;
    RequireType(call.inputs[i],
                {ElementType::kFloat32, {image.batch, blocks, image.height, image.width, kBlock}},
                name);
    RequireCount(call.inputs[i].shape, name);
    plan.input_blocks.push_back(blocks);
  }
  std::int64_t all = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    Require(images[i] >= 0 && images[i] < static_cast<std::int64_t>(call.inputs.size()),
            "attribute 'images' has " + std::to_string(images[i]) + " for one of the " +
                std::to_string(call.inputs.size()) + " inputs");
    const std::int64_t there = plan.input_blocks[static_cast<std::size_t>(images[i])] * kBlock;
    Require(
        channels[i] > 0 && channels[i] <= there && first[i] >= 0 && first[i] <= there - channels[i],
        "input " + std::to_string(images[i]) + " has " + std::to_string(there) +
            " channels, which " + std::to_string(channels[i]) + " from " +
            std::to_string(first[i]) + " on do not fit in");
    all += channels[i];
  }
  const TensorType result = BlockedImageType(image.batch, all, image.height, image.width);
  RequireType(call.outputs[0], result, "output 0");
  if (RequireCount(result.shape, "output 0") == 0) return NothingToRun();
  const std::int64_t blocks = BlocksOf(all);
  plan.vectors.resize(static_cast<std::size_t>(blocks * (kBlock / kLanes)));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (std::int64_t c = 0; c < channels[i]; ++c, ++at) {
      Take(static_cast<std::size_t>(images[i]), first[i] + c, at, plan);
    }
  }
  // Where there are no channels, lanes are taken from nowhere.
  if (plan.vectors.back().empty()) plan.vectors.back().push_back({.input = 0, .vector = 0});
  const EvenSplit parts(plan.pixels, kPixelsOfTask);
  const std::int64_t tasks = image.batch * blocks * parts.blocks();
  return {.run = [plan = std::move(plan), parts, blocks, tasks](const KernelArguments& args) {
    ForWideRanges(args.pool, tasks, 1, [&](std::int64_t task, std::int64_t, int /*worker*/) {
      const std::int64_t part = task % parts.blocks();
      const std::int64_t block = task / parts.blocks();
      RunTask(plan, args, block / blocks, block % blocks, parts.begin(part), parts.end(part));
    });
  }};
}

}  // namespace poprt::kernels
