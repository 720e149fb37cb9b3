#pragma once

#include <ios>
#include <istream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "popef/Model.hpp"

namespace poprt {

/// A compiled model: what the compiler returns and runners take. Movable, not copyable. Throws
/// popef::Error for damaged containers.
class Executable {
 public:
  /// A container; it is mapped, not read.
  explicit Executable(const std::string& path);
  /// A model spread over several files.
  explicit Executable(const std::vector<std::string>& paths);
  /// `size` bytes of the stream, 0 for all.
  explicit Executable(std::shared_ptr<std::istream> stream, std::streamoff size = 0);
  explicit Executable(std::shared_ptr<popef::Model> model);

  Executable(Executable&&) = default;
  Executable& operator=(Executable&&) = default;

  /// Blobs kept beside those of the container; a later one replaces an earlier of the same name.
  void appendOpaqueBlobs(const std::map<std::string, std::string>& blobs);
  void appendOpaqueBlobs(const std::pair<std::string, std::string>& blob);

  /// True if several models share the container and the input `index` selects one.
  bool isFused() const;
  std::shared_ptr<popef::Model> getPopefModel() const { return model_; }
  /// Content by name: those of the container and the appended ones.
  const std::map<std::string, std::string>& getOpaqueBlobs() const { return OpaqueBlobs(); }

 private:
  /// Copied when somebody asks for them, which runners do not.
  struct Blobs {
    std::once_flag are_read;
    std::map<std::string, std::string> content;
  };
  std::map<std::string, std::string>& OpaqueBlobs() const;

  std::shared_ptr<popef::Model> model_;
  std::unique_ptr<Blobs> blobs_ = std::make_unique<Blobs>();
};

}  // namespace poprt
