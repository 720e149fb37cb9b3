#pragma once

#include <string>

#include "compiler/ipu/plan/step_builder.hpp"

/// Moving tensors to where and how an operator wants them (section 2.10): never free, except for
/// constants, which are written to the tiles that way.
namespace poprt::ipu {

/// What becomes of the memory a moved tensor takes.
enum class MovedAs : std::uint8_t {
  kTemporary,  ///< held until the operator ends
  kResult,     ///< a result of the operator
};

/// Adds an exchange and a copy unless the tensor lies as `to` already. Whole vectors that stay in
/// their order are received where they belong: no copy.
Placed Rearrange(StepBuilder& steps, const std::string& name, const Placed& tensor,
                 const Layout& to, MovedAs moved = MovedAs::kTemporary);

/// Adds an exchange that brings the tensor to where `to` has it, unless it is there: what stands
/// together in both layouts is received where it belongs.
Placed Move(StepBuilder& steps, const std::string& name, const Placed& tensor, const Layout& to);

/// Elements of the tensor that stand together in both layouts.
std::uint64_t CommonAtom(const Layout& from, const Layout& to);

/// Adds an exchange after which each of `tiles` has `bytes` of a tensor.
void Broadcast(StepBuilder& steps, const std::string& name, TileRange tiles, std::uint64_t bytes,
               const Placed& tensor);

}  // namespace poprt::ipu
