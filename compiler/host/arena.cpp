#include "compiler/host/arena.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/host/lifetimes.hpp"

namespace poprt::host {
namespace {

using lower::BufferId;
using lower::Schedule;

/// Bounds time and memory of the greedy placements: 32 MB, a second.
constexpr std::size_t kMostPairs = std::size_t{1} << 22;

/// A buffer that needs a place.
struct Block {
  BufferId buffer = 0;
  Lifetime life;
  std::uint64_t bytes = 0;
};

/// Ordered by their beginning; the large first among those that begin together.
std::vector<Block> BlocksOf(const Schedule& schedule) {
  const std::vector<Lifetime> lifetimes = LifetimesOf(schedule);
  std::vector<Block> blocks;
  for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
    const std::uint64_t bytes = ArenaBytesOf(schedule.buffers[id]);
    const bool is_used = lifetimes[id].first <= lifetimes[id].last;
    if (schedule.buffers[id].is_activation() && bytes > 0 && is_used) {
      blocks.push_back({id, lifetimes[id], bytes});
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return std::tuple(a.life.first, b.bytes, a.buffer) <
           std::tuple(b.life.first, a.bytes, b.buffer);
  });
  return blocks;
}

/// Offset of every block and the end of the last.
struct Placement {
  std::vector<std::uint64_t> offsets;
  std::uint64_t bytes = 0;

  void Put(std::size_t block, std::uint64_t offset, std::uint64_t size) {
    offsets[block] = offset;
    bytes = std::max(bytes, offset + size);
  }
};

// ---- Best fit in the order of time --------------------------------------------------------------

/// Free pieces below the end of the arena, joined with their neighbours.
class FreeList {
 public:
  std::uint64_t Take(std::uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit != by_size_.end()) {
      const auto [size, offset] = *fit;
      Remove(offset, size);
      if (size > bytes) Insert(offset + bytes, size - bytes);
      return offset;
    }
    std::uint64_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == end_) {
        offset = last;
        Remove(last, size);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  void Give(std::uint64_t offset, std::uint64_t bytes) {
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == offset + bytes) {
      const auto [next, size] = *after;
      bytes += size;
      Remove(next, size);
    }
    after = by_offset_.lower_bound(offset);
    if (after != by_offset_.begin()) {
      const auto [before, size] = *std::prev(after);
      if (before + size == offset) {
        Remove(before, size);
        offset = before;
        bytes += size;
      }
    }
    Insert(offset, bytes);
  }

 private:
  void Insert(std::uint64_t offset, std::uint64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void Remove(std::uint64_t offset, std::uint64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<std::uint64_t, std::uint64_t> by_offset_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
  std::uint64_t end_ = 0;
};

/// Blocks in the order of their ends.
using Ending =
    std::priority_queue<std::pair<std::int64_t, std::size_t>,
                        std::vector<std::pair<std::int64_t, std::size_t>>, std::greater<>>;

Placement PlaceInTime(const std::vector<Block>& blocks) {
  Placement placement{.offsets = std::vector<std::uint64_t>(blocks.size(), 0), .bytes = 0};
  FreeList free;
  Ending live;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    while (!live.empty() && live.top().first < blocks[i].life.first) {
      const std::size_t ended = live.top().second;
      live.pop();
      free.Give(placement.offsets[ended], blocks[ended].bytes);
    }
    placement.Put(i, free.Take(blocks[i].bytes), blocks[i].bytes);
    live.emplace(blocks[i].life.last, i);
  }
  return placement;
}

// ---- Greedy by an order of blocks ---------------------------------------------------------------

/// For every block those that live at the same time.
using Neighbours = std::vector<std::vector<std::uint32_t>>;

/// Nothing if there are too many pairs.
std::optional<Neighbours> NeighboursOf(const std::vector<Block>& blocks) {
  Neighbours neighbours(blocks.size());
  std::vector<std::uint32_t> live;
  std::size_t pairs = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    std::erase_if(
        live, [&](std::uint32_t other) { return blocks[other].life.last < blocks[i].life.first; });
    pairs += live.size();
    if (pairs > kMostPairs) return std::nullopt;
    neighbours[i] = live;
    for (const std::uint32_t other : live) neighbours[other].push_back(i);
    live.push_back(i);
  }
  return neighbours;
}

enum class Fit { kLowest, kTightest };

/// A free place of at least `bytes` between what is `taken`: pieces (offset, end), ordered. What is
/// behind the last piece is free without end.
std::uint64_t FindPlace(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& taken,
                        std::uint64_t bytes, Fit fit) {
  std::uint64_t end = 0;
  std::uint64_t tightest = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint64_t> found;
  for (const auto& [offset, piece_end] : taken) {
    if (offset > end && offset - end >= bytes && offset - end < tightest) {
      if (fit == Fit::kLowest) return end;
      tightest = offset - end;
      found = end;
    }
    end = std::max(end, piece_end);
  }
  return found.value_or(end);
}

Placement PlaceGreedily(const std::vector<Block>& blocks, const Neighbours& neighbours,
                        const std::vector<std::uint32_t>& order, Fit fit) {
  Placement placement{.offsets = std::vector<std::uint64_t>(blocks.size(), 0), .bytes = 0};
  std::vector<bool> is_placed(blocks.size(), false);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (const std::uint32_t i : order) {
    taken.clear();
    for (const std::uint32_t other : neighbours[i]) {
      const std::uint64_t offset = placement.offsets[other];
      if (is_placed[other]) taken.emplace_back(offset, offset + blocks[other].bytes);
    }
    std::sort(taken.begin(), taken.end());
    placement.Put(i, FindPlace(taken, blocks[i].bytes, fit), blocks[i].bytes);
    is_placed[i] = true;
  }
  return placement;
}

template <typename Weight>
std::vector<std::uint32_t> HeaviestFirst(const std::vector<Block>& blocks, const Weight& weight) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return weight(blocks[a]) > weight(blocks[b]);
  });
  return order;
}

Placement Place(const std::vector<Block>& blocks, std::uint64_t least) {
  Placement best = PlaceInTime(blocks);
  if (best.bytes == least) return best;
  const std::optional<Neighbours> neighbours = NeighboursOf(blocks);
  if (!neighbours) return best;
  const std::array orders{
      HeaviestFirst(blocks, [](const Block& block) { return block.bytes; }),
      HeaviestFirst(blocks,
                    [](const Block& block) {
                      return static_cast<double>(block.bytes) *
                             static_cast<double>(block.life.last - block.life.first + 1);
                    }),
  };
  for (const auto& order : orders) {
    for (const Fit fit : {Fit::kLowest, Fit::kTightest}) {
      Placement placement = PlaceGreedily(blocks, *neighbours, order, fit);
      if (placement.bytes < best.bytes) best = std::move(placement);
      if (best.bytes == least) return best;
    }
  }
  return best;
}

}  // namespace

ArenaPlan PlanArena(const Schedule& schedule) {
  const std::vector<Block> blocks = BlocksOf(schedule);
  const Placement placement = Place(blocks, LargestLiveSet(schedule));
  ArenaPlan plan{.offsets = std::vector<std::uint64_t>(schedule.buffers.size(), 0),
                 .bytes = placement.bytes};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    plan.offsets[blocks[i].buffer] = placement.offsets[i];
  }
  for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
    const lower::Buffer& buffer = schedule.buffers[id];
    if (!buffer.view_of || !schedule.buffers[*buffer.view_of].is_activation()) continue;
    plan.offsets[id] = plan.offsets[*buffer.view_of] + buffer.view_offset;
  }
  return plan;
}

}  // namespace poprt::host
