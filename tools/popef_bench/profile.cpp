#include "tools/popef_bench/profile.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "runtime/program/anchor_type.hpp"
#include "tools/popef_bench/bench_requests.hpp"
#include "tools/popef_bench/kernel_work.hpp"
#include "tools/popef_bench/run_budget.hpp"

namespace poprt::bench {
namespace {

using program::Branch;
using program::Step;
using program::Stream;
using runtime::DataDesc;

constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr double kMicrosecondsPerMillisecond = 1e3;

std::vector<DataDesc> Describe(const Branch& branch, const std::vector<Stream>& streams) {
  std::vector<DataDesc> descs;
  for (const Stream& stream : streams) {
    const TensorType& type = branch.slots[stream.slot].type;
    descs.emplace_back(stream.name, static_cast<std::int64_t>(type.bytes()), type.shape,
                       program::AnchorDataType(type.element).value());
  }
  return descs;
}

/// A request as the device takes it.
class DeviceRequest {
 public:
  DeviceRequest(const Branch& branch, const BenchOptions& options)
      : request_(MakeRequest(Describe(branch, branch.inputs), Describe(branch, branch.outputs),
                             options)),
        extents_(branch.outputs.size()) {
    for (const Stream& input : branch.inputs) {
      inputs_.push_back(request_.inputs.at(input.name).data);
    }
    for (const Stream& output : branch.outputs) {
      outputs_.push_back(request_.outputs.at(output.name).data);
    }
  }

  void Run(device::LoadedProgram& program, std::size_t branch, StepRecorder& recorder) {
    program.RunObserved(branch, inputs_, outputs_, extents_, recorder);
  }

 private:
  requests::Request request_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<std::int64_t> extents_;
};

/// Times of the steps in each run.
class Samples {
 public:
  explicit Samples(const Branch& branch) {
    for (const Step& step : branch.steps) Add(step, step.stage);
  }

  void AddRun(const std::vector<StepEvent>& events) {
    for (Sample& sample : samples_) sample.current = 0;
    for (const StepEvent& event : events) {
      Sample& sample = samples_[positions_.at(event.step)];
      sample.current += static_cast<double>(event.end - event.begin - event.inside);
      ++sample.calls;
    }
    for (Sample& sample : samples_) {
      sample.times.push_back(sample.current / kNanosecondsPerMicrosecond);
    }
    ++runs_;
  }

  /// Of the steps that ran.
  std::vector<StepProfile> Summary(const Branch& branch) {
    std::vector<StepProfile> steps;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      Sample& sample = samples_[i];
      if (sample.calls == 0) continue;
      std::ranges::sort(sample.times);
      StepProfile& step = steps.emplace_back();
      step.step = sample.step;
      step.position = i;
      step.stage = sample.stage;
      step.calls = sample.calls / runs_;  // the same input: every run takes the same way
      step.median = sample.times[sample.times.size() / 2];
      step.least = sample.times.front();
      const auto calls = static_cast<double>(step.calls);
      step.bytes = calls * OperandBytesOf(branch, *step.step);
      step.operations = OperationsOf(branch, *step.step);
      if (step.operations) *step.operations *= calls;
    }
    return steps;
  }

 private:
  struct Sample {
    const Step* step = nullptr;
    std::uint32_t stage = 0;
    std::size_t calls = 0;
    double current = 0;  ///< nanoseconds in this run
    std::vector<double> times;
  };

  void Add(const Step& step, std::uint32_t stage) {
    positions_[&step] = samples_.size();
    Sample& sample = samples_.emplace_back();
    sample.step = &step;
    sample.stage = stage;
    for (const program::Body& body : step.bodies) {
      for (const Step& inner : body.steps) Add(inner, stage);
    }
  }

  std::unordered_map<const Step*, std::size_t> positions_;
  std::vector<Sample> samples_;
  std::size_t runs_ = 0;
};

}  // namespace

void CheckFileOptions(const program::Program& program, std::span<const std::size_t> branches,
                      const BenchOptions& options) {
  std::vector<DataDesc> inputs;
  for (const std::size_t branch : branches) {
    const Branch& graph = program.branches[branch];
    std::ranges::move(Describe(graph, graph.inputs), std::back_inserter(inputs));
  }
  CheckFileOptions(inputs, {}, options);
}

Profile ProfileBranch(LoadedContainer& container, std::size_t branch, const BenchOptions& options) {
  Profile profile;
  profile.branch = &container.program().branches[branch];
  DeviceRequest request(*profile.branch, options);
  Samples samples(*profile.branch);
  StepRecorder recorder(options.cpu_time ? Clock::kThreadCpu : Clock::kSteady);
  std::vector<double> runs;
  const auto run = [&] {
    recorder.Start();
    request.Run(container.loaded(), branch, recorder);
    return static_cast<double>(recorder.Elapsed()) / kNanosecondsPerMicrosecond;
  };
  run();  // touches the weights
  for (int left = RunsFor(run() / kMicrosecondsPerMillisecond, options); left > 0; --left) {
    const double time = run();
    samples.AddRun(recorder.events());
    if (runs.empty() || time < profile.least) {
      profile.least = time;
      profile.events = recorder.events();
    }
    runs.push_back(time);
  }
  std::ranges::sort(runs);
  profile.runs = runs.size();
  profile.median = runs[runs.size() / 2];
  profile.steps = samples.Summary(*profile.branch);
  return profile;
}

}  // namespace poprt::bench
