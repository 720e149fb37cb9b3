#include "runtime/tensor/attributes.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace poprt {
namespace {

template <typename T>
T Get(const Attributes& attributes, std::string_view name, T otherwise, const char* wanted) {
  const AttributeValue* value = attributes.find(name);
  if (value == nullptr) return otherwise;
  if (const T* typed = std::get_if<T>(value)) return *typed;
  throw std::invalid_argument("attribute '" + std::string(name) + "' is not " + wanted);
}

struct Printer {
  std::ostringstream& out;

  void operator()(std::int64_t value) const { out << value; }
  void operator()(float value) const { out << value; }
  void operator()(const std::string& value) const { out << '"' << value << '"'; }
  void operator()(const Tensor& value) const { out << ToString(value.type()); }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    out << '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      out << (i > 0 ? ", " : "");
      (*this)(values[i]);
    }
    out << ']';
  }
};

}  // namespace

Attributes::Attributes(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) set(entry.first, entry.second);
}

const AttributeValue* Attributes::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

void Attributes::set(std::string_view name, AttributeValue value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const Entry& e, std::string_view n) { return e.first < n; });
  if (at != entries_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    entries_.emplace(at, std::string(name), std::move(value));
  }
}

void Attributes::erase(std::string_view name) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; });
}

std::int64_t Attributes::get_int(std::string_view name, std::int64_t otherwise) const {
  return Get<std::int64_t>(*this, name, otherwise, "an integer");
}

float Attributes::get_float(std::string_view name, float otherwise) const {
  return Get<float>(*this, name, otherwise, "a float");
}

std::string Attributes::get_string(std::string_view name, std::string_view otherwise) const {
  return Get<std::string>(*this, name, std::string(otherwise), "a string");
}

Ints Attributes::get_ints(std::string_view name, const Ints& otherwise) const {
  return Get<Ints>(*this, name, otherwise, "a list of integers");
}

Floats Attributes::get_floats(std::string_view name, const Floats& otherwise) const {
  return Get<Floats>(*this, name, otherwise, "a list of floats");
}

Strings Attributes::get_strings(std::string_view name, const Strings& otherwise) const {
  return Get<Strings>(*this, name, otherwise, "a list of strings");
}

std::string ToString(const Attributes::Entry& entry) {
  std::ostringstream out;
  out << entry.first << '=';
  std::visit(Printer{out}, entry.second);
  return out.str();
}

}  // namespace poprt
