#include "compiler/ipu/plan/product_estimate.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/elementwise_vertex.hpp"
#include "compiler/ipu/cost/partials_reduction.hpp"
#include "compiler/ipu/cost/slice_vertex.hpp"
#include "compiler/ipu/plan/product_part.hpp"

namespace poprt::ipu {
namespace {

/// A tensor that is put in another order before or behind the product.
struct Transform {
  std::uint64_t bytes = 0;  ///< of a tile
  std::uint64_t cycles = 0;
};

class Estimator : DividedProduct {
 public:
  explicit Estimator(const DividedProduct& product) : DividedProduct(product) {
    EstimateExchange();
    EstimateTransforms();
    EstimatePadding();
  }

  /// What a tile needs beyond operands and result.
  std::uint64_t TemporaryBytes() const {
    const std::uint64_t inputs = part_.inputs * element_;
    const std::uint64_t transforms =
        2 * std::max({InLoop(input_.bytes), weight_.bytes, output_.bytes});
    std::uint64_t product =
        padding_ * element_ + InLoop(inputs) + part_.weights * element_ + PartialBytes();
    product = std::max(product, depth() > 1 ? part_.partials * partial_bytes_ : 0);
    const std::uint64_t sums =
        splits_.in_serial > 1 ? CeilDivide(part_.partials, depth()) * partial_bytes_ : 0;
    const std::uint64_t slices = SlicedBytes();
    return BeforeLoop(input_.bytes + inputs) + slices + std::max({transforms, product, slices}) +
           sums;
  }

  /// No less than this, whatever the vertex does.
  std::uint64_t Bound() const {
    return splits_.serial() *
               (ProductVertexBound(target_, product_, vertex_, part_.tile) + StepCycles()) +
           BeforeLoop(InputCycles());
  }

  std::uint64_t Cycles() const {
    const std::uint64_t vertex =
        ProductVertexCycles(target_, options_, product_, vertex_, part_.tile) + ZeroingCycles();
    const std::uint64_t step = vertex + StepCycles() + ReduceCycles() + SliceCycles();
    const std::uint64_t slices =
        CeilDivide(SlicedBytes(), ExchangeRate()) + SlicedBytes() / element_;
    return splits_.serial() * step + BeforeLoop(InputCycles()) + slices + CastCycles();
  }

 private:
  /// poplin takes matrix products for swapped ones: only others are rearranged.
  bool reversed() const { return variant_.swapped != product_.matrix; }

  /// Inputs stay when only output channels are serial.
  bool inputs_stay() const { return splits_.out_serial > 1 && splits_.in_serial == 1; }
  std::uint64_t BeforeLoop(std::uint64_t cost) const { return inputs_stay() ? cost : 0; }
  std::uint64_t InLoop(std::uint64_t cost) const { return inputs_stay() ? 0 : cost; }

  std::uint64_t InputCycles() const { return input_exchange_ + input_.cycles; }
  std::uint64_t StepCycles() const {
    return InLoop(InputCycles()) + weight_exchange_ + weight_.cycles + padding_cycles_ +
           output_.cycles + partial_exchange_;
  }

  std::uint64_t ExchangeRate() const { return target_.exchange_bytes_per_cycle; }
  std::uint64_t InputRate() const { return InputExchangeRate(target_, splits_); }

  /// What is divided among the tiles that need it is there in part.
  void EstimateExchange() {
    input_exchange_ =
        CeilDivide((part_.inputs - part_.inputs / splits_.out) * element_, InputRate());
    weight_exchange_ =
        CeilDivide((part_.weights - part_.weights / splits_.field()) * element_, ExchangeRate());
    partial_exchange_ = CeilDivide(part_.partials * partial_bytes_, ExchangeRate());
  }

  std::uint64_t InChannels() const {
    return CeilDivide(product_.in_channels, vertex_.in_grain) * vertex_.in_grain;
  }
  std::uint64_t OutChannels() const {
    return CeilDivide(product_.out_channels, vertex_.out_grain) * vertex_.out_grain;
  }
  std::uint64_t Groups() const {
    return CeilDivide(product_.groups, vertex_.group_grain) * vertex_.group_grain;
  }

  /// A tile's share of `elements` of `element` bytes, of which `group` bytes stay together: a move
  /// takes 5/4 cycles where `channels` are whole vectors, else 5/3 (section 2.6).
  Transform Rearranged(std::uint64_t elements, std::uint64_t channels, std::uint64_t element,
                       std::uint64_t group) const {
    const std::uint64_t bytes = CeilDivide(elements * element, splits_.tiles());
    const std::uint64_t width = std::min<std::uint64_t>(target_.memcpy_bytes_per_cycle, group);
    const std::uint64_t vector = std::max<std::uint64_t>(target_.vector_bytes / element, 1);
    const std::uint64_t divisor = channels % vector == 0 ? 4 : 3;
    return {bytes, CeilDivide(bytes * 5, width * divisor)};
  }

  void EstimateTransforms() {
    const bool reordered = variant_.expanded || reversed() || variant_.combined_groups > 1;
    const bool pads_in = product_.in_channels % vertex_.in_grain != 0;
    const bool pads_out = product_.out_channels % vertex_.out_grain != 0;
    const std::uint64_t channels = product_.in_channels * product_.out_channels;
    if (reordered || pads_in) {
      const std::uint64_t window = InputRows(product_, product_.height, product_.kernel_height) *
                                   InputColumns(product_, product_.width);
      input_ = Rearranged(Groups() * product_.batch * window * InChannels(), channels, element_,
                          element_);
      input_.cycles += CeilDivide(input_.bytes, ExchangeRate());
    }
    if (reordered || variant_.flattened_out || pads_in || pads_out) {
      const std::uint64_t kernel = product_.kernel_height * product_.kernel_width;
      weight_ = Rearranged(Groups() * kernel * InChannels() * OutChannels(), channels, element_,
                           element_);
      weight_.cycles += CeilDivide(weight_.bytes, ExchangeRate());
    }
    EstimateOutputTransform(pads_out);
  }

  void EstimateOutputTransform(bool pads_out) {
    const std::uint64_t element = FormatBytes(product_.output);
    const std::uint64_t elements = Groups() * product_.rows() * OutChannels();
    if (reversed() || variant_.flattened_out || variant_.combined_groups > 1 || pads_out) {
      output_ = Rearranged(elements, product_.out_channels, element, element);
      output_.cycles += CeilDivide(output_.bytes, ExchangeRate());
    } else if (!product_.matrix && vertex_.out_grain != ConvInputGroup(target_, vertex_.format)) {
      // The next product wants its channels in other groups.
      output_ = Rearranged(elements, product_.out_channels, element, element * vertex_.out_grain);
    }
  }

  /// Zeros that fill up rows of the kernel for vertices that take several at once.
  void EstimatePadding() {
    if (vertex_.filter_height == 1) return;
    const TileProduct& tile = part_.tile;
    const std::uint64_t rows =
        CeilDivide(tile.kernel_rows, vertex_.filter_height) * vertex_.filter_height -
        tile.kernel_rows;
    const std::uint64_t weights = part_.weights / tile.kernel_rows * rows;
    const std::uint64_t inputs = tile.group_grains * vertex_.group_grain * part_.images *
                                 tile.in_grains * vertex_.in_grain * part_.width * rows *
                                 product_.dilation_height;
    padding_ = weights + inputs;
    padding_cycles_ =
        CeilDivide(weights * element_, ExchangeRate()) + CeilDivide(inputs * element_, InputRate());
  }

  /// poplin takes partials that a vertex zeroes for float ones: of half ones only half as many fit
  /// into a vector as really do.
  std::uint64_t ZeroingCycles() const {
    const bool zeroes =
        vertex_.kind == ProductVertexKind::kSpatialAmp || vertex_.kind == ProductVertexKind::kHmac;
    if (!zeroes || vertex_.format.has_float_partials()) return 0;
    const TileProduct& tile = part_.tile;
    const std::uint64_t workers = target_.worker_threads;
    const std::uint64_t elements =
        CeilDivide(tile.rows * tile.row_width * vertex_.out_grain, workers);
    const std::uint64_t more =
        CeilDivide(elements, VectorElements(target_, NumberFormat::kFloat32)) -
        CeilDivide(elements, VectorElements(target_, NumberFormat::kFloat16));
    return workers * tile.group_grains * tile.out_grains * more;
  }

  /// Partials, and the buffer of SLIC: those of a grain of groups, and what it writes beyond them.
  std::uint64_t PartialBytes() const {
    const std::uint64_t bytes = part_.partials * partial_bytes_;
    if (vertex_.kind != ProductVertexKind::kSlic) return bytes;
    constexpr std::uint64_t kBytesBeyond = 200;  // as poplin counts them
    return bytes + CeilDivide(bytes, part_.tile.group_grains) + kBytesBeyond;
  }

  /// Section 2.5; later stages have an exchange of their own.
  std::uint64_t ReduceCycles() const {
    if (depth() == 1) return DirectCastCycles();
    std::uint64_t received = part_.partials;
    std::uint64_t outputs = CeilDivide(part_.partials, depth()) * depth();
    std::uint64_t remaining = depth();
    std::uint64_t cycles = 0;
    for (const std::uint64_t step : PlanReduction(depth(), options_.enable_multi_stage_reduce)) {
      if (remaining < depth()) cycles += CeilDivide(received * partial_bytes_, ExchangeRate());
      received = CeilDivide(received, step);
      outputs = CeilDivide(outputs, step);
      remaining = CeilDivide(remaining, step);
      cycles += StageCycles(step, outputs, remaining == 1);
    }
    return cycles;
  }

  std::uint64_t StageCycles(std::uint64_t step, std::uint64_t outputs, bool last) const {
    const bool float_partials = vertex_.format.has_float_partials();
    const std::uint64_t vector =
        float_partials ? target_.accumulators_fp32 : target_.accumulators_fp16;
    // One vertex adds neighbouring partials when they are not too many to lie together.
    const std::uint64_t together = (step - 1) * outputs * partial_bytes_;
    const bool lie_together =
        options_.enable_fast_reduce ||
        CeilDivide(together, target_.memory_element_bytes) * target_.memory_element_bytes <
            target_.sram_bytes_per_tile / 16;
    return PartialsReductionVertexCycles(
        target_,
        {.depth = step,
         .outputs = outputs,
         .float_partials = float_partials,
         .float_outputs = last ? product_.output == NumberFormat::kFloat32 : float_partials,
         .single_input = outputs % vector == 0 && lie_together,
         .fast_reduce = options_.enable_fast_reduce});
  }

  std::uint64_t DirectCastCycles() const {
    if (splits_.in_serial > 1) return 0;
    return CastVertexCycles(target_, vertex_.format.partials(), product_.output, part_.partials);
  }

  /// Of the weights of a matrix product that is serial: its share of them on each tile, which
  /// poplin puts in order before it takes slices of them, an element a cycle.
  std::uint64_t SlicedBytes() const {
    if (!product_.matrix || splits_.serial() == 1) return 0;
    const std::uint64_t weights = Groups() * InChannels() * OutChannels();
    return CeilDivide(weights, splits_.tiles()) * element_;
  }

  /// Of a serial step: taking its weights, writing or adding its results.
  std::uint64_t SliceCycles() const {
    if (splits_.serial() == 1) return 0;
    const std::uint64_t outputs = CeilDivide(part_.partials, depth());
    std::uint64_t cycles = DynamicSliceVertexCycles(target_, product_.input, 1,
                                                    CeilDivide(part_.weights, splits_.field()));
    if (splits_.out_serial > 1) {
      cycles += DynamicSliceVertexCycles(target_, product_.output, 1, outputs);
    }
    if (splits_.in_serial > 1) {
      cycles += DynamicSliceVertexCycles(target_, product_.input, 1,
                                         CeilDivide(part_.inputs, splits_.out));
      cycles += ElementwiseVertexCycles(target_, {.op = ElementwiseOp::kAdd,
                                                  .format = vertex_.format.partials(),
                                                  .elements = outputs,
                                                  .in_place = true});
    }
    return cycles;
  }

  /// Behind the last serial step.
  std::uint64_t CastCycles() const {
    if (splits_.in_serial == 1) return 0;
    return CastVertexCycles(target_, vertex_.format.partials(), product_.output,
                            CeilDivide(part_.partials, depth()));
  }

  const std::uint64_t partial_bytes_ = FormatBytes(vertex_.format.partials());
  const std::uint64_t element_ = FormatBytes(product_.input);
  std::uint64_t input_exchange_ = 0;
  std::uint64_t weight_exchange_ = 0;
  std::uint64_t partial_exchange_ = 0;
  Transform input_;
  Transform weight_;
  Transform output_;
  std::uint64_t padding_ = 0;  ///< elements
  std::uint64_t padding_cycles_ = 0;
};

}  // namespace

std::optional<ProductEstimate> EstimateProduct(const Target& target, const PlanOptions& options,
                                               const ProductVariant& variant,
                                               const ProductVertex& vertex,
                                               const ProductSplits& splits,
                                               std::uint64_t memory_limit,
                                               std::uint64_t cycle_limit) {
  const Estimator estimator({target, options, variant, vertex, splits});
  const std::uint64_t bytes = estimator.TemporaryBytes();
  if (bytes > memory_limit || estimator.Bound() >= cycle_limit) return std::nullopt;
  const std::uint64_t cycles = estimator.Cycles();
  if (cycles >= cycle_limit) return std::nullopt;
  return ProductEstimate{cycles, bytes};
}

}  // namespace poprt::ipu
