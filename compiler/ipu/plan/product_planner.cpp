#include "compiler/ipu/plan/product_planner.hpp"

#include <algorithm>
#include <limits>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/extents.hpp"
#include "compiler/ipu/plan/product_cost.hpp"

namespace poprt::ipu {
namespace {

/// More serial steps than that never pay: every step has its exchange and its launches.
constexpr std::uint64_t kMostSerialSteps = 64;

/// The fewest parts whose largest is as small as that of `parts`.
std::uint64_t FewestParts(std::uint64_t extent, std::uint64_t parts) {
  return CeilDivide(extent, CeilDivide(extent, std::min(parts, extent)));
}

struct FieldSplits {
  std::uint64_t batch;
  std::uint64_t height;
  std::uint64_t width;
};

/// Ways to use `tiles` tiles for the field that leave less than half of them idle.
std::vector<FieldSplits> FieldParts(const Product& product, std::uint64_t tiles) {
  std::vector<FieldSplits> result;
  const std::uint64_t useful = std::min(tiles, product.rows());
  for (const std::uint64_t batch : Parts(product.batch, tiles)) {
    for (const std::uint64_t height : Parts(product.height, tiles / batch)) {
      const std::uint64_t width = FewestParts(product.width, tiles / (batch * height));
      if (batch * height * width * 2 < useful) continue;
      result.push_back({batch, height, width});
    }
  }
  return result;
}

/// Tries all sensible splits of one variant for one vertex.
class SplitSearch {
 public:
  SplitSearch(const Target& target, const PlanOptions& options, std::uint64_t tiles,
              std::uint64_t memory_limit, ProductPlan& best)
      : target_(target),
        options_(options),
        tiles_(tiles),
        memory_limit_(memory_limit),
        best_(best) {}

  void Try(const ProductVariant& variant, const ProductVertex& vertex) {
    variant_ = &variant;
    vertex_ = &vertex;
    const Product& product = variant.product;
    fields_.assign(tiles_ + 1, {});
    ProductSplits splits;
    const std::uint64_t out = CeilDivide(product.out_channels, vertex.out_grain);
    for (const std::uint64_t groups :
         Parts(CeilDivide(product.groups, vertex.group_grain), tiles_)) {
      splits.groups = groups;
      for (const std::uint64_t parts : Parts(out, tiles_ / groups)) {
        splits.out = parts;
        for (const std::uint64_t serial : SerialParts(CeilDivide(out, parts))) {
          splits.out_serial = serial;
          TryInChannels(splits);
        }
      }
    }
  }

 private:
  /// Products of several groups have no serial steps: a group is small.
  std::vector<std::uint64_t> SerialParts(std::uint64_t grains) const {
    if (variant_->product.groups > 1) return {1};
    return Parts(grains, kMostSerialSteps);
  }

  void TryInChannels(ProductSplits splits) {
    const std::uint64_t in = CeilDivide(variant_->product.in_channels, vertex_->in_grain);
    for (const std::uint64_t parts : Parts(in, tiles_ / (splits.groups * splits.out))) {
      splits.in = parts;
      const std::uint64_t left = tiles_ / (splits.groups * splits.out * parts);
      for (const std::uint64_t serial : SerialParts(CeilDivide(in, parts))) {
        if (serial * splits.out_serial > kMostSerialSteps) break;
        splits.in_serial = serial;
        for (const FieldSplits& field : Fields(left)) {
          splits.batch = field.batch;
          splits.height = field.height;
          splits.width = field.width;
          TrySplits(splits);
        }
      }
    }
  }

  const std::vector<FieldSplits>& Fields(std::uint64_t tiles) {
    std::vector<FieldSplits>& fields = fields_[tiles];
    if (fields.empty()) fields = FieldParts(variant_->product, tiles);
    return fields;
  }

  void TrySplits(const ProductSplits& splits) {
    auto cost = PriceProduct(target_, options_, *variant_, *vertex_, splits, memory_limit_,
                             best_.cost.total);
    if (!cost) return;
    best_.variant = *variant_;
    best_.vertex = *vertex_;
    best_.splits = splits;
    best_.cost = std::move(*cost);
  }

  const Target& target_;
  const PlanOptions& options_;
  const std::uint64_t tiles_;
  const std::uint64_t memory_limit_;
  ProductPlan& best_;
  const ProductVariant* variant_ = nullptr;
  const ProductVertex* vertex_ = nullptr;
  std::vector<std::vector<FieldSplits>> fields_;  ///< by tiles
};

}  // namespace

std::string ProductPlan::Grid() const {
  const Product& product = variant.product;
  std::string text = std::to_string(splits.field()) + " x " + std::to_string(splits.out) + " x " +
                     std::to_string(splits.in) + " of " + std::to_string(product.rows()) + " x " +
                     std::to_string(product.out_channels) + " x " +
                     std::to_string(product.in_channels);
  if (product.groups > 1) {
    text +=
        ", " + std::to_string(splits.groups) + " of " + std::to_string(product.groups) + " groups";
  }
  if (splits.serial() > 1) text += ", " + std::to_string(splits.serial()) + " serial steps";
  return text;
}

const ProductPlan& ProductPlanner::Plan(const Product& product) {
  const auto found = plans_.find(product);
  if (found != plans_.end()) return found->second;
  return plans_.emplace(product, Search(product)).first->second;
}

ProductPlan ProductPlanner::Search(const Product& product) const {
  const auto wanted = static_cast<std::uint64_t>(options_.available_memory_proportion *
                                                 static_cast<double>(target_.sram_bytes_per_tile));
  // Section 2.6: when nothing fits, the bound doubles up to twice the tile, then there is none.
  constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t limit = wanted;
  while (true) {
    ProductPlan best;
    best.cost.total = kUnlimited;
    best.memory_limit = wanted;
    best.relaxed = limit != wanted;
    SplitSearch search(target_, options_, tiles_, limit, best);
    const std::uint64_t in_group = ConvInputGroup(target_, {product.input, options_.half_partials});
    for (const ProductVariant& variant : ProductVariants(product, in_group)) {
      for (const ProductVertex& vertex : ProductVertices(target_, options_, variant.product)) {
        search.Try(variant, vertex);
      }
    }
    if (best.cost.total != kUnlimited || limit == kUnlimited) return best;
    limit = limit >= 2 * target_.sram_bytes_per_tile ? kUnlimited
                                                     : std::max<std::uint64_t>(limit, 1) * 2;
  }
}

}  // namespace poprt::ipu
