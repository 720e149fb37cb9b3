#include "runtime/kernels/matrix_unit/amx_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"

namespace poprt::kernels {
namespace {

/// Values as the unit reads them: quads t of the lanes are `stride` quads from those of t + 1.
struct EvenValues {
  const Quad* first;
  std::int64_t stride;
};

struct QuadProduct {
  EvenValues values;
  const Quad* factors;
  std::int64_t count;
  std::int32_t* out;
  std::int64_t pitch;
};

/// sums += factors * values for the quads from `t` on of which the tiles have shapes.
template <int kTiles, int kPanels>
[[gnu::always_inline]] inline void AddQuads(const QuadProduct& product, std::int64_t row,
                                            std::int64_t lane, std::int64_t t) {
  const std::int64_t factor_bytes = product.count * 4;
  const std::int64_t value_bytes = product.values.stride * 4;
  const Quad* const a = product.factors + row * product.count + t;
  const Quad* const b = product.values.first + t * product.values.stride + lane;
  _tile_loadd(4, a, factor_bytes);
  if constexpr (kTiles == 2) {
    _tile_loadd(5, a + kTileRowsOfUnit * product.count, factor_bytes);
  }
  _tile_loadd(6, b, value_bytes);
  if constexpr (kPanels == 2) _tile_loadd(7, b + kQuadVector, value_bytes);
  _tile_dpbsud(0, 4, 6);
  if constexpr (kPanels == 2) _tile_dpbsud(1, 4, 7);
  if constexpr (kTiles == 2) _tile_dpbsud(2, 5, 6);
  if constexpr (kTiles == 2 && kPanels == 2) _tile_dpbsud(3, 5, 7);
}

/// Some rows, kTiles tiles of them, by kPanels vectors of lanes.
template <int kTiles, int kPanels>
void MultiplyTiles(const QuadProduct& product, std::int64_t row, std::int64_t rows,
                   std::int64_t lane, ShapedTiles& tiles) {
  const std::int64_t first_rows = kTiles == 2 ? kTileRowsOfUnit : rows;
  const std::int64_t second_rows = rows - first_rows;
  std::int32_t* const out = product.out + row * product.pitch + lane;
  const SumsLayout layout{product.pitch * 4, kTileRowsOfUnit * product.pitch * 4, kQuadVector * 4};
  tiles.Shape(first_rows, second_rows);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  AwakeStores awake;
  constexpr std::int64_t kAwakeQuads = 8 * kTileRowsOfUnit;  // some 500 cycles
  std::int64_t t = 0;
  for (; t + kTileRowsOfUnit <= product.count; t += kTileRowsOfUnit) {
    AddQuads<kTiles, kPanels>(product, row, lane, t);
    if ((t + kTileRowsOfUnit) % kAwakeQuads == 0) awake.Keep();
  }
  StoreSums<kTiles, kPanels>(out, layout);
  if (t == product.count) return;
  // Other shapes clear the tiles.
  tiles.Shape(first_rows, second_rows, product.count - t);
  LoadSums<kTiles, kPanels>(out, layout);
  AddQuads<kTiles, kPanels>(product, row, lane, t);
  StoreSums<kTiles, kPanels>(out, layout);
}

template <int kPanels>
void MultiplyRows(const QuadProduct& product, std::int64_t rows, std::int64_t lane,
                  ShapedTiles& tiles) {
  constexpr std::int64_t kMost = 2 * kTileRowsOfUnit;
  for (std::int64_t row = 0; row < rows; row += kMost) {
    const std::int64_t some = rows - row < kMost ? rows - row : kMost;
    if (some > kTileRowsOfUnit) {
      MultiplyTiles<2, kPanels>(product, row, some, lane, tiles);
    } else {
      MultiplyTiles<1, kPanels>(product, row, some, lane, tiles);
    }
  }
}

bool AreEven(const std::int64_t* offsets, std::int64_t count) {
  std::int64_t others = 0;
  const std::int64_t stride = offsets[1] - offsets[0];
  for (std::int64_t t = 1; t < count; ++t) others |= (offsets[t] - offsets[t - 1]) ^ stride;
  return others == 0;
}

void Multiply(std::int64_t rows, std::int64_t lanes, const Quad* values,
              const std::int64_t* offsets, const Quad* factors, std::int64_t count,
              std::int32_t* out, std::int64_t pitch) {
  constexpr std::int64_t kFewestRows = 8;
  constexpr std::int64_t kFewestQuads = 8;
  if (rows < kFewestRows || count < kFewestQuads || !AreEven(offsets, count)) {
    return kAvx512VnniByteMicroKernels.multiply(rows, lanes, values, offsets, factors, count, out,
                                                pitch);
  }
  const QuadProduct product{.values = {values + offsets[0], offsets[1] - offsets[0]},
                            .factors = factors,
                            .count = count,
                            .out = out,
                            .pitch = pitch};
  ShapedTiles tiles;
  std::int64_t lane = 0;
  for (; lane + 2 * kQuadVector <= lanes; lane += 2 * kQuadVector) {
    MultiplyRows<2>(product, rows, lane, tiles);
  }
  if (lane < lanes) MultiplyRows<1>(product, rows, lane, tiles);
}

}  // namespace

ByteMicroKernels Avx512VnniWithAmx() {
  ByteMicroKernels tiles = kAvx512VnniByteMicroKernels;
  tiles.name = "amx";
  tiles.rows = kMostQuadRows;
  tiles.multiply = Multiply;
  tiles.outs = kMostByteOuts;
  tiles.without_unit = &kAvx512VnniByteMicroKernels;
  tiles.convolve = ConvolveOnUnit;
  return tiles;
}

}  // namespace poprt::kernels
