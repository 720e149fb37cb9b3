#include "compiler/tuner/kernel_tuner.hpp"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/host/select_kernel.hpp"
#include "runtime/program/package.hpp"

namespace poprt::tuner {
namespace {

Kernels KernelsOf(const Workload& workload) {
  Kernels kernels;
  for (const KernelUse& use : workload.uses) {
    kernels.push_back((use.count == 1 ? "" : absl::StrCat(use.count, " x ")) + Describe(use));
  }
  return kernels;
}

TimingKey KeyOf(const Machine& machine, std::span<const Workload> workloads) {
  TimingKey key{.machine = machine, .package = program::PackageHash(), .candidates = {}};
  for (const Workload& workload : workloads) key.candidates.push_back(KernelsOf(workload));
  return key;
}

}  // namespace

double TuningReport::GainMicroseconds() const {
  double sum = 0;
  for (const TunedChoice& choice : choices) sum += choice.GainMicroseconds();
  return sum;
}

std::size_t WorthwhileInsteadOf(std::size_t expected, std::span<const double> microseconds) {
  constexpr double kBeyondNoise = 0.97;
  constexpr double kWorthLargerWeights = 0.9;
  std::size_t best = expected;
  for (std::size_t i = 0; i < microseconds.size(); ++i) {
    const double part = i > expected ? kWorthLargerWeights : kBeyondNoise;
    const bool worthwhile = microseconds[i] <= part * microseconds[expected];
    if (worthwhile && microseconds[i] < microseconds[best]) best = i;
  }
  return best;
}

KernelTuner::KernelTuner(Machine machine, TimingCache cache, Measure measure,
                         std::function<void(const std::string&)> warn)
    : cache_(std::move(cache)), measure_(std::move(measure)), warn_(std::move(warn)) {
  report_.machine = std::move(machine);
}

std::size_t KernelTuner::Decide(const ir::Graph& graph, const passes::Decision& decision) {
  const std::size_t expected = passes::DecideByEstimate(graph, decision);
  std::vector<Workload> workloads;
  for (const passes::Alternative& alternative : decision.alternatives) {
    absl::StatusOr<host::KernelChoice> kernel = host::SelectKernel(graph, alternative.node);
    if (!kernel.ok()) {
      warn_(absl::StrCat("perf_tuner: ", decision.what, ", ", alternative.name, ": ",
                         kernel.status().message()));
      return expected;
    }
    workloads.push_back({alternative.name, {UseOf(graph, alternative.node, *std::move(kernel))}});
  }
  return Fastest(decision.what, workloads, expected);
}

bool KernelTuner::IsFaster(const std::string& what, const lower::Schedule& other,
                           const std::string& other_name, const lower::Schedule& expected,
                           const std::string& expected_name) {
  std::vector<Workload> workloads = {{expected_name, UsesOf(expected)},
                                     {other_name, UsesOf(other)}};
  CancelCommonUses(workloads[0].uses, workloads[1].uses);
  if (workloads[0].uses.empty()) return false;
  if (workloads[1].uses.empty()) return true;  // the same, and less
  return Fastest(what, workloads, 0) == 1;
}

std::size_t KernelTuner::Fastest(const std::string& what, std::span<const Workload> workloads,
                                 std::size_t expected) {
  TimingKey key = KeyOf(report_.machine, workloads);
  const std::vector<double>* times = cache_.Find(key);
  const bool measured = times == nullptr;
  if (measured) {
    absl::StatusOr<std::vector<double>> now = measure_(workloads);
    if (!now.ok()) {
      warn_(absl::StrCat("perf_tuner: ", what, ": ", now.status().message()));
      return expected;
    }
    cache_.Set(key, *std::move(now));
    times = cache_.Find(key);
  }
  const std::size_t chosen = WorthwhileInsteadOf(expected, *times);
  choices_.push_back({.what = what,
                      .measured = measured,
                      .expected = workloads[expected].name,
                      .chosen = workloads[chosen].name,
                      .expected_us = (*times)[expected],
                      .chosen_us = (*times)[chosen]});
  return chosen;
}

void KernelTuner::Keep(std::span<const TunedChoice> choices) {
  for (const TunedChoice& choice : choices) {
    const auto same = std::ranges::find_if(report_.choices, [&](const TunedChoice& earlier) {
      return earlier.what == choice.what && earlier.expected_us == choice.expected_us &&
             earlier.chosen_us == choice.chosen_us;
    });
    if (same == report_.choices.end()) {
      report_.choices.push_back(choice);
    } else {
      same->uses += choice.uses;
    }
  }
}

}  // namespace poprt::tuner
