#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/lower/schedule.hpp"

namespace poprt::lower {

/// Which buffer is in whose memory, while passes put storages into each other: a disjoint-set
/// forest whose links carry offsets.
class StorageMap {
 public:
  struct Place {
    BufferId storage = kNoBuffer;
    std::uint64_t offset = 0;  ///< bytes
  };

  explicit StorageMap(const Schedule& schedule) {
    for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
      const Buffer& buffer = schedule.buffers[id];
      links_.push_back({buffer.view_of.value_or(id), buffer.view_offset});
    }
  }

  /// Where `id` is; in itself if it is a storage.
  Place Find(BufferId id) {
    BufferId root = id;
    std::uint64_t offset = 0;
    while (links_[root].storage != root) {
      offset += links_[root].offset;
      root = links_[root].storage;
    }
    const Place place{root, offset};
    while (links_[id].storage != root) {
      const Place next = std::exchange(links_[id], {root, offset});
      offset -= next.offset;
      id = next.storage;
    }
    return place;
  }

  bool IsStorage(BufferId id) const { return links_[id].storage == id; }

  /// Makes a storage, with all that is in it, a part of another.
  void Put(BufferId storage, BufferId into, std::uint64_t offset) {
    links_[storage] = {into, offset};
  }

  /// Adds the newest buffer of the schedule.
  void Add(Place place) { links_.push_back(place); }

  /// Writes the places to the buffers.
  void Store(Schedule& schedule) {
    for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
      const Place place = Find(id);
      if (place.storage == id) continue;
      schedule.buffers[id].view_of = place.storage;
      schedule.buffers[id].view_offset = place.offset;
    }
  }

 private:
  std::vector<Place> links_;
};

}  // namespace poprt::lower
