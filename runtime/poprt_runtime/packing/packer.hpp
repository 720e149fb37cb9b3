#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model_runtime/serving/engine.hpp"
#include "runtime/poprt_runtime/packing/pack_entry.hpp"
#include "runtime/poprt_runtime/packing/pack_layout.hpp"
#include "runtime/poprt_runtime/packing/pack_plan.hpp"

namespace poprt::runtime {

/// The memory of one pack: copies entries in and results out. Not thread-safe.
///
/// What no entry fills is 0. unpack_info has, for every entry in the order in which they lie, the
/// tokens from its start to the start of the next one; for the last of a row those to the end of
/// the row, but for the last entry of a pack whose entries may cross rows its own length. So the
/// sums of the elements before are the places of the entries in the tensor seen as one row.
class Packer {
 public:
  /// `layout` must outlive the packer.
  explicit Packer(const PackLayout& layout);

  /// Fills the inputs. `entries` belong to the placements of `plan`, one each.
  void Compose(std::span<const PackEntry> entries, const PackPlan& plan);
  /// The whole model's tensors, for the engine.
  std::span<const model_runtime::InputBuffer> inputs() const { return inputs_; }
  std::span<const model_runtime::OutputBuffer> outputs() const { return outputs_; }
  /// Copies each entry's part of the outputs to its memory, in the order of the entries.
  void CopyBack(std::span<const PackEntry> entries) const;

 private:
  using Buffer = std::vector<std::byte>;

  void CopyEntry(const PackTensor& tensor, const std::byte* from, const PackEntry& entry,
                 std::size_t number, Buffer& to) const;
  void NumberMask(const PackTensor& mask, const std::byte* from, const PackEntry& entry,
                  std::size_t number, Buffer& to) const;
  void WriteUnpackInfo(const PackTensor& tensor, Buffer& to) const;
  /// In the tensor seen as one row.
  std::uint64_t Start(const Placement& place) const;

  const PackLayout& layout_;
  std::vector<Buffer> input_memory_;
  std::vector<Buffer> output_memory_;
  std::vector<model_runtime::InputBuffer> inputs_;
  std::vector<model_runtime::OutputBuffer> outputs_;
  // Of the pack that was composed last.
  std::vector<Placement> places_;
  std::vector<std::size_t> order_;            ///< entries as they lie
  std::vector<std::size_t> position_;         ///< of each entry in order_
  std::vector<std::uint64_t> number_in_row_;  ///< of each entry, from 1
};

}  // namespace poprt::runtime
