#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/poprt_runtime/packing/pack_layout.hpp"

namespace poprt::runtime {

/// Tokens of a request that follow each other.
struct TokenRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// A checked request: what it brings into a pack and where its results go. Points to user memory.
struct PackEntry {
  std::uint64_t length = 0;              ///< tokens in the pack
  std::vector<const std::byte*> inputs;  ///< in the order of the layout; null for unpack_info
  std::vector<std::byte*> outputs;       ///< null for those the request leaves out
  std::vector<TokenRun> kept;            ///< tokens of inputs that are stripped

  /// Bytes of the result of output `i`.
  std::uint64_t OutputBytes(const PackTensor& output) const {
    return output.part_bytes * (output.has_tokens() ? length : 1);
  }
};

/// Checks a request. It gives every input but unpack_info, which it may give and is ignored:
/// tensors with tokens all of one length, in memory of exactly that size; others one part. Inputs
/// that are not stripped of padding have as many tokens as are left of those that are. Outputs may
/// be left out and their memory may be larger than the result, which takes the first bytes. Throws
/// std::runtime_error that names everything that is wrong.
PackEntry MakePackEntry(const PackLayout& layout, const InputMemoryView& inputs,
                        const OutputMemoryView& outputs);

/// As far as the inputs go: the entry has no outputs.
PackEntry MakePackEntry(const PackLayout& layout, const InputMemoryView& inputs);

}  // namespace poprt::runtime
