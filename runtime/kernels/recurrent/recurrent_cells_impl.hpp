#pragma once

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

template <class V>
void Lstm(const LstmPanels& panels) {
  const LstmPanels p = panels;
  for (std::int64_t panel = 0; panel < p.count; ++panel) {
    ForVectors<V>([=](int lane) POPRT_INLINED {
      const std::int64_t at = panel * p.stride + lane;
      float* const cell = p.cell + panel * kPanel + lane;
      const auto kept = V::Mul(Sigmoid<V>(V::Load(p.forget + at)), V::Load(cell));
      const auto added =
          V::Mul(Sigmoid<V>(V::Load(p.in + at)), tile::Tanh<V>(V::Load(p.next + at)));
      const auto sum = V::Add(kept, added);
      V::Store(sum, cell);
      V::Store(V::Mul(Sigmoid<V>(V::Load(p.out + at)), tile::Tanh<V>(sum)),
               p.hidden + panel * kPanel + lane);
    });
  }
}

template <class V>
void GruGates(const float* reset, const float* before, float* update, float* passed) {
  ForVectors<V>([=](int i) POPRT_INLINED {
    V::Store(Sigmoid<V>(V::Load(update + i)), update + i);
    V::Store(V::Mul(Sigmoid<V>(V::Load(reset + i)), V::Load(before + i)), passed + i);
  });
}

template <class V>
void Gru(const float* update, const float* before, float* candidate) {
  ForVectors<V>([=](int i) POPRT_INLINED {
    V::Store(
        Blend<V>(V::Load(update + i), tile::Tanh<V>(V::Load(candidate + i)), V::Load(before + i)),
        candidate + i);
  });
}

template <class V>
void LinearGru(const float* update, const float* reset, const float* linear, const float* before,
               float* candidate) {
  ForVectors<V>([=](int i) POPRT_INLINED {
    const auto passed = V::Mul(Sigmoid<V>(V::Load(reset + i)), V::Load(linear + i));
    const auto sum = V::Add(V::Load(candidate + i), passed);
    V::Store(Blend<V>(Sigmoid<V>(V::Load(update + i)), tile::Tanh<V>(sum), V::Load(before + i)),
             candidate + i);
  });
}

template <class V>
inline constexpr RecurrentCells kCells = {
    .lstm = Lstm<V>, .gru_gates = GruGates<V>, .gru = Gru<V>, .linear_gru = LinearGru<V>};

}  // namespace poprt::kernels::cells
