#pragma once

#include <string_view>

namespace poprt::ops {

/// True for operators that make random numbers. Theirs follow from a seed, but are made anew in
/// every run rather than stored.
bool IsRandom(std::string_view op);

}  // namespace poprt::ops
