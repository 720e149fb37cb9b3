#pragma once

#include <cstdint>

#include "runtime/kernels/packed/tile_sizes.hpp"

/// Products of float32 numbers on a matrix unit that multiplies bfloat16 and sums in float32.
///
/// A number is taken as the sum of two bfloat16 numbers: x = x0 + x1, |x1| <= 2^-8 |x|, off by
/// less than 2^-16.5 of x as x1 is rounded here; what was float16 or an integer of 16 bits times a
/// power of two loses nothing; times another scale it does. Of the
/// products of the parts of two numbers x0 y0, x0 y1 and x1 y0 are computed; x1 y1 is less than
/// 2^-16 of x y (G. Henry, P. T. P. Tang, A. Heinecke: Leveraging the bfloat16 Artificial
/// Intelligence Datatype For Higher-Precision Computations, ARITH 2019). A product of two float32
/// numbers is off by less than 2^-14.6 of it, by 2^-18 on average and as often up as down.
///
/// Infinities have no such parts and make a NaN: what is not finite has to be computed otherwise.
/// Parts and products below 2^-126 count as zero: factors below 2^-110 lose bits.
///
/// This header is included by files that are compiled for more than the baseline processor: it must
/// stay free of inline functions, which the linker might take from there.
namespace poprt::kernels {

/// Rows of A in a tile.
inline constexpr std::int64_t kSplitRows = 16;
/// Of which a step of the depth is split at once.
inline constexpr std::int64_t kSplitAtOnce = kSplitRows / 2;
/// Numbers of a row of A, and rows of B, that a step of the depth covers: two groups.
inline constexpr std::int64_t kSplitGroup = kPanel;
inline constexpr std::int64_t kSplitStep = 2 * kSplitGroup;
/// Sums from here on count as infinite, which numbers close to the largest become when they are
/// rounded.
inline constexpr float kInfiniteSum = 0x1p127F;
/// Bfloat16 numbers of a tile: 16 rows by a step of the depth, or the same of 16 columns.
inline constexpr std::int64_t kSplitTile = kSplitRows * kSplitStep;
/// Parts of a number, and products of those of two.
inline constexpr int kSplitParts = 2;
inline constexpr int kSplitProducts = 3;

/// What the numbers of a panel are: float32, float16, scaled (packed/scaled_panels.hpp), the same
/// but multiplied as integers without a unit (quantized/pack_integers.hpp), or those of a RowsPanel
/// or a TransformedPanel. Parts of the depth begin at multiples of kScaledBlock, whatever they are.
enum class PanelNumbers : std::uint8_t { kFloat, kHalf, kScaled, kInteger, kRows, kTransformed };
static_assert(kScaledBlock % kSplitStep == 0);

/// Columns of a matrix of float32 that are read where they lie.
struct RowsPanel {
  const float* first;    ///< those of the first row
  std::int64_t stride;   ///< floats from one row to the next
  std::int32_t columns;  ///< up to 16; those behind them count as zeros and are not read
};

/// What a tap of a TransformedPanel is: the sum of some of its elements times factors.
struct TransformedTap {
  int count;  ///< 1, 2 or 4
  int elements[4];
  float factors[4];
  std::int64_t first_row;  ///< of these elements, which the first channel is in
};

/// Filters, [input block][tap][16 channels][16], of which there are not the taps but what they were
/// transformed to, elements that are panels of their own.
struct TransformedPanel {
  const std::uint32_t* elements;  ///< float32 numbers, or scaled panels
  std::int64_t stride;            ///< words from one element to the next
  bool are_scaled;                ///< then channels are a multiple of 16
  std::int64_t channels;          ///< those behind them in the last block are zeros
  const TransformedTap* taps;
  std::int64_t tap_count;
  std::int64_t group;  ///< of 16 rows of the panel, that it begins with
};

/// Bfloat16 numbers of a step of a tile of rows or of a panel: of both parts.
inline constexpr std::int64_t kSplitStepNumbers = kSplitParts * kSplitTile;

/// Panels of columns of a product, at most.
inline constexpr int kSplitPanels = 2;
/// Rows of the two tiles that are multiplied at once.
inline constexpr std::int64_t kSplitPair = 2 * kSplitRows;
/// Floats of their sums from one panel to the next.
inline constexpr std::int64_t kSplitPairSums = kSplitPair * kSplitGroup;
/// Rows, at most, that panels are split for as they are multiplied.
inline constexpr std::int64_t kSplitFewRows = 2 * kSplitPair;

/// Stands for the offset of a row of zeros.
inline constexpr std::int32_t kSplitZeros = -1;

/// Where up to kSplitAtOnce rows find the numbers of one step of the depth, those of its first
/// group and of its second: first[group][offsets[group][row] + i]. Numbers behind the first `lanes`
/// of a group count as zeros and are not read.
struct SplitRows {
  const float* first[2];
  const std::int32_t* offsets[2];
  std::int32_t lanes[2];
  std::int32_t rows;
};

/// What the processor does while the unit works, without using it.
class SplitWork {
 public:
  /// Called before tiles of rows up to `end` are read.
  virtual void Before(std::int64_t end) = 0;
  /// Does a small piece of what is left to do, if that is anything.
  virtual void Meanwhile() = 0;
  /// Called once the sums of rows [row, end) are in SplitProduct::pair_sums.
  virtual void After(std::int64_t row, std::int64_t end) = 0;

  bool is_left = false;

 protected:
  ~SplitWork() = default;
};

/// Panels to be split, as by split_panel.
struct PanelsToSplit {
  PanelNumbers numbers;
  const void* panels[kSplitPanels];
  int count;
  std::int64_t depth;
};

/// Up to two panels of 16 columns times some rows: (accumulate ? sums[panel][row][column] :
/// start[panel][column]) + A * B. Tiles of a, sums and pair_sums are whole: rows behind the last
/// one may be read, and get any values.
///
/// Many rows meet tiles that have been split before, and the next panels are split meanwhile. Few
/// meet each once, so that steps of the product's own panels are split one after the other, and
/// stay in the nearest cache.
struct SplitProduct {
  const std::uint16_t* a;  ///< [tile of rows][step][part], tiles from split_rows
  const std::uint16_t* b;  ///< [panel][step][part], tiles from split_panel; null for few rows:
                           ///< kSplitPair, or kSplitFewRows by one panel, not
                           ///< by a TransformedPanel
  std::int64_t rows;
  int panels;
  std::int64_t steps;
  float* sums;  ///< of the parts of the depth before, and of this if it is not the last
  std::int64_t sums_stride;  ///< floats from one panel to the next
  bool accumulate;
  /// Whether this is the last part of the depth. Then a pair of tiles of rows after the other has
  /// its sums in one of these, in turns: [panel][kSplitPair][16]; few rows have them in the first,
  /// [row][16] of one panel. Else all results become `sums`.
  bool is_last;
  float* pair_sums[2];
  const float* start[kSplitPanels];
  PanelsToSplit split;        ///< the next ones, of whole steps, or of few rows these
  std::uint16_t* next_tiles;  ///< of the next ones
  SplitWork* work;
};

/// Planes of an image at most whose numbers lie side by side for each pixel, in two places or, of
/// more than two planes, four: a row of A begins with those of any pixel.
inline constexpr std::int64_t kMostSplitPlanes = 4;

/// A row of an image: number i of plane p is first[p * plane + i].
struct PlanesRow {
  const float* first;
  std::int64_t plane;
  std::int64_t planes;
  std::int64_t pixels;
};

/// One or two tiles of 16 rows of A, which are output pixels side by side, times one or two panels.
/// All distances are counted in numbers.
struct PixelsProduct {
  const std::uint16_t* a;            ///< first parts, from split_planes or split_pixels
  std::int64_t part;                 ///< from first parts to second ones
  std::int64_t pixel;                ///< from what an output pixel reads to what the next one does
  std::int64_t second;               ///< from the first tile to the second, if there is one
  const std::int32_t* step_offsets;  ///< of each step, from `a`
  std::int64_t steps;
  const std::uint16_t* b;  ///< [panel][step][part], tiles from split_panel
  int panels;
  int tiles;
  const float* start[kSplitPanels];
  float* sums;  ///< [panel][kSplitPair][16]
};

/// Panels that a row tile is multiplied by at once, at most.
inline constexpr int kTileProductPanels = 4;

/// Adds A * B to the sums of a tile of rows and of up to four panels which have been split before,
/// for many such products.
struct TileProduct {
  const std::uint16_t* a;  ///< [step][part], tiles from split_rows
  std::int64_t steps;
  int panels;
  const std::uint16_t* b[kTileProductPanels];  ///< [step][part], tiles from split_panel
  float* sums[kTileProductPanels];             ///< [row][16]
};

struct MatrixUnit {
  /// Writes rows of the tiles of both parts, kSplitTile apart: `tiles` is where the first of them
  /// lies in the first tile.
  void (*split_rows)(const SplitRows& rows, std::uint16_t* tiles);
  /// Writes [step][part], the tiles of a panel [depth][16], with zeros behind it or, where its last
  /// rows are stored with others, what these are.
  void (*split_panel)(PanelNumbers numbers, const void* panel, std::int64_t depth,
                      std::uint16_t* tiles);
  /// Writes both parts, `part` apart, of the pixels of a row, side by side, and of zeros behind
  /// them up to a multiple of 16 pixels.
  void (*split_planes)(const PlanesRow& row, std::int64_t part, std::uint16_t* to);
  /// Writes both parts, `part` apart, of pixels of 16 channels, those behind the first `lanes` as
  /// zeros.
  void (*split_pixels)(const float* from, std::int64_t pixels, std::int32_t lanes,
                       std::int64_t part, std::uint16_t* to);
  /// Between these two a thread can call the functions that multiply; with a step of kSplitGroup
  /// pairs of numbers, which multiply_pixels may have fewer of, and a tile of kSplitRows rows,
  /// which multiply_tile may have fewer of. It can start again, with others, before it stops.
  void (*start)(std::int64_t rows_of_tile, std::int64_t pairs_of_step);
  void (*stop)();
  void (*multiply)(const SplitProduct& product);
  void (*multiply_pixels)(const PixelsProduct& product);
  void (*multiply_tile)(const TileProduct& product);
  /// Whether all of `count` numbers are between -limit and limit, and none is NaN.
  bool (*are_below)(float limit, const float* numbers, std::int64_t count);
};

/// For processors with AMX for bfloat16 beside AVX-512.
extern const MatrixUnit kAmxMatrixUnit;

}  // namespace poprt::kernels
