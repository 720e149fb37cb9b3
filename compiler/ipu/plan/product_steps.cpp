#include "compiler/ipu/plan/product_steps.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/elementwise_codelet.hpp"
#include "compiler/ipu/plan/product_part.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"
#include "compiler/ipu/plan/received_operand.hpp"

namespace poprt::ipu {
namespace {

VertexState StateOf(ProductVertexKind kind) {
  switch (kind) {
    case ProductVertexKind::kAmp:
      return VertexState::kAmp;
    case ProductVertexKind::kSpatialAmp:
      return VertexState::kSpatialAmp;
    case ProductVertexKind::kSlic:
      return VertexState::kSlic;
    case ProductVertexKind::kVmac:
      return VertexState::kVerticalMac;
    case ProductVertexKind::kHmac:
      return VertexState::kHorizontalMac;
    case ProductVertexKind::kOuterProduct:
      return VertexState::kOuterProduct;
  }
  return VertexState::kFourWords;
}

/// Adds the steps of one planned product.
class ProductSteps {
 public:
  ProductSteps(StepBuilder& steps, const Product& original, const ProductPlan& plan)
      : steps_(steps), original_(original), plan_(plan), cost_(plan.cost), splits_(plan.splits) {
    const auto used = static_cast<std::uint32_t>(splits_.tiles());
    tiles_ = {steps.tiles().first, std::min(used, steps.tiles().count)};
  }

  PlannedProduct Add(const ProductOperand& input, const ProductOperand& weights,
                     const ProductResult& result) {
    PlannedProduct planned{
        .result = {.type = result.type, .layout = ResultLayout(result), .overwrite = true},
        .input = Wanted(input, true),
        .weights = Wanted(weights, false),
        .grid = plan_.Grid()};
    const std::uint64_t held = steps_.held();
    const bool expands = cost_.expand_bytes > 0;
    const bool swapped = plan_.variant.swapped;
    Placed left = expands ? input.tensor : Regroup("input", input, planned.input);
    Placed right = Regroup("weights", weights, planned.weights);
    if (!expands) {
      const std::uint64_t users = splits_.input_users();
      left = Gathered("input", left, planned.input, swapped ? splits_.field() : users);
      right = Gathered("weights", right, planned.weights, swapped ? users : splits_.field());
    }
    steps_.Hold(cost_.temporary_bytes);
    Expand(input);
    const bool left_local = left.constant || expands || SamePlace(left.layout, planned.input);
    const bool right_local = right.constant || SamePlace(right.layout, planned.weights);
    if (swapped) {
      Multiply(ReceivedInput(plan_, right, right_local), ReceivedWeights(plan_, left, left_local));
    } else {
      Multiply(ReceivedInput(plan_, left, left_local), ReceivedWeights(plan_, right, right_local));
    }
    steps_.Release(steps_.held() - held);
    return planned;
  }

 private:
  /// Brings an operand together in the channel groups of the vertex, unless it has such already.
  /// Groups that are combined have one channel each, which poplin takes for none.
  Placed Regroup(const std::string& name, const ProductOperand& operand, const Layout& wanted) {
    const std::uint64_t element = ElementBytes(operand.tensor.type.element);
    const std::uint64_t atom = CommonAtom(operand.tensor.layout, wanted) * element;
    const bool combined = plan_.variant.combined_groups > 1;
    const bool grouped = atom >= steps_.target().vector_bytes && !combined;
    if (operand.tensor.constant || grouped) return operand.tensor;
    return Rearrange(steps_, name, operand.tensor, wanted);
  }

  Layout Wanted(const ProductOperand& operand, bool input) const {
    const bool first = input != plan_.variant.swapped;
    const std::uint64_t groups = GroupsOf(operand.channels, original_.in_channels);
    const std::uint64_t rows = splits_.groups / groups * splits_.field();
    const std::uint64_t columns = splits_.groups / groups * splits_.input_users();
    return GridLayout(steps_.tiles(), operand.tensor.type,
                      {.stride = operand.channel_stride,
                       .extent = operand.channels,
                       .group = std::max(plan_.vertex.in_grain, plan_.vertex.group_grain),
                       .parts = splits_.in * groups,
                       .others = first ? rows : columns,
                       .copies = first ? splits_.input_users() : WeightCopies()});
  }

  /// Parts into which the groups cut an axis of channels: those of a convolution are on it, those
  /// of matrix products are not.
  std::uint64_t GroupsOf(std::uint64_t channels, std::uint64_t channels_of_group) const {
    return channels > channels_of_group ? splits_.groups : 1;
  }

  /// Tiles among which the weights of a cell are divided: as many as have the same field.
  std::uint64_t WeightCopies() const {
    return std::clamp<std::uint64_t>(
        cost_.weight_bytes * splits_.serial() / plan_.vertex.panel_bytes(), 1, splits_.field());
  }

  /// What more tiles need than take it as a view is put where the plan has it first.
  Placed Gathered(const std::string& name, const Placed& operand, const Layout& wanted,
                  std::uint64_t users) {
    const bool moves =
        users > kViewTiles && !operand.constant && !SamePlace(operand.layout, wanted);
    if (!moves) return operand;
    Placed moved = Move(steps_, name, operand, wanted);
    const std::uint64_t own = CeilDivide(wanted.mapping.bytes_per_tile, users);
    steps_.Copy("copy own " + name, tiles_, own, own);  // what lies there already isn't exchanged
    return moved;
  }

  /// Windows of the activations as channels. Channels that stand together, and windows that do not
  /// overlap, are received where they belong; else what of a kernel stands together is put in place
  /// at once.
  void Expand(const ProductOperand& operand) {
    if (cost_.expand_bytes == 0) return;
    const std::uint64_t element = FormatBytes(product().input);
    const std::uint64_t channels = ChannelsTogether(operand);
    const std::uint64_t pieces = ExpandedPieces(operand, channels);
    steps_.Exchange("exchange expanded input", tiles_,
                    {.bytes_received = cost_.expand_bytes,
                     .bytes_sent = cost_.expand_bytes,
                     .sends = pieces,
                     .receives = pieces});
    const bool overlaps = original_.kernel_height > original_.stride_height ||
                          original_.kernel_width > original_.stride_width;
    if (!overlaps && channels * element >= steps_.target().vector_bytes) return;
    steps_.CopyPieces("expand kernel into channels", tiles_, cost_.expand_bytes,
                      KernelTogether() * element, cost_.expand_copy_cycles);
  }

  void Multiply(const ReceivedOperand& input, const ReceivedOperand& weights) {
    const bool once = splits_.in_serial == 1 && splits_.out_serial > 1;
    if (once) BroadcastOperands("broadcast inputs", input, {});
    const RepeatScope outer(steps_, splits_.out_serial);
    {
      const RepeatScope inner(steps_, splits_.in_serial);
      AddSet("dynamic slice", "popops::DynamicSlice1d", cost_.slice_cycles);
      SpreadWeights();
      BroadcastOperands("broadcast operands", once ? ReceivedOperand{} : input, weights);
      Calculate();
      Reduce();
    }
    if (splits_.in_serial > 1) {
      const RepeatScope further(steps_, splits_.in_serial - 1);
      AddSet("add in place", "popops::ScaledAddSupervisor", cost_.add_cycles);
    }
    AddSet("cast", CastCodelet(plan_.vertex.format.partials(), product().output),
           cost_.cast_cycles);
    AddSet("dynamic update", "popops::DynamicUpdateSlice", cost_.update_cycles);
  }

  Layout ResultLayout(const ProductResult& result) const {
    return plan_.variant.swapped ? SwappedLayout(result) : PlainLayout(result);
  }

  Layout PlainLayout(const ProductResult& result) const {
    const std::uint64_t groups = GroupsOf(result.channels, original_.out_channels);
    return GridLayout(steps_.tiles(), result.type,
                      {.stride = result.channel_stride,
                       .extent = result.channels,
                       .group = std::max(plan_.vertex.out_grain, plan_.vertex.group_grain),
                       .parts = groups * splits_.out,
                       .others = splits_.groups / groups * splits_.field(),
                       .copies = splits_.partials(),
                       .runs_together = ResultRuns()});
  }

  /// Rows of a matrix, positions of a field are in groups.
  Layout SwappedLayout(const ProductResult& result) const {
    const bool has_whole_rows = product().kernel_width > 1;
    std::uint64_t stride = has_whole_rows ? original_.width : 1;
    if (original_.matrix) stride = result.channels * result.channel_stride;
    return GridLayout(steps_.tiles(), result.type,
                      {.stride = stride,
                       .extent = product().out_channels,
                       .group = plan_.vertex.out_grain,
                       .parts = splits_.out,
                       .others = splits_.groups * splits_.field(),
                       .copies = splits_.partials(),
                       .runs_together = ResultRuns()});
  }

  void AddSet(const std::string& name, const std::string& vertex, std::uint64_t cycles) {
    if (cycles == 0) return;
    const std::uint64_t launch = LaunchCycles(steps_.target(), ComputeSetKind::kOther);
    steps_.Compute({.name = name,
                    .vertex = vertex,
                    .tiles = tiles_,
                    .vertex_cycles = cycles - std::min(launch, cycles)});
  }

  /// Weights of combined groups have zeros between them: the tiles that share them put them in
  /// order.
  void SpreadWeights() {
    steps_.CopyPieces("spread weights", tiles_, cost_.spread_bytes, FormatBytes(product().input),
                      cost_.spread_cycles);
  }

  /// Both operands in one phase: the inputs over a bus that two tiles share, where they can. There
  /// two tiles send equal pieces at once (section 1.4), and the source is switched half as often.
  void BroadcastOperands(const std::string& name, const ReceivedOperand& input,
                         const ReceivedOperand& weights) {
    const Target& target = steps_.target();
    const std::uint64_t input_cycles = CeilDivide(input.bytes, InputExchangeRate(target, splits_));
    const std::uint64_t equivalent = input_cycles * target.exchange_bytes_per_cycle + weights.bytes;
    const std::uint64_t at_once = splits_.shares_inputs() && input.spread ? 2 : 1;
    const std::uint64_t pieces = CeilDivide(input.pieces, at_once) + weights.pieces;
    steps_.MixedExchange(
        name, tiles_,
        {.bytes_received = equivalent,
         .bytes_sent = CeilDivide(input.bytes, splits_.input_users()) +
                       CeilDivide(weights.bytes, splits_.field()),
         .sends = CeilDivide(input.pieces, input.users) + CeilDivide(weights.pieces, weights.users),
         .receives = pieces,
         .weights = (input.constant && input.bytes > 0) || (weights.constant && weights.bytes > 0)},
        input.bytes + weights.bytes);
  }

  /// Of the operand, as far as a tile needs them; 0 when neighbours are not channels.
  std::uint64_t ChannelsTogether(const ProductOperand& operand) const {
    if (operand.tensor.layout.stride != operand.channel_stride) return 0;
    const std::uint64_t channels = CeilDivide(original_.groups, splits_.groups) *
                                   CeilDivide(original_.in_channels, splits_.in);
    return std::min(channels, std::max<std::uint64_t>(operand.tensor.layout.run, 1));
  }

  /// Positions of the kernel that are neighbours once it became channels.
  std::uint64_t KernelTogether() const {
    if (original_.dilation_width > 1) return 1;
    return plan_.variant.swapped ? product().kernel_height * product().kernel_width
                                 : original_.kernel_width;
  }

  /// Pieces in which a tile receives its share of the activations that are read.
  std::uint64_t ExpandedPieces(const ProductOperand& operand, std::uint64_t channels) const {
    const std::uint64_t rows =
        std::min(InputRows(original_, original_.height, original_.kernel_height),
                 original_.height * original_.kernel_height);
    const std::uint64_t columns = std::min(InputColumns(original_, original_.width),
                                           original_.width * original_.kernel_width);
    const std::uint64_t elements =
        CeilDivide(original_.groups * original_.in_channels * original_.batch * rows * columns,
                   splits_.tiles());
    const std::uint64_t neighbours = std::min(operand.tensor.layout.run, columns);
    return CeilDivide(elements, std::max<std::uint64_t>(channels > 0 ? channels : neighbours, 1));
  }

  /// Positions of the result that a tile has side by side; 0 for all of them.
  std::uint64_t ResultRuns() const {
    const Product& p = product();
    if (splits_.width > 1) return CeilDivide(p.width, splits_.width);
    if (splits_.height > 1) return CeilDivide(p.height, splits_.height) * p.width;
    return splits_.batch == 1 ? 0 : CeilDivide(p.batch, splits_.batch) * p.height * p.width;
  }

  const Product& product() const { return plan_.variant.product; }

  /// The spatial vertex has a list for every worker and position of its kernel, each with a word
  /// that says where it is.
  std::uint64_t WorklistBytes() const {
    if (plan_.vertex.kind != ProductVertexKind::kSpatialAmp) return 0;
    const std::uint64_t rows =
        CeilDivide(CeilDivide(product().kernel_height, splits_.kernel), plan_.vertex.filter_height);
    return rows * product().kernel_width * steps_.target().worker_threads * kListBytes;
  }

  void Calculate() {
    const std::uint64_t launch = LaunchCycles(steps_.target(), plan_.vertex.set_kind());
    steps_.Compute(
        {.name = "calculate",
         .vertex = Codelet(plan_.vertex),
         .tiles = tiles_,
         .vertex_cycles = cost_.calculate_cycles - std::min(launch, cost_.calculate_cycles),
         .kind = plan_.vertex.set_kind(),
         .state = StateOf(plan_.vertex.kind),
         .list_bytes = WorklistBytes(),
         .edges = 3,
         .supervisor = plan_.vertex.kind != ProductVertexKind::kOuterProduct});
  }

  void Reduce() {
    for (const ReduceStage& stage : cost_.reduce) {
      const std::uint64_t others = std::max<std::uint64_t>(stage.depth, 2) - 1;
      steps_.Exchange("exchange partials", tiles_,
                      {.bytes_received = stage.bytes,
                       .bytes_sent = stage.bytes,
                       .sends = others,
                       .receives = others});
      AddSet("reduce", "poplin::ReduceAdd", stage.cycles);
    }
  }

  static constexpr std::uint64_t kListBytes = 4;

  StepBuilder& steps_;
  const Product& original_;  ///< as the operator has it
  const ProductPlan& plan_;
  const ProductCost& cost_;
  const ProductSplits& splits_;
  TileRange tiles_;
};

/// Products of nothing are planned like those of one element.
Product AtLeastOne(Product product) {
  for (std::uint64_t* extent : {&product.groups, &product.batch, &product.height, &product.width,
                                &product.in_channels, &product.out_channels}) {
    *extent = std::max<std::uint64_t>(*extent, 1);
  }
  return product;
}

}  // namespace

PlannedProduct AddProduct(StepBuilder& steps, const Product& product, const ProductOperand& input,
                          const ProductOperand& weights, const ProductResult& result) {
  const Product wanted = AtLeastOne(product);
  const ProductPlan& plan = steps.planner().Plan(wanted);
  if (plan.relaxed) {
    steps.Note("no plan of a product " + plan.Grid() + " has temporaries of at most " +
               std::to_string(plan.memory_limit) +
               " bytes on a tile (available_memory_proportion); it takes " +
               std::to_string(plan.estimate.temporary_bytes));
  }
  return ProductSteps(steps, wanted, plan).Add(input, weights, result);
}

}  // namespace poprt::ipu
