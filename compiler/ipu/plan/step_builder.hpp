#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ipu/cost/exchange.hpp"
#include "compiler/ipu/cost/launch.hpp"
#include "compiler/ipu/plan/layout.hpp"
#include "compiler/ipu/plan/product_planner.hpp"

namespace poprt::ipu {

/// Bytes of state that a vertex has on its tile: the fields that poplibs declares, in whole words.
/// A pointer has 4 bytes, one with a length or to a list of vectors 8, a count 2.
enum class VertexState : std::uint8_t {
  kUnaryInPlace = 8,
  kThreeWords = 12,  ///< two pointers and a length: most element-wise ones, reductions
  kFourWords = 16,   ///< three pointers, or two and the counts of a broadcast vector; copies
  kFiveWords = 20,
  kOuterProduct = 24,
  kMultiSlice = 32,
  kAmp = 32,
  kSlic = 32,
  kVerticalMac = 40,
  kHorizontalMac = 48,
  kSpatialAmp = 52,
};

/// Bytes of control program for a compute set or copy that it starts on the workers, and for an
/// exchange: what the operators of section 3.5 have that are one of the former with or without one
/// of the latter. A vertex on the supervisor is called, and starts the workers itself: what
/// element-wise operators have in older programs, where they are such (docs/ipu_model.md).
inline constexpr std::uint64_t kWorkerControlBytes = 20;
inline constexpr std::uint64_t kSupervisorControlBytes = 8;
inline constexpr std::uint64_t kExchangeControlBytes = 4;

/// A compute set whose tiles all do the same.
struct ComputeSet {
  std::string name;
  std::string vertex;  ///< codelet
  TileRange tiles = {};
  std::uint64_t vertex_cycles = 0;  ///< of a tile, without the launch
  ComputeSetKind kind = ComputeSetKind::kOther;
  VertexState state = VertexState::kThreeWords;
  std::uint64_t list_bytes = 0;  ///< of state beyond that: where the lists of a vertex are
  std::uint64_t vertices = 1;    ///< on a tile
  std::uint64_t edges = 2;       ///< of a vertex
  bool supervisor = false;       ///< a vertex runs on the supervisor
};

/// Collects the supersteps of one operator, prices and sizes them.
class StepBuilder {
 public:
  StepBuilder(const Target& target, const PlanOptions& options, TileRange tiles,
              ProductPlanner& planner)
      : target_(target), options_(options), tiles_(tiles), planner_(planner) {}

  const Target& target() const { return target_; }
  const PlanOptions& options() const { return options_; }
  TileRange tiles() const { return tiles_; }  ///< those that compute
  ProductPlanner& planner() const { return planner_; }

  /// Nothing is added when the vertices take no cycles.
  void Compute(const ComputeSet& set);
  /// A phase in which each of `tiles` does as `tile` says.
  void Exchange(std::string name, TileRange tiles, const TileExchange& tile,
                Phase phase = Phase::kExchange);
  /// A phase in which only `receivers` of the tiles receive: one of them does as `tile` says. What
  /// they receive is sent once, so that a tile has as much less code on average.
  void GatheringExchange(std::string name, TileRange tiles, const TileExchange& tile,
                         std::uint64_t receivers);
  /// A phase whose tiles receive `bytes` each, part of them at the rate of a shared bus: `tile`
  /// says how many bytes at the plain rate take as long.
  void MixedExchange(std::string name, TileRange tiles, const TileExchange& tile,
                     std::uint64_t bytes);
  /// Each of `tiles` copies `bytes` in pieces of `atom_bytes`.
  void Copy(std::string name, TileRange tiles, std::uint64_t bytes, std::uint64_t atom_bytes);
  /// A copy that takes `cycles`, its call included.
  void PricedCopy(std::string name, std::string vertex, TileRange tiles, std::uint64_t bytes,
                  std::uint64_t cycles);
  /// Each of `tiles` puts `bytes` in place, piece by piece: a vertex that has a pointer to where
  /// each is and one to where it goes, and takes `cycles`.
  void CopyPieces(std::string name, TileRange tiles, std::uint64_t bytes, std::uint64_t piece_bytes,
                  std::uint64_t cycles);
  /// The step added last takes that many cycles more: a sync with the host.
  void AddCycles(std::uint64_t cycles);
  /// Steps of a region, as they are.
  void Append(const std::vector<Superstep>& steps);

  /// From here on `bytes` of every tile are taken beyond operands and results of the operator.
  void Hold(std::uint64_t bytes) { held_ += bytes; }
  void Release(std::uint64_t bytes) { held_ -= std::min(bytes, held_); }
  std::uint64_t held() const { return held_; }

  void Note(std::string note) { notes_.push_back(std::move(note)); }

  std::vector<Superstep> TakeSteps() { return std::move(steps_); }
  std::vector<std::string> TakeNotes() { return std::move(notes_); }
  const std::vector<Superstep>& steps() const { return steps_; }

 private:
  friend class RepeatScope;

  void Add(Superstep step);

  const Target& target_;
  const PlanOptions& options_;
  TileRange tiles_;
  ProductPlanner& planner_;
  std::vector<Superstep> steps_;
  std::vector<std::string> notes_;
  std::uint64_t held_ = 0;
  std::uint64_t repeats_ = 1;
};

/// While it lives, steps are added as the body of a loop.
class RepeatScope {
 public:
  RepeatScope(StepBuilder& steps, std::uint64_t times) : steps_(steps), before_(steps.repeats_) {
    steps.repeats_ *= times;
  }
  ~RepeatScope() { steps_.repeats_ = before_; }
  RepeatScope(const RepeatScope&) = delete;
  RepeatScope& operator=(const RepeatScope&) = delete;

 private:
  StepBuilder& steps_;
  std::uint64_t before_;
};

}  // namespace poprt::ipu
