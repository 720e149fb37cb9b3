#include "runtime/device/joined_ipus.hpp"

#include <iterator>
#include <string>
#include <utility>

namespace poprt::device {
namespace {

class JoinedIpus : public Device {
 public:
  explicit JoinedIpus(std::vector<std::shared_ptr<Device>> ipus) : ipus_(std::move(ipus)) {}

  int id() const override { return ipus_.front()->id(); }
  int num_ipus() const override { return static_cast<int>(ipus_.size()); }
  std::string ipu_version() const override { return ipus_.front()->ipu_version(); }
  std::unique_ptr<LoadedProgram> Load(std::shared_ptr<const Image> image) override {
    return ipus_.front()->Load(std::move(image));
  }
  void Reset() override {
    for (const std::shared_ptr<Device>& ipu : ipus_) ipu->Reset();
  }

 private:
  const std::vector<std::shared_ptr<Device>> ipus_;
};

}  // namespace

std::vector<std::shared_ptr<Device>> JoinIpus(std::vector<std::shared_ptr<Device>> ipus,
                                              std::size_t each) {
  if (each == 1) return ipus;
  std::vector<std::shared_ptr<Device>> joined;
  for (auto first = ipus.begin(); first != ipus.end();) {
    const auto end = std::next(first, static_cast<std::ptrdiff_t>(each));
    joined.push_back(std::make_shared<JoinedIpus>(std::vector(first, end)));
    first = end;
  }
  return joined;
}

}  // namespace poprt::device
