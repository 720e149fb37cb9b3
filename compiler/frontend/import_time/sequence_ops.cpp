#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/control_flow/node_body.hpp"
#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/import_time/string_pool.hpp"

namespace poprt::frontend {
namespace {

using Sequence = ImportValue::Sequence;

/// Elements that a small file may make a sequence have.
constexpr std::int64_t kLongest = std::int64_t{1} << 16;

/// The element type as ONNX numbers it.
int ElementOf(const ImportValue& value, const ir::Graph& graph) {
  if (value.strings() != nullptr) return onnx::TensorProto::STRING;
  return value.tensor() != nullptr ? static_cast<int>(graph.type(*value.tensor()).element) : 0;
}

/// Throws unless the value may join a sequence that begins with `first`.
void RequireElement(const ImportTimeCall& call, const ImportValue& value,
                    const ImportValue& first) {
  const int element = ElementOf(value, call.graph());
  RequireImport(element != 0, "the element is " + Describe(value, call.graph()) +
                                  ", sequences hold tensors only");
  RequireImport(element == ElementOf(first, call.graph()),
                "the element is " + Describe(value, call.graph()) + ", but the sequence has " +
                    Describe(first, call.graph()) + "; all must have the same element type");
}

/// A position among `count` places, counted from the end when negative.
std::size_t PositionOf(const ImportTimeCall& call, std::size_t input, std::size_t count) {
  const std::int64_t given = call.constant_int(input, "position");
  const std::optional<std::int64_t> position = NormalizeAxis(given, count);
  RequireImport(position.has_value(), "the position is " + std::to_string(given) + ", outside " +
                                          (count == 0 ? "the empty sequence"
                                                      : "-" + std::to_string(count) + " to " +
                                                            std::to_string(count - 1)));
  return static_cast<std::size_t>(*position);
}

std::vector<ImportValue> SequenceConstruct(ImportTimeCall& call) {
  RequireImport(call.input_count() > 0, "has no inputs, it needs one at least");
  Sequence sequence;
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    RequireElement(call, call.required(i), call.required(0));
    sequence.elements.push_back(call.required(i));
  }
  return {{std::move(sequence)}};
}

std::vector<ImportValue> SequenceEmpty(ImportTimeCall& call) {
  call.RequireInputs(0, 0);
  return {{Sequence{}}};
}

std::vector<ImportValue> SequenceAt(ImportTimeCall& call) {
  call.RequireInputs(2, 2);
  const auto& elements = call.sequence(0).elements;
  return {elements[PositionOf(call, 1, elements.size())]};
}

std::vector<ImportValue> SequenceInsert(ImportTimeCall& call) {
  call.RequireInputs(2, 3);
  Sequence sequence = call.sequence(0);
  auto& elements = sequence.elements;
  const ImportValue& value = call.required(1);
  RequireElement(call, value, elements.empty() ? value : elements.front());
  const auto count = static_cast<std::int64_t>(elements.size());
  std::int64_t position = count;
  if (call.input(2) != nullptr) {
    position = call.constant_int(2, "position");
    RequireImport(position >= -count && position <= count,
                  "the position is " + std::to_string(position) + ", outside -" +
                      std::to_string(count) + " to " + std::to_string(count));
    if (position < 0) position += count;
  }
  elements.insert(elements.begin() + position, value);
  return {{std::move(sequence)}};
}

std::vector<ImportValue> SequenceErase(ImportTimeCall& call) {
  call.RequireInputs(1, 2);
  Sequence sequence = call.sequence(0);
  auto& elements = sequence.elements;
  RequireImport(!elements.empty(), "input 0 is an empty sequence, there is nothing to erase");
  const std::size_t position =
      call.input(1) == nullptr ? elements.size() - 1 : PositionOf(call, 1, elements.size());
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(position));
  return {{std::move(sequence)}};
}

std::vector<ImportValue> SequenceLength(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  return {IntScalar(call, static_cast<std::int64_t>(call.sequence(0).elements.size()))};
}

/// Tensors of strings as tensors of numbers, and results back.
class Encoding {
 public:
  Encoding(ImportTimeCall& call, const std::vector<const ImportValue*>& values) : call_(call) {
    std::vector<const StringTensor*> tensors;
    for (const ImportValue* value : values) {
      if (value->strings() != nullptr) tensors.push_back(value->strings());
    }
    if (!tensors.empty()) pool_.emplace(tensors);
  }

  ir::ValueId Encode(const ImportValue& value) const {
    if (value.tensor() != nullptr) return *value.tensor();
    return call_.AddConstant("strings", pool_->Encode(*value.strings()));
  }

  ImportValue Decode(ir::ValueId id) const {
    if (!pool_) return {id};
    const Tensor* constant = call_.graph().ConstantOf(id);
    RequireImport(constant != nullptr, "its result is too large to be computed when compiling");
    StringTensor strings = pool_->Decode(*constant);
    call_.CountStrings(strings.elements);
    return {std::move(strings)};
  }

 private:
  ImportTimeCall& call_;
  std::optional<StringPool> pool_;
};

std::int64_t AxisOf(const ImportTimeCall& call, std::int64_t otherwise, std::size_t rank) {
  const std::int64_t given = call.attributes.get_int("axis", otherwise);
  const std::optional<std::int64_t> axis = NormalizeAxis(given, rank);
  RequireImport(axis.has_value(), "attribute 'axis' is " + std::to_string(given) +
                                      ", outside the " + std::to_string(rank) + " dimensions");
  return *axis;
}

/// The extents of the parts of an axis.
Ints PartsOf(const ImportTimeCall& call, std::int64_t extent) {
  std::int64_t each = 1;
  if (call.input(1) != nullptr) {
    const Ints given = call.constant_ints(1, "split");
    if (!call.graph().type(call.tensor(1)).shape.empty()) {
      std::int64_t rest = extent;
      for (const std::int64_t part : given) {
        RequireImport(
            part >= 0 && part <= rest,
            "the parts of input 1 (split) do not add up to the extent " + std::to_string(extent));
        rest -= part;
      }
      RequireImport(rest == 0, "the parts of input 1 (split) add up to " +
                                   std::to_string(extent - rest) + ", but the extent is " +
                                   std::to_string(extent));
      return given;
    }
    each = given.at(0);
    RequireImport(each > 0, "input 1 (split) is " + std::to_string(each) + ", it must be positive");
  }
  RequireImport((extent + each - 1) / each <= kLongest,
                "the sequence would have more than " + std::to_string(kLongest) + " elements");
  Ints parts;
  for (std::int64_t at = 0; at < extent; at += each) parts.push_back(std::min(each, extent - at));
  return parts;
}

std::vector<ImportValue> SplitToSequence(ImportTimeCall& call) {
  call.RequireInputs(1, 2);
  const ImportValue& whole = call.required(0);
  if (ElementOf(whole, call.graph()) == 0) call.WrongInput(0, "a tensor");
  const Encoding encoding(call, {&whole});
  const ir::ValueId id = encoding.Encode(whole);
  const Shape shape = call.graph().type(id).shape;
  const std::int64_t axis = AxisOf(call, 0, shape.size());
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
  // `keepdims` means something only where the extent of the parts is not given.
  const bool keeps = call.input(1) != nullptr || call.attributes.get_int("keepdims", 1) != 0;
  Sequence sequence;
  std::int64_t start = 0;
  for (const std::int64_t part : PartsOf(call, extent)) {
    const std::string name = std::to_string(sequence.elements.size());
    ir::ValueId element = call.Add(name, "Slice", {id},
                                   {{"starts", Ints{start}},
                                    {"ends", Ints{start + part}},
                                    {"axes", Ints{axis}},
                                    {"steps", Ints{1}}});
    if (!keeps) element = call.Add(name + "/squeeze", "Squeeze", {element}, {{"axes", Ints{axis}}});
    sequence.elements.push_back(encoding.Decode(element));
    start += part;
  }
  return {{std::move(sequence)}};
}

std::vector<ImportValue> ConcatFromSequence(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const auto& elements = call.sequence(0).elements;
  RequireImport(!elements.empty(), "input 0 is an empty sequence, there is nothing to concatenate");
  RequireImport(call.attributes.has("axis"), "attribute 'axis' is missing");
  const bool stacks = call.attributes.get_int("new_axis", 0) != 0;
  std::vector<const ImportValue*> values;
  for (const ImportValue& element : elements) {
    RequireElement(call, element, elements.front());
    values.push_back(&element);
  }
  const Encoding encoding(call, values);
  std::vector<ir::ValueId> ids;
  for (const ImportValue& element : elements) ids.push_back(encoding.Encode(element));
  const std::size_t rank = call.graph().type(ids[0]).shape.size() + (stacks ? 1 : 0);
  const std::int64_t axis = AxisOf(call, 0, rank);
  if (stacks) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = call.Add(std::to_string(i), "Unsqueeze", {ids[i]}, {{"axes", Ints{axis}}});
    }
  }
  return {encoding.Decode(call.Add("concat", "Concat", ids, {{"axis", axis}}))};
}

std::vector<ImportValue> SequenceMap(ImportTimeCall& call) {
  RequireImport(call.input_count() > 0, "has no inputs, it needs a sequence at least");
  const absl::StatusOr<Body> body = BodyOf(call.import, "body");
  if (!body.ok()) throw ImportTimeError{body.status()};
  const auto outputs = static_cast<std::size_t>(call.import.node.output_size());
  const absl::Status counts = CheckCounts(*body, call.input_count(), outputs, false);
  if (!counts.ok()) {
    FailImport("attribute 'body' " + std::string(counts.message()));
  }
  const std::size_t length = call.sequence(0).elements.size();
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    const Sequence* more = call.required(i).sequence();
    RequireImport(more == nullptr || more->elements.size() == length,
                  "input " + std::to_string(i) + " is a sequence of another length than input 0");
  }
  std::vector<Sequence> results(outputs);
  const Problems::Within within(call.import.problems, DescribeBody(call.import.node, "body"));
  for (std::size_t at = 0; at < length; ++at) {
    std::vector<ImportValue> arguments;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
      const Sequence* sequence = call.required(i).sequence();
      arguments.push_back(sequence != nullptr ? sequence->elements[at] : call.required(i));
    }
    auto values = call.importer.ImportBody(body->graph, body->structure, arguments,
                                           call.import.builder, call.import.problems);
    if (!values) throw ImportTimeError{absl::OkStatus()};  // its problems are known
    for (std::size_t i = 0; i < outputs; ++i) {
      results[i].elements.push_back(std::move((*values)[i]));
    }
  }
  std::vector<ImportValue> held;
  for (Sequence& result : results) held.push_back({std::move(result)});
  return held;
}

constexpr ImportTimeOp kRows[] = {
    {"ConcatFromSequence", "", Always, ConcatFromSequence},
    {"SequenceAt", "", Always, SequenceAt},
    {"SequenceConstruct", "", Always, SequenceConstruct},
    {"SequenceEmpty", "", Always, SequenceEmpty},
    {"SequenceErase", "", Always, SequenceErase},
    {"SequenceInsert", "", Always, SequenceInsert},
    {"SequenceLength", "", Always, SequenceLength},
    {"SequenceMap", "", Always, SequenceMap},
    {"SplitToSequence", "", Always, SplitToSequence},
};

}  // namespace

std::span<const ImportTimeOp> SequenceImportOps() { return kRows; }

}  // namespace poprt::frontend
