#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/op.hpp"
#include "runtime/tensor/attributes.hpp"
#include "runtime/tensor/element_type.hpp"
#include "runtime/tensor/shape.hpp"

/// What shape rules are made of. Everything here throws InferenceError when the call does not fit,
/// and std::invalid_argument when an attribute has another type than asked for. Not for use outside
/// of compiler/ops.
namespace poprt::ops {

using Types = std::vector<TensorType>;

/// What is wrong with a node, in one sentence without the names of node and operator.
class InferenceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ---- Failing ----------------------------------------------------------------------------------

inline std::string Text(std::string_view text) { return std::string(text); }
inline std::string Text(std::integral auto number) { return std::to_string(number); }
inline std::string Text(ElementType element) { return std::string(ElementName(element)); }
inline std::string Text(const Shape& shape) { return ToString(shape); }
inline std::string Text(const TensorType& type) { return ToString(type); }

[[noreturn]] void Fail(std::initializer_list<std::string> parts);

/// Throws unless `condition`. The parts make up the message and become text only then.
template <typename... Parts>
void Require(bool condition, const Parts&... parts) {
  if (!condition) Fail({Text(parts)...});
}

// ---- Extents ----------------------------------------------------------------------------------

std::int64_t CheckedAdd(std::int64_t a, std::int64_t b);
std::int64_t CheckedMultiply(std::int64_t a, std::int64_t b);

// ---- Attributes -------------------------------------------------------------------------------

/// Throws unless the attribute is there.
void RequireAttribute(const Attributes& attributes, std::string_view name);
std::int64_t RequiredInt(const Attributes& attributes, std::string_view name);
Ints RequiredInts(const Attributes& attributes, std::string_view name);

/// A static input that is a scalar: an attribute with exactly one integer, in a list or not.
std::int64_t StaticInt(const Attributes& attributes, std::string_view name);
std::int64_t StaticInt(const Attributes& attributes, std::string_view name, std::int64_t otherwise);

/// A string attribute that must be one of `allowed`.
std::string Choice(const Attributes& attributes, std::string_view name, std::string_view otherwise,
                   std::initializer_list<std::string_view> allowed);

/// An element type given by its ONNX number.
ElementType ElementAttribute(const Attributes& attributes, std::string_view name,
                             ElementType otherwise);

/// The axis `value` counted from the front; `name` is the attribute it comes from.
std::size_t NormalizedAxis(std::int64_t value, std::size_t rank, std::string_view name);
/// The same for an integer attribute.
std::size_t AxisAttribute(const Attributes& attributes, std::string_view name,
                          std::int64_t otherwise, std::size_t rank);
/// For every axis of the rank, whether `axes` names it. None may be named twice.
std::vector<bool> NamedAxes(const Ints& axes, std::size_t rank, std::string_view name);

// ---- Operands ---------------------------------------------------------------------------------

void RequireRank(const InferenceCall& call, std::size_t input, std::size_t rank);
void RequireRankAtLeast(const InferenceCall& call, std::size_t input, std::size_t rank);
void RequireElement(const InferenceCall& call, std::size_t input, ElementType wanted);
void RequireShape(const InferenceCall& call, std::size_t input, const Shape& wanted);
/// int32 or int64.
void RequireIndices(const InferenceCall& call, std::size_t input);
void RequireFloat(const InferenceCall& call, std::size_t input);
/// Input 0 must not be of an integer type of 8 or 16 bits, which some operators of ONNX leave out.
void RequireWideIntegers(const InferenceCall& call);
/// Input 0 must not be of a float of 8 or 4 bits nor of an integer of 4 or 2.
void RequireNoNarrowElements(const InferenceCall& call);
/// All inputs that are there must have the element type of input 0.
void RequireSameElements(const InferenceCall& call);
/// The shape of the input must broadcast to `target` without changing it.
void RequireBroadcastsTo(const InferenceCall& call, std::size_t input, const Shape& target);
/// The common shape of all inputs.
Shape BroadcastInputs(const InferenceCall& call);

/// The shape of NumPy's matmul.
Shape MatMulShape(const TensorType& left, const TensorType& right);
/// The shape of a convolution with attributes of Conv.
Shape ConvShape(const Attributes& attributes, const TensorType& data, const TensorType& weights);

/// The rule of operators whose output has the type of input 0, whatever their other inputs are.
Types SameAsInput(const InferenceCall& call);

}  // namespace poprt::ops
