#pragma once

#include "runtime/kernels/element_types.hpp"
#include "runtime/kernels/kernel.hpp"

/// The bind functions of the kernels whose positions are data. Indices are int32 or int64 (the
/// compiler may narrow them), negative ones count from the end. What is still outside cannot be
/// refused at run time, so a gather takes the nearest position inside, as hardware that clamps
/// addresses would, and a scatter leaves that update out.
namespace poprt::kernels {

BoundKernel BindGather(const KernelCall& call);           ///< axis
BoundKernel BindGatherElements(const KernelCall& call);   ///< axis
BoundKernel BindGatherNd(const KernelCall& call);         ///< batch_dims
BoundKernel BindScatterElements(const KernelCall& call);  ///< axis, reduction
BoundKernel BindScatterNd(const KernelCall& call);        ///< reduction

inline constexpr TypeSet kIndexTypes = Types({ElementType::kInt32, ElementType::kInt64});

/// Calls f(std::type_identity<Index>{}) for an index operand.
template <typename F>
BoundKernel VisitIndex(const TensorType& indices, std::string_view what, F&& f) {
  RequireElement(indices, kIndexTypes, what);
  return VisitElement<BoundKernel, kIndexTypes>(indices.element, f);
}

/// The position an index names in an axis of `extent` >= 1.
template <typename Index>
std::int64_t ClampedIndex(Index index, std::int64_t extent) {
  const auto wide = static_cast<std::int64_t>(index);
  const std::int64_t at = wide < 0 ? wide + extent : wide;
  return at < 0 ? 0 : (at >= extent ? extent - 1 : at);
}

}  // namespace poprt::kernels
