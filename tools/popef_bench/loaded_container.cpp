#include "tools/popef_bench/loaded_container.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "model_runtime/model/model_file.hpp"
#include "model_runtime/model/model_image.hpp"
#include "model_runtime/model/variables.hpp"
#include "runtime/device/device_registry.hpp"
#include "runtime/device/joined_ipus.hpp"
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
  const auto ipus = static_cast<int>(
      std::clamp<std::uint32_t>(model_->metadata.numIpus(), 1, std::numeric_limits<int>::max()));
  device_ = device::JoinIpus(device::DeviceRegistry::Get().AcquireSeveral(ipus),
                             static_cast<std::size_t>(ipus))
                .front();
  watch.Lap();
  loaded_ = device_->Load(image_);
  if (!program().variables.empty()) {
    model_runtime::Variables(*model_, program()).Load(*loaded_);
  }
  times_.bind = watch.Lap();
}

}  // namespace poprt::bench
