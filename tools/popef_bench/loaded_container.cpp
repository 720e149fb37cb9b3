#include "tools/popef_bench/loaded_container.hpp"

#include "model_runtime/model/model_file.hpp"
#include "model_runtime/model/model_image.hpp"
#include "model_runtime/model/variables.hpp"
#include "runtime/device/device_registry.hpp"
#include "tools/popef_bench/stopwatch.hpp"

namespace poprt::bench {

LoadedContainer::LoadedContainer(const std::string& path, bool any_package) {
  Stopwatch watch;
  model_ = model_runtime::ReadModel({path});
  times_.map = watch.Lap();
  if (!any_package) model_runtime::CheckPackage(model_->metadata);
  image_ = model_runtime::MakeImage(*model_);
  model_runtime::CheckAnchors(model_->metadata, program());
  times_.verify = watch.Lap();
  device_ = device::DeviceRegistry::Get().Acquire();
  watch.Lap();
  loaded_ = device_->Load(image_);
  if (!program().variables.empty()) {
    model_runtime::Variables(*model_, program()).Load(*loaded_);
  }
  times_.bind = watch.Lap();
}

}  // namespace poprt::bench
