#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "compiler/ipu/target/target.hpp"

/// The keys of a target file and of a platform in it.
namespace poprt::ipu {

/// A key with one value: the member it sets and the values it may have, `least` to `most`. Text is
/// a name of letters, digits, '_', '-', '.' and ' '; its limits do not count.
template <typename Owner>
struct Field {
  using Member = std::variant<std::uint32_t Owner::*, std::uint64_t Owner::*, double Owner::*,
                              std::string Owner::*>;
  std::string_view key;
  Member member;
  double least = 0;
  double most = 0;
};

/// All keys of a target file but `base` and `platforms`.
std::span<const Field<Target>> TargetFields();

/// All keys of a platform; its name is the key of the map they stand in.
std::span<const Field<Platform>> PlatformFields();

}  // namespace poprt::ipu
