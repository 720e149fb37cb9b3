#pragma once

namespace poprt::kernels {

/// Counts the thread that makes it among those that compute side by side, as long as it lives. Once
/// there are as many in the process as a ThreadPool has threads, its Run gives none of them
/// helpers, which would only take processors from the others: each does its work alone.
class ComputingThread {
 public:
  ComputingThread();
  ~ComputingThread();
  ComputingThread(const ComputingThread&) = delete;
  ComputingThread& operator=(const ComputingThread&) = delete;

  /// How many there are now.
  static int Count();
};

}  // namespace poprt::kernels
