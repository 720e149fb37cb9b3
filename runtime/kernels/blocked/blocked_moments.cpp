#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "runtime/kernels/blocked/blocked_kernels.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

/// Pixels that stay in the first-level cache between the sum and the squares.
constexpr std::int64_t kPixelsOfPart = 256;
/// What ConvMicroKernels::moments leaves of a part.
constexpr std::int64_t kPartFloats = 2 * kBlock;

struct Moments {
  double mean = 0;
  double squares = 0;  ///< of the distances from the mean, summed
};

/// Mean and squares of numbers of which `count` parts, as many in each, are known. Two passes over
/// the means: Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance" (1983).
template <typename At, typename CountOf>
Moments Combined(std::int64_t count, const At& at, const CountOf& count_of) {
  double sum = 0;
  double numbers = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += count_of(i) * at(i).mean;
    numbers += count_of(i);
  }
  Moments all{.mean = sum / numbers};
  for (std::int64_t i = 0; i < count; ++i) {
    const Moments part = at(i);
    const double distance = part.mean - all.mean;
    all.squares += part.squares + count_of(i) * distance * distance;
  }
  return all;
}

struct BlockedMoments {
  BlockedImage in;
  std::int64_t channels;
  std::int64_t groups;
  double epsilon;
  const ConvMicroKernels* kernels;
  EvenSplit parts;  ///< of the pixels of a block

  std::int64_t Planes() const { return in.batch * in.blocks; }

  /// Scratch memory: of every channel, then of every part of a block of channels.
  Moments* OfChannels(const KernelArguments& args) const {
    return reinterpret_cast<Moments*>(args.scratch);
  }
  float* PartOf(const KernelArguments& args, std::int64_t plane, std::int64_t part) const {
    float* const first = reinterpret_cast<float*>(OfChannels(args) + Planes() * kBlock);
    return first + (plane * parts.blocks() + part) * kPartFloats;
  }
  std::size_t ScratchBytes() const {
    constexpr auto kMomentFloats = static_cast<std::int64_t>(sizeof(Moments) / sizeof(float));
    const auto floats =
        CheckedElementCount({Planes(), parts.blocks() * kPartFloats + kBlock * kMomentFloats});
    Require(floats.has_value(), "the image is too large");
    return FloatScratchBytes(*floats);
  }

  void ReadParts(const KernelArguments& args) const {
    ForRanges(args.pool, Planes() * parts.blocks(), GrainFor(kPixelsOfPart * kBlock / 4),
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  const std::int64_t plane = i / parts.blocks();
                  const std::int64_t part = i % parts.blocks();
                  const std::int64_t first = parts.begin(part);
                  kernels->moments(args.in<float>(0) + plane * in.BlockFloats() + first * kBlock,
                                   parts.end(part) - first, PartOf(args, plane, part));
                }
              });
  }

  Moments OfChannel(const KernelArguments& args, std::int64_t image, std::int64_t channel) const {
    const std::int64_t plane = image * in.blocks + channel / kBlock;
    const float* const first = PartOf(args, plane, 0) + channel % kBlock;
    return Combined(
        parts.blocks(),
        [=](std::int64_t part) {
          const float* const at = first + part * kPartFloats;
          return Moments{at[0], at[kBlock]};
        },
        [this](std::int64_t part) {
          return static_cast<double>(parts.end(part) - parts.begin(part));
        });
  }

  void RunGroup(const KernelArguments& args, std::int64_t image, std::int64_t group) const {
    const std::int64_t count = channels / groups;
    const std::int64_t first = group * count;
    const auto pixels = static_cast<double>(in.Pixels());
    const std::int64_t at = image * in.blocks * kBlock + first;
    Moments* const of_channels = OfChannels(args) + at;
    for (std::int64_t c = 0; c < count; ++c) of_channels[c] = OfChannel(args, image, first + c);
    const Moments all = Combined(
        count, [=](std::int64_t c) { return of_channels[c]; },
        [=](std::int64_t) { return pixels; });
    const double variance = all.squares / (pixels * static_cast<double>(count));
    const auto inverse = static_cast<float>(1.0 / std::sqrt(variance + epsilon));
    for (std::int64_t c = 0; c < count; ++c) {
      args.out<float>(0)[at + c] = static_cast<float>(all.mean);
      args.out<float>(1)[at + c] = inverse * args.in<float>(1)[first + c];
    }
  }

  void Run(const KernelArguments& args) const {
    ReadParts(args);
    const std::int64_t lanes = in.blocks * kBlock;
    for (std::int64_t image = 0; image < in.batch; ++image) {
      for (float* const to : {args.out<float>(0), args.out<float>(1)}) {
        std::fill(to + image * lanes + channels, to + (image + 1) * lanes, 0.0F);
      }
    }
    ForRanges(args.pool, in.batch * groups, GrainFor(channels / groups * parts.blocks()),
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) RunGroup(args, i / groups, i % groups);
              });
  }
};

}  // namespace

BoundKernel BindBlockedMoments(const KernelCall& call, const ConvMicroKernels& kernels) {
  RequireArity(call, 2, 2, 2, 2);
  const std::int64_t channels = RequirePositive(call.attributes, "channels");
  const BlockedImage in = RequireBlockedImage(call.inputs[0], channels, "input 0");
  const std::int64_t groups = call.attributes.get_int("groups", channels);
  Require(groups >= 1 && channels % groups == 0, "attribute 'groups' is " + std::to_string(groups) +
                                                     ", which does not divide " +
                                                     std::to_string(channels) + " channels");
  RequireType(call.inputs[1], {ElementType::kFloat32, {in.blocks * kBlock}}, "the scale, input 1,");
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    RequireType(call.outputs[i], {ElementType::kFloat32, {in.batch, in.blocks, 1, 1, kBlock}},
                "output " + std::to_string(i));
  }
  const auto moments = std::make_shared<BlockedMoments>(
      BlockedMoments{.in = in,
                     .channels = channels,
                     .groups = groups,
                     .epsilon = static_cast<double>(FloatAttribute(call, "epsilon", 1e-5F)),
                     .kernels = &kernels,
                     .parts = EvenSplit(in.Pixels(), kPixelsOfPart)});
  return {.run = [moments](const KernelArguments& args) { moments->Run(args); },
          .scratch_bytes = moments->ScratchBytes()};
}

}  // namespace poprt::kernels
