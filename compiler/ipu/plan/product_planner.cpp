#include "compiler/ipu/plan/product_planner.hpp"

#include <algorithm>
#include <limits>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/extents.hpp"
#include "compiler/ipu/plan/product_cost.hpp"
#include "compiler/ipu/plan/product_estimate.hpp"

namespace poprt::ipu {
namespace {

/// More serial steps than that never pay: every step has its exchange and its launches.
constexpr std::uint64_t kMostSerialSteps = 64;

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
      for (const std::uint64_t width : Parts(product.width, tiles / (batch * height))) {
        if (batch * height * width * 2 >= useful) result.push_back({batch, height, width});
      }
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
        for (const std::uint64_t serial :
             SerialParts(product.out_channels, CeilDivide(out, parts))) {
          splits.out_serial = serial;
          TryInChannels(splits);
        }
      }
    }
  }

 private:
  /// Steps are alike, so their number divides the channels. Products of several groups have none: a
  /// group is small.
  std::vector<std::uint64_t> SerialParts(std::uint64_t channels, std::uint64_t grains) const {
    if (variant_->product.groups > 1) return {1};
    std::vector<std::uint64_t> parts = Parts(grains, kMostSerialSteps);
    std::erase_if(parts, [&](std::uint64_t n) { return channels % n != 0; });
    return parts;
  }

  void TryInChannels(ProductSplits splits) {
    const std::uint64_t in = CeilDivide(variant_->product.in_channels, vertex_->in_grain);
    for (const std::uint64_t parts : Parts(in, tiles_ / (splits.groups * splits.out))) {
      splits.in = parts;
      const std::uint64_t left = tiles_ / (splits.groups * splits.out * parts);
      for (const std::uint64_t serial :
           SerialParts(variant_->product.in_channels, CeilDivide(in, parts))) {
        // Either input or output channels are serial.
        if (serial > 1 && splits.out_serial > 1) break;
        splits.in_serial = serial;
        TryKernelRows(splits, left);
      }
    }
  }

  void TryKernelRows(ProductSplits splits, std::uint64_t tiles) {
    for (const std::uint64_t rows : Parts(variant_->product.kernel_height, tiles)) {
      splits.kernel = rows;
      for (const FieldSplits& field : Fields(tiles / rows)) {
        splits.batch = field.batch;
        splits.height = field.height;
        splits.width = field.width;
        TrySplits(splits);
      }
    }
  }

  const std::vector<FieldSplits>& Fields(std::uint64_t tiles) {
    std::vector<FieldSplits>& fields = fields_[tiles];
    if (fields.empty()) fields = FieldParts(variant_->product, tiles);
    return fields;
  }

  void TrySplits(const ProductSplits& splits) {
    const auto estimate = EstimateProduct(target_, options_, *variant_, *vertex_, splits,
                                          memory_limit_, best_.estimate.cycles);
    if (!estimate) return;
    best_.variant = *variant_;
    best_.vertex = *vertex_;
    best_.splits = splits;
    best_.estimate = *estimate;
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
  if (splits.kernel > 1) {
    text += ", " + std::to_string(splits.kernel) + " of " + std::to_string(product.kernel_height) +
            " kernel rows";
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
    best.estimate.cycles = kUnlimited;
    best.memory_limit = wanted;
    best.relaxed = limit != wanted;
    SplitSearch search(target_, options_, tiles_, limit, best);
    for (const ProductVariant& variant : ProductVariants(target_, product)) {
      for (const ProductVertex& vertex : ProductVertices(target_, options_, variant.product)) {
        search.Try(variant, vertex);
      }
    }
    if (best.estimate.cycles != kUnlimited || limit == kUnlimited) {
      best.cost = PriceProduct(target_, options_, best.variant, best.vertex, best.splits);
      return best;
    }
    limit = limit >= 2 * target_.sram_bytes_per_tile ? kUnlimited
                                                     : std::max<std::uint64_t>(limit, 1) * 2;
  }
}

}  // namespace poprt::ipu
