#pragma once

#include <string>

namespace poprt::program {

/// What a container records of the compiler that wrote it and a runtime compares before it loads:
/// the version of the project and of the payload. Equal strings: the runtime has the kernels and
/// layouts the compiler counted on.
std::string PackageHash();

}  // namespace poprt::program
