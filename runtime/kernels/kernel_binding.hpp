#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel.hpp"

/// What several bind functions of kernels that move or sum elements have in common.
namespace poprt::kernels {

/// The type sums of T are kept in: float for the half types; unsigned for integers, which wrap.
template <typename T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<Float16> {
  using type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using type = float;
};
template <typename T>
requires std::is_integral_v<T>
struct AccumulatorOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};
template <typename T>
using Accumulator = typename AccumulatorOf<T>::type;

/// A number as double and back, rounded once: half types convert to and from float only.
template <typename T>
double ToDouble(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}
template <typename T>
T FromDouble(double value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

/// Throws KernelError unless `shape` is valid; returns its number of elements.
inline std::int64_t RequireCount(const Shape& shape, std::string_view what) {
  const auto count = CheckedElementCount(shape);
  if (!count) throw KernelError(std::string(what) + " " + ToString(shape) + " is too large");
  return *count;
}

/// A bind function that reports attributes of a wrong type and tables that do not fit into memory
/// as KernelError.
template <BoundKernel (*kBind)(const KernelCall&)>
BoundKernel GuardedBind(const KernelCall& call) {
  try {
    return kBind(call);
  } catch (const std::invalid_argument& error) {
    throw KernelError(error.what());
  } catch (const std::bad_alloc&) {
    throw KernelError("the operands are too large for this machine's memory");
  } catch (const std::length_error&) {
    throw KernelError("the operands are too large for this machine's memory");
  }
}

/// The run function of a kernel whose outputs have no elements.
inline BoundKernel NothingToRun() {
  return {.run = [](const KernelArguments&) {}};
}

/// `bytes` of scratch rounded up as BoundKernel wants it.
inline std::size_t ScratchBytes(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace poprt::kernels
