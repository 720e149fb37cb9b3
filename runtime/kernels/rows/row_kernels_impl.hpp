#pragma once

#include <cstdint>

#include "runtime/kernels/packed/activations_impl.hpp"
#include "runtime/kernels/packed/lane_sums_impl.hpp"
#include "runtime/kernels/packed/vector_type.hpp"
#include "runtime/kernels/rows/row_kernels.hpp"

// RowKernels written once over a vector type V, see vector_type.hpp. A row is read a
// register at a time; only the last step looks at how many of them there are.
namespace poprt::kernels::rows {

using tile::kColumns;

inline constexpr float kInfinity = __builtin_inff();
alignas(64) inline constexpr float kLaneNumbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                       8, 9, 10, 11, 12, 13, 14, 15};

/// The first `count` lanes of x, `other` in those behind them.
template <class V>
[[gnu::always_inline]] inline typename V::Register FirstOr(typename V::Register x,
                                                           std::int64_t count, float other) {
  return V::SelectLess(V::Load(kLaneNumbers), V::Set(static_cast<float>(count)), x, V::Set(other));
}

/// All lanes folded into one: halves, quarters and so on, lane by lane.
template <class V, int kDistance = V::kLanes / 2, class Combine>
[[gnu::always_inline]] inline float FoldLanes(typename V::Register x, const Combine& combine) {
  x = combine(x, V::template SwapLanes<kDistance>(x));
  if constexpr (kDistance > 1) {
    return FoldLanes<V, kDistance / 2>(x, combine);
  } else {
    return V::FirstLane(x);
  }
}

template <class V>
[[gnu::always_inline]] inline float LargestLane(typename V::Register x) {
  return FoldLanes<V>(x, [](auto a, auto b) { return V::Max(a, b); });
}

/// e to the power of a difference to the largest element, which is not positive. Keeps a NaN.
template <class V>
[[gnu::always_inline]] inline typename V::Register ExpOfDifference(typename V::Register x) {
  return tile::ExpInRange<V>(V::Max(V::Set(-88.03F), x));
}

// ---- Scores ----------------------------------------------------------------------------------

/// The score of a register of columns as softmax takes it; `count` of them are there.
template <class V, bool kKeep, bool kMask>
[[gnu::always_inline]] inline typename V::Register Score(const ScoreRows& block, const float* score,
                                                         const std::uint8_t* keep,
                                                         const float* mask, std::int64_t count) {
  auto x = V::Mul(V::Load(score), V::Set(block.scale));
  if constexpr (kKeep) {
    float kept[V::kLanes] = {};
    const std::int64_t there = count < V::kLanes ? count : V::kLanes;
    for (std::int64_t i = 0; i < there; ++i) kept[i] = (keep[i] != 0) == block.keep_if ? 1 : 0;
    x = V::SelectLess(V::Zero(), V::Load(kept), x, V::Set(block.fill));
  }
  if constexpr (kMask) x = V::Add(x, tile::LoadFirst<V>(mask, count));
  return x;
}

template <class V, bool kKeep, bool kMask>
void SoftmaxScoreRow(const ScoreRows& block, std::int64_t row) {
  const std::int64_t last = block.visible < block.keys - row ? block.visible + row : block.keys;
  const std::int64_t whole = last / V::kLanes * V::kLanes;
  const std::uint8_t* keep = kKeep ? block.keep + row * block.keep_stride : nullptr;
  const float* mask = kMask ? block.mask + row * block.mask_stride : nullptr;
  float* const scores = block.scores + row * block.score_stride;
  const auto at = [scores, panel = block.panel_stride](std::int64_t k) {
    return scores + k / kColumns * panel + k % kColumns;
  };
  const auto score_at = [&](std::int64_t k, std::int64_t count) {
    return Score<V, kKeep, kMask>(block, at(k), kKeep ? keep + k : nullptr,
                                  kMask ? mask + k : nullptr, count);
  };
  // A maximum waits for the one before it, so two take turns.
  auto largest = V::Set(-kInfinity);
  auto other = largest;
  for (std::int64_t k = 0; k < whole; k += V::kLanes) {
    const auto x = score_at(k, V::kLanes);
    V::Store(x, at(k));
    const auto larger = V::Max(other, x);
    other = largest;
    largest = larger;
  }
  if (whole < last) {
    const std::int64_t count = last - whole;
    const auto x = FirstOr<V>(score_at(whole, count), count, -kInfinity);
    V::Store(x, at(whole));
    largest = V::Max(largest, x);
  }
  const auto maximum = V::Set(LargestLane<V>(V::Max(largest, other)));
  float* weights = block.weights + row * block.weights_stride;
  auto sum = V::Zero();
  for (std::int64_t k = 0; k < whole; k += V::kLanes) {
    const auto weight = ExpOfDifference<V>(V::Sub(V::Load(at(k)), maximum));
    V::Store(weight, weights + k);
    sum = V::Add(sum, weight);
  }
  if (whole < last) {
    const auto weight =
        V::KeepFirst(ExpOfDifference<V>(V::Sub(V::Load(at(whole)), maximum)), last - whole);
    tile::StoreFirst<V>(weight, weights + whole, block.keys - whole);
    sum = V::Add(sum, weight);
  }
  for (std::int64_t k = whole + (whole < last ? V::kLanes : 0); k < block.keys; k += V::kLanes) {
    tile::StoreFirst<V>(V::Zero(), weights + k, block.keys - k);
  }
  block.factors[row] = 1.0F / tile::SumOfLanes<V>(sum);
}

template <class V, bool kKeep, bool kMask>
void SoftmaxScoreRows(const ScoreRows& block) {
  for (std::int64_t row = 0; row < block.rows; ++row) SoftmaxScoreRow<V, kKeep, kMask>(block, row);
}

template <class V>
void SoftmaxScores(const ScoreRows& block) {
  const bool mask = block.mask != nullptr;
  if (block.keep != nullptr) {
    return mask ? SoftmaxScoreRows<V, true, true>(block) : SoftmaxScoreRows<V, true, false>(block);
  }
  return mask ? SoftmaxScoreRows<V, false, true>(block) : SoftmaxScoreRows<V, false, false>(block);
}

template <class V, class T>
void StoreScaledAs(const ScaledRows& rows) {
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const auto factor = V::Set(rows.factors[r]);
    T* out = static_cast<T*>(rows.out) + r * rows.row_stride;
    for (std::int64_t c = 0; c < rows.columns; c += V::kLanes) {
      tile::StoreFirst<V>(V::Mul(V::Load(rows.tile + r * kColumns + c), factor), out + c,
                          rows.columns - c);
    }
  }
}

template <class V>
void StoreScaled(const ScaledRows& rows) {
  if (rows.half) return StoreScaledAs<V, std::uint16_t>(rows);
  StoreScaledAs<V, float>(rows);
}

// ---- Whole rows ------------------------------------------------------------------------------

/// Folds f(lanes at i) for a row of `length` >= 1 elements into four chains, which are independent
/// of each other; lanes that are not there are `neutral`.
template <class V, class F, class Join>
[[gnu::always_inline]] inline typename V::Register FoldRow(std::int64_t length, float neutral, F f,
                                                           Join join) {
  typename V::Register chains[4];
  for (auto& chain : chains) chain = V::Set(neutral);
  std::int64_t i = 0;
  for (; i + 4 * V::kLanes <= length; i += 4 * V::kLanes) {
    for (int c = 0; c < 4; ++c) chains[c] = join(chains[c], f(i + c * V::kLanes, V::kLanes));
  }
  for (; i < length; i += V::kLanes) {
    const std::int64_t count = length - i;
    const auto x = f(i, count);
    chains[0] = join(chains[0], count < V::kLanes ? FirstOr<V>(x, count, neutral) : x);
  }
  return join(join(chains[0], chains[1]), join(chains[2], chains[3]));
}

template <class V>
void Softmax(const float* x, std::int64_t length, float* y) {
  const auto larger = [](auto a, auto b) { return V::Max(a, b); };
  const auto add = [](auto a, auto b) { return V::Add(a, b); };
  const auto load = [x](std::int64_t i, std::int64_t count) {
    return tile::LoadFirst<V>(x + i, count);
  };
  const auto maximum = V::Set(LargestLane<V>(FoldRow<V>(length, -kInfinity, load, larger)));
  const auto sum = FoldRow<V>(
      length, 0,
      [x, y, maximum](std::int64_t i, std::int64_t count) {
        const auto weight = ExpOfDifference<V>(V::Sub(tile::LoadFirst<V>(x + i, count), maximum));
        tile::StoreFirst<V>(weight, y + i, count);
        return weight;
      },
      add);
  const auto factor = V::Set(1.0F / tile::SumOfLanes<V>(sum));
  for (std::int64_t i = 0; i < length; i += V::kLanes) {
    tile::StoreFirst<V>(V::Mul(tile::LoadFirst<V>(y + i, length - i), factor), y + i, length - i);
  }
}

template <class V>
float ExpSum(const float* x, std::int64_t length, float* largest) {
  const auto larger = [](auto a, auto b) { return V::Max(a, b); };
  const auto add = [](auto a, auto b) { return V::Add(a, b); };
  const auto load = [x](std::int64_t i, std::int64_t count) {
    return tile::LoadFirst<V>(x + i, count);
  };
  *largest = LargestLane<V>(FoldRow<V>(length, -kInfinity, load, larger));
  const auto maximum = V::Set(*largest);
  return tile::SumOfLanes<V>(FoldRow<V>(
      length, 0,
      [load, maximum](std::int64_t i, std::int64_t count) {
        return ExpOfDifference<V>(V::Sub(load(i, count), maximum));
      },
      add));
}

/// x = a + b of a row, written where it is wanted, else to y. Gives where x is.
template <class V>
const float* AddRow(const NormRows& rows, std::int64_t row) {
  const std::int64_t at = row * rows.length;
  if (rows.b == nullptr && rows.sum == nullptr) return rows.a + at;
  float* x = (rows.sum != nullptr ? rows.sum : rows.y) + at;
  for (std::int64_t i = 0; i < rows.length; i += V::kLanes) {
    const std::int64_t count = rows.length - i;
    auto value = tile::LoadFirst<V>(rows.a + at + i, count);
    if (rows.b != nullptr) value = V::Add(value, tile::LoadFirst<V>(rows.b + at + i, count));
    tile::StoreFirst<V>(value, x + i, count);
  }
  return x;
}

/// Means of f(a row, elements i to i + count) over each of up to kLanes rows.
template <class V, class F>
[[gnu::always_inline]] inline typename V::Register MeansOfRows(std::int64_t rows,
                                                               std::int64_t length, F f) {
  const auto add = [](auto a, auto b) { return V::Add(a, b); };
  typename V::Register sums[V::kLanes];
  for (std::int64_t r = 0; r < V::kLanes; ++r) {
    const auto of_row = [&](std::int64_t i, std::int64_t count) { return f(r, i, count); };
    sums[r] = r < rows ? FoldRow<V>(length, 0, of_row, add) : V::Zero();
  }
  return V::Div(tile::SumsOfLanes<V>(sums), V::Set(static_cast<float>(length)));
}

/// Rows [first, first + count), up to kLanes: their means and variances wait for each other, those
/// of several rows do not.
template <class V>
void NormalizeTogether(const NormRows& rows, std::int64_t first, std::int64_t count) {
  const float* x[V::kLanes];
  for (std::int64_t r = 0; r < count; ++r) x[r] = AddRow<V>(rows, first + r);
  float means[V::kLanes] = {};
  if (rows.centered) {
    V::Store(MeansOfRows<V>(count, rows.length,
                            [&](std::int64_t r, std::int64_t i, std::int64_t n) {
                              return tile::LoadFirst<V>(x[r] + i, n);
                            }),
             means);
  }
  const auto variances =
      MeansOfRows<V>(count, rows.length, [&](std::int64_t r, std::int64_t i, std::int64_t n) {
        const auto d = V::Sub(tile::LoadFirst<V>(x[r] + i, n), V::Set(means[r]));
        return V::Mul(d, d);
      });
  float factors[V::kLanes];
  V::Store(V::Div(V::Set(1.0F), V::Sqrt(V::Add(variances, V::Set(rows.epsilon)))), factors);
  for (std::int64_t r = 0; r < count; ++r) {
    const auto center = V::Set(means[r]);
    const auto factor = V::Set(factors[r]);
    float* const to = rows.y + (first + r) * rows.length;
    for (std::int64_t i = 0; i < rows.length; i += V::kLanes) {
      const std::int64_t n = rows.length - i;
      auto y = V::Mul(V::Sub(tile::LoadFirst<V>(x[r] + i, n), center), factor);
      if (rows.scale != nullptr) y = V::Mul(y, tile::LoadFirst<V>(rows.scale + i, n));
      if (rows.bias != nullptr) y = V::Add(y, tile::LoadFirst<V>(rows.bias + i, n));
      tile::StoreFirst<V>(y, to + i, n);
    }
  }
}

template <class V>
void Normalize(const NormRows& rows) {
  // They stay in the first-level cache from one step to the next.
  constexpr std::int64_t kFloats = 6144;
  const std::int64_t fitting = kFloats / rows.length;
  const std::int64_t most = fitting < 1 ? 1 : fitting < V::kLanes ? fitting : V::kLanes;
  for (std::int64_t row = 0; row < rows.count; row += most) {
    const std::int64_t left = rows.count - row;
    NormalizeTogether<V>(rows, row, left < most ? left : most);
  }
}

template <class V>
inline constexpr RowKernels kKernels = {.softmax_scores = SoftmaxScores<V>,
                                        .store_scaled = StoreScaled<V>,
                                        .softmax = Softmax<V>,
                                        .exp_sum = ExpSum<V>,
                                        .normalize = Normalize<V>};

}  // namespace poprt::kernels::rows
