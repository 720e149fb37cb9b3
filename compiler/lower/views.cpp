#include "compiler/lower/views.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/lower/control_buffers.hpp"
#include "compiler/lower/storage_map.hpp"
#include "runtime/kernels/movement/slice_range.hpp"
#include "runtime/program/program.hpp"

namespace poprt::lower {
namespace {

/// Elements of the axes [first, last).
std::int64_t Extent(const Shape& shape, std::size_t first, std::size_t last) {
  std::int64_t extent = 1;
  for (std::size_t i = first; i < last; ++i) extent *= shape[i];
  return extent;
}

/// The attribute `axis` of a shape of that rank; kernels have checked it.
std::size_t AxisOf(const Step& step, std::int64_t otherwise, std::size_t rank) {
  const std::int64_t axis = step.attributes.get_int("axis", otherwise);
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// Where the result of a Slice begins, in elements; nothing if it is not one piece.
std::optional<std::int64_t> SliceOffset(const Step& step, const Shape& input) {
  const std::vector<kernels::SliceRange> ranges = kernels::ResolveSlice(step.attributes, input);
  std::int64_t offset = 0;
  std::int64_t stride = 1;
  bool is_whole = true;  // of the axes seen so far, which are the inner ones
  for (std::size_t i = input.size(); i-- > 0;) {
    const kernels::SliceRange& range = ranges[i];
    if (range.count > 1 && (!is_whole || range.step != 1)) return std::nullopt;
    offset += range.start * stride;
    stride *= input[i];
    is_whole = is_whole && range.count == input[i];
  }
  return offset;
}

std::optional<std::int64_t> OnlyIndex(const Tensor& indices) {
  if (indices.count() != 1) return std::nullopt;
  if (indices.element() == ElementType::kInt64) return indices.as<std::int64_t>()[0];
  if (indices.element() == ElementType::kInt32) return indices.as<std::int32_t>()[0];
  return std::nullopt;
}

/// Whether only axes of extent 1 change their places.
bool KeepsOrder(const Step& step, const Shape& input) {
  Ints permutation = step.attributes.get_ints("perm", {});
  if (permutation.empty()) {
    for (std::size_t i = input.size(); i-- > 0;) {
      permutation.push_back(static_cast<std::int64_t>(i));
    }
  }
  std::int64_t last = -1;
  for (const std::int64_t axis : permutation) {
    if (input[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

class ViewMaker {
 public:
  explicit ViewMaker(Schedule& schedule)
      : schedule_(schedule),
        map_(schedule),
        producers_(schedule.buffers.size(), nullptr),
        is_pinned_(schedule.buffers.size(), false) {
    FindProducers(schedule.steps);
    for (const Stream& input : schedule.inputs)
      producers_[schedule.Storage(input.buffer)] = nullptr;
    ForControlBuffers(schedule.steps,
                      [this](BufferId id) { is_pinned_[schedule_.Storage(id)] = true; });
  }

  void Run() {
    Rewrite(schedule_.steps);
    map_.Store(schedule_);
  }

 private:
  using Steps = std::vector<Step>;

  /// A part of a Concat or Split.
  struct Part {
    BufferId buffer = kNoBuffer;
    std::uint64_t offset = 0;  ///< in the whole
    std::uint64_t bytes = 0;
  };

  void FindProducers(const Steps& steps) {
    for (const Step& step : steps) {
      for (const Body& body : step.bodies) FindProducers(body.steps);
      for (const BufferId id : step.outputs) {
        if (id != kNoBuffer && step.bodies.empty()) producers_[id] = &steps;
      }
    }
  }

  void Rewrite(Steps& steps) {
    Steps kept;
    kept.reserve(steps.size());
    for (Step& step : steps) {
      for (Body& body : step.bodies) Rewrite(body.steps);
      if (step.kernel == "Concat" ? JoinInPlace(step, steps, kept) : IsView(step)) continue;
      kept.push_back(std::move(step));
    }
    steps = std::move(kept);
  }

  std::uint64_t Bytes(BufferId id) const { return schedule_.buffers[id].type.bytes(); }
  const Shape& ShapeOf(BufferId id) const { return schedule_.buffers[id].type.shape; }

  static bool IsAligned(std::uint64_t offset) { return offset % program::kSlotAlignment == 0; }

  // ---- Results that are views of the input -----------------------------------------------------

  /// Whether all results are views now, so that the step is not needed.
  bool IsView(const Step& step) {
    const std::optional<std::vector<Part>> parts = PartsOfInput(step);
    if (!parts) return false;
    const StorageMap::Place source = map_.Find(step.inputs[0]);
    if (is_pinned_[source.storage]) return false;
    for (const Part& part : *parts) {
      if (!map_.IsStorage(part.buffer) || is_pinned_[part.buffer]) return false;
      if (!IsAligned(source.offset + part.offset)) return false;
    }
    for (const Part& part : *parts) {
      map_.Put(part.buffer, source.storage, source.offset + part.offset);
    }
    return true;
  }

  /// The results as parts of the first input; nothing if they are none.
  std::optional<std::vector<Part>> PartsOfInput(const Step& step) const {
    if (step.kernel == "Split") return SplitParts(step);
    std::optional<std::int64_t> offset;  // in elements
    if (step.kernel == "Slice" && step.inputs.size() == 1) {
      offset = SliceOffset(step, ShapeOf(step.inputs[0]));
    } else if (step.kernel == "Gather") {
      offset = GatherOffset(step);
    } else if (step.kernel == "Transpose" && KeepsOrder(step, ShapeOf(step.inputs[0]))) {
      offset = 0;
    }
    const BufferId result = step.outputs[0];
    if (!offset || Bytes(result) == 0) return std::nullopt;
    const std::size_t size = ElementSize(schedule_.buffers[result].type.element);
    return {{{result, static_cast<std::uint64_t>(*offset) * size, Bytes(result)}}};
  }

  std::optional<std::vector<Part>> SplitParts(const Step& step) const {
    const Shape& whole = ShapeOf(step.inputs[0]);
    if (Extent(whole, 0, AxisOf(step, 0, whole.size())) != 1) return std::nullopt;
    std::vector<Part> parts;
    std::uint64_t offset = 0;
    for (const BufferId id : step.outputs) {
      if (id == kNoBuffer) return std::nullopt;
      if (Bytes(id) > 0) parts.push_back({id, offset, Bytes(id)});
      offset += Bytes(id);
    }
    return parts;
  }

  std::optional<std::int64_t> GatherOffset(const Step& step) const {
    const Buffer& indices = schedule_.buffers[schedule_.Storage(step.inputs[1])];
    const Shape& data = ShapeOf(step.inputs[0]);
    const std::size_t axis = AxisOf(step, 0, data.size());
    if (!indices.constant || Extent(data, 0, axis) != 1) return std::nullopt;
    if (indices.type.element != schedule_.buffers[step.inputs[1]].type.element) return std::nullopt;
    std::optional<std::int64_t> index = OnlyIndex(*indices.constant);
    if (!index) return std::nullopt;
    if (*index < 0) *index += data[axis];
    if (*index < 0 || *index >= data[axis]) return std::nullopt;  // what then is up to the kernel
    return *index * Extent(data, axis + 1, data.size());
  }

  // ---- Concat ----------------------------------------------------------------------------------

  /// Whether the result needs no Concat: its parts are written, or copied by the steps that are
  /// added to `kept`, where they belong.
  bool JoinInPlace(const Step& step, const Steps& steps, Steps& kept) {
    const BufferId whole = step.outputs[0];
    const Shape& shape = ShapeOf(whole);
    if (!map_.IsStorage(whole) || is_pinned_[whole]) return false;
    if (Extent(shape, 0, AxisOf(step, 0, shape.size())) != 1) return false;
    std::vector<Part> parts;
    std::uint64_t offset = 0;
    for (const BufferId id : step.inputs) {
      if (Bytes(id) == 0) continue;
      if (!IsAligned(offset)) return false;
      parts.push_back({id, offset, Bytes(id)});
      offset += Bytes(id);
    }
    std::size_t in_place = 0;
    for (const Part& part : parts) in_place += Join(parts, part, whole, steps) ? 1 : 0;
    if (in_place == 0) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!IsAt(parts[i], {whole, parts[i].offset})) {
        kept.push_back(Copy(parts[i], whole, step.name + "/part_" + std::to_string(i)));
      }
    }
    return true;
  }

  bool IsAt(const Part& part, StorageMap::Place wanted) {
    const StorageMap::Place place = map_.Find(part.buffer);
    return place.storage == wanted.storage && place.offset == wanted.offset;
  }

  /// Puts the storage of a part, with whatever else it holds, into the whole so that the part is
  /// where it belongs. Whether it is there now.
  bool Join(const std::vector<Part>& parts, const Part& part, BufferId whole, const Steps& steps) {
    const StorageMap::Place place = map_.Find(part.buffer);
    if (place.storage == whole) return place.offset == part.offset;
    if (producers_[place.storage] != &steps || is_pinned_[place.storage]) return false;
    if (part.offset < place.offset) return false;
    const std::uint64_t start = part.offset - place.offset;
    const std::uint64_t bytes = Bytes(place.storage);
    if (!IsAligned(start) || start > Bytes(whole) || bytes > Bytes(whole) - start) return false;
    // All that the storage would cover must be what it holds there already.
    const auto after = [](std::uint64_t value, const Part& p) { return value < p.offset; };
    auto other = std::upper_bound(parts.begin(), parts.end(), start, after) - 1;
    for (; other != parts.end() && other->offset < start + bytes; ++other) {
      if (other->offset < start) return false;
      if (!IsAt(*other, {place.storage, other->offset - start})) return false;
    }
    map_.Put(place.storage, whole, start);
    return true;
  }

  Step Copy(const Part& part, BufferId whole, std::string name) {
    schedule_.buffers.push_back({.type = schedule_.buffers[part.buffer].type});
    map_.Add({whole, part.offset});
    return {.name = std::move(name),
            .kernel = "Identity",
            .inputs = {part.buffer},
            .outputs = {static_cast<BufferId>(schedule_.buffers.size() - 1)},
            .attributes = {}};
  }

  Schedule& schedule_;
  StorageMap map_;
  /// The list with the kernel that computes a buffer; null for what no kernel computes.
  std::vector<const Steps*> producers_;
  std::vector<bool> is_pinned_;  // storages that enter or leave bodies
};

}  // namespace

void MakeViews(Schedule& schedule) { ViewMaker(schedule).Run(); }

}  // namespace poprt::lower
