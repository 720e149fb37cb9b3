#include "runtime/kernels/matrix_unit/amx_tiles_impl.hpp"
#include "runtime/kernels/quantized/byte_micro_kernels.hpp"
#include "runtime/kernels/quantized/byte_tile_impl.hpp"
#include "runtime/kernels/quantized/byte_vectors_avx512.hpp"

// Convolutions of bytes on the matrix unit: rows are pixels, a step of the depth is four (input
// block, tap) pairs of 16 bytes, which are gathered; weights are tiles as they lie.
namespace poprt::kernels {
namespace {

constexpr std::int64_t kPairsOfStep = 4;
constexpr std::int64_t kTileBytes = kTileRowsOfUnit * kRowBytes;
/// Pixels that pass at once, and steps of them that are gathered: they stay in the first-level
/// cache.
constexpr std::int64_t kPixels = 2 * kTileRowsOfUnit;
constexpr std::int64_t kSteps = 16;
constexpr std::int64_t kQuadsOfStep = kTileRowsOfUnit * kBlock;

/// Consecutive tiles of one panel, kPixels pixels at most, with all taps.
struct PixelTiles {
  const ConvTile* tiles;
  std::int64_t count;
  const TileTap* taps;
  std::int64_t pixels;
};

struct Memory {
  alignas(64) std::uint8_t rows[2 * kSteps * kTileBytes];  ///< [tile of rows][step][16][64]
  alignas(64) std::int32_t sums[kMostByteOuts * kPixels * kBlock];  ///< [out][pixel][16]
};

/// Pairs of an input block and a tap, in the order of weights.
class Pairs {
 public:
  explicit Pairs(const BytePanel& panel) : panel_(panel), x_(panel.x) {}

  std::int64_t tap() const { return tap_; }
  const std::uint8_t* x() const { return x_; }
  void Advance() {
    if (++tap_ < panel_.taps) return;
    tap_ = 0;
    x_ += panel_.x_stride;
  }

 private:
  const BytePanel& panel_;
  const std::uint8_t* x_;
  std::int64_t tap_ = 0;
};

/// Copies the inputs of a step; those behind `pairs` of its pairs may be any.
void GatherStep(const BytePanel& panel, const PixelTiles& of, std::int64_t pairs, Pairs& next,
                std::uint8_t* rows) {
  const std::uint8_t* x[kPairsOfStep] = {};
  std::int64_t tap[kPairsOfStep] = {};
  for (std::int64_t i = 0; i < kPairsOfStep; ++i) {
    x[i] = i < pairs ? next.x() : x[0];
    tap[i] = i < pairs ? next.tap() : tap[0];
    if (i < pairs) next.Advance();
  }
  std::int64_t row = 0;
  const TileTap* taps = of.taps;
  for (std::int64_t t = 0; t < of.count; ++t, taps += panel.taps) {
    const auto input = [&](int i, std::int64_t r) {
      const std::int32_t offset = taps[tap[i]].inputs[r];
      const std::uint8_t* const from = offset == kPadding ? panel.padding : x[i] + offset;
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    for (std::int64_t r = 0; r < of.tiles[t].pixels; ++r, ++row) {
      __m512i line = _mm512_castsi128_si512(input(0, r));
      line = _mm512_inserti32x4(line, input(1, r), 1);
      line = _mm512_inserti32x4(line, input(2, r), 2);
      line = _mm512_inserti32x4(line, input(3, r), 3);
      _mm512_store_si512(
          rows + row / kTileRowsOfUnit * kSteps * kTileBytes + row % kTileRowsOfUnit * kRowBytes,
          line);
    }
  }
}

/// [out][pixel][16]
constexpr SumsLayout kSumsLayout{kRowBytes, kTileBytes, 2 * kTileBytes};

/// sums[out][pixel] += rows * weights for `steps` steps of which the tiles have shapes.
template <int kTiles, int kOuts>
void AddSteps(const std::uint8_t* rows, const Quad* weights, std::int64_t weights_stride,
              std::int64_t steps, std::int32_t* sums) {
  LoadSums<kTiles, kOuts>(sums, kSumsLayout);
  for (std::int64_t s = 0; s < steps; ++s, rows += kTileBytes, weights += kQuadsOfStep) {
    _tile_loadd(4, rows, kRowBytes);
    _tile_loadd(6, weights, kRowBytes);
    _tile_dpbusd(0, 4, 6);
    if constexpr (kOuts == 2) _tile_loadd(7, weights + weights_stride, kRowBytes);
    if constexpr (kOuts == 2) _tile_dpbusd(1, 4, 7);
    if constexpr (kTiles == 2) _tile_loadd(5, rows + kSteps * kTileBytes, kRowBytes);
    if constexpr (kTiles == 2) _tile_dpbusd(2, 5, 6);
    if constexpr (kTiles == 2 && kOuts == 2) _tile_dpbusd(3, 5, 7);
  }
  StoreSums<kTiles, kOuts>(sums, kSumsLayout);
}

/// The same for all output blocks of a panel.
template <int kTiles>
void AddStepsOfOuts(const BytePanel& panel, const std::uint8_t* rows, const Quad* weights,
                    std::int64_t steps, std::int32_t* sums) {
  std::int64_t out = 0;
  for (; out + 2 <= panel.outs; out += 2) {
    AddSteps<kTiles, 2>(rows, weights + out * panel.weights_stride, panel.weights_stride, steps,
                        sums + out * kPixels * kBlock);
  }
  if (out == panel.outs) return;
  AddSteps<kTiles, 1>(rows, weights + out * panel.weights_stride, 0, steps,
                      sums + out * kPixels * kBlock);
}

/// Whole steps, or a part of one.
void AddPairs(const BytePanel& panel, std::int64_t pixels, const std::uint8_t* rows,
              const Quad* weights, std::int64_t pairs, ShapedTiles& tiles, std::int32_t* sums) {
  const bool has_two = pixels > kTileRowsOfUnit;
  const std::int64_t first_rows = has_two ? kTileRowsOfUnit : pixels;
  const std::int64_t steps = pairs < kPairsOfStep ? 1 : pairs / kPairsOfStep;
  const std::int64_t words = (pairs < kPairsOfStep ? pairs : kPairsOfStep) * (kBlock / 4);
  tiles.Shape(first_rows, pixels - first_rows, words);
  if (has_two) {
    AddStepsOfOuts<2>(panel, rows, weights, steps, sums);
  } else {
    AddStepsOfOuts<1>(panel, rows, weights, steps, sums);
  }
}

void ConvolvePixels(const BytePanel& panel, const PixelTiles& of, Memory& memory,
                    ShapedTiles& shaped, std::uint8_t* y) {
  __builtin_memset(memory.sums, 0,
                   static_cast<std::size_t>(panel.outs * kPixels * kBlock) * sizeof(std::int32_t));
  const std::int64_t pairs = panel.blocks * panel.taps;
  Pairs next(panel);
  for (std::int64_t first = 0; first < pairs; first += kSteps * kPairsOfStep) {
    const std::int64_t left = pairs - first;
    const std::int64_t some = left < kSteps * kPairsOfStep ? left : kSteps * kPairsOfStep;
    const std::int64_t whole = some / kPairsOfStep * kPairsOfStep;
    for (std::int64_t pair = 0; pair < some; pair += kPairsOfStep) {
      GatherStep(panel, of, some - pair < kPairsOfStep ? some - pair : kPairsOfStep, next,
                 memory.rows + pair / kPairsOfStep * kTileBytes);
    }
    // The compiler does not see what tiles read.
    __asm__ volatile("" : : : "memory");
    const Quad* const weights = panel.weights + first * (kBlock / 4) * kBlock;
    if (whole > 0) AddPairs(panel, of.pixels, memory.rows, weights, whole, shaped, memory.sums);
    if (whole == some) continue;
    AddPairs(panel, of.pixels, memory.rows + whole / kPairsOfStep * kTileBytes,
             weights + whole * (kBlock / 4) * kBlock, some - whole, shaped, memory.sums);
  }
  for (std::int64_t out = 0; out < panel.outs; ++out) {
    const ByteEpilogue epilogue = EpilogueOfOut(panel.epilogue, out);
    const std::int32_t* const sums = memory.sums + out * kPixels * kBlock;
    const __m512i bases = _mm512_loadu_si512(epilogue.bases);
    for (std::int64_t r = 0; r < of.pixels; ++r) {
      StoreSixteenBytes(_mm512_add_epi32(_mm512_load_si512(sums + r * kBlock), bases), epilogue,
                        y + out * panel.y_stride + r * kBlock);
    }
  }
}

}  // namespace

void ConvolveOnUnit(const BytePanel& panel, const ConvTile* tiles, std::int64_t tile_count,
                    const TileTap* taps) {
  Memory memory;
  ShapedTiles shaped;
  std::uint8_t* y = panel.y;
  for (std::int64_t i = 0; i < tile_count;) {
    PixelTiles of{tiles + i, 0, taps, 0};
    while (i < tile_count && of.pixels + tiles[i].pixels <= kPixels) {
      of.pixels += tiles[i].pixels;
      taps += tiles[i].taps;
      ++of.count;
      ++i;
    }
    ConvolvePixels(panel, of, memory, shaped, y);
    y += of.pixels * kBlock;
  }
}

}  // namespace poprt::kernels
