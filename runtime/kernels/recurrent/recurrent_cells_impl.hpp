#pragma once

#include <limits>

#include "runtime/kernels/packed/activations_impl.hpp"
#include "runtime/kernels/packed/unroll.hpp"
#include "runtime/kernels/packed/vector_type.hpp"
#include "runtime/kernels/recurrent/recurrent_cells.hpp"

// RecurrentCells written once over the vector type V of vector_type.hpp.
namespace poprt::kernels::cells {

template <class V>
[[gnu::always_inline]] inline typename V::Register Sigmoid(typename V::Register x) {
  return tile::Activate<V, Activation::kSigmoid>(x, Epilogue());
}

/// Calls f(lane) for the vectors of 16 units.
template <class V, class F>
[[gnu::always_inline]] inline void ForVectors(F f) {
  tile::Unroll<tile::kVectors<V>>([&](auto v)
                                      POPRT_INLINED { f(static_cast<int>(v) * V::kLanes); });
}

/// (1 - update) * candidate + update * before.
template <class V>
[[gnu::always_inline]] inline typename V::Register Blend(typename V::Register update,
                                                         typename V::Register candidate,
                                                         typename V::Register before) {
  return V::Add(V::Mul(V::Sub(V::Set(1.0F), update), candidate), V::Mul(update, before));
}

/// x between -limit and limit; NaN stays.
template <class V, bool kLimited>
[[gnu::always_inline]] inline typename V::Register Limited(typename V::Register x, float limit) {
  if constexpr (!kLimited) return x;
  return V::Min(V::Set(limit), V::Max(V::Set(-limit), x));
}

template <class V, bool kPeepholes, bool kLimited>
void LstmOf(const LstmPanels& panels) {
  const LstmPanels p = panels;
  for (std::int64_t panel = 0; panel < p.count; ++panel) {
    ForVectors<V>([=](int lane) POPRT_INLINED {
      const std::int64_t at = panel * p.stride + lane;
      const std::int64_t unit = panel * kPanel + lane;
      const auto gate = [=](const float* sums, const float* cell_to_gate, typename V::Register cell)
                            POPRT_INLINED {
                              auto sum = V::Load(sums + at);
                              if constexpr (kPeepholes)
                                sum = V::Add(sum, V::Mul(V::Load(cell_to_gate + unit), cell));
                              return Sigmoid<V>(Limited<V, kLimited>(sum, p.limit));
                            };
      const auto tanh = [=](typename V::Register x) POPRT_INLINED {
        return tile::Tanh<V>(Limited<V, kLimited>(x, p.limit));
      };
      const auto before = V::Load(p.cell + unit);
      const auto kept = V::Mul(gate(p.forget, p.cell_to_forget, before), before);
      const auto added = V::Mul(gate(p.in, p.cell_to_in, before), tanh(V::Load(p.next + at)));
      const auto cell = V::Add(kept, added);
      V::Store(cell, p.cell + unit);
      V::Store(V::Mul(gate(p.out, p.cell_to_out, cell), tanh(cell)), p.hidden + unit);
    });
  }
}

template <class V>
void Lstm(const LstmPanels& panels) {
  const bool limited = panels.limit < std::numeric_limits<float>::infinity();
  if (panels.cell_to_in == nullptr) {
    return limited ? LstmOf<V, false, true>(panels) : LstmOf<V, false, false>(panels);
  }
  return limited ? LstmOf<V, true, true>(panels) : LstmOf<V, true, false>(panels);
}

/// Calls f(where the vectors of each row lie in tiles, and in rows of states).
template <class V, class F>
[[gnu::always_inline]] inline void ForRows(const GruRows& r, F f) {
  for (std::int64_t row = 0; row < r.rows; ++row) {
    ForVectors<V>([=](int lane) POPRT_INLINED { f(row * kPanel + lane, row * r.stride + lane); });
  }
}

template <class V>
void GruGates(const GruRows& rows) {
  const GruRows r = rows;
  ForRows<V>(r, [=](std::int64_t i, std::int64_t at) POPRT_INLINED {
    V::Store(Sigmoid<V>(V::Load(r.update + i)), r.update + i);
    V::Store(V::Mul(Sigmoid<V>(V::Load(r.reset + i)), V::Load(r.before + at)), r.passed + at);
  });
}

template <class V>
void Gru(const GruRows& rows) {
  const GruRows r = rows;
  ForRows<V>(r, [=](std::int64_t i, std::int64_t at) POPRT_INLINED {
    const auto next = tile::Tanh<V>(V::Load(r.candidate + i));
    V::Store(Blend<V>(V::Load(r.update + i), next, V::Load(r.before + at)), r.candidate + i);
  });
}

template <class V>
void LinearGru(const GruRows& rows) {
  const GruRows r = rows;
  ForRows<V>(r, [=](std::int64_t i, std::int64_t at) POPRT_INLINED {
    const auto passed = V::Mul(Sigmoid<V>(V::Load(r.reset + i)), V::Load(r.linear + i));
    const auto next = tile::Tanh<V>(V::Add(V::Load(r.candidate + i), passed));
    V::Store(Blend<V>(Sigmoid<V>(V::Load(r.update + i)), next, V::Load(r.before + at)),
             r.candidate + i);
  });
}

template <class V>
inline constexpr RecurrentCells kCells = {
    .lstm = Lstm<V>, .gru_gates = GruGates<V>, .gru = Gru<V>, .linear_gru = LinearGru<V>};

}  // namespace poprt::kernels::cells
