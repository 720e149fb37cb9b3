#include "runtime/program/package.hpp"

#include "runtime/program/executable_payload.hpp"

namespace poprt::program {

std::string PackageHash() {
  return std::string("poprt-" POPRT_VERSION "-payload-") + std::to_string(kPayloadVersion);
}

}  // namespace poprt::program
