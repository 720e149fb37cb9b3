#include <algorithm>

#include "compiler/ops/families.hpp"
#include "compiler/ops/inference.hpp"

namespace poprt::ops {
namespace {

Types InferLabelEncoder(const InferenceCall& call) {
  RequireRank(call, 1, 1);
  RequireElement(call, 1, call.input(0).element);
  RequireShape(call, 2, call.input(1).shape);
  RequireShape(call, 3, {});
  RequireElement(call, 3, call.input(2).element);
  return {{call.input(2).element, call.input(0).shape}};
}

Types InferTfIdfVectorizer(const InferenceCall& call) {
  RequireIndices(call, 0);
  Shape shape = call.input(0).shape;
  Require(shape.size() == 1 || shape.size() == 2, "input 0 is ", call.input(0),
          ", it must have the shape [C] or [N, C]");
  for (const char* name : {"max_gram_length", "max_skip_count", "min_gram_length"}) {
    RequiredInt(call.attributes, name);
  }
  RequireAttribute(call.attributes, "mode");
  Choice(call.attributes, "mode", "", {"TF", "IDF", "TFIDF"});
  RequiredInts(call.attributes, "ngram_counts");
  RequiredInts(call.attributes, "pool_int64s");
  const Ints columns = RequiredInts(call.attributes, "ngram_indexes");
  std::int64_t extent = 0;
  for (const std::int64_t column : columns) {
    Require(column >= 0 && column < (std::int64_t{1} << 40), "attribute 'ngram_indexes' has ",
            column, ", which is no position in the output");
    extent = std::max(extent, column + 1);
  }
  shape.back() = extent;
  return {{ElementType::kFloat32, shape}};
}

}  // namespace

std::span<const OpDef> MlOps() {
  static const OpDef rows[] = {
      {.name = "LabelEncoder",
       .types = TypeSet::kNumeric,
       .inputs = {4, 4},
       .infer = InferLabelEncoder,
       .notes = "keys, values and default are inputs in the graph, the keys ascending; strings at "
                "import only",
       .domain = kMlDomain},
      {.name = "TfIdfVectorizer",
       .since = 9,
       .types = TypeSet::kInteger,
       .infer = InferTfIdfVectorizer,
       .notes = "strings at import only"},
  };
  return rows;
}

}  // namespace poprt::ops
