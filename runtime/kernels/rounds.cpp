#include "runtime/kernels/rounds.hpp"

#include <array>
#include <atomic>
#include <bitset>
#include <thread>

#include "runtime/kernels/pause.hpp"

namespace poprt::kernels {
namespace {

/// How often a thread looks whether others have ended their parts before it takes one of theirs:
/// some 10 to 40 microseconds.
constexpr int kPatience = 1000;

class Rounds {
 public:
  Rounds(std::int64_t rounds, int parts, TaskRef run) : rounds_(rounds), parts_(parts), run_(run) {}

  /// What the thread does whose part is `own`: all rounds that are left.
  void Join(int own) {
    std::bitset<kMostRoundParts> is_running;  // the threads of other parts, as far as is known
    std::int64_t round = finished_.load(std::memory_order_acquire) / parts_;
    for (; round < rounds_; ++round) {
      Take(own, round);
      for (int part = 0; part < parts_; ++part) {
        const auto i = static_cast<std::size_t>(part);
        if (part != own && !is_running[i]) is_running[i] = !Take(part, round);
      }
      const std::int64_t wanted = (round + 1) * parts_;
      for (int looks = 0; finished_.load(std::memory_order_acquire) < wanted; ++looks) {
        if (looks < kPatience) {
          Pause();
          continue;
        }
        for (int part = 0; part < parts_; ++part) {
          if (Take(part, round)) is_running[static_cast<std::size_t>(part)] = false;
        }
        std::this_thread::yield();
      }
    }
  }

 private:
  /// Runs a part of a round unless another thread has taken it.
  bool Take(int part, std::int64_t round) {
    std::atomic<std::int64_t>& next = next_round_[static_cast<std::size_t>(part)].number;
    std::int64_t expected = round;
    if (next.load(std::memory_order_relaxed) != round ||
        !next.compare_exchange_strong(expected, round + 1, std::memory_order_acq_rel)) {
      return false;
    }
    run_(round, part);
    finished_.fetch_add(1, std::memory_order_acq_rel);
    return true;
  }

  /// A cache line of its own: hardly any thread but that of the part touches it.
  struct alignas(64) NextRound {
    std::atomic<std::int64_t> number{0};  ///< that nobody has taken
  };

  const std::int64_t rounds_;
  const int parts_;
  const TaskRef run_;
  std::array<NextRound, kMostRoundParts> next_round_;
  alignas(64) std::atomic<std::int64_t> finished_{0};  ///< parts of all rounds
};

}  // namespace

void RunRounds(ThreadPool& pool, std::int64_t rounds, int parts, TaskRef run) {
  Rounds all(rounds, parts, run);
  pool.Run(parts, [&](std::int64_t part, int /*worker*/) { all.Join(static_cast<int>(part)); });
}

}  // namespace poprt::kernels
