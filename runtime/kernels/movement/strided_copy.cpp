#include "runtime/kernels/movement/strided_copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/transpose_block.hpp"
#include "runtime/kernels/wide_loops.hpp"

namespace poprt::kernels {
namespace {

/// Extents of two or more multiply to less than 2^63, so there are never more axes than this.
constexpr std::size_t kMaxAxes = 64;

/// Input elements per block: a cache line of the usual four-byte elements.
constexpr std::int64_t kAcross = 16;
/// Where the output has a few of them side by side, there are no cache lines to share.
constexpr std::int64_t kLongAcross = 4096;
/// Elements side by side in one tensor and apart in the other, such as the colours of a pixel.
constexpr std::int64_t kMostFew = 4;
/// Rows of the input a block reads; more would share too few ways of the cache when their distance
/// is a power of two.
constexpr std::int64_t kAlong = 8;

template <std::size_t kSize>
void CopyElement(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, kSize);
}

/// The element at `from`, `count` times.
template <std::size_t kSize>
void Repeat(std::byte* to, const std::byte* from, std::int64_t count) {
  using Unit = std::conditional_t<
      kSize == 1, std::uint8_t,
      std::conditional_t<kSize == 2, std::uint16_t,
                         std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>>>;
  Unit value;
  std::memcpy(&value, from, kSize);
  std::fill_n(reinterpret_cast<Unit*>(to), count, value);
}

/// Puts element i of kFew rows side by side.
template <std::size_t kSize, std::int64_t kFew>
void Join(std::byte* to, const std::byte* from, std::int64_t from_step, std::int64_t count) {
  constexpr auto kBytes = static_cast<std::int64_t>(kSize);
  POPRT_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < kFew; ++j) {
      CopyElement<kSize>(to + (i * kFew + j) * kBytes, from + j * from_step + i * kBytes);
    }
  }
}

/// The way back.
template <std::size_t kSize, std::int64_t kFew>
void Part(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t count) {
  constexpr auto kBytes = static_cast<std::int64_t>(kSize);
  POPRT_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < kFew; ++j) {
      CopyElement<kSize>(to + j * to_step + i * kBytes, from + (i * kFew + j) * kBytes);
    }
  }
}

/// Up to kAlong rows of up to kAcross elements become columns.
template <std::size_t kSize>
void TransposePart(std::byte* to, std::int64_t to_step, std::int64_t across, const std::byte* from,
                   std::int64_t from_step, std::int64_t along, bool by_eight) {
  constexpr auto kBytes = static_cast<std::int64_t>(kSize);
  const bool is_whole = across == kAcross && along == kAlong;
  if (kSize == 4 && is_whole && by_eight) {
    for (std::int64_t j = 0; j < kAcross; j += 4) {
      TransposeEight(to + j * to_step, to_step, from + j * kBytes, from_step);
    }
  } else if (kSize == 4 && is_whole) {
    for (std::int64_t i = 0; i < kAlong; i += 4) {
      for (std::int64_t j = 0; j < kAcross; j += 4) {
        TransposeFour(to + j * to_step + i * kBytes, to_step, from + j * kBytes + i * from_step,
                      from_step);
      }
    }
  } else if (kSize == 2 && is_whole) {
    for (std::int64_t j = 0; j < kAcross; j += kAlong) {
      TransposeSquare<HalfRow>(to + j * to_step, to_step, from + j * kBytes, from_step);
    }
  } else {
    for (std::int64_t j = 0; j < across; ++j) {
      for (std::int64_t i = 0; i < along; ++i) {
        CopyElement<kSize>(to + j * to_step + i * kBytes, from + j * kBytes + i * from_step);
      }
    }
  }
}

}  // namespace

StridedView Permute(const Shape& shape, const Ints& permutation) {
  const Shape strides = Strides(shape);
  StridedView view;
  for (const std::int64_t axis : permutation) {
    view.extents.push_back(shape[static_cast<std::size_t>(axis)]);
    view.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return view;
}

StridedCopy::StridedCopy(const StridedView& view, std::size_t element_size)
    : size_(element_size), offset_(view.offset * static_cast<std::int64_t>(element_size)) {
  const auto bytes = static_cast<std::int64_t>(element_size);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < view.extents.size(); ++i) {
    if (view.extents[i] == 0) {
      items_ = 0;
      return;
    }
    if (view.extents[i] == 1) continue;
    const std::int64_t stride = view.strides[i] * bytes;
    if (!axes.empty() && axes.back().in_stride == stride * view.extents[i]) {
      axes.back().extent *= view.extents[i];
      axes.back().in_stride = stride;
    } else {
      axes.push_back({view.extents[i], stride, 0});
    }
  }
  if (axes.empty()) axes.push_back({1, bytes, bytes});
  // A short run moves as one wider element, which may make the axis before it the transposed one.
  if (axes.size() > 1 && axes.back().in_stride == bytes) {
    const std::int64_t run = axes.back().extent * bytes;
    if (run == 2 || run == 4 || run == 8) {
      size_ = static_cast<std::size_t>(run);
      axes.pop_back();
    }
  }
  std::int64_t out_stride = static_cast<std::int64_t>(size_);
  for (std::size_t i = axes.size(); i-- > 0;) {
    axes[i].out_stride = out_stride;
    out_stride *= axes[i].extent;
  }
  inner_ = axes.back();
  axes.pop_back();
  outer_ = std::move(axes);
  item_bytes_ = inner_.extent * static_cast<std::int64_t>(size_);
  if (inner_.in_stride == static_cast<std::int64_t>(size_)) {
    kind_ = Kind::kRows;
    // One long row has to be cut to be shared.
    constexpr std::int64_t kPiece = 1 << 16;
    if (outer_.empty() && item_bytes_ >= 2 * kPiece && item_bytes_ % kPiece == 0) {
      outer_.push_back({item_bytes_ / kPiece, kPiece, kPiece});
      item_bytes_ = kPiece;
    }
    PlanRepeats();
  } else {
    PlanTranspose();
  }
  for (const Axis& axis : outer_) items_ *= axis.extent;
}

void StridedCopy::PlanRepeats() {
  if (outer_.empty()) return;
  Axis& axis = outer_.back();
  if (axis.in_stride != 0 || axis.out_stride != item_bytes_) return;
  // What the nearest cache holds.
  constexpr std::int64_t kMostBytes = 1 << 14;
  repeats_ = std::clamp<std::int64_t>(kMostBytes / item_bytes_, 1, axis.extent);
  while (axis.extent % repeats_ != 0) --repeats_;
  axis.extent /= repeats_;
  axis.out_stride *= repeats_;
  item_bytes_ *= repeats_;
}

void StridedCopy::PlanTranspose() {
  const auto across = std::find_if(outer_.begin(), outer_.end(), [&](const Axis& axis) {
    return axis.in_stride == static_cast<std::int64_t>(size_);
  });
  if (across == outer_.end() || inner_.in_stride == 0) return;
  kind_ = Kind::kTranspose;
  across_ = *across;
  outer_.erase(across);
  const auto bytes = static_cast<std::int64_t>(size_);
  if (inner_.extent <= kMostFew && across_.out_stride == inner_.extent * bytes) {
    kind_ = Kind::kJoinFew;
    few_ = inner_.extent;
  } else if (across_.extent <= kMostFew && inner_.in_stride == across_.extent * bytes) {
    kind_ = Kind::kPartFew;
    few_ = across_.extent;
  }
  const std::int64_t block = kind_ == Kind::kJoinFew ? kLongAcross : kAcross;
  outer_.push_back({(across_.extent + block - 1) / block, across_.in_stride * block,
                    across_.out_stride * block});
  item_bytes_ *= std::min(block, across_.extent);
}

template <typename Item>
void StridedCopy::ForItems(const std::byte* input, std::byte* output, std::int64_t begin,
                           std::int64_t end, const Item& item) const {
  std::array<std::int64_t, kMaxAxes> index;
  std::int64_t rest = begin;
  const std::size_t rank = outer_.size();
  for (std::size_t i = rank; i-- > 0;) {
    index[i] = rest % outer_[i].extent;
    rest /= outer_[i].extent;
    input += index[i] * outer_[i].in_stride;
    output += index[i] * outer_[i].out_stride;
  }
  for (std::int64_t at = begin; at < end; ++at) {
    item(input, output, rank == 0 ? 0 : index[rank - 1]);
    for (std::size_t i = rank; i-- > 0;) {
      input += outer_[i].in_stride;
      output += outer_[i].out_stride;
      if (++index[i] < outer_[i].extent) break;
      input -= outer_[i].extent * outer_[i].in_stride;
      output -= outer_[i].extent * outer_[i].out_stride;
      index[i] = 0;
    }
  }
}

template <std::size_t kSize, std::int64_t kFew>
void StridedCopy::RunFew(const std::byte* input, std::byte* output, std::int64_t begin,
                         std::int64_t end) const {
  ForItems(input, output, begin, end, [&](const std::byte* in, std::byte* out, std::int64_t block) {
    const std::int64_t in_step = inner_.in_stride;
    const std::int64_t out_step = across_.out_stride;
    if (kind_ == Kind::kJoinFew) {
      const std::int64_t count = std::min(kLongAcross, across_.extent - block * kLongAcross);
      RunWide([=] { Join<kSize, kFew>(out, in, in_step, count); });
    } else {
      const std::int64_t count = inner_.extent;
      RunWide([=] { Part<kSize, kFew>(out, out_step, in, count); });
    }
  });
}

template <std::size_t kSize>
void StridedCopy::RunFixed(const std::byte* input, std::byte* output, std::int64_t begin,
                           std::int64_t end) const {
  const std::int64_t in_step = inner_.in_stride;
  if (kind_ == Kind::kStrided) {
    ForItems(input, output, begin, end, [&](const std::byte* in, std::byte* out, std::int64_t) {
      if (in_step == 0) return Repeat<kSize>(out, in, inner_.extent);
      for (std::int64_t i = 0; i < inner_.extent; ++i) {
        CopyElement<kSize>(out + i * static_cast<std::int64_t>(kSize), in + i * in_step);
      }
    });
    return;
  }
  if (kind_ != Kind::kTranspose) {
    if (few_ == 2) return RunFew<kSize, 2>(input, output, begin, end);
    if (few_ == 3) return RunFew<kSize, 3>(input, output, begin, end);
    return RunFew<kSize, 4>(input, output, begin, end);
  }
  // Without registers of 32 bytes, eight rows at once are slower than four.
  const bool by_eight = BestInstructionSet() != InstructionSet::kPortable;
  RunWide([=, this] {
    ForItems(
        input, output, begin, end, [&](const std::byte* in, std::byte* out, std::int64_t block) {
          const std::int64_t across = std::min(kAcross, across_.extent - block * kAcross);
          for (std::int64_t i = 0; i < inner_.extent; i += kAlong) {
            const std::int64_t along = std::min(kAlong, inner_.extent - i);
            TransposePart<kSize>(out + i * static_cast<std::int64_t>(kSize), across_.out_stride,
                                 across, in + i * in_step, in_step, along, by_eight);
          }
        });
  });
}

void StridedCopy::RunItems(const std::byte* input, std::byte* output, std::int64_t begin,
                           std::int64_t end) const {
  if (kind_ == Kind::kRows) {
    const auto bytes = static_cast<std::size_t>(item_bytes_);
    constexpr std::size_t kShort = 1024;
    const std::size_t row = bytes / static_cast<std::size_t>(repeats_);
    ForItems(input, output, begin, end, [=](const std::byte* in, std::byte* out, std::int64_t) {
      std::memcpy(out, in, row);
      // Short copies of what was just written would wait for the stores.
      std::size_t done = row;
      for (; done < std::min(bytes, kShort); done += row) std::memcpy(out + done, in, row);
      for (; done < bytes; done *= 2) std::memcpy(out + done, out, std::min(done, bytes - done));
    });
    return;
  }
  switch (size_) {
    case 1:
      return RunFixed<1>(input, output, begin, end);
    case 2:
      return RunFixed<2>(input, output, begin, end);
    case 4:
      return RunFixed<4>(input, output, begin, end);
    default:
      return RunFixed<8>(input, output, begin, end);
  }
}

void StridedCopy::Run(const std::byte* input, std::byte* output, ThreadPool* pool) const {
  ForRanges(pool, items_, GrainFor(item_bytes_ / 4),
            [&](std::int64_t begin, std::int64_t end, int) {
              RunItems(input + offset_, output, begin, end);
            });
}

}  // namespace poprt::kernels
