#pragma once

#include <fmt/ostream.h>

#include "popef/Types.hpp"

/// Makes the value types acceptable to fmt::format("{}", ...), in the form operator<< gives them.
/// Header only: the library itself does not use fmt.
template <>
struct fmt::formatter<popef::BlobType> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::DataType> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::TensorType> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::Option> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::TensorInfo> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::Anchor> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::ProgramFlow> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::Metadata> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::TensorDataInfo> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<popef::FeedDataInfo> : fmt::ostream_formatter {};
