#pragma once

#include <memory>
#include <string>

#include "popef/Model.hpp"
#include "runtime/device/device.hpp"

namespace poprt::bench {

/// What the parts of loading took, in milliseconds.
struct LoadTimes {
  double map = 0;     ///< opening the file and reading its metadata
  double verify = 0;  ///< the program, without its weights
  double bind = 0;    ///< the program to a device, with its variables
};

/// A container whose program is on a device, with no runner between.
class LoadedContainer {
 public:
  /// Takes a device of this process. `any_package`: whatever version of the compiler has written
  /// the container. Throws std::runtime_error.
  LoadedContainer(const std::string& path, bool any_package);

  const program::Program& program() const { return image_->payload.program; }
  device::LoadedProgram& loaded() { return *loaded_; }
  const LoadTimes& times() const { return times_; }

 private:
  LoadTimes times_;
  std::shared_ptr<popef::Model> model_;
  std::shared_ptr<const device::Image> image_;
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<device::LoadedProgram> loaded_;
};

}  // namespace poprt::bench
