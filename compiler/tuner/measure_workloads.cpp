#include "compiler/tuner/measure_workloads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/kernels/kernel.hpp"
#include "runtime/tensor/half.hpp"

namespace poprt::tuner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCacheLine = 64;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Reads a byte of every cache line.
void Touch(const std::byte* data, std::size_t bytes) {
  std::uint8_t sum = 0;
  for (std::size_t i = 0; i < bytes; i += kCacheLine) sum ^= static_cast<std::uint8_t>(data[i]);
  static std::atomic<std::uint8_t> result;  // so that the reads are not left out
  result.store(sum, std::memory_order_relaxed);
}

/// Memory as large as the caches: reading it puts out everything else.
class CacheFlush {
 public:
  CacheFlush() : memory_({ElementType::kUint8, {SharedCacheBytes()}}) {
    // Pages that were never written would all be the same page of zeros.
    std::ranges::fill(memory_.as_mutable<std::uint8_t>(), std::uint8_t{1});
  }

  /// On all threads, since each core has caches of its own.
  void Run(kernels::ThreadPool& pool) const {
    constexpr std::size_t kPart = std::size_t{64} << 10;
    const auto parts = static_cast<std::int64_t>(memory_.bytes() / kPart);
    pool.Run(parts, [&](std::int64_t part, int) {
      Touch(memory_.data() + static_cast<std::size_t>(part) * kPart, kPart);
    });
  }

 private:
  static std::int64_t SharedCacheBytes() {
    constexpr std::int64_t kLeast = std::int64_t{8} << 20;
    constexpr std::int64_t kMost = std::int64_t{32} << 20;
    return std::clamp<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), kLeast, kMost);
  }

  Tensor memory_;
};

Tensor RandomTensor(const TensorType& type) {
  Tensor tensor(type);
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  if (type.element == ElementType::kFloat32) {
    for (float& value : tensor.as_mutable<float>()) value = uniform(random);
  } else if (type.element == ElementType::kFloat16) {
    for (Float16& value : tensor.as_mutable<Float16>()) value = Float16(uniform(random));
  }
  return tensor;
}

/// A call that is ready to run.
class PreparedUse {
 public:
  /// Throws kernels::KernelError.
  explicit PreparedUse(const KernelUse& use) : count_(use.count) {
    const kernels::KernelDef* const def = kernels::FindKernel(use.kernel);
    if (def == nullptr) throw kernels::KernelError("there is no such kernel");
    kernels::KernelCall call{.inputs = {}, .outputs = use.outputs, .attributes = use.attributes};
    for (const TimedInput& input : use.inputs) call.inputs.push_back(input.type);
    kernel_ = def->bind(call);
    for (const TimedInput& input : use.inputs) AddInput(input);
    for (const TensorType& type : use.outputs) AddOutput(type);
  }

  std::size_t scratch_bytes() const { return kernel_.scratch_bytes; }

  void Run(kernels::ThreadPool& pool, std::byte* scratch, const CacheFlush& flush) {
    flush.Run(pool);
    for (const Tensor& tensor : computed_) Touch(tensor.data(), tensor.bytes());
    const Clock::time_point start = Clock::now();
    kernel_.run({.inputs = sources_, .outputs = targets_, .scratch = scratch, .pool = &pool});
    const double seconds = SecondsSince(start);
    least_seconds_ = runs_++ == 0 ? seconds : std::min(least_seconds_, seconds);
  }

  double Microseconds() const { return 1e6 * least_seconds_ * count_; }

 private:
  void AddInput(const TimedInput& input) {
    if (!input.type.defined()) {
      sources_.push_back(nullptr);
    } else if (input.constant) {
      sources_.push_back(constants_.emplace_back(*input.constant).data());
    } else {
      sources_.push_back(computed_.emplace_back(RandomTensor(input.type)).data());
    }
  }

  void AddOutput(const TensorType& type) {
    targets_.push_back(type.defined() ? results_.emplace_back(Tensor(type)).mutable_data()
                                      : nullptr);
  }

  int count_;
  kernels::BoundKernel kernel_;
  std::vector<Tensor> constants_;
  std::vector<Tensor> computed_;
  std::vector<Tensor> results_;
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> targets_;
  int runs_ = 0;
  double least_seconds_ = 0;
};

using PreparedWorkload = std::vector<PreparedUse>;

std::vector<PreparedWorkload> Prepare(std::span<const Workload> workloads) {
  std::vector<PreparedWorkload> prepared;
  for (const Workload& workload : workloads) {
    PreparedWorkload& uses = prepared.emplace_back();
    for (const KernelUse& use : workload.uses) {
      try {
        uses.emplace_back(use);
      } catch (const kernels::KernelError& error) {
        throw kernels::KernelError(Describe(use) + ": " + error.what());
      }
    }
  }
  return prepared;
}

/// For the call that needs most, on every thread of the pool.
Tensor ScratchFor(const std::vector<PreparedWorkload>& workloads, int threads) {
  std::size_t bytes = 0;
  for (const PreparedWorkload& workload : workloads) {
    for (const PreparedUse& use : workload) bytes = std::max(bytes, use.scratch_bytes());
  }
  return Tensor({ElementType::kUint8, {static_cast<std::int64_t>(bytes), threads}});
}

std::vector<double> Measure(std::span<const Workload> workloads, kernels::ThreadPool& pool,
                            const MeasureLimits& limits) {
  std::vector<PreparedWorkload> prepared = Prepare(workloads);
  Tensor scratch = ScratchFor(prepared, pool.size());
  const CacheFlush flush;
  const Clock::time_point start = Clock::now();
  for (int round = 0; round < limits.most_rounds; ++round) {
    if (round >= limits.fewest_rounds && SecondsSince(start) >= limits.seconds) break;
    for (PreparedWorkload& workload : prepared) {
      for (PreparedUse& use : workload) use.Run(pool, scratch.mutable_data(), flush);
    }
  }
  std::vector<double> microseconds;
  for (const PreparedWorkload& workload : prepared) {
    constexpr double kLeast = 0.001;  // what the clock can tell
    double sum = 0;
    for (const PreparedUse& use : workload) sum += use.Microseconds();
    microseconds.push_back(std::max(sum, kLeast));
  }
  return microseconds;
}

}  // namespace

absl::StatusOr<std::vector<double>> MeasureWorkloads(std::span<const Workload> workloads,
                                                     kernels::ThreadPool& pool,
                                                     const MeasureLimits& limits) {
  try {
    return Measure(workloads, pool, limits);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("cannot be measured: ", error.what()));
  }
}

}  // namespace poprt::tuner
