#include "popef/Model.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace popef {
namespace {

/// Collects violations, one for each line.
class Problems {
 public:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    if (out_.tellp() > 0) out_ << '\n';
    (out_ << ... << parts);
  }

  void ThrowIfAny() const {
    if (const std::string text = out_.str(); !text.empty()) throw Error(text);
  }

 private:
  std::ostringstream out_;
};

/// What a Reader holds, and where each blob stands, for messages.
class Blobs {
 public:
  explicit Blobs(const Reader& reader) : reader_(reader) {
    for (const BlobInfo& blob : reader.blobs()) rows_[blob.type].push_back(&blob);
    for (const auto& executable : reader.executables()) executables_.insert(executable.name);
  }

  const Reader& reader() const { return reader_; }
  bool HasExecutable(const std::string& name) const { return executables_.contains(name); }

  /// "FILE: byte OFFSET: TYPE "NAME"" of the nth blob of a kind.
  std::string Describe(BlobType type, std::size_t index) const {
    const BlobInfo& blob = *rows_.at(type).at(index);
    std::ostringstream out;
    out << blob.file << ": byte " << blob.offset << ": " << type << " \"" << blob.name << '"';
    return out.str();
  }

 private:
  const Reader& reader_;
  std::map<BlobType, std::vector<const BlobInfo*>> rows_;
  std::set<std::string> executables_;
};

void CheckCount(const Blobs& blobs, BlobType type, std::size_t count, Problems& problems) {
  if (count == 1) return;
  problems.Add("the files read hold ", count, " blobs of kind ", type, ", allowed is exactly 1",
               count == 0 ? "; read the file that holds it as well" : "; read one model at a time");
  for (std::size_t i = 0; i < count; ++i) problems.Add("  ", blobs.Describe(type, i));
}

void CheckReference(const Blobs& blobs, BlobType type, std::size_t index,
                    const std::string& executable, Problems& problems) {
  if (blobs.HasExecutable(executable)) return;
  problems.Add(blobs.Describe(type, index), " refers to executable \"", executable,
               "\", which no file read holds");
}

void CheckReferences(const Blobs& blobs, Problems& problems) {
  const auto& metadata = blobs.reader().metadata();
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    CheckReference(blobs, BlobType::METADATA, i, metadata[i].executable(), problems);
  }
  const auto& opaques = blobs.reader().opaqueBlobs();
  for (std::size_t i = 0; i < opaques.size(); ++i) {
    CheckReference(blobs, BlobType::OPAQUE, i, opaques[i].executable, problems);
  }
}

void CheckAnchors(const Blobs& blobs, const Metadata& metadata, Problems& problems) {
  std::set<std::pair<std::string, TensorType>> seen;
  for (const Anchor& anchor : metadata.anchors()) {
    if (!seen.emplace(anchor.name(), anchor.type()).second) {
      problems.Add(blobs.Describe(BlobType::METADATA, 0), ": anchor \"", anchor.name(),
                   "\" of type ", anchor.type(), " is there twice, allowed is once");
    }
  }
}

using AnchorInfos = std::multimap<std::string, const TensorInfo*>;

AnchorInfos InfosByName(const Metadata& metadata) {
  AnchorInfos infos;
  for (const Anchor& anchor : metadata.anchors()) {
    if (anchor.tensorInfo().hasDataType()) infos.emplace(anchor.name(), &anchor.tensorInfo());
  }
  return infos;
}

template <typename DataReader>
void CheckData(const Blobs& blobs, const std::vector<DataReader>& data, BlobType type,
               const AnchorInfos& anchors, Problems& problems) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const TensorInfo& found = data[i].info.tensorInfo();
    const auto [begin, end] = anchors.equal_range(data[i].info.name());
    for (auto anchor = begin; anchor != end; ++anchor) {
      const TensorInfo& allowed = *anchor->second;
      if (found.dataType() == allowed.dataType() && found.sizeInBytes() == allowed.sizeInBytes()) {
        continue;
      }
      problems.Add(blobs.Describe(type, i), " is ", found, ", allowed by its anchor is ", allowed);
    }
  }
}

void CheckMetadata(const Blobs& blobs, const Metadata& metadata, Problems& problems) {
  CheckAnchors(blobs, metadata, problems);
  const AnchorInfos anchors = InfosByName(metadata);
  const Reader& reader = blobs.reader();
  CheckData(blobs, reader.tensors(), BlobType::DATA_TENSOR, anchors, problems);
  CheckData(blobs, reader.feeds(), BlobType::DATA_FEED, anchors, problems);
}

}  // namespace

ModelBuilder::ModelBuilder(std::shared_ptr<Reader> reader) : reader_(std::move(reader)) {
  if (reader_ == nullptr) throw Error("ModelBuilder: no reader given");
}

std::unique_ptr<Model> ModelBuilder::createModel() const {
  Problems problems;
  const Reader& reader = *reader_;
  const Blobs blobs(reader);
  CheckCount(blobs, BlobType::POPLAR_EXECUTABLE, reader.executables().size(), problems);
  CheckCount(blobs, BlobType::METADATA, reader.metadata().size(), problems);
  CheckReferences(blobs, problems);
  if (reader.metadata().size() == 1) CheckMetadata(blobs, reader.metadata().front(), problems);
  problems.ThrowIfAny();
  return std::make_unique<Model>(Model{reader.metadata().front(), reader.executables().front(),
                                       reader.tensors(), reader.feeds(), reader.opaqueBlobs()});
}

}  // namespace popef
