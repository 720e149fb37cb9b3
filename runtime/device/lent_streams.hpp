#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "runtime/device/arena_regions.hpp"
#include "runtime/device/bound_steps.hpp"
#include "runtime/program/program.hpp"

namespace poprt::device {

/// The streams of a branch that its steps can read and write where the caller has them, so that
/// nothing is copied: inputs that steps only read, outputs that they compute piece by piece.
/// Outputs that are a part of such an input are copied from it. Not among them are streams that
/// steps with bodies use, that are one tensor with another stream, whose extent depends on data,
/// and those of less than kLeastBytes, which are copied in no time.
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

    /// Writes outputs that are parts of inputs. The first part of a run: they lie apart from all
    /// other streams, whereas outputs that are stored may be where inputs are.
    void Forward() const;

   private:
    friend class LentStreams;
    explicit Loan(LentStreams& streams) : streams_(streams) {}

    LentStreams& streams_;
  };

  /// `inputs` and `outputs` as LoadedProgram::Run has them. An output is copied if it shares memory
  /// with an input or another output. One loan at a time; allocates nothing.
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

  struct Stream {
    std::size_t bytes = 0;
    std::byte* own = nullptr;  ///< its place in the arena
    Operands<const std::byte> read = {};
    Operands<std::byte> written = {};
    bool is_forwarded = false;  ///< an output is a part of it

    bool IsLent() const { return is_forwarded || !read.places.empty() || !written.places.empty(); }
    void PointTo(std::byte* memory) const {
      read.PointTo(memory);
      written.PointTo(memory);
    }
  };

  /// An output that is a part of an input.
  struct Forwarded {
    std::size_t output;
    std::size_t input;
    std::size_t offset;
    const void* from = nullptr;  ///< of a loan,
    void* to = nullptr;          ///< null: nothing is to be written
  };

  /// Of every region, the stream that is lent as that region, or null.
  std::vector<Stream*> StreamsOfRegions(const program::Branch& branch, const ArenaRegions& found);
  void CollectForwarded(const program::Branch& branch, const ArenaRegions& found,
                        const std::vector<Stream*>& streams);
  void CollectOperands(const program::Branch& branch, const ArenaRegions& found,
                       const std::vector<Stream*>& streams, std::vector<BoundSteps>& stages);
  bool LiesApart(std::size_t output, std::span<const void* const> inputs,
                 std::span<void* const> outputs) const;
  /// Whether no output that is a part of the input shares the caller's memory with other streams.
  bool ForwardsApart(std::size_t input, std::span<const void* const> inputs,
                     std::span<void* const> outputs) const;
  void GiveBack();

  std::vector<Stream> inputs_;
  std::vector<Stream> outputs_;
  std::vector<Forwarded> forwarded_;
  std::vector<const void*> copied_inputs_;
  std::vector<void*> copied_outputs_;
};

}  // namespace poprt::device
