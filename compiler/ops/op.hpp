#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/shape.hpp"

/// The operator table: one row for every ONNX operator the compiler knows. The importer, the
/// verifier, the exporter and the documentation read it; nothing else lists operators.
namespace poprt::ops {

/// Newest opset whose operators are known.
inline constexpr int kNewestOpset = 27;
/// Oldest opset a model may use.
inline constexpr int kOldestOpset = 1;

/// ONNX's domains besides the default one, whose name is empty.
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";

/// An ONNX input whose value determines shapes. It must be constant, and is an attribute in the IR:
/// Ints for integer tensors (a scalar becomes one element), Floats for float tensors.
struct StaticInput {
  std::size_t index;           ///< position among the ONNX inputs
  std::string_view attribute;  ///< its name in the IR
  /// Opset from which ONNX has it as an input; before, it was an attribute of the same name.
  int input_since = 1;
  /// Attribute in which the importer keeps the tensor's element type (the number of ONNX), where
  /// the result's type follows from it; empty otherwise.
  std::string_view type_attribute = {};
  /// Its numbers are extents, or where they end: one of them may count what data decides.
  bool is_extent = false;
};

/// How many operands an operator takes, absent ones included.
struct Arity {
  std::size_t min = 1;
  std::size_t max = 1;
};
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// What a shape rule sees of a node. `inputs` are those that remain when the static inputs are
/// gone; absent ones have an undefined type, trailing absent ones may be missing.
struct InferenceCall {
  std::string_view op;
  std::vector<TensorType> inputs;
  const Attributes& attributes;
  std::size_t outputs = 1;  ///< how many outputs the node asks for

  /// The type of input i, undefined when it is absent.
  const TensorType& input(std::size_t i) const;
};

/// The types of the outputs, at least as many as the call asks for. Reports what does not fit by an
/// exception derived from std::exception, which InferTypes turns into a status: call rules only
/// through InferTypes, which also checks what is common to all operators beforehand.
using InferRule = std::vector<TensorType> (*)(const InferenceCall& call);

/// An output whose extent along one axis depends on data.
struct OpenOutput {
  std::size_t output = 0;
  std::size_t axis = 0;
};

/// The outputs of a call, whose types fit, that are open; ascending.
using OpenRule = std::vector<OpenOutput> (*)(const InferenceCall& call);

/// Which element types an operator's first input may have.
enum class TypeSet : std::uint8_t {
  kAll,
  kNumeric,  ///< all but bool
  kSigned,   ///< numbers that can be negative
  kFloat,
  kInteger,
  kUnsigned,  ///< unsigned integers
  kBool,
};

/// One row of the table.
struct OpDef {
  std::string_view name;
  /// Opset that introduced the operator. Beyond kNewestOpset for operators that only passes make.
  int since = 1;
  TypeSet types = TypeSet::kAll;
  /// The result follows from the types of the inputs and the attributes alone, never from elements.
  bool type_only = false;
  Arity inputs = {};  ///< without the static ones
  Arity outputs = {};
  std::vector<StaticInput> static_inputs = {};
  InferRule infer = nullptr;
  std::string_view notes = {};  ///< what is restricted, for the documentation; empty if nothing is
  /// Empty for the default domain, else one of the names above. No name is in two domains. `since`
  /// counts the versions of the domain.
  std::string_view domain = {};
  /// Not null for operators with open outputs, of whose extents the shape rule gives the bounds.
  /// Their last output is not ONNX's: an int64 scalar, the true extent of all open outputs. It
  /// counts in `outputs`, so min equals max.
  OpenRule open = nullptr;
};

/// The row of an operator, whatever its domain, or null.
const OpDef* FindOp(std::string_view name);

/// All rows, ordered by name.
std::span<const OpDef> AllOps();

/// Checks arity and element type against the row, then applies its shape rule and checks that the
/// results are valid types. Gives exactly call.outputs types, or InvalidArgument that names neither
/// node nor operator. Lets no exception escape.
absl::StatusOr<std::vector<TensorType>> InferTypes(const OpDef& op, const InferenceCall& call);

/// True if T belongs to the set.
bool Contains(TypeSet set, ElementType type);

}  // namespace poprt::ops
