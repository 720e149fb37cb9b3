#pragma once

#include <memory>
#include <string>
#include <vector>

#include "popef/Reader.hpp"
#include "runtime/popef/byte_region.hpp"

namespace popef {

/// Everything in one file, in its order. `blobs` and `payloads` have an entry for every blob.
struct ParsedFile {
  std::vector<Metadata> metadata;
  std::vector<ExecutableReader> executables;
  std::vector<TensorReader> tensors;
  std::vector<FeedReader> feeds;
  std::vector<OpaqueReader> opaques;
  std::vector<BlobInfo> blobs;
  std::vector<std::shared_ptr<const Payload>> payloads;
};

/// Checks headers, infos and padding as docs/popef.md asks; reads no payload. `name` is for
/// messages. Throws Error.
ParsedFile ParseBlobs(const std::shared_ptr<const ByteRegion>& region, const std::string& name);

}  // namespace popef
