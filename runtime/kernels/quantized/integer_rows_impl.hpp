#pragma once

#include "runtime/kernels/packed/register_tile.hpp"
#include "runtime/kernels/packed/tile_sizes.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/quantized/integer_rows.hpp"

/// IntegerRowKernels over a vector type V of one instruction set, with V::kLanes lanes and
/// registers for the sums of V::kPanels panels of up to V::kRows rows, and of
/// V::kPanelsOfFewRows:
/// * V::kBytesAhead: how far ahead few rows fetch their panels, 0 where it waits no less for that;
/// * V::kIsWide: whether weights have 16 bits, else 4 or 8;
/// * V::kHasDigits: whether multiples are multiplied as two digits of 8 bits or as they are;
/// * V::Words, V::Load(const std::byte*): words of weights;
/// * V::Field<kBits, i>(words): of each lane numbers i and i + 16 / kBits as two of 16 bits;
///   with digits every (8 / kBits)-th from i on as four of 8 bits;
/// * V::Factors, V::LoadFactors(const std::uint32_t*): in all lanes a word of two multiples;
///   with digits one of four upper and one of four lower digits;
/// * V::Sums, V::SetSums(sum), V::Add(sums, field, factors): with the products of each lane;
/// * V::AddScaled(sums, scale, const float* scales, float* to): to += (sum * scale) * scales.
///
/// Included only by files that are compiled for one instruction set, hence the unnamed namespace.
namespace poprt::kernels {
namespace {

constexpr std::int64_t kGroupBytes = kPanel * static_cast<std::int64_t>(sizeof(std::uint32_t));
/// Words of a group for each row: half as many as the group has rows of weights.
template <int kBits>
constexpr int kWordsOfGroup = 16 / kBits;
template <class V>
constexpr int kWordsOfFactors = V::kHasDigits ? 2 : 1;

inline std::int64_t AtMost(std::int64_t most, std::int64_t count) {
  return count < most ? count : most;
}

/// Of `count` rows of weights.
template <int kBits>
std::int64_t GroupsOf(std::int64_t count) {
  constexpr std::int64_t kRows = 2 * kWordsOfGroup<kBits>;
  return (count + kRows - 1) / kRows;
}

constexpr int kTogether = 8;
using EightFloats [[gnu::vector_size(kTogether * sizeof(float))]] = float;
using Multiples [[gnu::vector_size(16)]] = std::int16_t;
using MultipleBytes [[gnu::vector_size(16)]] = std::uint8_t;

template <class T>
T LoadAs(const float* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}

/// Eight multiples as words of factors.
template <class V, int kBits>
MultipleBytes Arrange(Multiples x) {
  if constexpr (V::kHasDigits) {
    // A lower digit below zero makes the upper one larger.
    const auto digits = reinterpret_cast<MultipleBytes>(x + ((x & 0x80) << 1));
    return kBits == 4 ? __builtin_shufflevector(digits, digits, 1, 5, 9, 13, 0, 4, 8, 12, 3, 7, 11,
                                                15, 2, 6, 10, 14)
                      : __builtin_shufflevector(digits, digits, 1, 3, 5, 7, 0, 2, 4, 6, 9, 11, 13,
                                                15, 8, 10, 12, 14);
  } else if constexpr (kBits == 16) {
    return reinterpret_cast<MultipleBytes>(x);
  } else {
    return reinterpret_cast<MultipleBytes>(
        kBits == 4 ? __builtin_shufflevector(x, x, 0, 4, 1, 5, 2, 6, 3, 7)
                   : __builtin_shufflevector(x, x, 0, 2, 1, 3, 4, 6, 5, 7));
  }
}

/// Writes the words of one span, of which there are `count` multiples; returns their sum.
template <class V, int kBits>
std::int32_t ScaleSpan(const float* x, std::int64_t count, float inverse, std::uint32_t* words) {
  using Integers [[gnu::vector_size(sizeof(EightFloats))]] = std::int32_t;
  Integers sums = {};
  const auto scale = [&](const float* from) POPRT_INLINED {
    const EightFloats rounded = LoadAs<EightFloats>(from) * inverse + kRound;
    const Integers multiples = reinterpret_cast<Integers>(rounded) - kRoundBits;
    sums += multiples;
    return Arrange<V, kBits>(__builtin_convertvector(multiples, Multiples));
  };
  std::int64_t done = 0;
  for (; done + kTogether <= count; done += kTogether) {
    const MultipleBytes arranged = scale(x + done);
    __builtin_memcpy(words + done / 2, &arranged, sizeof(arranged));
  }
  if (done < count) {
    float last[kTogether] = {};
    for (std::int64_t i = done; i < count; ++i) last[i - done] = x[i];
    const MultipleBytes arranged = scale(last);
    const auto word_count = GroupsOf<kBits>(count) * kWordsOfGroup<kBits> - done / 2;
    for (std::int64_t i = 0; i < word_count; ++i) {
      __builtin_memcpy(words + done / 2 + i, reinterpret_cast<const std::byte*>(&arranged) + 4 * i,
                       sizeof(*words));
    }
  }
  std::int32_t sum = 0;
  for (int i = 0; i < kTogether; ++i) sum += sums[i];
  return sum;
}

inline float FloatOf(std::int32_t bits) {
  float number;
  __builtin_memcpy(&number, &bits, sizeof(number));
  return number;
}

/// The least power of two, among normal numbers, of which a number with these bits is a multiple of
/// at most kMost when it is rounded.
template <std::int32_t kMost>
float ScaleFor(std::int32_t bits_of_largest) {
  constexpr int kMantissa = 23;
  constexpr std::int32_t kBitsOfMultiple = kMost > kMostWideMultiple ? 14 : 13;  // below the first
  // From kMost and a half on it is that of the next exponent.
  constexpr std::int32_t kToNext = ((2 << (kBitsOfMultiple + 1)) - (2 * kMost + 1))
                                   << (kMantissa - kBitsOfMultiple - 1);
  const std::int32_t exponent = ((bits_of_largest + kToNext) >> kMantissa) - kBitsOfMultiple;
  return FloatOf((exponent > 1 ? exponent : 1) << kMantissa);
}

/// Of the largest magnitude, with infinities above all numbers, and NaN above these.
inline std::int32_t BitsOfLargest(const float* x, std::int64_t count) {
  constexpr std::int32_t kMagnitude = 0x7FFFFFFF;
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof(bits));
    bits &= kMagnitude;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

template <class V, int kBits>
void ScaleRowOf(const float* x, const IntegerDepth& depth, const IntegerRows& to) {
  constexpr std::int32_t kInfinity = 0x7F800000;
  constexpr std::int32_t kExcess = kBits == 4 ? kExcessOf4Bits : kBits == 8 ? kExcessOf8Bits : 0;
  constexpr std::int32_t kMost = kBits == 16 ? kMostWideMultiple : kMostMultiple;
  std::uint32_t* words = to.words;
  std::int64_t span = 0;
  for (std::int64_t block = 0; block < depth.depth; block += depth.block) {
    const std::int64_t rows = AtMost(depth.block, depth.depth - block);
    for (std::int64_t at = 0; at < rows; at += kSpan, ++span) {
      const float* const from = x + block + at;
      const std::int64_t count = AtMost(kSpan, rows - at);
      const std::int32_t largest = BitsOfLargest(from, count);
      const std::int64_t word_count = GroupsOf<kBits>(count) * kWordsOfGroup<kBits>;
      if (largest < kInfinity) {
        const float scale = ScaleFor<kMost>(largest);
        to.scales[span] = scale;
        to.bases[span] = -kExcess * ScaleSpan<V, kBits>(from, count, 1 / scale, words);
      } else {
        to.scales[span] = __builtin_nanf("");
        to.bases[span] = 0;
        for (std::int64_t i = 0; i < word_count; ++i) words[i] = 0;
      }
      words += word_count;
    }
  }
}

template <class V>
void ScaleRow(const float* x, const IntegerDepth& depth, const IntegerRows& to) {
  if constexpr (V::kIsWide) return ScaleRowOf<V, 16>(x, depth, to);
  return depth.bits == 4 ? ScaleRowOf<V, 4>(x, depth, to) : ScaleRowOf<V, 8>(x, depth, to);
}

/// Writes the multiples of a span, eight at a time: rows are whole lines of words.
inline void ScaleParts(const float* x, std::int64_t count, float inverse, std::uint32_t* upper,
                       std::uint32_t* lower) {
  using Integers [[gnu::vector_size(sizeof(EightFloats))]] = std::int32_t;
  const auto store = [](const EightFloats& rounded, std::uint32_t* words) POPRT_INLINED {
    const Integers multiples = reinterpret_cast<Integers>(rounded) - kRoundBits;
    const auto narrow = __builtin_convertvector(multiples, Multiples);
    __builtin_memcpy(words, &narrow, sizeof(narrow));
  };
  for (std::int64_t at = 0; at < count; at += kTogether) {
    float last[kTogether] = {};
    for (std::int64_t i = at; i < count && count - at < kTogether; ++i) last[i - at] = x[i];
    const EightFloats scaled =
        LoadAs<EightFloats>(count - at < kTogether ? last : x + at) * inverse;
    const EightFloats rounded = scaled * (1 / kPartRatio) + kRound;
    store(rounded, upper + at / 2);
    store(scaled - (rounded - kRound) * kPartRatio + kRound, lower + at / 2);
  }
}

inline bool ScaleRowInParts(const float* x, const IntegerDepth& depth, const IntegerRows& to) {
  constexpr std::int32_t kTooLarge = (127 + 100) << 23;
  std::int64_t span = 0;
  for (std::int64_t at = 0; at < depth.depth; at += depth.block, ++span) {
    const std::int64_t count = AtMost(depth.block, depth.depth - at);
    const std::int32_t largest = BitsOfLargest(x + at, count);
    if (largest >= kTooLarge) return false;
    // Of which the largest number is a multiple by less than 2^21, and a normal number.
    constexpr std::int32_t kBits = 20;
    const std::int32_t exponent = (largest >> 23) - kBits;
    const float scale = FloatOf((exponent > 1 ? exponent : 1) << 23);
    to.scales[span] = scale * kPartRatio;
    to.scales[to.spans + span] = scale;
    to.bases[span] = to.bases[to.spans + span] = 0;
    std::uint32_t* const words = to.words + at / 2;
    ScaleParts(x + at, count, 1 / scale, words, words + to.words_stride);
  }
  return true;
}

/// Whether rounding leaves much of a row: of every number, a twelfth of the square of its scale,
/// where roundings are evenly distributed. All by the largest scale, whose square may be none.
inline bool LeavesMuch(const float* x, const IntegerDepth& depth, const IntegerRows& of,
                       const float* powers) {
  float largest = 0;
  for (std::int64_t span = 0; span < of.spans; ++span) {
    largest = of.scales[span] > largest ? of.scales[span] : largest;
  }
  const float inverse = 1 / largest;
  EightFloats row_powers = {};
  EightFloats left_powers = {};
  std::int64_t span = 0;
  for (std::int64_t at = 0; at < depth.depth; ++span) {
    const std::int64_t end = AtMost(at + depth.block, depth.depth);
    EightFloats sums = {};
    for (; at + kTogether <= end; at += kTogether) {
      const auto eight = LoadAs<EightFloats>(x + at) * inverse;
      const auto eight_powers = LoadAs<EightFloats>(powers + at);
      row_powers += eight * eight * eight_powers;
      sums += eight_powers;
    }
    for (; at < end; ++at) {
      row_powers[0] += x[at] * inverse * (x[at] * inverse) * powers[at];
      sums[0] += powers[at];
    }
    const float scale = of.scales[span] * inverse;
    left_powers += sums * (scale * scale / 12);
  }
  float row_power = 0;
  float left_power = 0;
  for (int i = 0; i < kTogether; ++i) {
    row_power += row_powers[i];
    left_power += left_powers[i];
  }
  return left_power > row_power * (kMostLeft * kMostLeft);
}

/// Of numbers that meet nothing but zeros nothing is left: they would hide others again.
inline bool LeaveRow(const float* x, const IntegerDepth& depth, const IntegerRows& of,
                     const float* powers, float* left) {
  if (!LeavesMuch(x, depth, of, powers)) return false;
  std::int64_t span = 0;
  for (std::int64_t at = 0; at < depth.depth; ++span) {
    const std::int64_t end = AtMost(at + depth.block, depth.depth);
    const float scale = of.scales[span];
    const float inverse = 1 / scale;
    for (; at < end; ++at) {
      const float multiple = x[at] * inverse;
      const float rest = (multiple - (multiple + kRound - kRound)) * scale;
      left[at] = powers[at] > 0 ? rest : 0;
    }
  }
  return true;
}

/// Rows that take so many panels at once.
template <class V>
inline constexpr int kFewRows = V::kIsWide ? 2 : 1;

/// kRows rows by kPanels panels.
template <class V, int kBits, int kRows, int kPanels>
void MultiplyTile(const IntegerRows& a, const IntegerPanels& panels, const IntegerDepth& depth,
                  const Tiles& tiles) {
  using tile::Unroll;
  constexpr int kWidth = kPanel / V::kLanes;
  constexpr int kRowWidth = kPanels * kWidth;
  constexpr int kGroups = 4;  // at a time
  constexpr std::int64_t kLaneBytes = V::kLanes * sizeof(std::uint32_t);
  const auto each_sum = [](auto f) POPRT_INLINED {
    Unroll<kRows>([&](auto r)
                      POPRT_INLINED { Unroll<kRowWidth>([&](auto v) POPRT_INLINED { f(r, v); }); });
  };
  each_sum([&](auto r, auto v) POPRT_INLINED {
    float* const to = tiles.first + v / kWidth * tiles.stride + r * kPanel + v % kWidth * V::kLanes;
    for (int i = 0; i < V::kLanes; ++i) to[i] = 0;
  });
  const std::byte* b = panels.first;
  const std::uint32_t* words = a.words;
  std::int64_t span = 0;
  for (std::int64_t block = 0; block < depth.depth; block += depth.block) {
    const std::byte* const scales = b;
    b += kGroupBytes;
    const std::int64_t rows = AtMost(depth.block, depth.depth - block);
    for (std::int64_t at = 0; at < rows; at += kSpan, ++span) {
      typename V::Sums sums[kRows][kRowWidth];
      each_sum([&](auto r, auto v)
                   POPRT_INLINED { sums[r][v] = V::SetSums(a.bases[r * a.spans + span]); });
      const auto add_group = [&]([[maybe_unused]] auto i) POPRT_INLINED {
        typename V::Words weights[kRowWidth];
        Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
          weights[v] = V::Load(b + v / kWidth * panels.stride + v % kWidth * kLaneBytes);
        });
        Unroll<kWordsOfGroup<kBits> / kWordsOfFactors<V>>([&](auto f) POPRT_INLINED {
          typename V::Words fields[kRowWidth];
          Unroll<kRowWidth>([&](auto v) POPRT_INLINED {
            fields[v] = V::template Field<kBits, decltype(f)::value>(weights[v]);
          });
          Unroll<kRows>([&](auto r) POPRT_INLINED {
            const auto factors =
                V::LoadFactors(words + r * a.words_stride + f * kWordsOfFactors<V>);
            Unroll<kRowWidth>(
                [&](auto v) POPRT_INLINED { sums[r][v] = V::Add(sums[r][v], fields[v], factors); });
          });
        });
        if constexpr (kRows <= kFewRows<V> && V::kBytesAhead > 0) {
          Unroll<kPanels>([&](auto p) POPRT_INLINED {
            __builtin_prefetch(b + p * panels.stride + V::kBytesAhead);
          });
        }
        b += kGroupBytes;
        words += kWordsOfGroup<kBits>;
      };
      auto left = GroupsOf<kBits>(AtMost(kSpan, rows - at));
      for (; left >= kGroups; left -= kGroups) Unroll<kGroups>(add_group);
      for (; left > 0; --left) add_group(0);
      each_sum([&](auto r, auto v) POPRT_INLINED {
        constexpr int kLane = decltype(v)::value % kWidth * V::kLanes;
        const auto* column_scales =
            reinterpret_cast<const float*>(scales + v / kWidth * panels.stride) + kLane;
        V::AddScaled(sums[r][v], a.scales[r * a.spans + span], column_scales,
                     tiles.first + v / kWidth * tiles.stride + r * kPanel + kLane);
      });
    }
  }
}

template <class V, int kRows, int kPanels>
void MultiplyTileOf(const IntegerRows& a, const IntegerPanels& b, const IntegerDepth& depth,
                    const Tiles& tiles) {
  if constexpr (V::kIsWide) {
    MultiplyTile<V, 16, kRows, kPanels>(a, b, depth, tiles);
  } else if (depth.bits == 4) {
    MultiplyTile<V, 4, kRows, kPanels>(a, b, depth, tiles);
  } else {
    MultiplyTile<V, 8, kRows, kPanels>(a, b, depth, tiles);
  }
}

template <class V>
void MultiplyRowsByIntegers(int rows, const IntegerRows& a, const IntegerPanels& b,
                            const IntegerDepth& depth, const Tiles& tiles) {
  if constexpr (V::kPanelsOfFewRows > V::kPanels) {
    if (b.count > V::kPanels) {
      return tile::WithRows<kFewRows<V>>(rows, [&](auto constant) POPRT_INLINED {
        constexpr int kRows = decltype(constant)::value;
        MultiplyTileOf<V, kRows, V::kPanelsOfFewRows>(a, b, depth, tiles);
      });
    }
  }
  tile::WithPanels<V>(b.count, [&](auto panels) POPRT_INLINED {
    tile::WithRows<V::kRows>(rows, [&](auto constant) POPRT_INLINED {
      constexpr int kRows = decltype(constant)::value;
      constexpr int kPanels = decltype(panels)::value;
      MultiplyTileOf<V, kRows, kPanels>(a, b, depth, tiles);
    });
  });
}

template <class V>
inline constexpr IntegerRowKernels kIntegerRows = {.rows = V::kRows,
                                                   .panels = V::kPanels,
                                                   .panels_of_few_rows = V::kPanelsOfFewRows,
                                                   .scale_row = ScaleRow<V>,
                                                   .scale_row_in_parts = ScaleRowInParts,
                                                   .leave_row = LeaveRow,
                                                   .multiply = MultiplyRowsByIntegers<V>};

}  // namespace
}  // namespace poprt::kernels
