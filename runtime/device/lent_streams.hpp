#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/device/arena_regions.hpp"
#include "runtime/device/bound_steps.hpp"
#include "runtime/program/program.hpp"

namespace poprt::device {

/// The streams of a branch that its steps can read and write where the caller has them, so that
/// nothing is copied: inputs that steps only read, or nobody, outputs that they compute piece by
/// piece.
/// Outputs that are a part of such an input are copied from it. Not among them are streams that
/// steps with bodies use, that are one tensor with another input or with another output that is
/// computed, whose extent depends on data, and those of less than kLeastBytes, which are copied in
/// no time.
class LentStreams {
 public:
  static constexpr std::size_t kLeastBytes = 4096;
  /// Of the caller's memory, if it is to be used in place: what malloc guarantees.
  static constexpr std::size_t kAlignment = 16;

  /// Of the branch whose stages have been bound. Vectors of operands must outlive this object where
  /// they are; the steps themselves may be moved.
  LentStreams(const program::Branch& branch, std::vector<BoundSteps>& stages);

  /// While it lives, the steps work in the caller's memory.
  class Loan {
   public:
    ~Loan() { streams_.GiveBack(); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    /// What is left to copy: the caller's memory, null for what is used in place.
    std::span<const void* const> inputs() const { return streams_.copied_inputs_; }
    std::span<void* const> outputs() const { return streams_.copied_outputs_; }

   private:
    friend class LentStreams;
    explicit Loan(LentStreams& streams) : streams_(streams) {}

    LentStreams& streams_;
  };

  /// `inputs` and `outputs` as LoadedProgram::Run has them. An output is copied if it shares memory
  /// with an input or another output, and so is an input that it is a part of. Other parts of
  /// inputs are written here. One loan at a time; allocates nothing.
  Loan Lend(std::span<const void* const> inputs, std::span<void* const> outputs);

 private:
  /// Operands of steps that are a stream or a part of it.
  template <typename Byte>
  struct Operands {
    std::vector<std::pair<Byte**, std::size_t>> places;  ///< and their offsets in the stream

    void PointTo(Byte* memory) const {
      for (const auto& [operand, offset] : places) *operand = memory + offset;
    }
  };

  /// An output that is a part of an input.
  struct Part {
    std::size_t output;
    std::size_t offset;
  };

  struct Stream {
    std::size_t bytes = 0;
    std::byte* own = nullptr;  ///< its place in the arena
    Operands<const std::byte> read = {};
    Operands<std::byte> written = {};
    std::vector<Part> parts = {};
    bool is_lent = false;
    bool is_apart = true;  ///< of a loan: shares memory with no other stream

    void PointTo(std::byte* memory) const {
      read.PointTo(memory);
      written.PointTo(memory);
    }
  };

  /// The caller's memory of a stream.
  struct Extent {
    std::uintptr_t begin;
    Stream* stream;

    std::uintptr_t end() const { return begin + stream->bytes; }
  };

  /// Of every region, the stream that is lent as that region, or null.
  std::vector<Stream*> StreamsOfRegions(const program::Branch& branch, const ArenaRegions& found);
  void CollectParts(const program::Branch& branch, const ArenaRegions& found,
                    const std::vector<Stream*>& streams);
  void CollectOperands(const program::Branch& branch, const ArenaRegions& found,
                       const std::vector<Stream*>& streams, std::vector<BoundSteps>& stages);
  /// Sets is_apart of all outputs.
  void FindApart(std::span<const void* const> inputs, std::span<void* const> outputs);
  bool PartsAreApart(const Stream& input) const;
  void GiveBack();

  std::vector<Stream> inputs_;
  std::vector<Stream> outputs_;
  std::vector<Extent> extents_;  // of a loan
  std::vector<const void*> copied_inputs_;
  std::vector<void*> copied_outputs_;
};

}  // namespace poprt::device
