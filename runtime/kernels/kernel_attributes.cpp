#include "runtime/kernels/kernel_attributes.hpp"

#include <stdexcept>

namespace poprt::kernels {
namespace {

template <typename F>
auto Reading(const F& read) {
  try {
    return read();
  } catch (const std::invalid_argument& error) {
    throw KernelError(error.what());
  }
}

std::string Quoted(std::string_view name) { return "attribute '" + std::string(name) + "'"; }

}  // namespace

std::int64_t IntAttribute(const KernelCall& call, std::string_view name, std::int64_t otherwise) {
  return Reading([&] { return call.attributes.get_int(name, otherwise); });
}

float FloatAttribute(const KernelCall& call, std::string_view name, float otherwise) {
  return Reading([&] { return call.attributes.get_float(name, otherwise); });
}

std::string StringAttribute(const KernelCall& call, std::string_view name,
                            std::string_view otherwise) {
  return Reading([&] { return call.attributes.get_string(name, otherwise); });
}

Ints IntsAttribute(const KernelCall& call, std::string_view name) {
  return Reading([&] { return call.attributes.get_ints(name); });
}

bool FlagAttribute(const KernelCall& call, std::string_view name, bool otherwise) {
  const std::int64_t value = IntAttribute(call, name, otherwise ? 1 : 0);
  if (value != 0 && value != 1) {
    throw KernelError(Quoted(name) + " is " + std::to_string(value) + ", allowed are 0 and 1");
  }
  return value == 1;
}

std::int64_t ScalarAttribute(const KernelCall& call, std::string_view name,
                             std::int64_t otherwise) {
  const AttributeValue* value = call.attributes.find(name);
  if (value == nullptr || !std::holds_alternative<Ints>(*value)) {
    return IntAttribute(call, name, otherwise);
  }
  const Ints& list = std::get<Ints>(*value);
  if (list.size() != 1) {
    throw KernelError(Quoted(name) + " has " + std::to_string(list.size()) +
                      " elements, expected one");
  }
  return list.front();
}

std::size_t CheckedAxis(std::int64_t axis, std::size_t rank, std::string_view name) {
  const auto normal = NormalizeAxis(axis, rank);
  if (!normal) {
    throw KernelError(Quoted(name) + " names axis " + std::to_string(axis) +
                      " of a tensor of rank " + std::to_string(rank));
  }
  return static_cast<std::size_t>(*normal);
}

std::size_t AxisAttribute(const KernelCall& call, std::string_view name, std::int64_t otherwise,
                          std::size_t rank) {
  return CheckedAxis(ScalarAttribute(call, name, otherwise), rank, name);
}

std::vector<bool> AxesMask(const Ints& axes, std::size_t rank, std::string_view name) {
  std::vector<bool> mask(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t at = CheckedAxis(axis, rank, name);
    if (mask[at])
      throw KernelError(Quoted(name) + " names axis " + std::to_string(axis) + " twice");
    mask[at] = true;
  }
  return mask;
}

}  // namespace poprt::kernels
