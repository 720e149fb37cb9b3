#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "compiler/emit/onnx_downgrade_call.hpp"
#include "runtime/kernels/kernel.hpp"

namespace poprt::emit {
namespace {

/// In the graph the lists are inputs, which no ONNX operator has: compare with every key.
absl::Status DowngradeLabelEncoder(const DowngradeCall& call) {
  DowngradeSteps steps(call);
  const OnnxValue x = call.node.inputs[0];
  const OnnxValue keys = call.node.inputs[1];
  const Shape& shape = x.type.shape;
  Shape column = shape;
  column.push_back(1);
  Shape compared = shape;
  compared.push_back(keys.type.shape[0]);
  const auto axis = static_cast<std::int64_t>(shape.size());
  const OnnxValue each = steps.Do("Reshape", {x}, {x.type.element, column},
                                  {{"shape", Ints(column)}, {"allowzero", std::int64_t{0}}});
  const OnnxValue equal = steps.Do("Equal", {each, keys}, {ElementType::kBool, compared}, {});
  const OnnxValue mask = steps.Do("Cast", {equal}, {ElementType::kInt32, compared},
                                  {{"to", static_cast<std::int64_t>(ElementType::kInt32)}});
  const OnnxValue found = steps.Do("ArgMax", {mask}, {ElementType::kInt64, shape},
                                   {{"axis", axis}, {"keepdims", std::int64_t{0}}});
  const OnnxValue any = steps.Do("ReduceMax", {mask}, {ElementType::kInt32, shape},
                                 {{"axes", Ints{axis}}, {"keepdims", std::int64_t{0}}});
  const OnnxValue is_known = steps.Do("Cast", {any}, {ElementType::kBool, shape},
                                      {{"to", static_cast<std::int64_t>(ElementType::kBool)}});
  const OnnxValue value = steps.Do("Gather", {call.node.inputs[2], found});
  return steps.Finish("Where", {is_known, value, call.node.inputs[3]});
}

/// In the graph real numbers are the bits of doubles; ONNX has tensors.
absl::Status DowngradeTreeEnsemble(const DowngradeCall& call) {
  Attributes& attributes = call.node.attributes;
  const Ints counts = attributes.get_ints("leaf_counts");
  if (std::any_of(counts.begin(), counts.end(), [](auto count) { return count != 1; })) {
    return absl::UnimplementedError("leaves that add to several targets have no form in ONNX");
  }
  attributes.erase("leaf_counts");
  const ElementType element = call.input().element;
  for (const char* name : {"leaf_weights", "membership_values", "nodes_splits"}) {
    const Ints bits = attributes.get_ints(name);
    attributes.erase(name);
    if (bits.empty()) continue;
    std::vector<double> numbers;
    for (const std::int64_t number : bits) numbers.push_back(std::bit_cast<double>(number));
    const Shape shape{static_cast<std::int64_t>(numbers.size())};
    const Tensor tensor({ElementType::kFloat64, shape}, numbers.data());
    attributes.set(name, kernels::RunOnce("Cast", {tensor}, {{element, shape}},
                                          {{"to", static_cast<std::int64_t>(element)}})
                             .front());
  }
  const Ints modes = attributes.get_ints("nodes_modes");
  Tensor tensor({ElementType::kUint8, {static_cast<std::int64_t>(modes.size())}});
  std::transform(modes.begin(), modes.end(), tensor.as_mutable<std::uint8_t>().begin(),
                 [](std::int64_t mode) { return static_cast<std::uint8_t>(mode); });
  attributes.set("nodes_modes", tensor);
  return absl::OkStatus();
}

constexpr DowngradeRow kRows[] = {
    {"LabelEncoder", kAlways, DowngradeLabelEncoder},
    {"TreeEnsemble", kAlways, DowngradeTreeEnsemble},
};

}  // namespace

std::span<const DowngradeRow> MlDowngrades() { return kRows; }

}  // namespace poprt::emit
