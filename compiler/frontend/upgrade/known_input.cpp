#include "compiler/frontend/upgrade/known_input.hpp"

#include <optional>
#include <string>
#include <variant>

#include "compiler/frontend/static_input.hpp"

namespace poprt::frontend {
namespace {

template <typename List>
absl::StatusOr<List> Known(const UpgradeCall& call, std::size_t i, std::string_view name,
                           std::string_view wanted) {
  if (call.input(i) == ir::kAbsent) return call.MissingInput(i);
  const std::string which = "input " + std::to_string(i) + " (" + std::string(name) + ")";
  const Tensor* tensor = call.constant(i);
  if (tensor == nullptr) {
    return absl::InvalidArgumentError(
        which + " is '" + call.sink.graph().value(call.input(i)).name +
        "', which must be known when compiling; freeze the value or fix the shape that it comes "
        "from");
  }
  std::optional<AttributeValue> value = StaticValue(*tensor);
  const List* list = value ? std::get_if<List>(&*value) : nullptr;
  if (list == nullptr) {
    return absl::InvalidArgumentError(which + " is " + ToString(tensor->type()) +
                                      ", its elements must be " + std::string(wanted));
  }
  return *list;
}

}  // namespace

absl::StatusOr<Ints> KnownInts(const UpgradeCall& call, std::size_t i, std::string_view name) {
  return Known<Ints>(call, i, name, "integers");
}

absl::StatusOr<Floats> KnownFloats(const UpgradeCall& call, std::size_t i, std::string_view name) {
  return Known<Floats>(call, i, name, "floats");
}

}  // namespace poprt::frontend
