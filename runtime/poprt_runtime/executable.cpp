#include "poprt/executable.hpp"

#include <utility>

#include "model_runtime/model/model_file.hpp"
#include "popef/Reader.hpp"
#include "runtime/program/container_names.hpp"

namespace poprt {
namespace {

std::shared_ptr<popef::Model> ReadStream(std::shared_ptr<std::istream> stream,
                                         std::streamoff size) {
  auto reader = std::make_shared<popef::Reader>();
  reader->parseStream(std::move(stream), size);
  return popef::ModelBuilder(reader).createModel();
}

}  // namespace

Executable::Executable(const std::string& path) : Executable(std::vector<std::string>{path}) {}

Executable::Executable(const std::vector<std::string>& paths)
    : Executable(model_runtime::ReadModel(paths)) {}

Executable::Executable(std::shared_ptr<std::istream> stream, std::streamoff size)
    : Executable(ReadStream(std::move(stream), size)) {}

Executable::Executable(std::shared_ptr<popef::Model> model) : model_(std::move(model)) {
  if (model_ == nullptr) throw popef::Error("an Executable needs a model");
}

bool Executable::isFused() const { return getOpaqueBlobs().contains(program::kFusionBlob); }

std::map<std::string, std::string>& Executable::OpaqueBlobs() const {
  std::call_once(blobs_->are_read, [this] {
    for (const popef::OpaqueReader& blob : model_->opaques) {
      const popef::PayloadView view = blob.view();
      blobs_->content[blob.name].assign(reinterpret_cast<const char*>(view.data), view.size);
    }
  });
  return blobs_->content;
}

void Executable::appendOpaqueBlobs(const std::map<std::string, std::string>& blobs) {
  for (const auto& blob : blobs) appendOpaqueBlobs(blob);
}

void Executable::appendOpaqueBlobs(const std::pair<std::string, std::string>& blob) {
  OpaqueBlobs()[blob.first] = blob.second;
}

}  // namespace poprt
