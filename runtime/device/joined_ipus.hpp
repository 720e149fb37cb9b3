#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/device/device.hpp"

namespace poprt::device {

/// One device for every `each` of the IPUs, in their order: it has the number of the first, which
/// runs the programs, and keeps all of them from others. `each` is at least 1 and divides their
/// number.
std::vector<std::shared_ptr<Device>> JoinIpus(std::vector<std::shared_ptr<Device>> ipus,
                                              std::size_t each);

}  // namespace poprt::device
