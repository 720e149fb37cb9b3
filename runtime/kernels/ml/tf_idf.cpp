#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel_attributes.hpp"
#include "runtime/kernels/ml/ml.hpp"
#include "runtime/kernels/parallel.hpp"

namespace poprt::kernels {
namespace {

using Gram = std::span<const std::int64_t>;

/// The n-grams of the pool as a tree of their items.
class GramTree {
 public:
  static constexpr std::size_t kRoot = 0;
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  struct Entry {
    Gram gram;
    std::int64_t column;  ///< of the output
  };

  explicit GramTree(std::vector<Entry> entries) : nodes_(1) {
    // In order, so that a new child always is the last of its parent.
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::lexicographical_compare(a.gram.begin(), a.gram.end(), b.gram.begin(),
                                          b.gram.end());
    });
    for (const Entry& entry : entries) {
      std::size_t at = kRoot;
      for (const std::int64_t item : entry.gram) at = AddChild(at, item);
      Require(nodes_[at].column < 0, "attribute 'pool_int64s' has an n-gram twice");
      nodes_[at].column = entry.column;
    }
  }

  std::size_t Find(std::size_t node, std::int64_t item) const {
    const auto& children = nodes_[node].children;
    const auto found = std::lower_bound(
        children.begin(), children.end(), item,
        [](const auto& child, std::int64_t wanted) { return child.first < wanted; });
    return found != children.end() && found->first == item ? found->second : kNowhere;
  }

  /// The output's column of the n-gram that ends here; -1 if none does.
  std::int64_t ColumnAt(std::size_t node) const { return nodes_[node].column; }

 private:
  struct Node {
    std::int64_t column = -1;
    std::vector<std::pair<std::int64_t, std::size_t>> children;
  };

  std::size_t AddChild(std::size_t parent, std::int64_t item) {
    auto& children = nodes_[parent].children;
    if (!children.empty() && children.back().first == item) return children.back().second;
    const std::size_t child = nodes_.size();
    children.emplace_back(item, child);
    nodes_.emplace_back();
    return child;
  }

  std::vector<Node> nodes_;
};

enum class Mode { kTf, kIdf, kTfIdf };

struct TfIdf {
  std::int64_t rows = 1;
  std::int64_t extent = 0;
  std::int64_t columns = 0;
  std::int64_t shortest = 1;
  std::int64_t longest = 1;
  std::int64_t most_skipped = 0;
  Mode mode = Mode::kTf;
  std::vector<float> weights;  ///< of the columns
  GramTree grams{{}};

  template <typename T>
  void CountRow(const T* row, float* counts) const {
    for (std::int64_t distance = 1; distance <= most_skipped + 1; ++distance) {
      // Single items have no distance: they count once.
      const std::int64_t least = distance == 1 ? shortest : std::max<std::int64_t>(2, shortest);
      // No n-gram of that length fits any more, nor with a larger distance.
      if (least > longest || (least - 1) > (extent - 1) / distance) break;
      for (std::int64_t start = 0; start < extent; ++start) {
        std::size_t node = GramTree::kRoot;
        std::int64_t at = start;
        for (std::int64_t length = 1; length <= longest; ++length) {
          node = grams.Find(node, static_cast<std::int64_t>(row[at]));
          if (node == GramTree::kNowhere) break;
          const std::int64_t column = grams.ColumnAt(node);
          if (length >= least && column >= 0) counts[column] += 1.0F;
          if (distance >= extent - at) break;
          at += distance;
        }
      }
    }
  }

  void Weigh(float* counts) const {
    if (mode == Mode::kTf) return;
    for (std::size_t c = 0; c < weights.size(); ++c) {
      counts[c] = (mode == Mode::kTfIdf ? counts[c] : (counts[c] > 0 ? 1.0F : 0.0F)) * weights[c];
    }
  }

  template <typename T>
  void Run(const KernelArguments& args) const {
    ForRanges(args.pool, rows, GrainFor(extent * 8 + columns),
              [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
                for (std::int64_t r = begin; r < end; ++r) {
                  float* counts = args.out<float>(0) + r * columns;
                  std::fill_n(counts, columns, 0.0F);
                  CountRow(args.in<T>(0) + r * extent, counts);
                  Weigh(counts);
                }
              });
  }
};

Mode ModeOf(const KernelCall& call) {
  const std::string mode = StringAttribute(call, "mode", "");
  Require(mode == "TF" || mode == "IDF" || mode == "TFIDF",
          "attribute 'mode' is '" + mode + "', allowed are TF, IDF and TFIDF");
  return mode == "TF" ? Mode::kTf : mode == "IDF" ? Mode::kIdf : Mode::kTfIdf;
}

/// The n-grams of the pool that are asked for, each with its column.
std::vector<GramTree::Entry> EntriesOf(const TfIdf& op, Gram pool, const Ints& starts,
                                       const Ints& columns) {
  std::vector<GramTree::Entry> entries;
  std::size_t next = 0;
  for (std::size_t n = 0; n < starts.size(); ++n) {
    const auto size = static_cast<std::int64_t>(pool.size());
    const std::int64_t start = starts[n];
    const std::int64_t end = n + 1 < starts.size() ? starts[n + 1] : size;
    const auto length = static_cast<std::int64_t>(n) + 1;
    Require(start >= 0 && start <= end && end <= size && (end - start) % length == 0,
            "attribute 'ngram_counts' does not divide 'pool_int64s' into n-grams");
    for (std::int64_t at = start; at < end; at += length, ++next) {
      Require(next < columns.size(), "attribute 'ngram_indexes' has fewer numbers than n-grams");
      if (length < op.shortest || length > op.longest) continue;
      entries.push_back({pool.subspan(static_cast<std::size_t>(at), n + 1), columns[next]});
    }
  }
  Require(next == columns.size(), "attribute 'ngram_indexes' has more numbers than n-grams");
  return entries;
}

}  // namespace

BoundKernel BindTfIdfVectorizer(const KernelCall& call) {
  RequireArity(call, 1, 1);
  const TensorType& data = call.inputs[0];
  constexpr TypeSet allowed = Types({ElementType::kInt32, ElementType::kInt64});
  RequireElement(data, allowed, "input 0");
  Require(data.shape.size() == 1 || data.shape.size() == 2, "input 0 must have 1 or 2 dimensions");
  const Ints pool = IntsAttribute(call, "pool_int64s");
  const Ints columns = IntsAttribute(call, "ngram_indexes");
  TfIdf op{.rows = data.shape.size() == 2 ? data.shape[0] : 1,
           .extent = data.shape.back(),
           .shortest = IntAttribute(call, "min_gram_length", 1),
           .longest = IntAttribute(call, "max_gram_length", 1),
           .most_skipped = IntAttribute(call, "max_skip_count", 0),
           .mode = ModeOf(call),
           .weights = {}};
  Require(op.shortest >= 1 && op.shortest <= op.longest,
          "attributes 'min_gram_length' and 'max_gram_length' must ascend from 1");
  constexpr std::int64_t most = std::int64_t{1} << 31;
  Require(op.most_skipped >= 0 && op.most_skipped < most, "attribute 'max_skip_count' is no count");
  Shape shape = data.shape;
  shape.back() = call.outputs[0].shape.empty() ? 0 : call.outputs[0].shape.back();
  RequireType(call.outputs[0], {ElementType::kFloat32, shape}, "output 0");
  op.columns = shape.back();
  for (const std::int64_t column : columns) {
    Require(column >= 0 && column < op.columns,
            "attribute 'ngram_indexes' has a number outside the output");
  }
  op.grams = GramTree(EntriesOf(op, pool, IntsAttribute(call, "ngram_counts"), columns));
  if (op.mode != Mode::kTf) {
    const Floats weights = call.attributes.get_floats("weights");
    Require(weights.empty() || weights.size() == columns.size(),
            "attribute 'weights' must have as many numbers as 'ngram_indexes'");
    op.weights.assign(static_cast<std::size_t>(op.columns), 1.0F);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      op.weights[static_cast<std::size_t>(columns[i])] = weights[i];
    }
  }
  const auto shared = std::make_shared<const TfIdf>(std::move(op));
  return VisitElement<BoundKernel, allowed>(data.element, [&](auto type) -> BoundKernel {
    using T = typename decltype(type)::type;
    return {.run = [shared](const KernelArguments& args) { shared->Run<T>(args); }};
  });
}

}  // namespace poprt::kernels
