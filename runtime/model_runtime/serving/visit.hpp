#pragma once

#include <atomic>

namespace model_runtime {

/// Counts a thread in and out.
class Visit {
 public:
  explicit Visit(std::atomic<unsigned>& visitors) : visitors_(visitors) { ++visitors_; }
  ~Visit() { --visitors_; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  std::atomic<unsigned>& visitors_;
};

}  // namespace model_runtime
