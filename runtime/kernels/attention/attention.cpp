#include "runtime/kernels/attention/attention.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/kernels/attention/attention_operands.hpp"
#include "runtime/kernels/attention/split_attention.hpp"
#include "runtime/kernels/bind_best.hpp"
#include "runtime/kernels/block_sizes.hpp"
#include "runtime/kernels/ceil_div.hpp"
#include "runtime/kernels/even_split.hpp"
#include "runtime/kernels/families.hpp"
#include "runtime/kernels/packed/fetch_ahead.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/kernels/packed/row_tiles.hpp"
#include "runtime/kernels/rows/row_kernels.hpp"

namespace poprt::kernels {
namespace {

// Every worker packs keys and values of the heads of its tasks, so a task should have many query
// rows; heads are cut only for long sequences or where there are few of them.
constexpr std::int64_t kMostRowsOfTask = 256;
constexpr std::int64_t kFewestRowsOfTask = 48;
constexpr std::int64_t kTasks = 8;

// Scores and weights of a block stay in the first-level cache, or in the second for many keys.
constexpr std::int64_t kMostRowsOfBlock = 24;
constexpr std::int64_t kFloatsOfBlock = 1 << 15;

// How each block is cut for a matrix unit is looked at when the kernel is bound; more are absurd.
constexpr std::int64_t kMostSplitBlocks = 1 << 12;

// Keys and values of so few queries are read where they lie, for one query after the other: they
// stay in the second-level cache.
constexpr std::int64_t kMostThinQueries = 3;

std::int64_t LargestTask(const AttentionSizes& sizes) {
  const std::int64_t heads = sizes.batches * sizes.heads;
  if (heads >= kTasks) return kMostRowsOfTask;
  const std::int64_t tasks_of_head = (kTasks + heads - 1) / heads;
  const std::int64_t rows = (sizes.queries + tasks_of_head - 1) / tasks_of_head;
  return std::clamp(rows, kFewestRowsOfTask, kMostRowsOfTask);
}

std::int64_t LargestBlock(const AttentionSizes& sizes) {
  return std::clamp(kFloatsOfBlock / (2 * sizes.keys) / kTileRows * kTileRows, kTileRows,
                    kMostRowsOfBlock);
}

std::int64_t PanelsOf(std::int64_t columns) { return CeilDiv(columns, kPanel); }

/// Whose keys and values a worker has packed: where they begin in their operands. Heads may share
/// them.
struct Packed {
  std::int64_t keys;
  std::int64_t values;
};
constexpr std::int64_t kFloatsOfPacked = 16;

/// Floats of the scratch memory of a worker, one area behind the other; Packed comes first.
struct Areas {
  std::int64_t split;      ///< of a matrix unit, a multiple of 64 bytes
  std::int64_t keys;       ///< panels of 16 keys, [depth][16] each
  std::int64_t values;     ///< panels of 16 channels, [keys][16] each
  std::int64_t scores;     ///< of a block: tiles of 16 columns, [rows][16] each, or whole rows
  std::int64_t weights;    ///< of a block, [rows][keys]
  std::int64_t factors;    ///< of a block
  std::int64_t tiles;      ///< of results
  std::int64_t queries;    ///< of a block, widened from float16
  std::int64_t mask_rows;  ///< of a block, widened from float16

  std::int64_t total() const {
    return kFloatsOfPacked + split + keys + values + scores + weights + factors + tiles + queries +
           mask_rows;
  }
};

struct Attention {
  Attention(const AttentionOperands& checked, const Attributes& attributes, const InnerLoops& loops)
      : operands(checked),
        kernels(loops.gemm),
        rows(loops.rows),
        products(loops.gemv),
        is_thin(checked.sizes.queries <= kMostThinQueries && !checked.half),
        tasks(checked.sizes.queries, LargestTask(checked.sizes)),
        block_rows(LargestBlock(checked.sizes)) {
    Cut(attributes);
    PlanSplit(loops);
    const AttentionSizes& s = operands.sizes;
    const std::int64_t rows_at_once = RowsAtOnce();
    // Gathering writes 16 floats behind the last panel.
    areas = {.split = SplitFloats(),
             .keys = is_thin ? 0 : (PanelsOf(s.keys) * s.depth + 1) * kPanel,
             .values = is_thin ? 0 : (PanelsOf(s.value_depth) * s.keys + 1) * kPanel,
             .scores = rows_at_once *
                       (split.has_value() ? split->ScoreStride() : PanelsOf(s.keys) * kPanel),
             .weights = split.has_value() ? 0 : block_rows * s.keys,
             .factors = rows_at_once,
             .tiles = std::max(kTilePanels * kMostTileRows, PanelsOf(s.value_depth)) * kPanel,
             .queries = operands.half ? rows_at_once * s.depth : 0,
             .mask_rows = operands.half && operands.masked ? rows_at_once * s.keys : 0};
    scratch_bytes = FloatScratchBytes(areas.total());
  }

  // ---- Packing -------------------------------------------------------------------------------

  /// Columns [0, count) of `depth` rows into one panel.
  void Gather(const std::byte* base, std::int64_t size, std::int64_t offset,
              std::int64_t row_stride, std::int64_t depth, std::int64_t count, float* panel) const {
    const PanelSegment all{.offset = 0, .at = 0, .count = count};
    if (operands.half) {
      const auto* source = reinterpret_cast<const std::uint16_t*>(base);
      kernels.gather_f16(source + offset, row_stride, depth, &all, 1, 1, source + size, panel);
    } else {
      const auto* source = reinterpret_cast<const float*>(base);
      kernels.gather_f32(source + offset, row_stride, depth, &all, 1, 1, source + size, panel);
    }
  }

  void PackKeys(const std::byte* base, std::int64_t offset, float* panels) const {
    const AttentionSizes& s = operands.sizes;
    for (std::int64_t key = 0; key < s.keys; key += kPanel, panels += s.depth * kPanel) {
      const std::int64_t count = std::min(kPanel, s.keys - key);
      const std::int64_t first = offset + key * operands.k.row;
      if (operands.k.channel != 1) {
        Gather(base, operands.k_count, first, operands.k.channel, s.depth, count, panels);
      } else if (operands.half) {
        kernels.gather_transposed_f16(reinterpret_cast<const std::uint16_t*>(base) + first,
                                      operands.k.row, count, s.depth, panels);
      } else {
        kernels.gather_transposed_f32(reinterpret_cast<const float*>(base) + first, operands.k.row,
                                      count, s.depth, panels);
      }
    }
  }

  void PackValues(const std::byte* base, std::int64_t offset, float* panels) const {
    const AttentionSizes& s = operands.sizes;
    for (std::int64_t c = 0; c < s.value_depth; c += kPanel, panels += s.keys * kPanel) {
      Gather(base, operands.v_count, offset + c, operands.v.row, s.keys,
             std::min(kPanel, s.value_depth - c), panels);
    }
  }

  // ---- One block of query rows -----------------------------------------------------------------

  /// Rows of an operand as float32: where they lie, or widened into `area`.
  RowsView FloatRows(const std::byte* base, std::int64_t offset, std::int64_t stride,
                     std::int64_t count, std::int64_t length, float* area) const {
    if (!operands.half) return {reinterpret_cast<const float*>(base) + offset, stride};
    const auto* source = reinterpret_cast<const std::uint16_t*>(base) + offset;
    const std::int64_t distinct = stride == 0 ? 1 : count;
    for (std::int64_t r = 0; r < distinct; ++r) {
      kernels.widen(source + r * stride, length, area + r * length);
    }
    return {area, stride == 0 ? 0 : length};
  }

  struct Head {
    std::int64_t batch;
    std::int64_t head;
  };
  struct Scratch {
    Packed* packed;
    std::byte* split;
    float* keys;
    float* values;
    float* scores;
    float* weights;
    float* factors;
    float* tiles;
    float* queries;
    float* mask_rows;
  };

  // ---- Products --------------------------------------------------------------------------------

  /// Packed panels from p on that are multiplied at once.
  Panels<float> PanelsAt(const float* first, std::int64_t p, std::int64_t panels,
                         std::int64_t depth) const {
    return {.first = first + p * depth * kPanel,
            .stride = depth * kPanel,
            .count = static_cast<int>(std::min<std::int64_t>(kernels.panels, panels - p))};
  }

  /// scores = Q K^T for the first `panels` panels of keys.
  void MultiplyKeys(const RowsView& q, const RegisterTiles& tiles, std::int64_t panels,
                    const Scratch& scratch) const {
    const std::int64_t depth = operands.sizes.depth;
    const FetchAhead fetch(tiles.count(), depth, sizeof(float));
    for (std::int64_t p = 0; p < panels; p += kernels.panels) {
      const Panels<float> b = PanelsAt(scratch.keys, p, panels, depth);
      for (std::int64_t t = 0; t < tiles.count(); ++t) {
        const std::int64_t row = tiles.begin(t);
        kernels.row_major_f32(
            tiles.size(t), q.first + row * q.stride, q.stride, b, depth,
            fetch.Of(t, b.first, b.first + b.count * b.stride),
            {scratch.scores + (p * tiles.rows() + row) * kPanel, tiles.rows() * kPanel}, false);
      }
    }
  }

  /// Y = weights * V / sums, over the first `keys` keys.
  void MultiplyValues(std::byte* y, std::int64_t offset, const RegisterTiles& tiles,
                      std::int64_t keys, const Scratch& scratch) const {
    const AttentionSizes& s = operands.sizes;
    const std::int64_t panels = PanelsOf(s.value_depth);
    const FetchAhead fetch(tiles.count(), keys, sizeof(float));
    for (std::int64_t p = 0; p < panels; p += kernels.panels) {
      const Panels<float> b = PanelsAt(scratch.values, p, panels, s.keys);
      for (std::int64_t t = 0; t < tiles.count(); ++t) {
        const std::int64_t row = tiles.begin(t);
        constexpr std::int64_t kTile = kMostTileRows * kPanel;
        kernels.row_major_f32(tiles.size(t), scratch.weights + row * s.keys, s.keys, b, keys,
                              fetch.Of(t, b.first, b.first + b.count * b.stride),
                              {scratch.tiles, kTile}, false);
        for (int i = 0; i < b.count; ++i) {
          StoreScaled(y, offset, row, tiles.size(t), p + i, scratch.tiles + i * kTile, scratch);
        }
      }
    }
  }

  /// Rows of a panel of results, [row][16], times the factors of the block's rows from `row` on.
  void StoreScaled(std::byte* y, std::int64_t offset, std::int64_t row, std::int64_t count,
                   std::int64_t panel, const float* tile, const Scratch& scratch) const {
    const std::int64_t column = panel * kPanel;
    rows.store_scaled(
        {.tile = tile,
         .rows = count,
         .columns = std::min(kPanel, operands.sizes.value_depth - column),
         .factors = scratch.factors + row,
         .out = y + (offset + row * operands.y.row + column) * (operands.half ? 2 : 4),
         .row_stride = operands.y.row,
         .half = operands.half});
  }

  /// scores = Q K^T of one query, of which 16 columns are a tile.
  void MultiplyThinKeys(const float* q, const float* k, std::int64_t keys, float* scores) const {
    const std::int64_t depth = operands.sizes.depth;
    if (operands.k.channel == 1) {
      products.by_columns(1, q, k, operands.k.row, depth, keys, scores);
    } else {
      products.by_rows(1, q, k, operands.k.channel, depth, keys, scores);
    }
  }

  /// Y = weights * V / sums of one query.
  void MultiplyThinValues(const float* v, float* y, std::int64_t keys,
                          const Scratch& scratch) const {
    const std::int64_t columns = operands.sizes.value_depth;
    products.by_rows(1, scratch.weights, v, operands.v.row, keys, columns, scratch.tiles);
    for (std::int64_t column = 0; column < columns; column += kPanel) {
      rows.store_scaled({.tile = scratch.tiles + column,
                         .rows = 1,
                         .columns = std::min(kPanel, columns - column),
                         .factors = scratch.factors,
                         .out = reinterpret_cast<std::byte*>(y + column),
                         .row_stride = operands.y.row,
                         .half = false});
    }
  }

  /// Keys that the first row of a block of query rows sees, and its last one.
  std::int64_t VisibleOf(std::int64_t first) const {
    return std::min(operands.sizes.keys - first, operands.visible) + first;
  }
  std::int64_t KeysOf(std::int64_t first, std::int64_t count) const {
    const std::int64_t visible = VisibleOf(first);
    return std::min(operands.sizes.keys - visible, count - 1) + visible;
  }

  void RunBlock(const KernelArguments& args, const Head& at, std::int64_t first, std::int64_t count,
                const Scratch& scratch) const {
    const AttentionSizes& s = operands.sizes;
    const auto [b, h] = at;
    const RegisterTiles tiles(count, kernels.rows);
    const std::int64_t visible = VisibleOf(first);
    const std::int64_t keys = KeysOf(first, count);

    const RowsView q = FloatRows(args.inputs[0], operands.q.at(b, h, first), operands.q.row, count,
                                 s.depth, scratch.queries);
    if (is_thin) {
      MultiplyThinKeys(q.first, args.in<float>(1) + operands.k.at(b, h, 0), keys, scratch.scores);
    } else if (split.has_value()) {
      split->MultiplyKeys(q, count, keys, scratch.keys, scratch.scores, scratch.split);
    } else {
      MultiplyKeys(q, tiles, PanelsOf(keys), scratch);
    }

    ScoreRows block{.scores = scratch.scores,
                    .score_stride = kPanel,
                    .panel_stride = count * kPanel,
                    .rows = count,
                    .keys = keys,
                    .scale = operands.scale,
                    .keep = nullptr,
                    .keep_stride = operands.keep.row,
                    .keep_if = operands.keep_if,
                    .fill = operands.fill,
                    .mask = nullptr,
                    .mask_stride = 0,
                    .visible = visible,
                    .weights = scratch.weights,
                    .weights_stride = s.keys,
                    .factors = scratch.factors};
    if (split.has_value()) {
      block.score_stride = block.weights_stride = split->ScoreStride();
      block.panel_stride = kPanel;
      block.weights = block.scores;
    }
    if (operands.has_keep) {
      block.keep = args.in<std::uint8_t>(4) + operands.keep.at(b, h, first);
    }
    if (operands.masked) {
      const RowsView mask = FloatRows(args.inputs[3], operands.mask.at(b, h, first),
                                      operands.mask.row, count, keys, scratch.mask_rows);
      block.mask = mask.first;
      block.mask_stride = mask.stride;
    }
    rows.softmax_scores(block);
    const std::int64_t y = operands.y.at(b, h, first);
    if (is_thin) {
      MultiplyThinValues(args.in<float>(2) + operands.v.at(b, h, 0), args.out<float>(0) + y, keys,
                         scratch);
    } else if (split.has_value()) {
      const auto store = [&](std::int64_t row, std::int64_t some, std::int64_t panel,
                             const float* sums) {
        StoreScaled(args.outputs[0], y, row, some, panel, sums, scratch);
      };
      split->MultiplyValues(scratch.scores, count, keys, scratch.values, store, scratch.split);
    } else {
      MultiplyValues(args.outputs[0], y, tiles, keys, scratch);
    }
  }

  /// Block sizes: query rows of a task, those computed at a time without a matrix unit.
  void Cut(const Attributes& attributes) {
    const Ints sizes =
        BlockSizes(attributes, {std::max<std::int64_t>(1, tasks.largest()), block_rows});
    tasks = tasks.WithLargest(sizes[0]);
    block_rows = is_thin ? 1 : std::min(sizes[1], std::max<std::int64_t>(1, tasks.largest()));
  }

  void PlanSplit(const InnerLoops& loops) {
    if (is_thin || tasks.largest() == 0) return;
    split = SplitAttention::Plan(loops, operands.sizes, operands.q.row, tasks.largest());
    if (!split.has_value()) return;
    const std::int64_t blocks = CeilDiv(tasks.largest(), split->rows());
    if (tasks.blocks() > kMostSplitBlocks / blocks) split.reset();
  }

  /// Query rows of a block, at most.
  std::int64_t RowsAtOnce() const { return split.has_value() ? split->rows() : block_rows; }

  std::int64_t SplitFloats() const {
    if (!split.has_value()) return 0;
    std::size_t bytes = 0;
    for (std::int64_t task = 0; task < tasks.blocks(); ++task) {
      ForBlocksOf(task, [&](std::int64_t first, std::int64_t count) {
        bytes = std::max(bytes, split->ScratchBytes(count, KeysOf(first, count)));
      });
    }
    return static_cast<std::int64_t>(FloatScratchBytes(static_cast<std::int64_t>(bytes / 4)) / 4);
  }

  // ---- Tasks ---------------------------------------------------------------------------------

  /// Calls run(first, count) for all blocks of query rows of a task. Full blocks come first: they
  /// are whole register tiles.
  template <class Run>
  void ForBlocksOf(std::int64_t task, Run run) const {
    const std::int64_t end = tasks.end(task);
    for (std::int64_t row = tasks.begin(task); row < end; row += RowsAtOnce()) {
      run(row, std::min(RowsAtOnce(), end - row));
    }
  }

  Scratch Divide(float* memory) const {
    const auto take = [&memory](std::int64_t floats) {
      float* const area = memory;
      memory += floats;
      return area;
    };
    return {.packed = reinterpret_cast<Packed*>(take(kFloatsOfPacked)),
            .split = reinterpret_cast<std::byte*>(take(areas.split)),
            .keys = take(areas.keys),
            .values = take(areas.values),
            .scores = take(areas.scores),
            .weights = take(areas.weights),
            .factors = take(areas.factors),
            .tiles = take(areas.tiles),
            .queries = take(areas.queries),
            .mask_rows = take(areas.mask_rows)};
  }

  /// Does nothing where the task before had the same keys or values.
  void PackHead(const KernelArguments& args, const Head& at, const Scratch& scratch) const {
    const Packed wanted{operands.k.at(at.batch, at.head, 0), operands.v.at(at.batch, at.head, 0)};
    Packed& packed = *scratch.packed;
    if (packed.keys != wanted.keys) PackKeys(args.inputs[1], wanted.keys, scratch.keys);
    if (packed.values != wanted.values) PackValues(args.inputs[2], wanted.values, scratch.values);
    packed = wanted;
  }

  void RunTask(const KernelArguments& args, std::int64_t index, float* memory) const {
    const std::int64_t product = index / tasks.blocks();
    const Head at{product / operands.sizes.heads, product % operands.sizes.heads};
    const Scratch scratch = Divide(memory);
    if (!is_thin) PackHead(args, at, scratch);
    ForBlocksOf(index % tasks.blocks(), [&](std::int64_t first, std::int64_t count) {
      RunBlock(args, at, first, count, scratch);
    });
  }

  void Run(const KernelArguments& args) const {
    const std::int64_t heads = operands.sizes.batches * operands.sizes.heads;
    for (int worker = 0; worker < args.pool->size(); ++worker) {
      *Divide(WorkerScratch(args, worker, scratch_bytes)).packed = {-1, -1};
    }
    args.pool->Run(heads * tasks.blocks(), [&](std::int64_t index, int worker) {
      RunTask(args, index, WorkerScratch(args, worker, scratch_bytes));
    });
  }

  AttentionOperands operands;
  const GemmMicroKernels& kernels;
  const RowKernels& rows;
  const GemvKernels& products;
  bool is_thin;
  EvenSplit tasks;  ///< of the query rows of a head
  std::int64_t block_rows;
  std::optional<SplitAttention> split = std::nullopt;  ///< where a matrix unit is faster
  Areas areas{};
  std::size_t scratch_bytes = 0;
};

constexpr KernelDef kKernels[] = {
    {"attention", GuardedBind<BindBest<BindAttention>>},
};

}  // namespace

BoundKernel BindAttention(const KernelCall& call, const InnerLoops& loops) {
  const auto attention =
      std::make_shared<const Attention>(AttentionOperands(call), call.attributes, loops);
  return {.run = [attention](const KernelArguments& args) { attention->Run(args); },
          .scratch_bytes = attention->scratch_bytes,
          .block_sizes = {std::max<std::int64_t>(1, attention->tasks.largest()),
                          attention->block_rows}};
}

std::span<const KernelDef> AttentionKernels() { return kKernels; }

}  // namespace poprt::kernels
