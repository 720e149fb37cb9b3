#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/tensor/tensor.hpp"

namespace poprt {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

/// Value of one attribute. Tensor appears only in the compiler: programs hold no tensor attributes.
using AttributeValue =
    std::variant<std::int64_t, float, std::string, Ints, Floats, Tensor, Strings>;

/// The attributes of an operator, by name and in the order of their names, so that iteration is
/// deterministic. A getter returns its `otherwise` argument when the attribute is absent; an
/// attribute of another type than asked for throws std::invalid_argument that names it.
class Attributes {
 public:
  using Entry = std::pair<std::string, AttributeValue>;

  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  const AttributeValue* find(std::string_view name) const;
  void set(std::string_view name, AttributeValue value);
  void erase(std::string_view name);

  std::int64_t get_int(std::string_view name, std::int64_t otherwise) const;
  float get_float(std::string_view name, float otherwise) const;
  std::string get_string(std::string_view name, std::string_view otherwise) const;
  Ints get_ints(std::string_view name, const Ints& otherwise = {}) const;
  Floats get_floats(std::string_view name, const Floats& otherwise = {}) const;
  Strings get_strings(std::string_view name, const Strings& otherwise = {}) const;

  const std::vector<Entry>& entries() const { return entries_; }
  bool operator==(const Attributes&) const = default;

 private:
  std::vector<Entry> entries_;
};

/// "axis=1", "pads=[0, 0, 1, 1]"; tensors as their type.
std::string ToString(const Attributes::Entry& entry);

}  // namespace poprt
