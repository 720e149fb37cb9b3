#include "compiler/ipu/plan/product_cost.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/cost/copy.hpp"
#include "compiler/ipu/cost/elementwise_vertex.hpp"
#include "compiler/ipu/cost/exchange.hpp"
#include "compiler/ipu/cost/launch.hpp"
#include "compiler/ipu/cost/partials_reduction.hpp"
#include "compiler/ipu/cost/slice_vertex.hpp"
#include "compiler/ipu/plan/product_part.hpp"
#include "compiler/ipu/plan/transform_cost.hpp"

namespace poprt::ipu {
namespace {

/// Prices one way to divide one product.
class Pricer : DividedProduct {
 public:
  explicit Pricer(const DividedProduct& product) : DividedProduct(product) { SizeOperands(); }

  ProductCost Price() {
    cost_.temporary_bytes = TemporaryBytes();
    cost_.calculate_cycles =
        ComputeSetCycles(target_, vertex_.set_kind(),
                         ProductVertexCycles(target_, options_, product_, vertex_, part_.tile));
    PriceReduction();
    PriceSerialSteps();
    PriceTransforms();
    cost_.total = Total();
    return cost_;
  }

 private:
  /// Temporaries of a tile (section 2.6): what it receives, and partials that are no output.
  std::uint64_t TemporaryBytes() const {
    std::uint64_t bytes = cost_.partial_bytes;
    const bool partials_are_output =
        depth() == 1 && splits_.in_serial == 1 && vertex_.format.partials() == product_.output;
    if (partials_are_output) bytes = 0;
    if (cost_.input_received > 0 || cost_.expand_bytes > 0) bytes += cost_.input_bytes;
    if (cost_.weight_received > 0 || splits_.serial() > 1) bytes += cost_.weight_bytes;
    return std::max(bytes, 2 * cost_.expand_bytes);
  }

  /// How often inputs are received: they stay when only output channels are serial.
  std::uint64_t InputTimes() const { return splits_.in_serial > 1 ? splits_.serial() : 1; }

  void SizeOperands() {
    const std::uint64_t element = FormatBytes(product_.input);
    cost_.input_bytes = part_.inputs * element;
    cost_.weight_bytes = part_.weights * element;
    cost_.partial_bytes = part_.partials * FormatBytes(vertex_.format.partials());
    cost_.input_received = cost_.input_bytes - OwnInputBytes() / splits_.input_users();
    cost_.weight_received = cost_.weight_bytes - cost_.weight_bytes / splits_.field();
    cost_.input_cycles = CeilDivide(cost_.input_received, InputExchangeRate(target_, splits_));
    cost_.weight_cycles = CeilDivide(cost_.weight_received, target_.exchange_bytes_per_cycle);
    SizeTransforms();
  }

  /// Inputs of the tile that are not of its neighbours' windows first: only they can be local.
  std::uint64_t OwnInputBytes() const {
    if (splits_.field() == 1) return cost_.input_bytes;
    const TileProduct& tile = part_.tile;
    const std::uint64_t positions =
        tile.rows * tile.row_width * product_.stride_height * product_.stride_width;
    const std::uint64_t channels =
        tile.group_grains * vertex_.group_grain * tile.in_grains * vertex_.in_grain;
    return std::min(cost_.input_bytes, positions * channels * FormatBytes(product_.input));
  }

  void SizeTransforms() {
    cost_.expand_bytes =
        CeilDivide(variant_.ExpandedElements() * FormatBytes(product_.input), splits_.tiles());
    if (variant_.combined_groups > 1) {
      const std::uint64_t weights = part_.tile.group_grains * vertex_.group_grain *
                                    part_.tile.kernel_rows * product_.kernel_width *
                                    product_.in_channels * product_.out_channels /
                                    variant_.combined_groups;
      cost_.spread_bytes = CeilDivide(weights, splits_.out * splits_.in * splits_.field()) *
                           FormatBytes(product_.input);
    }
  }

  /// Section 2.5, one exchange and one compute set a stage.
  void PriceReduction() {
    const std::uint64_t element = FormatBytes(vertex_.format.partials());
    const std::uint64_t vector =
        vertex_.format.has_float_partials() ? target_.accumulators_fp32 : target_.accumulators_fp16;
    const bool accumulates = splits_.in_serial > 1;
    const ReductionStages stages = PlanReduction(depth(), options_.enable_multi_stage_reduce);
    std::uint64_t elements = part_.partials;  // of a tile, before the stage
    std::uint64_t remaining = depth();
    for (const std::uint64_t step : stages) {
      remaining = CeilDivide(remaining, step);
      const bool last = remaining == 1;
      const std::uint64_t outputs = CeilDivide(CeilDivide(elements, step), vector) * vector;
      const std::uint64_t cycles = PartialsReductionVertexCycles(
          target_,
          {.depth = step,
           .outputs = outputs,
           .float_partials = vertex_.format.has_float_partials(),
           .float_outputs = last && !accumulates ? product_.output == NumberFormat::kFloat32
                                                 : vertex_.format.has_float_partials(),
           .single_input = true,
           .fast_reduce = options_.enable_fast_reduce});
      ReduceStage priced;
      priced.depth = step;
      priced.bytes = elements * element;
      priced.exchange_cycles = ExchangeCycles(target_, {.bytes_received = priced.bytes,
                                                        .bytes_sent = priced.bytes,
                                                        .sends = step,
                                                        .receives = step});
      priced.cycles = ComputeSetCycles(target_, ComputeSetKind::kOther, cycles);
      cost_.reduce.push_back(priced);
      elements = outputs;
    }
    outputs_ = elements;
    if (accumulates || depth() == 1) PriceCast();
  }

  void PriceCast() {
    const std::uint64_t cycles =
        CastVertexCycles(target_, vertex_.format.partials(), product_.output, outputs_);
    if (cycles > 0) cost_.cast_cycles = ComputeSetCycles(target_, ComputeSetKind::kOther, cycles);
  }

  void PriceSerialSteps() {
    if (splits_.serial() == 1) return;
    cost_.slice_cycles =
        kRepeatIterationCycles +
        ComputeSetCycles(target_, ComputeSetKind::kOther,
                         DynamicSliceVertexCycles(target_, product_.input, 1,
                                                  CeilDivide(cost_.weight_bytes, splits_.field()) /
                                                      FormatBytes(product_.input)));
    if (splits_.out_serial > 1) {
      cost_.update_cycles =
          ComputeSetCycles(target_, ComputeSetKind::kOther,
                           DynamicSliceVertexCycles(target_, product_.output, 1, outputs_));
    }
    if (splits_.in_serial > 1) {
      cost_.add_cycles =
          ComputeSetCycles(target_, ComputeSetKind::kOther,
                           ElementwiseVertexCycles(target_, {.op = ElementwiseOp::kAdd,
                                                             .format = vertex_.format.partials(),
                                                             .elements = outputs_,
                                                             .in_place = true}));
    }
  }

  void PriceTransforms() {
    if (cost_.expand_bytes > 0) {
      cost_.expand_exchange_cycles = ExchangeCycles(
          target_, {.bytes_received = cost_.expand_bytes, .bytes_sent = cost_.expand_bytes});
      cost_.expand_copy_cycles = TransformCopyCycles(
          target_, cost_.expand_bytes, FormatBytes(product_.input), product_.in_channels);
    }
    cost_.spread_cycles = CopyCycles(target_, cost_.spread_bytes, FormatBytes(product_.input));
  }

  std::uint64_t Total() const {
    std::uint64_t step =
        cost_.weight_cycles + cost_.slice_cycles + cost_.spread_cycles + cost_.calculate_cycles;
    if (cost_.input_received + cost_.weight_received > 0) step += target_.exchange_phase_cycles;
    for (const ReduceStage& stage : cost_.reduce) step += stage.exchange_cycles + stage.cycles;
    if (splits_.in_serial == 1) step += cost_.cast_cycles;
    const std::uint64_t casts = splits_.in_serial > 1 ? splits_.out_serial * cost_.cast_cycles : 0;
    return splits_.serial() * step + InputTimes() * cost_.input_cycles + casts +
           splits_.out_serial * (cost_.update_cycles + (splits_.in_serial - 1) * cost_.add_cycles) +
           cost_.expand_exchange_cycles + cost_.expand_copy_cycles;
  }

  std::uint64_t outputs_ = 0;  ///< elements a tile has when they are added up
  ProductCost cost_;
};

}  // namespace

ProductCost PriceProduct(const Target& target, const PlanOptions& options,
                         const ProductVariant& variant, const ProductVertex& vertex,
                         const ProductSplits& splits) {
  return Pricer({target, options, variant, vertex, splits}).Price();
}

}  // namespace poprt::ipu
