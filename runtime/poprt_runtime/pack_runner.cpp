#include "poprt/runtime/pack_runner.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "model_runtime/serving/engine.hpp"
#include "runtime/poprt_runtime/descriptions.hpp"
#include "runtime/poprt_runtime/engine_factory.hpp"
#include "runtime/poprt_runtime/packing/pack_entry.hpp"
#include "runtime/poprt_runtime/packing/pack_layout.hpp"
#include "runtime/poprt_runtime/packing/pack_plan.hpp"
#include "runtime/poprt_runtime/packing/packer.hpp"

namespace poprt::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kDestroyed = "the runner was destroyed before the request ran";

/// How many packs of the smallest entries may wait.
constexpr std::size_t kPacksThatWait = 4;

std::unique_ptr<model_runtime::Engine> MakePackEngine(const std::shared_ptr<Executable>& executable,
                                                      const PackRunnerConfig& config) {
  if (executable == nullptr) throw std::runtime_error("a PackRunner needs an executable");
  if (executable->isFused()) {
    throw std::runtime_error(
        "the container has several models, a PackRunner packs requests for one: use a ModelRunner");
  }
  return MakeEngine(*executable, config);
}

/// The part of an entry of that many tokens.
DataDesc DescribePart(const PackTensor& tensor, std::int64_t tokens) {
  std::vector<std::int64_t> shape = tensor.part_shape;
  auto bytes = static_cast<std::int64_t>(tensor.part_bytes);
  if (tensor.has_tokens()) {
    shape.insert(shape.begin(), tokens);
    bytes *= tokens;
  }
  return {tensor.name, bytes, std::move(shape), tensor.type};
}

/// The promises of a request, one for each output it gives.
class Promises {
 public:
  explicit Promises(const OutputMemoryView& outputs) : views_(outputs) {}

  OutputFutureMemoryView Futures() {
    OutputFutureMemoryView futures;
    for (const auto& [name, view] : views_) {
      futures.emplace(name, promises_[name].get_future().share());
    }
    return futures;
  }

  /// Views become those of the bytes that the entry's results take.
  void Succeed(const PackLayout& layout, const PackEntry& entry) {
    for (const PackTensor& output : layout.outputs) {
      const auto at = views_.find(output.name);
      if (at == views_.end()) continue;
      promises_[output.name].set_value({at->second.data, entry.OutputBytes(output)});
    }
  }

  /// Whoever gets the error last ends it, not the thread of the runner.
  void Fail(std::exception_ptr error) {
    std::size_t left = promises_.size();
    for (auto& [name, promise] : promises_) {
      if (--left > 0) {
        promise.set_exception(error);
      } else {
        promise.set_exception(std::move(error));
        return;
      }
    }
  }

 private:
  OutputMemoryView views_;
  std::unordered_map<std::string, std::promise<TensorMemoryView>> promises_;
};

}  // namespace

/// The entries that wait, and the thread that makes packs of them and runs these.
class PackRunner::Queue {
 public:
  Queue(const std::shared_ptr<Executable>& executable, const PackRunnerConfig& config)
      : engine_(MakePackEngine(executable, config)),
        layout_(MakePackLayout(DescribeAll(engine_->inputs()), DescribeAll(engine_->outputs()),
                               config)),
        timeout_(config.timeoutInMicroSeconds),
        capacity_(kPacksThatWait * layout_.room.most_entries),
        plan_(layout_.room),
        packer_(layout_),
        worker_([this] { Serve(); }) {}

  ~Queue() {
    {
      std::unique_lock lock(mutex_);
      stopping_ = true;
      arrived_.notify_all();
      taken_.notify_all();
      taken_.wait(lock, [&] { return blocked_ == 0; });
    }
    worker_.join();
    const auto error = std::make_exception_ptr(std::runtime_error(kDestroyed));
    for (Waiting& waiting : waiting_) waiting.promises.Fail(error);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  OutputFutureMemoryView Add(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
    Promises promises(outputs);
    OutputFutureMemoryView futures = promises.Futures();
    try {
      PackEntry entry = MakePackEntry(layout_, inputs, outputs);
      std::unique_lock lock(mutex_);
      WaitForPlace(lock);
      waiting_.push_back({std::move(entry), std::move(promises), Clock::now()});
      // Under the lock: as soon as the entry has run, the runner may go.
      arrived_.notify_one();
    } catch (...) {
      if (futures.empty()) throw;
      promises.Fail(std::current_exception());
    }
    return futures;
  }

  const PackLayout& layout() const { return layout_; }
  const model_runtime::Engine& engine() const { return *engine_; }

 private:
  struct Waiting {
    PackEntry entry;
    Promises promises;
    Clock::time_point since;
  };

  /// Throws when the runner goes meanwhile.
  void WaitForPlace(std::unique_lock<std::mutex>& lock) {
    ++blocked_;
    taken_.wait(lock, [&] { return stopping_ || waiting_.size() < capacity_; });
    --blocked_;
    if (!stopping_) return;
    taken_.notify_all();
    throw std::runtime_error(kDestroyed);
  }

  void Serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      arrived_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      std::vector<PackEntry> entries;
      std::vector<Promises> promises;
      try {
        Gather(lock);
        if (stopping_) return;
        entries.reserve(plan_.placements().size());
        promises.reserve(plan_.placements().size());
      } catch (...) {
        FailPack(std::current_exception());
        continue;
      }
      for (std::size_t i = plan_.placements().size(); i > 0; --i) {
        entries.push_back(std::move(waiting_.front().entry));
        promises.push_back(std::move(waiting_.front().promises));
        waiting_.pop_front();
      }
      taken_.notify_all();
      lock.unlock();
      Run(entries, promises);
      lock.lock();
    }
  }

  /// Takes the entries of the plan, at least one, out of those that wait. The caller holds the
  /// lock.
  void FailPack(const std::exception_ptr& error) {
    for (std::size_t i = std::max<std::size_t>(plan_.placements().size(), 1); i > 0; --i) {
      waiting_.front().promises.Fail(error);
      waiting_.pop_front();
    }
    taken_.notify_all();
  }

  /// Plans a pack of the first entries that wait, and waits for more of them while it is worth it.
  void Gather(std::unique_lock<std::mutex>& lock) {
    const Clock::time_point deadline = waiting_.front().since + timeout_;
    plan_.Clear();
    bool expired = false;
    while (!stopping_) {
      std::size_t taken = plan_.placements().size();
      while (taken < waiting_.size() && plan_.Add(waiting_[taken].entry.length)) ++taken;
      if (expired || taken < waiting_.size() || plan_.Full()) return;
      expired = arrived_.wait_until(lock, deadline) == std::cv_status::timeout;
    }
  }

  void Run(const std::vector<PackEntry>& entries, std::vector<Promises>& promises) {
    std::exception_ptr error;
    try {
      packer_.Compose(entries, plan_);
      engine_->Execute(packer_.inputs(), packer_.outputs());
      packer_.CopyBack(entries);
    } catch (...) {
      error = std::current_exception();
    }
    if (error == nullptr) {
      for (std::size_t i = 0; i < entries.size(); ++i) promises[i].Succeed(layout_, entries[i]);
      return;
    }
    for (std::size_t i = 1; i < promises.size(); ++i) promises[i].Fail(error);
    promises.front().Fail(std::move(error));
  }

  std::unique_ptr<model_runtime::Engine> engine_;
  const PackLayout layout_;
  const std::chrono::microseconds timeout_;
  const std::size_t capacity_;  // of waiting_
  PackPlan plan_;               // of the worker
  Packer packer_;               // of the worker

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable taken_;
  std::deque<Waiting> waiting_;
  std::size_t blocked_ = 0;  // threads that wait for a place in waiting_
  bool stopping_ = false;
  std::thread worker_;
};

PackRunner::PackRunner(const std::string& popefPath, const PackRunnerConfig& config)
    : PackRunner(std::make_shared<Executable>(popefPath), config) {}

PackRunner::PackRunner(const std::shared_ptr<Executable>& executable,
                       const PackRunnerConfig& config)
    : queue_(std::make_unique<Queue>(executable, config)) {}

PackRunner::~PackRunner() = default;

void PackRunner::execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
  for (const auto& [name, future] : queue_->Add(inputs, outputs)) future.get();
}

OutputFutureMemoryView PackRunner::executeAsync(const InputMemoryView& inputs,
                                                const OutputMemoryView& outputs) {
  return queue_->Add(inputs, outputs);
}

std::int64_t PackRunner::longestEntry() const {
  return static_cast<std::int64_t>(queue_->layout().row_length);
}

std::vector<InputDesc> PackRunner::entryInputs(std::int64_t tokens) const {
  std::vector<InputDesc> descs;
  for (const PackTensor& input : queue_->layout().inputs) {
    if (input.role != PackRole::kUnpackInfo) descs.push_back(DescribePart(input, tokens));
  }
  return descs;
}

std::vector<OutputDesc> PackRunner::outputsFor(const InputMemoryView& inputs) const {
  const PackEntry entry = MakePackEntry(queue_->layout(), inputs);
  std::vector<OutputDesc> descs;
  for (const PackTensor& output : queue_->layout().outputs) {
    descs.push_back(DescribePart(output, static_cast<std::int64_t>(entry.length)));
  }
  return descs;
}

std::vector<InputDesc> PackRunner::getExecuteInputs() const {
  return DescribeAll(queue_->engine().inputs());
}
std::vector<OutputDesc> PackRunner::getExecuteOutputs() const {
  return DescribeAll(queue_->engine().outputs());
}
std::vector<InputDesc> PackRunner::getModelInputs() const { return getExecuteInputs(); }
std::vector<OutputDesc> PackRunner::getModelOutputs() const { return getExecuteOutputs(); }

}  // namespace poprt::runtime
