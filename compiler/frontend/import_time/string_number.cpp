#include "compiler/frontend/import_time/string_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::frontend {
namespace {

using Buffer = std::array<char, 64>;

/// The fewest digits that tell the number from its neighbours, without an exponent.
template <typename Float>
std::string Plain(Float value) {
  Buffer buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::string sign = text.starts_with('-') ? "-" : "";
  text.remove_prefix(sign.size());
  const std::size_t e = text.find('e');
  int exponent = 0;
  const bool is_negative = text[e + 1] == '-';
  std::from_chars(text.data() + e + 2, text.data() + text.size(), exponent);
  std::string digits(text.substr(0, 1));
  if (e > 1) digits += text.substr(2, e - 2);
  // `point` digits stand before the decimal point.
  if (is_negative) {
    digits.insert(0, static_cast<std::size_t>(exponent), '0');
    exponent = 0;
  }
  const auto point = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= point) digits.append(point + 1 - digits.size(), '0');
  return sign + digits.insert(point, 1, '.');
}

template <typename Float>
std::string FloatText(Float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  return Plain(value);
}

/// Of types narrower than float: the fewest digits that give the same bits.
template <typename Narrow>
std::string NarrowText(Narrow value) {
  const auto wide = static_cast<float>(value);
  if (!std::isfinite(wide)) return FloatText(wide);
  Buffer buffer;
  for (int digits = 0; digits < std::numeric_limits<float>::max_digits10; ++digits) {
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), wide,
                                   std::chars_format::scientific, digits);
    double rounded = 0;
    std::from_chars(buffer.data(), end.ptr, rounded);
    if (Narrow(static_cast<float>(rounded)).bits == value.bits) return Plain(rounded);
  }
  return FloatText(wide);
}

template <typename T, typename Text>
StringTensor Write(const Tensor& tensor, const Text& text) {
  StringTensor strings{tensor.shape(), {}};
  for (const T& element : tensor.as<T>()) strings.elements.push_back(text(element));
  return strings;
}

template <typename T>
StringTensor WriteIntegers(const Tensor& tensor) {
  return Write<T>(tensor, [](T element) { return std::to_string(element); });
}

Tensor CastTo(const Tensor& tensor, ElementType element) {
  return kernels::RunOnce("Cast", {tensor}, {{element, tensor.shape()}},
                          {{"to", static_cast<std::int64_t>(element)}})[0];
}

[[noreturn]] void Wrong(const std::string& text, const std::string& why) {
  throw std::invalid_argument("the string '" + text.substr(0, 40) + "' " + why);
}

template <typename Float>
Float ParseFloat(const std::string& text) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(text);
  std::string_view digits(stripped.data(), stripped.size());
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Float value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) Wrong(text, "is a number out of range");
  if (error != std::errc{} || end != digits.data() + digits.size()) Wrong(text, "is no number");
  return value;
}

/// An integer of type Wide that is in [least, most].
template <typename Wide>
Wide ParseInteger(const std::string& text, Wide least, Wide most) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(text);
  std::string_view digits(stripped.data(), stripped.size());
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Wide value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool is_inside = error == std::errc{};
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    const double number = std::trunc(ParseFloat<double>(text));
    // Both bounds are exact as double but for the largest of 64 bits, which rounds up.
    is_inside = number >= static_cast<double>(least) && number <= static_cast<double>(most) &&
                number < std::ldexp(1.0, std::numeric_limits<Wide>::digits);
    if (is_inside) value = static_cast<Wide>(number);
  }
  if (!is_inside || value < least || value > most) Wrong(text, "is a number out of range");
  return value;
}

template <typename T, typename Parse>
Tensor Read(const StringTensor& strings, ElementType element, const Parse& parse) {
  Tensor tensor({element, strings.shape});
  const auto elements = tensor.as_mutable<T>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<T>(parse(strings.elements[i]));
  }
  return tensor;
}

template <typename T>
Tensor ReadIntegers(const StringTensor& strings, ElementType element) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  return Read<T>(strings, element, [](const std::string& text) {
    return ParseInteger<Wide>(text, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  });
}

bool ParseBool(const std::string& text) {
  if (absl::EqualsIgnoreCase(text, "true")) return true;
  if (absl::EqualsIgnoreCase(text, "false")) return false;
  return ParseFloat<double>(text) != 0;
}

}  // namespace

StringTensor NumbersToStrings(const Tensor& tensor) {
  switch (tensor.element()) {
    case ElementType::kFloat32:
      return Write<float>(tensor, FloatText<float>);
    case ElementType::kFloat64:
      return Write<double>(tensor, FloatText<double>);
    case ElementType::kFloat16:
      return Write<Float16>(tensor, NarrowText<Float16>);
    case ElementType::kBFloat16:
      return Write<BFloat16>(tensor, NarrowText<BFloat16>);
    case ElementType::kInt8:
      return WriteIntegers<std::int8_t>(tensor);
    case ElementType::kInt16:
      return WriteIntegers<std::int16_t>(tensor);
    case ElementType::kInt32:
      return WriteIntegers<std::int32_t>(tensor);
    case ElementType::kInt64:
      return WriteIntegers<std::int64_t>(tensor);
    case ElementType::kUint8:
      return WriteIntegers<std::uint8_t>(tensor);
    case ElementType::kUint16:
      return WriteIntegers<std::uint16_t>(tensor);
    case ElementType::kUint32:
      return WriteIntegers<std::uint32_t>(tensor);
    case ElementType::kUint64:
      return WriteIntegers<std::uint64_t>(tensor);
    case ElementType::kBool:
      return Write<std::uint8_t>(tensor, [](std::uint8_t element) {
        return std::string(element != 0 ? "True" : "False");
      });
    default:
      break;
  }
  // What is left are types of 8 bits and fewer.
  return NumbersToStrings(CastTo(
      tensor, IsNarrowInteger(tensor.element()) ? ElementType::kInt32 : ElementType::kFloat32));
}

Tensor StringsToNumbers(const StringTensor& strings, ElementType element) {
  switch (element) {
    case ElementType::kFloat32:
      return Read<float>(strings, element, ParseFloat<float>);
    case ElementType::kFloat64:
      return Read<double>(strings, element, ParseFloat<double>);
    case ElementType::kInt8:
      return ReadIntegers<std::int8_t>(strings, element);
    case ElementType::kInt16:
      return ReadIntegers<std::int16_t>(strings, element);
    case ElementType::kInt32:
      return ReadIntegers<std::int32_t>(strings, element);
    case ElementType::kInt64:
      return ReadIntegers<std::int64_t>(strings, element);
    case ElementType::kUint8:
      return ReadIntegers<std::uint8_t>(strings, element);
    case ElementType::kUint16:
      return ReadIntegers<std::uint16_t>(strings, element);
    case ElementType::kUint32:
      return ReadIntegers<std::uint32_t>(strings, element);
    case ElementType::kUint64:
      return ReadIntegers<std::uint64_t>(strings, element);
    case ElementType::kBool:
      return Read<std::uint8_t>(strings, element, ParseBool);
    default:
      break;
  }
  return CastTo(StringsToNumbers(strings, IsNarrowInteger(element) ? ElementType::kInt32
                                                                   : ElementType::kFloat32),
                element);
}

}  // namespace poprt::frontend
