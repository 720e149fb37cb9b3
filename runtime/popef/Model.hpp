#pragma once

#include <memory>
#include <vector>

#include "popef/Reader.hpp"
#include "popef/Types.hpp"

namespace popef {

/// One model: an executable, what describes it and the data that belongs to it. Keeps the files it
/// was read from alive.
struct Model {
  Metadata metadata;
  ExecutableReader executable;
  std::vector<TensorReader> tensors;
  std::vector<FeedReader> feeds;
  std::vector<OpaqueReader> opaques;
};

/// Makes a Model of everything a Reader has read.
class ModelBuilder {
 public:
  /// Throws Error if `reader` is null.
  explicit ModelBuilder(std::shared_ptr<Reader> reader);

  /// Checks the rules of docs/popef.md section 6. Throws one Error that lists every violation and
  /// names the blobs. May be called more than once.
  std::unique_ptr<Model> createModel() const;

 private:
  std::shared_ptr<Reader> reader_;
};

}  // namespace popef
