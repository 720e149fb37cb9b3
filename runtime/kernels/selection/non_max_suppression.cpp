#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/kernel_binding.hpp"
#include "runtime/kernels/parallel.hpp"
#include "runtime/kernels/selection/selection.hpp"

namespace poprt::kernels {
namespace {

/// A box by its corners.
struct Box {
  float top;
  float left;
  float bottom;
  float right;

  float area() const { return (bottom - top) * (right - left); }
};

/// Boxes that have been selected, each coordinate in an array of its own so that comparing one box
/// with all of them runs on vectors.
struct SelectedBoxes {
  float* top;
  float* left;
  float* bottom;
  float* right;
  float* area;

  void Set(std::int64_t i, const Box& box) const {
    top[i] = box.top;
    left[i] = box.left;
    bottom[i] = box.bottom;
    right[i] = box.right;
    area[i] = box.area();
  }

  /// Whether the box overlaps one of the first `count` too much.
  bool Suppress(const Box& box, std::int64_t count, float iou_threshold) const {
    constexpr std::int64_t block = 64;
    const float own_area = box.area();
    if (!(own_area > 0)) return false;
    for (std::int64_t begin = 0; begin < count; begin += block) {
      const std::int64_t end = std::min(begin + block, count);
      unsigned suppressed = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const float height = std::min(bottom[i], box.bottom) - std::max(top[i], box.top);
        const float width = std::min(right[i], box.right) - std::max(left[i], box.left);
        const float common = height * width;
        const float joint = area[i] + own_area - common;
        const unsigned overlaps =
            static_cast<unsigned>(height > 0) & static_cast<unsigned>(width > 0) &
            static_cast<unsigned>(area[i] > 0) & static_cast<unsigned>(joint > 0);
        suppressed |= overlaps & static_cast<unsigned>(common / joint > iou_threshold);
      }
      if (suppressed != 0) return true;
    }
    return false;
  }
};

struct NonMaxSuppression {
  std::int64_t batches = 0;
  std::int64_t classes = 0;
  std::int64_t boxes = 0;
  std::int64_t most = 0;  ///< boxes that may be selected for one class of one batch
  bool by_center = false;
  bool has_limit = false;  ///< inputs 2, 3, 4 are there
  bool has_iou_threshold = false;
  bool has_score_threshold = false;

  std::int64_t problems() const { return batches * classes; }
  std::size_t order_bytes() const {
    return ScratchBytes(static_cast<std::size_t>(boxes) * sizeof(std::int64_t));
  }
  std::size_t coordinate_bytes() const {
    return ScratchBytes(static_cast<std::size_t>(most) * sizeof(float));
  }
  std::size_t worker_bytes() const { return order_bytes() + 5 * coordinate_bytes(); }
  /// The first worker's share also holds how many boxes each class of each batch has.
  std::size_t scratch_bytes() const {
    return worker_bytes() +
           ScratchBytes(static_cast<std::size_t>(problems()) * sizeof(std::int64_t));
  }

  Box BoxAt(const float* found) const {
    if (by_center) {
      const float half_width = found[2] / 2;
      const float half_height = found[3] / 2;
      return {.top = found[1] - half_height,
              .left = found[0] - half_width,
              .bottom = found[1] + half_height,
              .right = found[0] + half_width};
    }
    return {.top = std::min(found[0], found[2]),
            .left = std::min(found[1], found[3]),
            .bottom = std::max(found[0], found[2]),
            .right = std::max(found[1], found[3])};
  }

  void Run(const KernelArguments& args) const {
    auto* y = args.out<std::int64_t>(0);
    auto* counts = reinterpret_cast<std::int64_t*>(args.scratch + worker_bytes());
    const std::int64_t limit =
        has_limit ? std::clamp<std::int64_t>(*args.in<std::int64_t>(2), 0, most) : 0;
    if (limit == 0) {
      std::fill(counts, counts + problems(), 0);
    } else {
      ForRanges(args.pool, problems(), GrainFor(8 * boxes),
                [&](std::int64_t begin, std::int64_t end, int worker) {
                  for (std::int64_t i = begin; i < end; ++i) {
                    counts[i] = Select(args, i, limit, worker, y + 3 * most * i);
                  }
                });
    }
    // Close the gaps between the classes.
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < problems(); ++i) {
      const std::int64_t* from = y + 3 * most * i;
      std::copy(from, from + 3 * counts[i], y + 3 * total);
      total += counts[i];
    }
    std::fill(y + 3 * total, y + 3 * most * problems(), 0);
    *args.out<std::int64_t>(1) = total;
  }

  /// Writes rows (batch, class, box) for one class of one batch; returns how many.
  std::int64_t Select(const KernelArguments& args, std::int64_t problem, std::int64_t limit,
                      int worker, std::int64_t* rows) const {
    std::byte* scratch = args.scratch + static_cast<std::size_t>(worker) * scratch_bytes();
    auto* order = reinterpret_cast<std::int64_t*>(scratch);
    const auto coordinate = [&](std::size_t i) {
      return reinterpret_cast<float*>(scratch + order_bytes() + i * coordinate_bytes());
    };
    const SelectedBoxes selected{coordinate(0), coordinate(1), coordinate(2), coordinate(3),
                                 coordinate(4)};
    const std::int64_t batch = problem / classes;
    const float* positions = args.in<float>(0) + 4 * boxes * batch;
    const float* scores = args.in<float>(1) + boxes * problem;
    const float iou_threshold = has_iou_threshold ? *args.in<float>(3) : 0;

    const std::int64_t candidates = Candidates(args, scores, order);
    // A heap sorts only as many candidates as are looked at.
    const auto after = [scores](std::int64_t a, std::int64_t b) { return Before(scores, b, a); };
    std::make_heap(order, order + candidates, after);
    std::int64_t count = 0;
    for (std::int64_t left = candidates; left > 0 && count < limit; --left) {
      std::pop_heap(order, order + left, after);
      const std::int64_t candidate = order[left - 1];
      const Box box = BoxAt(positions + 4 * candidate);
      if (selected.Suppress(box, count, iou_threshold)) continue;
      selected.Set(count, box);
      rows[3 * count] = batch;
      rows[3 * count + 1] = problem % classes;
      rows[3 * count + 2] = candidate;
      ++count;
    }
    return count;
  }

  /// Higher scores first, then lower positions; NaN comes last.
  static bool Before(const float* scores, std::int64_t a, std::int64_t b) {
    const bool a_nan = scores[a] != scores[a];
    const bool b_nan = scores[b] != scores[b];
    if (a_nan != b_nan) return b_nan;
    if (!a_nan && scores[a] != scores[b]) return scores[a] > scores[b];
    return a < b;
  }

  /// The boxes with a sufficient score.
  std::int64_t Candidates(const KernelArguments& args, const float* scores,
                          std::int64_t* order) const {
    if (!has_score_threshold) {
      std::iota(order, order + boxes, std::int64_t{0});
      return boxes;
    }
    const float threshold = *args.in<float>(4);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < boxes; ++i) {
      if (scores[i] > threshold) order[count++] = i;
    }
    return count;
  }
};

/// Whether input i is there; it must be one element of that type.
bool HasScalar(const KernelCall& call, std::size_t i, ElementType element) {
  const TensorType& type = InputOrAbsent(call, i);
  if (!type.defined()) return false;
  Require(type.element == element && ElementCount(type.shape) == 1,
          "input " + std::to_string(i) + " is " + ToString(type) + ", expected one " +
              std::string(ElementName(element)));
  return true;
}

}  // namespace

BoundKernel BindNonMaxSuppression(const KernelCall& call) {
  RequireArity(call, 2, 5, 2, 2);
  const TensorType& boxes = call.inputs[0];
  const TensorType& scores = call.inputs[1];
  Require(boxes.element == ElementType::kFloat32 && boxes.shape.size() == 3 && boxes.shape[2] == 4,
          "input 0 is " + ToString(boxes) + ", expected float32[batches, boxes, 4]");
  Require(scores.element == ElementType::kFloat32 && scores.shape.size() == 3 &&
              scores.shape[0] == boxes.shape[0] && scores.shape[2] == boxes.shape[1],
          "input 1 is " + ToString(scores) + ", expected float32[batches, classes, boxes] for " +
              ToString(boxes));
  NonMaxSuppression suppression{.batches = boxes.shape[0],
                                .classes = scores.shape[1],
                                .boxes = boxes.shape[1],
                                .by_center = FlagAttribute(call, "center_point_box", false),
                                .has_limit = HasScalar(call, 2, ElementType::kInt64),
                                .has_iou_threshold = HasScalar(call, 3, ElementType::kFloat32),
                                .has_score_threshold = HasScalar(call, 4, ElementType::kFloat32)};
  const std::int64_t most = IntAttribute(call, "most_boxes", suppression.boxes);
  suppression.most =
      suppression.has_limit ? std::clamp<std::int64_t>(most, 0, suppression.boxes) : 0;
  const Shape rows{suppression.batches, suppression.classes, suppression.most, 3};
  const bool is_empty = RequireCount(rows, "the largest result") == 0;
  RequireType(call.outputs[0],
              {ElementType::kInt64, {suppression.problems() * suppression.most, 3}}, "output 0");
  RequireType(call.outputs[1], {ElementType::kInt64, {}}, "output 1");
  if (is_empty) {
    return {.run = [](const KernelArguments& args) { *args.out<std::int64_t>(1) = 0; }};
  }
  return {.run = [suppression](const KernelArguments& args) { suppression.Run(args); },
          .scratch_bytes = suppression.scratch_bytes()};
}

}  // namespace poprt::kernels
