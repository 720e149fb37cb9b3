#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/graph.hpp"

/// Elements of constants as double, whatever their type, for passes that compute with them.
namespace poprt::passes {

/// All elements. int64 and uint64 beyond 2^53 are rounded; booleans are 0 and 1.
std::vector<double> ToDoubles(const Tensor& tensor);

/// The inverse: rounds to the nearest for floats, truncates for integers.
Tensor FromDoubles(TensorType type, std::span<const double> values);

/// The value that all elements of the constant have; nothing for an empty tensor, elements that
/// differ, or a value that is absent or no constant.
std::optional<double> UniformValue(const ir::Graph& graph, ir::ValueId id);

/// `value` equals `wanted` up to the rounding of constants in exported models: 1e-3 of it for the
/// 16-bit types, 1e-4 otherwise.
bool IsNear(double value, double wanted, ElementType element);

/// The constant `id` as one element for each of the `count` positions of the axis that stands
/// `from_end` places before the last (0: the last) of the tensor it broadcasts against; nothing
/// when it is no constant or varies along another axis. Scalars are repeated.
std::optional<std::vector<double>> AlongAxis(const ir::Graph& graph, ir::ValueId id,
                                             std::int64_t count, std::size_t from_end);

}  // namespace poprt::passes
