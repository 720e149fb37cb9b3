#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poprt/runtime/runtime_commons.hpp"
#include "runtime/poprt_runtime/packing/pack_plan.hpp"

namespace poprt::runtime {

/// What a tensor of the model holds for each entry of a pack.
enum class PackRole {
  kTokens,   ///< a part for every token: the tensor begins with [rows, row length] or their product
  kMask,     ///< kTokens, one element each, and not 0 where the token counts
  kEntries,  ///< a part for every entry: the first dimension has a place for each
  kUnpackInfo  ///< where entries begin; made by the packer
};

struct PackTensor {
  std::string name;
  popef::DataType type = popef::DataType::F32;
  PackRole role = PackRole::kTokens;
  std::uint64_t bytes = 0;               ///< of the whole tensor
  std::uint64_t part_bytes = 0;          ///< of a token, or of an entry
  std::vector<std::int64_t> part_shape;  ///< of the same
  bool strip = false;                    ///< leave out tokens whose mask is 0

  bool has_tokens() const { return role == PackRole::kTokens || role == PackRole::kMask; }
};

/// How requests fill the tensors of a model that was compiled for packs.
struct PackLayout {
  PackRoom room;
  std::uint64_t row_length = 0;  ///< of the model's rows: the longest entry
  bool crosses_rows = true;      ///< the room is all rows as one
  std::size_t length_input = 0;  ///< the input whose size is the number of tokens of a request
  std::optional<std::size_t> mask;
  std::optional<std::size_t> unpack_info;
  bool number_mask = false;  ///< the packed mask gets the entry's number in its row, from 1
  std::vector<PackTensor> inputs;
  std::vector<PackTensor> outputs;
};

/// Finds the part that every tensor plays. Throws std::runtime_error that names everything in the
/// configuration and the model that does not fit together.
PackLayout MakePackLayout(const std::vector<InputDesc>& inputs,
                          const std::vector<OutputDesc>& outputs, const PackRunnerConfig& config);

}  // namespace poprt::runtime
