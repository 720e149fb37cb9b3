#pragma once

#include <cstdint>

/// The functions that fused_elementwise is made of, as loops over a piece of a tensor that stays in
/// the first-level cache. This header is included by files that are compiled for more than the
/// baseline processor: it must stay free of inline functions.
namespace poprt::kernels {

/// out[i] = f(a[i]) or f(a[i], b[i]) for i in [0, n); b is null for functions of one operand. `out`
/// may be an operand.
using ElementLoop = void (*)(const float* a, const float* b, float* out, std::int64_t n);

struct ElementFunction {
  const char* name;
  int operands;
  ElementLoop loop;
  /// The same with a[0], or b[0], for all i; null for functions of one operand.
  ElementLoop repeating_a;
  ElementLoop repeating_b;
};

/// Rows in a fixed order, the same for every processor.
struct ElementFunctions {
  const ElementFunction* rows;
  std::int64_t count;
};

/// The row of that name, or null.
const ElementFunction* FunctionNamed(const ElementFunctions& functions, const char* name);

/// For each instruction set, see inner_loops.hpp.
extern const ElementFunctions kPortableElementFunctions;
extern const ElementFunctions kAvx2ElementFunctions;
extern const ElementFunctions kAvx512ElementFunctions;

}  // namespace poprt::kernels
