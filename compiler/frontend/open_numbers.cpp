#include "compiler/frontend/open_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>

#include "compiler/frontend/static_input.hpp"

namespace poprt::frontend {
namespace {

using ir::Node;
using ir::ValueId;
using Numbers = std::optional<std::vector<OpenNumber>>;

/// Shapes have fewer extents, and are put together of fewer values. A value that is read by many
/// others counts for each of them.
constexpr std::int64_t kMostNumbers = 64;
constexpr int kMostValues = 256;

class Reader {
 public:
  Reader(const ir::Graph& graph, const OpenExtents& extents) : graph_(graph), extents_(extents) {}

  Numbers Read(ValueId value) {
    const TensorType& type = graph_.type(value);
    const bool is_integer = IsInteger(type.element) || type.element == ElementType::kBool;
    if (++values_ > kMostValues || !is_integer || type.shape.size() > 1) return std::nullopt;
    if (ElementCount(type.shape) > kMostNumbers) return std::nullopt;
    if (const Tensor* constant = graph_.ConstantOf(value)) return Known(*constant);
    if (const auto count = extents_.CountOf(graph_, value)) return {{{count->bound, value}}};
    const Node* node = Producer(value);
    return node == nullptr ? std::nullopt : ReadResult(*node);
  }

 private:
  static Numbers Known(const Tensor& constant) {
    const auto value = StaticValue(constant);
    const Ints* ints = value ? std::get_if<Ints>(&*value) : nullptr;
    if (ints == nullptr) return std::nullopt;
    std::vector<OpenNumber> numbers;
    for (const std::int64_t number : *ints) numbers.push_back({.value = number});
    return numbers;
  }

  const Node* Producer(ValueId value) const {
    const auto node = std::find_if(graph_.nodes.rbegin(), graph_.nodes.rend(), [&](const Node& n) {
      return std::find(n.outputs.begin(), n.outputs.end(), value) != n.outputs.end();
    });
    return node == graph_.nodes.rend() ? nullptr : &*node;
  }

  Numbers ReadResult(const Node& node) {
    if (node.op == "Identity" || node.op == "Squeeze" || node.op == "Unsqueeze" ||
        node.op == "Reshape") {
      return Read(node.inputs[0]);
    }
    if (node.op == "Cast") return Cast(node);
    std::vector<std::vector<OpenNumber>> inputs;
    for (const ValueId input : node.inputs) {
      Numbers numbers = input == ir::kAbsent ? std::nullopt : Read(input);
      if (!numbers) return std::nullopt;
      inputs.push_back(*std::move(numbers));
    }
    if (node.op == "Concat") {
      for (std::size_t i = 1; i < inputs.size(); ++i) {
        inputs[0].insert(inputs[0].end(), inputs[i].begin(), inputs[i].end());
      }
      return inputs[0];
    }
    if (node.op == "Gather") return Gather(inputs[0], inputs[1]);
    if (node.op == "Slice") return Slice(inputs[0], node.attributes);
    if (node.op == "Equal") return Each<&Reader::Equal>(inputs);
    if (node.op == "Where") return Each<&Reader::Where>(inputs);
    if (node.op == "Min") return Each<&Reader::Min>(inputs);
    if (node.op == "ReduceMin" && !inputs[0].empty()) {
      const Element least = Min(inputs[0]);
      return least ? Numbers({*least}) : std::nullopt;
    }
    return std::nullopt;
  }

  /// To types that hold all of the numbers.
  Numbers Cast(const Node& node) {
    const ElementType to = graph_.type(node.outputs[0]).element;
    Numbers numbers = Read(node.inputs[0]);
    if (to == ElementType::kInt64 || !numbers) return numbers;
    const bool fit = std::ranges::all_of(*numbers, [](const OpenNumber& number) {
      return number.value >= std::numeric_limits<std::int32_t>::min() &&
             number.value <= std::numeric_limits<std::int32_t>::max();
    });
    return to == ElementType::kInt32 && fit ? numbers : std::nullopt;
  }

  static Numbers Gather(const std::vector<OpenNumber>& data,
                        const std::vector<OpenNumber>& indices) {
    std::vector<OpenNumber> result;
    const std::int64_t size = std::ssize(data);
    for (const OpenNumber& index : indices) {
      const std::int64_t at = index.value < 0 ? index.value + size : index.value;
      if (index.count != ir::kAbsent || at < 0 || at >= size) return std::nullopt;
      result.push_back(data[static_cast<std::size_t>(at)]);
    }
    return result;
  }

  static Numbers Slice(const std::vector<OpenNumber>& data, const Attributes& attributes) {
    const Ints starts = attributes.get_ints("starts");
    const Ints ends = attributes.get_ints("ends");
    const Ints steps = attributes.get_ints("steps");
    if (starts.size() != 1 || ends.size() != 1 || (!steps.empty() && steps[0] != 1)) {
      return std::nullopt;
    }
    const std::int64_t size = std::ssize(data);
    const auto position = [size](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const std::int64_t begin = position(starts[0]);
    return std::vector(data.begin() + begin, data.begin() + std::max(begin, position(ends[0])));
  }

  using Element = std::optional<OpenNumber>;

  static Element Equal(const std::vector<OpenNumber>& operands) {
    const OpenNumber& a = operands[0];
    const OpenNumber& b = operands[1];
    if (a.count == b.count && a.value == b.value) return {{.value = 1}};
    if (a.count == b.count) return a.count == ir::kAbsent ? Element({.value = 0}) : std::nullopt;
    // No count is negative.
    const bool differ =
        (a.count == ir::kAbsent && a.value < 0) || (b.count == ir::kAbsent && b.value < 0);
    return differ ? Element({.value = 0}) : std::nullopt;
  }

  static Element Where(const std::vector<OpenNumber>& operands) {
    if (operands[0].count != ir::kAbsent) return std::nullopt;
    return operands[operands[0].value != 0 ? 1 : 2];
  }

  /// Of numbers of which one at most is a count.
  static Element Min(const std::vector<OpenNumber>& operands) {
    OpenNumber least = operands[0];
    for (const OpenNumber& number : operands) {
      const bool are_counts = least.count != ir::kAbsent && number.count != ir::kAbsent;
      if (are_counts && number.count != least.count) return std::nullopt;
      if (number.count != ir::kAbsent) least.count = number.count;
      least.value = std::min(least.value, number.value);
    }
    if (least.value <= 0) least.count = ir::kAbsent;  // no count is negative
    return least;
  }

  /// Element by element, where operands of one are the same for all.
  template <auto kFunction>
  static Numbers Each(const std::vector<std::vector<OpenNumber>>& inputs) {
    std::size_t size = 1;
    for (const auto& input : inputs) size = input.size() == 1 ? size : input.size();
    std::vector<OpenNumber> result;
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<OpenNumber> operands;
      operands.reserve(inputs.size());
      for (const auto& input : inputs) operands.push_back(input[input.size() == 1 ? 0 : i]);
      const Element element = kFunction(operands);
      if (!element) return std::nullopt;
      result.push_back(*element);
    }
    return result;
  }

  const ir::Graph& graph_;
  const OpenExtents& extents_;
  int values_ = 0;  // read so far
};

}  // namespace

std::optional<std::vector<OpenNumber>> OpenNumbersOf(const ir::Graph& graph,
                                                     const OpenExtents& extents, ValueId value) {
  return Reader(graph, extents).Read(value);
}

}  // namespace poprt::frontend
