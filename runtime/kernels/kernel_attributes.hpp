#pragma once

#include <string_view>

#include "runtime/kernels/kernel.hpp"

/// Reading the attributes of a call. All throw KernelError for an attribute of the wrong type or
/// value.
namespace poprt::kernels {

std::int64_t IntAttribute(const KernelCall& call, std::string_view name, std::int64_t otherwise);
float FloatAttribute(const KernelCall& call, std::string_view name, float otherwise);
std::string StringAttribute(const KernelCall& call, std::string_view name,
                            std::string_view otherwise);
Ints IntsAttribute(const KernelCall& call, std::string_view name);

/// An integer that must be 0 or 1.
bool FlagAttribute(const KernelCall& call, std::string_view name, bool otherwise);

/// A static input that is one integer: a list of one element, or an integer.
std::int64_t ScalarAttribute(const KernelCall& call, std::string_view name, std::int64_t otherwise);

/// Throws unless `axis` is one of a tensor of that rank; counts it from the front.
std::size_t CheckedAxis(std::int64_t axis, std::size_t rank, std::string_view name);

/// CheckedAxis of ScalarAttribute.
std::size_t AxisAttribute(const KernelCall& call, std::string_view name, std::int64_t otherwise,
                          std::size_t rank);

/// Which of `rank` axes the list names; each may be named once.
std::vector<bool> AxesMask(const Ints& axes, std::size_t rank, std::string_view name);

}  // namespace poprt::kernels
