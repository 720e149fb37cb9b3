#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/inner_loops_testing.hpp"
#include "runtime/kernels/kernel_test_index.hpp"
#include "runtime/kernels/packed/packed_kernels.hpp"
#include "runtime/tensor/half.hpp"

/// What the tests of the packed kernels share: random operands, naive results in double, and
/// running a kernel in memory that shows stray accesses.
namespace poprt::kernels::testing {

inline const std::vector<std::string>& AllActivations() {
  static const std::vector<std::string> names{"",        "relu", "clip", "gelu_erf",  "gelu_tanh",
                                              "sigmoid", "tanh", "silu", "hardswish", "leaky_relu"};
  return names;
}

/// The activation with min -0.5, max 0.75, alpha 0.125.
inline double ReferenceActivation(const std::string& name, double x) {
  if (name == "relu") return std::max(x, 0.0);
  if (name == "clip") return std::clamp(x, -0.5, 0.75);
  if (name == "gelu_erf") return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  if (name == "gelu_tanh") {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }
  if (name == "sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "tanh") return std::tanh(x);
  if (name == "silu") return x / (1 + std::exp(-x));
  if (name == "hardswish") return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
  if (name == "leaky_relu") return x < 0 ? 0.125 * x : x;
  return x;
}

inline Attributes ActivationAttributes(const std::string& name) {
  return {{"activation", name}, {"min", -0.5F}, {"max", 0.75F}, {"alpha", 0.125F}};
}

/// Random choices from one seed.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  std::int64_t Int(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool Flip() { return Int(0, 1) == 1; }
  template <typename T>
  const T& Of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(Int(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  ElementType FloatType() { return Flip() ? ElementType::kFloat32 : ElementType::kFloat16; }

  /// Elements in [-1, 1]; with `specials`, a few of them NaN or infinite.
  Tensor Values(const TensorType& type, bool specials = false) {
    Tensor tensor(type);
    if (type.element == ElementType::kFloat16) {
      for (Float16& x : tensor.as_mutable<Float16>()) x = Float16(Value(specials));
    } else {
      for (float& x : tensor.as_mutable<float>()) x = Value(specials);
    }
    return tensor;
  }

 private:
  float Value(bool specials) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const int kind = specials ? static_cast<int>(Int(0, 199)) : 3;
    if (kind < 2) return kind == 0 ? kInfinity : -kInfinity;
    if (kind == 2) return std::numeric_limits<float>::quiet_NaN();
    return std::uniform_real_distribution<float>(-1, 1)(engine_);
  }

  std::mt19937 engine_;
};

/// None for an operand that is not there.
inline Values Doubles(const Tensor& tensor) {
  return tensor.type().defined() ? ToValues(tensor) : Values();
}

using Bind = std::function<BoundKernel(const KernelCall&, const InnerLoops&)>;

inline KernelCall CallOf(const std::vector<Tensor>& inputs, const TensorType& output,
                         const Attributes& attributes) {
  KernelCall call{.inputs = {}, .outputs = {output}, .attributes = attributes};
  for (const Tensor& input : inputs) call.inputs.push_back(input.type());
  return call;
}

/// Runs twice, with the same bits, the second time with a result that begins within a cache line,
/// as memory of callers does. The scratch memory holds NaN before, and what lies behind it and
/// around that result is checked.
inline Tensor RunBound(const BoundKernel& kernel, const std::vector<Tensor>& inputs,
                       const TensorType& output, int threads) {
  std::vector<const std::byte*> sources;
  sources.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    sources.push_back(input.type().defined() ? input.data() : nullptr);
  }
  EXPECT_EQ(kernel.scratch_bytes % 64, 0U);
  const std::size_t scratch_bytes = kernel.scratch_bytes * static_cast<std::size_t>(threads);
  Tensor scratch({ElementType::kUint8, {static_cast<std::int64_t>(scratch_bytes + 64)}});
  std::memset(scratch.mutable_data(), 0xFF, scratch.bytes());
  ThreadPool pool(threads);
  const auto run = [&](std::byte* to) {
    const std::array<std::byte*, 1> targets{to};
    kernel.run(
        {.inputs = sources, .outputs = targets, .scratch = scratch.mutable_data(), .pool = &pool});
  };
  Tensor result(output);
  std::memset(result.mutable_data(), 0xFF, result.bytes());
  run(result.mutable_data());
  constexpr std::size_t kWithinLine = 16;
  std::vector<std::byte> within(result.bytes() + 64 + 2 * kWithinLine, std::byte{0xFF});
  const auto place = reinterpret_cast<std::uintptr_t>(within.data());
  std::byte* const second = within.data() + (0 - place) % 64 + kWithinLine;
  run(second);
  EXPECT_TRUE(std::equal(second, second + result.bytes(), result.data()))
      << "the second run has other bits";
  EXPECT_EQ(second[-1], std::byte{0xFF}) << "written before the result";
  EXPECT_EQ(second[result.bytes()], std::byte{0xFF}) << "written behind the result";
  for (std::size_t i = scratch_bytes; i < scratch_bytes + 64; ++i) {
    EXPECT_EQ(scratch.data()[i], std::byte{0xFF}) << "written behind the scratch memory";
  }
  return result;
}

/// Binds, and runs as above.
inline Tensor RunPacked(const Bind& bind, const std::vector<Tensor>& inputs,
                        const TensorType& output, const Attributes& attributes,
                        const InnerLoops& loops, int threads = 1) {
  return RunBound(bind(CallOf(inputs, output, attributes), loops), inputs, output, threads);
}

/// A result as a double, and the sum of the absolute values it was summed from.
struct Expected {
  double value = 0;
  double magnitude = 0;
  bool is_any = false;  ///< any result will do

  void Add(double x) {
    value += x;
    magnitude += std::abs(x);
  }
};

/// What rounding may take from a sum, as a part of the sum of absolute values: on a matrix unit
/// that of every product, see matrix_unit.hpp.
inline double RoundingOfSums(const InnerLoops& loops) {
  return loops.matrix_unit == nullptr ? 1e-6 : 0x1p-17;
}

/// Compares with act(expected), allowing for rounding of the sum, the activation and the result.
inline void ExpectClose(const Tensor& result, const std::vector<Expected>& expected,
                        const std::string& activation, double rounding_of_sums = 1e-6) {
  const std::vector<double> found = Doubles(result);
  ASSERT_EQ(found.size(), expected.size());
  const bool half = result.element() == ElementType::kFloat16;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (expected[i].is_any) continue;
    const double wanted = ReferenceActivation(activation, expected[i].value);
    if (!std::isfinite(wanted)) {
      ASSERT_TRUE(std::isnan(wanted) ? std::isnan(found[i]) : found[i] == wanted)
          << "element " << i << " is " << found[i] << ", expected " << wanted;
      continue;
    }
    const double tolerance = rounding_of_sums * expected[i].magnitude + 1e-7 +
                             (half ? std::abs(wanted) * 0x1p-11 + 0x1p-25 : 0.0);
    ASSERT_NEAR(found[i], wanted, tolerance) << "element " << i;
  }
}

/// Runs with one processor's kernels and several pool sizes, and compares with `expected`.
inline void ExpectPackedWith(const InnerLoops& loops, const Bind& bind,
                             const std::vector<Tensor>& inputs, const TensorType& output,
                             const Attributes& attributes, const std::vector<Expected>& expected) {
  SCOPED_TRACE(loops.instruction_set);
  const Tensor result = RunPacked(bind, inputs, output, attributes, loops);
  ExpectClose(result, expected, attributes.get_string("activation", ""), RoundingOfSums(loops));
  for (int threads = 2; threads <= 4; ++threads) {
    EXPECT_TRUE(result == RunPacked(bind, inputs, output, attributes, loops, threads))
        << "other bits with " << threads << " threads";
  }
}

/// The same with all processors' kernels.
inline void ExpectPacked(const Bind& bind, const std::vector<Tensor>& inputs,
                         const TensorType& output, const Attributes& attributes,
                         const std::vector<Expected>& expected) {
  for (const InnerLoops* loops : AllInnerLoops()) {
    ExpectPackedWith(*loops, bind, inputs, output, attributes, expected);
  }
}

/// The message of the KernelError that binding throws; empty when it succeeds.
inline std::string BindError(const Bind& bind, const KernelCall& call) {
  try {
    bind(call, PortableInnerLoops());
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

}  // namespace poprt::kernels::testing
