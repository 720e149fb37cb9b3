#include "runtime/kernels/computing_thread.hpp"

#include <atomic>

namespace poprt::kernels {
namespace {

std::atomic<int> computing_threads{0};

}  // namespace

ComputingThread::ComputingThread() { computing_threads.fetch_add(1, std::memory_order_relaxed); }
ComputingThread::~ComputingThread() { computing_threads.fetch_sub(1, std::memory_order_relaxed); }

int ComputingThread::Count() { return computing_threads.load(std::memory_order_relaxed); }

}  // namespace poprt::kernels
