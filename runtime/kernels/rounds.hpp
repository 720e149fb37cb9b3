#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/thread_pool.hpp"

namespace poprt::kernels {

/// A borrowed callable `void(int64 round, int64 part)`; must not outlive what it refers to.
class RoundRef {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, RoundRef>)
      RoundRef(const F& callable)  // NOLINT: implicit
      : object_(&callable), call_([](const void* object, std::int64_t round, std::int64_t part) {
          (*static_cast<const F*>(object))(round, part);
        }) {}
  void operator()(std::int64_t round, std::int64_t part) const { call_(object_, round, part); }

 private:
  const void* object_;
  void (*call_)(const void*, std::int64_t, std::int64_t);
};

/// Threads that RunRounds can employ.
inline constexpr std::int64_t kMostRoundParts = 16;

/// Calls run(round, part) for all `parts`, from 1 to kMostRoundParts, of all rounds, and returns
/// when all calls have returned. A round begins when the one before has ended. For rounds of a few
/// microseconds: threads meet in a fraction of one, where ThreadPool::Run takes more than one.
///
/// A part stays on one thread, where its memory is in the caches, unless that thread is not
/// running: then the others do its work. Nothing is allocated; from any thread.
void RunRounds(ThreadPool& pool, std::int64_t rounds, std::int64_t parts, RoundRef run);

}  // namespace poprt::kernels
