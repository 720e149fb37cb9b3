#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/import_time/import_time_call.hpp"
#include "compiler/frontend/import_time/string_pool.hpp"

namespace poprt::frontend {
namespace {

/// Of strings: numbers stand for them, in the input and in the pool.
std::vector<ImportValue> TfIdfVectorizer(ImportTimeCall& call) {
  call.RequireInputs(1, 1);
  const StringTensor& data = call.strings(0);
  std::vector<std::string> words = call.attributes.get_strings("pool_strings");
  const StringTensor pool{{static_cast<std::int64_t>(words.size())}, std::move(words)};
  const StringPool numbers({&pool});
  const Tensor encoded = numbers.Encode(pool);
  const auto items = encoded.as<std::int64_t>();
  Attributes attributes{{"pool_int64s", Ints(items.begin(), items.end())}};
  attributes.set("mode", call.attributes.get_string("mode", ""));
  for (const char* name : {"max_gram_length", "max_skip_count", "min_gram_length"}) {
    if (call.attributes.has(name)) attributes.set(name, call.attributes.get_int(name, 0));
  }
  for (const char* name : {"ngram_counts", "ngram_indexes"}) {
    attributes.set(name, call.attributes.get_ints(name));
  }
  if (call.attributes.has("weights")) {
    attributes.set("weights", call.attributes.get_floats("weights"));
  }
  const ir::ValueId input = call.AddConstant("strings", numbers.Encode(data));
  return {{call.Add("result", "TfIdfVectorizer", {input}, std::move(attributes))}};
}

constexpr ImportTimeOp kRows[] = {{"TfIdfVectorizer", "", HasNonTensor, TfIdfVectorizer}};

}  // namespace

std::span<const ImportTimeOp> TfIdfImportOps() { return kRows; }

}  // namespace poprt::frontend
