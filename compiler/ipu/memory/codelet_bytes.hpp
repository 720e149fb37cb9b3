#pragma once

#include <cstdint>
#include <string_view>

namespace poprt::ipu {

/// Machine code of a codelet on each tile that uses it, by its name (Superstep::vertex); 0 without
/// one. The kinds of codelets are solved from the operators of section 3.5, each a sum of its
/// distinct codelets; kinds that do not occur there are set within the range that it gives.
std::uint64_t CodeletBytes(std::string_view vertex);

}  // namespace poprt::ipu
