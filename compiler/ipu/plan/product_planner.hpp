#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ipu/plan/product_variant.hpp"
#include "compiler/ipu/plan/product_vertex.hpp"

/// How a product is divided among tiles (section 2.6).
namespace poprt::ipu {

/// Parts of every dimension: side by side on tiles, or one after the other.
struct ProductSplits {
  std::uint64_t groups = 1;
  std::uint64_t batch = 1;
  std::uint64_t height = 1;
  std::uint64_t width = 1;
  std::uint64_t out = 1;
  std::uint64_t in = 1;
  std::uint64_t kernel = 1;  ///< rows of the kernel; poplin does not split the innermost axis
  std::uint64_t out_serial = 1;
  std::uint64_t in_serial = 1;

  bool operator==(const ProductSplits&) const = default;

  std::uint64_t field() const { return batch * height * width; }
  std::uint64_t tiles() const { return groups * field() * out * partials(); }
  /// Tiles that have partials of the same output.
  std::uint64_t partials() const { return in * kernel; }
  std::uint64_t serial() const { return out_serial * in_serial; }
  /// Tiles that need the same inputs; those that need the same weights are field().
  std::uint64_t input_users() const { return out * kernel; }
  /// Output channels are innermost in the order of tiles (section 2.6): both tiles of a bus take
  /// the same inputs.
  bool shares_inputs() const { return out % 2 == 0; }
};

/// Up to so many tiles take the same operand as it is and each puts it in order for itself; for
/// more it is put in order once (poplin, to have less code for exchanges).
inline constexpr std::uint64_t kViewTiles = 7;

/// What poplin expects of a plan.
struct ProductEstimate {
  std::uint64_t cycles = 0;
  std::uint64_t temporary_bytes = 0;  ///< on a tile
};

/// One stage of adding up partials: an exchange and a compute set.
struct ReduceStage {
  std::uint64_t depth = 1;  ///< partials of an output
  std::uint64_t bytes = 0;  ///< received by a tile
  std::uint64_t exchange_cycles = 0;
  std::uint64_t cycles = 0;  ///< launch included
};

/// What a tile does for its part, launches and syncs included.
struct ProductCost {
  // Once.
  /// Of the activations on a tile, when kernel positions or the field become channels.
  std::uint64_t expand_bytes = 0;
  std::uint64_t expand_exchange_cycles = 0;
  std::uint64_t expand_copy_cycles = 0;
  /// Of weights that a tile puts between zeros, element by element, when groups are combined.
  std::uint64_t spread_bytes = 0;
  std::uint64_t spread_cycles = 0;
  // In every serial step; the inputs once, when only output channels are serial.
  std::uint64_t input_bytes = 0;   ///< a tile reads
  std::uint64_t weight_bytes = 0;  ///< a tile reads
  std::uint64_t input_received = 0;
  std::uint64_t weight_received = 0;
  std::uint64_t input_cycles = 0;  ///< exchange, without the overhead of the phase
  std::uint64_t weight_cycles = 0;
  std::uint64_t slice_cycles = 0;
  std::uint64_t calculate_cycles = 0;
  std::vector<ReduceStage> reduce = {};
  std::uint64_t cast_cycles = 0;
  std::uint64_t add_cycles = 0;       ///< all serial steps but the first
  std::uint64_t update_cycles = 0;    ///< writing a serial part of the output
  std::uint64_t partial_bytes = 0;    ///< a tile writes
  std::uint64_t temporary_bytes = 0;  ///< on a tile
  std::uint64_t total = 0;            ///< cycles of everything
};

struct ProductPlan {
  ProductVariant variant = {};
  ProductVertex vertex = {};
  ProductSplits splits = {};
  ProductEstimate estimate = {};
  ProductCost cost = {};
  std::uint64_t memory_limit = 0;  ///< bytes of temporaries that were asked for
  bool relaxed = false;            ///< no plan kept to it

  /// "5 x 36 x 8 of 729 x 72 x 72": parts of field, output and input channel grains.
  std::string Grid() const;
};

/// Finds the plan that poplin expects to take least cycles, of those whose temporaries fit into
/// available_memory_proportion of a tile, prices it and remembers it for every product. Not for use
/// by several threads at once.
class ProductPlanner {
 public:
  ProductPlanner(const Target& target, const PlanOptions& options, std::uint32_t tiles)
      : target_(target), options_(options), tiles_(tiles) {}

  const ProductPlan& Plan(const Product& product);

 private:
  ProductPlan Search(const Product& product) const;

  Target target_;
  PlanOptions options_;
  std::uint32_t tiles_;
  std::map<Product, ProductPlan> plans_;
};

}  // namespace poprt::ipu
