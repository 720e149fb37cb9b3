#include "compiler/ipu/plan/product_steps.hpp"

#include <algorithm>

#include "compiler/ipu/cost/ceil_divide.hpp"
#include "compiler/ipu/plan/elementwise_codelet.hpp"
#include "compiler/ipu/plan/rearrangement.hpp"

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
    const std::uint64_t columns = splits_.groups / groups * splits_.out * splits_.kernel;
    return GridLayout(steps_.tiles(), operand.tensor.type,
                      {.stride = operand.channel_stride,
                       .extent = operand.channels,
                       .group = std::max(plan_.vertex.in_grain, plan_.vertex.group_grain),
                       .parts = splits_.in * groups,
                       .others = first ? rows : columns,
                       .copies = first ? InputUsers() : WeightCopies()});
  }

  /// Parts into which the groups cut an axis of channels: those of a convolution are on it, those
  /// of matrix products are not.
  std::uint64_t GroupsOf(std::uint64_t channels, std::uint64_t channels_of_group) const {
    return channels > channels_of_group ? splits_.groups : 1;
  }

  /// Tiles that need the same inputs.
  std::uint64_t InputUsers() const { return splits_.out * splits_.kernel; }
  std::uint64_t WeightUsers() const { return splits_.field(); }

  /// Tiles among which the weights of a cell are divided: as many as have the same field.
  std::uint64_t WeightCopies() const {
    return std::clamp<std::uint64_t>(cost_.weight_bytes * splits_.serial() / PanelBytes(), 1,
                                     splits_.field());
  }

  /// What more tiles need than take it as a view is put where the plan has it first.
  Placed Gathered(const std::string& name, const Placed& operand, const Layout& wanted,
                  std::uint64_t users) {
    const bool moves =
        users > kViewTiles && !operand.constant && !SamePlace(operand.layout, wanted);
    if (!moves) return operand;
    const Placed moved = Move(steps_, name, operand, wanted);
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

  /// An operand as its tiles receive it.
  struct Received {
    std::uint64_t bytes = 0;
    std::uint64_t pieces = 0;  ///< in which they come
    std::uint64_t users = 1;   ///< tiles that need the same
    bool spread = true;        ///< over these tiles, in equal pieces
    bool constant = false;
  };

  /// `local`: the operand lies where the plan has it, so that a part of what a tile needs is there.
  Received Input(const Placed& operand, bool local) const {
    Received input{.bytes = local ? cost_.input_received : cost_.input_bytes,
                   .users = InputUsers(),
                   .constant = operand.constant};
    input.spread = local || operand.constant;
    input.pieces = input.spread
                       ? Parts(input.bytes, InputUsers() - (local ? 1U : 0U), kLeastPieceBytes)
                       : Pieces(operand, InputField());
    return input;
  }
  Received Weights(const Placed& operand, bool local) const {
    Received weights{.bytes = local ? cost_.weight_received : cost_.weight_bytes,
                     .users = splits_.field(),
                     .constant = operand.constant};
    weights.pieces =
        local || operand.constant
            ? Parts(weights.bytes, splits_.field() - (local ? 1U : 0U), PanelBytes())
            : Pieces(operand,
                     {1, CeilDivide(product().out_channels, splits_.out * splits_.out_serial)});
    return weights;
  }

  void Multiply(const Received& input, const Received& weights) {
    const bool once = splits_.in_serial == 1 && splits_.out_serial > 1;
    if (once) BroadcastOperands("broadcast inputs", input, {});
    {
      const RepeatScope outer(steps_, splits_.out_serial);
      {
        const RepeatScope inner(steps_, splits_.in_serial);
        Slice();
        SpreadWeights();
        BroadcastOperands("broadcast operands", once ? Received{} : input, weights);
        Calculate();
        Reduce();
      }
      if (splits_.in_serial > 1) {
        const RepeatScope further(steps_, splits_.in_serial - 1);
        AddSet("add in place", "popops::ScaledAddSupervisor", cost_.add_cycles);
      }
      AddSet("cast", CastCodelet(plan_.vertex.format.partials(), plan_.variant.product.output),
             cost_.cast_cycles);
      AddSet("dynamic update", "popops::DynamicUpdateSlice", cost_.update_cycles);
    }
  }

  Layout ResultLayout(const ProductResult& result) const {
    return plan_.variant.swapped ? SwappedLayout(result) : PlainLayout(result);
  }

 private:
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

  void Slice() {
    if (cost_.slice_cycles == 0) return;
    AddSet("dynamic slice", "popops::DynamicSlice1d", cost_.slice_cycles);
  }

  /// Weights of combined groups have zeros between them: the tiles that share them put them in
  /// order.
  void SpreadWeights() {
    steps_.CopyPieces("spread weights", tiles_, cost_.spread_bytes, FormatBytes(product().input),
                      cost_.spread_cycles);
  }

  /// Both operands in one phase: the inputs over a bus that two tiles share, where they can. There
  /// two tiles send equal pieces at once (section 1.4), and the source is switched half as often.
  void BroadcastOperands(const std::string& name, const Received& input, const Received& weights) {
    const Target& target = steps_.target();
    const bool shared = splits_.out % 2 == 0;
    const std::uint64_t plain = target.exchange_bytes_per_cycle;
    const std::uint64_t rate = shared ? target.shared_exchange_bytes_per_cycle : plain;
    const std::uint64_t equivalent = CeilDivide(input.bytes, rate) * plain + weights.bytes;
    const std::uint64_t pieces =
        CeilDivide(input.pieces, shared && input.spread ? 2 : 1) + weights.pieces;
    steps_.MixedExchange(
        name, tiles_,
        {.bytes_received = equivalent,
         .bytes_sent =
             CeilDivide(input.bytes, InputUsers()) + CeilDivide(weights.bytes, splits_.field()),
         .sends = CeilDivide(input.pieces, input.users) + CeilDivide(weights.pieces, weights.users),
         .receives = pieces,
         .weights = (input.constant && input.bytes > 0) || (weights.constant && weights.bytes > 0)},
        input.bytes + weights.bytes);
  }

  /// Tiles from which so many bytes come, of which each sends one piece.
  static std::uint64_t Parts(std::uint64_t bytes, std::uint64_t sources, std::uint64_t piece) {
    if (bytes == 0) return 0;
    return std::clamp<std::uint64_t>(bytes / piece, 1, std::max<std::uint64_t>(sources, 1));
  }

  /// Positions that a tile needs of an operand.
  struct Field {
    std::uint64_t rows = 1;
    std::uint64_t positions = 1;  ///< of a row, neighbours in the operand
  };

  /// Of the inputs: rows of its window, one if it takes them whole.
  Field InputField() const {
    const Product& p = product();
    const std::uint64_t images = CeilDivide(p.batch, splits_.batch);
    const std::uint64_t height = InputRows(p, CeilDivide(p.height, splits_.height),
                                           CeilDivide(p.kernel_height, splits_.kernel));
    const std::uint64_t width = InputColumns(p, CeilDivide(p.width, splits_.width));
    if (splits_.width > 1) return {images * height, width};
    if (splits_.height * splits_.kernel > 1) return {images, height * width};
    return {1, images * height * width};
  }

  /// Pieces in which a tile receives its part of an operand that lies elsewhere: what is in one
  /// region of a tile comes at once. A row begins anywhere in a region.
  std::uint64_t Pieces(const Placed& operand, const Field& field) const {
    const Product& p = product();
    const std::uint64_t channels = CeilDivide(p.groups, splits_.groups) *
                                   CeilDivide(p.in_channels, splits_.in * splits_.in_serial);
    const std::uint64_t run = std::max<std::uint64_t>(operand.layout.run, 1);
    // Nothing puts parts of runs together before they are sent.
    if (channels < run) return field.rows * field.positions;
    std::uint64_t region = operand.layout.runs_together;
    if (region == 0) {
      const std::uint64_t columns = CeilDivide(InnerExtent(operand.layout, operand.type.shape),
                                               std::max<std::uint64_t>(operand.layout.parts, 1));
      region = std::max<std::uint64_t>(CeilDivide(ElementsPerTile(operand), columns), 1);
    }
    // On average a row meets 1 + (positions - 1) / region of them.
    const std::uint64_t rows = CeilDivide(channels, run) * field.rows;
    return rows + CeilDivide(rows * (field.positions - 1), region);
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

  /// Weights are kept in panels of the vertex.
  std::uint64_t PanelBytes() const {
    return plan_.vertex.in_grain * plan_.vertex.out_grain *
           FormatBytes(plan_.variant.product.input);
  }

  /// The spatial vertex has a list for every worker and position of its kernel, each with a word
  /// that says where it is.
  std::uint64_t WorklistBytes() const {
    if (plan_.vertex.kind != ProductVertexKind::kSpatialAmp) return 0;
    const std::uint64_t rows =
        CeilDivide(CeilDivide(product().kernel_height, splits_.kernel), plan_.vertex.filter_height);
    return rows * product().kernel_width * steps_.target().worker_threads * kListBytes;
  }

  void Calculate() {
    const bool amp = plan_.vertex.kind == ProductVertexKind::kAmp ||
                     plan_.vertex.kind == ProductVertexKind::kSpatialAmp;
    const ComputeSetKind kind = amp ? ComputeSetKind::kAmp : ComputeSetKind::kOther;
    const std::uint64_t launch = LaunchCycles(steps_.target(), kind);
    steps_.Compute(
        {.name = "calculate",
         .vertex = Codelet(plan_.vertex),
         .tiles = tiles_,
         .vertex_cycles = cost_.calculate_cycles - std::min(launch, cost_.calculate_cycles),
         .kind = kind,
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

  static constexpr std::uint64_t kLeastPieceBytes = 64;
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
               " bytes on a tile (available_memory_proportion)" + "; it takes " +
               std::to_string(plan.estimate.temporary_bytes));
  }
  ProductSteps product_steps(steps, wanted, plan);
  PlannedProduct planned;
  planned.grid = plan.Grid();
  planned.input = product_steps.Wanted(input, true);
  planned.weights = product_steps.Wanted(weights, false);
  const std::uint64_t held = steps.held();
  const bool expands = plan.cost.expand_bytes > 0;
  const bool swapped = plan.variant.swapped;
  const std::uint64_t field = product_steps.WeightUsers();
  const std::uint64_t inputs = product_steps.InputUsers();
  Placed left = expands ? input.tensor : product_steps.Regroup("input", input, planned.input);
  Placed right = product_steps.Regroup("weights", weights, planned.weights);
  if (!expands) {
    left = product_steps.Gathered("input", left, planned.input, swapped ? field : inputs);
    right = product_steps.Gathered("weights", right, planned.weights, swapped ? inputs : field);
  }
  steps.Hold(plan.cost.temporary_bytes);
  product_steps.Expand(input);
  const bool left_local = left.constant || expands || SamePlace(left.layout, planned.input);
  const bool right_local = right.constant || SamePlace(right.layout, planned.weights);
  if (swapped) {
    product_steps.Multiply(product_steps.Input(right, right_local),
                           product_steps.Weights(left, left_local));
  } else {
    product_steps.Multiply(product_steps.Input(left, left_local),
                           product_steps.Weights(right, right_local));
  }
  steps.Release(steps.held() - held);
  planned.result = {result.type, product_steps.ResultLayout(result), false, true};
  return planned;
}

}  // namespace poprt::ipu
