#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/frontend/define_value.hpp"
#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/import_time/string_pool.hpp"
#include "compiler/frontend/proto/value_proto.hpp"
#include "runtime/kernels/element_types.hpp"

namespace poprt::frontend {
namespace {

Shape ListOf(std::size_t count) { return {static_cast<std::int64_t>(count)}; }

HostValue IntList(const Ints& values) {
  return {Tensor::Of<std::int64_t>(ElementType::kInt64, ListOf(values.size()), values)};
}

HostValue FloatList(const Floats& values) {
  return {Tensor::Of<float>(ElementType::kFloat32, ListOf(values.size()), values)};
}

HostValue StringList(std::vector<std::string> values) {
  const Shape shape = ListOf(values.size());
  return {StringTensor{shape, std::move(values)}};
}

const Shape& ShapeOf(const HostValue& value) {
  return value.strings() != nullptr ? value.strings()->shape : value.tensor()->shape();
}

/// What the node maps to what: two lists of the same length, and one value for everything else.
struct Mapping {
  HostValue keys;
  HostValue values;
  HostValue otherwise;
};

HostValue TensorAttribute(const ImportTimeCall& call, const std::string& name) {
  absl::StatusOr<HostValue> value =
      ValueFromProto(call.attributes.find(name)->t(), &call.importer.external());
  if (value.ok()) return *std::move(value);
  throw ImportTimeError{absl::Status(
      value.status().code(), "attribute '" + name + "' " + std::string(value.status().message()))};
}

/// The list in exactly one of STEM_strings, STEM_int64s, STEM_floats and STEM_tensor.
HostValue ListAttribute(const ImportTimeCall& call, const std::string& stem) {
  std::vector<HostValue> found;
  const auto& attributes = call.attributes;
  if (attributes.has(stem + "_strings")) {
    found.push_back(StringList(attributes.get_strings(stem + "_strings")));
  }
  if (attributes.has(stem + "_int64s")) {
    found.push_back(IntList(attributes.get_ints(stem + "_int64s")));
  }
  if (attributes.has(stem + "_floats")) {
    found.push_back(FloatList(attributes.get_floats(stem + "_floats")));
  }
  if (attributes.has(stem + "_tensor")) found.push_back(TensorAttribute(call, stem + "_tensor"));
  RequireImport(found.size() == 1, "must have exactly one of the attributes '" + stem +
                                       "_strings', '" + stem + "_int64s', '" + stem +
                                       "_floats' and '" + stem + "_tensor'");
  RequireImport(ShapeOf(found[0]).size() == 1,
                "attribute '" + stem + "_tensor' is " + Describe(found[0]) + ", it must be a list");
  return found[0];
}

/// The value for keys that are not in the list, of the type of `values`.
HostValue DefaultOf(const ImportTimeCall& call, const HostValue& values) {
  const auto& attributes = call.attributes;
  if (attributes.has("default_tensor")) {
    const HostValue value = TensorAttribute(call, "default_tensor");
    RequireImport(
        ElementCount(ShapeOf(value)) == 1,
        "attribute 'default_tensor' is " + Describe(value) + ", it must have one element");
    return value;
  }
  if (values.strings() != nullptr) {
    return StringList({attributes.get_string("default_string", "_Unused")});
  }
  const ElementType element = values.tensor()->element();
  if (element == ElementType::kFloat32) {
    return FloatList({attributes.get_float("default_float", -0.0F)});
  }
  if (element == ElementType::kInt64) return IntList({attributes.get_int("default_int64", -1)});
  // Other types come with attribute values_tensor only.
  const bool is_float = IsFloat(element);
  const HostValue wide = is_float ? FloatList({-0.0F}) : IntList({-1});
  return {kernels::RunOnce("Cast", {*wide.tensor()}, {{element, {1}}},
                           {{"to", static_cast<std::int64_t>(element)}})[0]};
}

/// The first version maps strings to their positions in one list, or back.
Mapping FirstMapping(const ImportTimeCall& call) {
  std::vector<std::string> classes = call.attributes.get_strings("classes_strings");
  Ints positions(classes.size());
  std::iota(positions.begin(), positions.end(), 0);
  HostValue names = StringList(std::move(classes));
  HostValue numbers = IntList(positions);
  if (call.required(0).strings() == nullptr) std::swap(names, numbers);
  Mapping mapping{std::move(names), std::move(numbers), {}};
  mapping.otherwise = DefaultOf(call, mapping.values);
  return mapping;
}

Mapping MappingOf(const ImportTimeCall& call) {
  if (call.importer.opsets().Of(call.import.node) < 2) return FirstMapping(call);
  Mapping mapping{ListAttribute(call, "keys"), ListAttribute(call, "values"), {}};
  RequireImport(ShapeOf(mapping.keys) == ShapeOf(mapping.values),
                "has the keys " + Describe(mapping.keys) + " and the values " +
                    Describe(mapping.values) + ", there must be as many");
  mapping.otherwise = DefaultOf(call, mapping.values);
  const bool are_strings = mapping.values.strings() != nullptr;
  RequireImport(are_strings == (mapping.otherwise.strings() != nullptr) &&
                    (are_strings ||
                     mapping.values.tensor()->element() == mapping.otherwise.tensor()->element()),
                "has the values " + Describe(mapping.values) + " and the default " +
                    Describe(mapping.otherwise) + ", they must have the same type");
  return mapping;
}

/// Positions in the list of keys; of equal ones only the last counts.
struct Order {
  Ints ascending;                   ///< of numbers
  std::optional<std::int64_t> nan;  ///< of NaN, which equals nothing
};

template <typename T>
Order Ascending(const Tensor& keys) {
  const auto elements = keys.as<T>();
  using Compared = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;
  const auto key = [&](std::int64_t i) {
    return static_cast<Compared>(elements[static_cast<std::size_t>(i)]);
  };
  Order order;
  Ints numbers;
  for (std::int64_t i = 0; i < keys.count(); ++i) {
    if (key(i) == key(i)) {
      numbers.push_back(i);
    } else {
      order.nan = i;
    }
  }
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
  for (const std::int64_t i : numbers) {
    if (!order.ascending.empty() && key(order.ascending.back()) == key(i)) {
      order.ascending.pop_back();
    }
    order.ascending.push_back(i);
  }
  return order;
}

Tensor Selected(const Tensor& tensor, const Ints& positions) {
  const std::size_t size = ElementSize(tensor.element());
  Tensor selected({tensor.element(), ListOf(positions.size())});
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(selected.mutable_data() + i * size,
                tensor.data() + static_cast<std::size_t>(positions[i]) * size, size);
  }
  return selected;
}

/// Strings become numbers, so that one operator maps everything.
struct Encoded {
  ir::ValueId data;
  Tensor keys;
  Tensor values;
  Tensor otherwise;
};

ImportValue LookUp(const ImportTimeCall& call, Encoded mapping) {
  const ElementType element = call.graph().type(mapping.data).element;
  RequireImport(mapping.keys.element() == element,
                "input 0 is " + ToString(call.graph().type(mapping.data)) + ", but the keys are " +
                    ToString(mapping.keys.type()));
  RequireImport(kernels::Contains(kernels::kNumericTypes, element),
                "its keys are " + ToString(mapping.keys.type()) + ", they must be numbers");
  const Order order = kernels::VisitElement<Order, kernels::kNumericTypes>(
      element, [&](auto type) { return Ascending<typename decltype(type)::type>(mapping.keys); });
  const Shape shape = call.graph().type(mapping.data).shape;
  const ir::ValueId otherwise =
      call.AddConstant("default", mapping.otherwise.WithType({mapping.otherwise.element(), {}}));
  ir::ValueId result =
      order.ascending.empty()
          ? call.Add("lookup", "Expand", {otherwise}, {{"shape", Ints(shape)}})
          : call.Add(
                "lookup", "LabelEncoder",
                {mapping.data, call.AddConstant("keys", Selected(mapping.keys, order.ascending)),
                 call.AddConstant("values", Selected(mapping.values, order.ascending)), otherwise},
                {});
  if (order.nan) {
    const Tensor value =
        Selected(mapping.values, {*order.nan}).WithType({mapping.values.element(), {}});
    const ir::ValueId is_nan = call.Add("is_nan", "IsNaN", {mapping.data}, {});
    result = call.Add("nan", "Where", {is_nan, call.AddConstant("nan_value", value), result}, {});
  }
  return {result};
}

std::vector<ImportValue> LabelEncoder(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const Mapping mapping = MappingOf(call);
  const StringTensor* data = call.required(0).strings();
  const StringTensor* keys = mapping.keys.strings();
  RequireImport((data == nullptr) == (keys == nullptr),
                "input 0 is " + Describe(call.required(0), call.graph()) + ", but the keys are " +
                    Describe(mapping.keys));
  Encoded encoded{};
  if (data != nullptr) {
    const StringPool pool({data, keys});
    encoded.data = call.AddConstant("strings", pool.Encode(*data));
    encoded.keys = pool.Encode(*keys);
  } else {
    encoded.data = call.tensor(0);
    encoded.keys = *mapping.keys.tensor();
  }
  const StringTensor* values = mapping.values.strings();
  if (values == nullptr) {
    encoded.values = *mapping.values.tensor();
    encoded.otherwise = *mapping.otherwise.tensor();
    return {LookUp(call, std::move(encoded))};
  }
  const StringPool results({values, mapping.otherwise.strings()});
  encoded.values = results.Encode(*values);
  encoded.otherwise = results.Encode(*mapping.otherwise.strings());
  const Tensor* numbers = call.graph().ConstantOf(*LookUp(call, std::move(encoded)).tensor());
  RequireImport(numbers != nullptr,
                "makes strings of a tensor that is computed at run time, but strings do not "
                "survive to run time; freeze the inputs that it is computed from");
  StringTensor strings = results.Decode(*numbers);
  call.CountStrings(strings.elements);
  return {{std::move(strings)}};
}

constexpr ImportTimeOp kRows[] = {{"LabelEncoder", "ai.onnx.ml", Always, LabelEncoder}};

}  // namespace

std::span<const ImportTimeOp> LabelEncoderImportOps() { return kRows; }

}  // namespace poprt::frontend
