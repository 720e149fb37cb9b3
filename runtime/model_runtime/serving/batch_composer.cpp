#include "model_runtime/serving/batch_composer.hpp"

#include <algorithm>
#include <utility>

namespace model_runtime {

using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Stream;

namespace {

std::vector<std::vector<std::byte>> MemoryFor(const Branch& branch,
                                              const std::vector<Stream>& streams) {
  std::vector<std::vector<std::byte>> memory;
  memory.reserve(streams.size());
  for (const Stream& stream : streams) memory.emplace_back(branch.slots[stream.slot].type.bytes());
  return memory;
}

const std::byte* Bytes(const void* data) { return static_cast<const std::byte*>(data); }
std::byte* Bytes(void* data) { return static_cast<std::byte*>(data); }

}  // namespace

BatchComposer::BatchComposer(const BatchPlan& plan, const Program& program, Fillers fillers,
                             Clock::duration wait, RunBatch run, Finish finish)
    : plan_(plan),
      fillers_(std::move(fillers)),
      wait_(wait),
      run_(std::move(run)),
      finish_(std::move(finish)) {
  for (std::size_t b = 0; b < program.branches.size(); ++b) {
    const Branch& branch = program.branches[b];
    input_pointers_.reserve(std::max(input_pointers_.capacity(), branch.inputs.size()));
    output_pointers_.reserve(std::max(output_pointers_.capacity(), branch.outputs.size()));
    open_.emplace_back().inputs = MemoryFor(branch, branch.inputs);
    inputs_.push_back(plan.branch(b).contiguous ? Memory() : MemoryFor(branch, branch.inputs));
    outputs_.push_back(MemoryFor(branch, branch.outputs));
  }
}

void BatchComposer::Add(Request* request) {
  const Route& route = request->route;
  const std::uint64_t batch_rows = plan_.branch(route.branch).rows;
  const std::uint64_t rows = route.rows;
  std::uint64_t first = 0;
  for (; rows - first >= batch_rows; first += batch_rows) {
    if (const DeviceFailure* failure = RunWhole(route, first)) {
      finish_(request, failure->MakeException());
      return;
    }
  }
  if (first == rows) {
    finish_(request, nullptr);
    return;
  }
  const std::uint64_t free = batch_rows - open_[route.branch].rows;
  const std::uint64_t now = std::min(free, rows - first);
  if (!AddPart(request, first, now)) return;
  // The request is over if all its rows have run, and must not be touched.
  if (first + now < rows) AddPart(request, first + now, rows - first - now);
}

bool BatchComposer::AddPart(Request* request, std::uint64_t first, std::uint64_t rows) {
  const std::size_t branch = request->route.branch;
  Open& open = open_[branch];
  open.parts.push_back({request, first, rows});  // may throw, so nothing has changed before
  if (open.parts.size() == 1) {
    open.deadline =
        wait_ == Clock::duration::max() ? Clock::time_point::max() : Clock::now() + wait_;
  }
  Gather(request->route, first, rows, open.inputs, open.rows);
  open.rows += rows;
  return open.rows < plan_.branch(branch).rows || RunOpen(branch);
}

bool BatchComposer::RunOpen(std::size_t branch) {
  Open& open = open_[branch];
  const DeviceFailure* failure = RunFrom(branch, open.parts.front().request->route, open.inputs);
  const std::uint64_t missing = plan_.branch(branch).rows - open.rows;
  // Before any request ends: its caller may look.
  if (failure == nullptr) Scatter(fillers_[branch], open.rows, missing, open.rows);
  std::uint64_t at = 0;
  for (const Part& part : open.parts) {
    if (failure != nullptr) {
      finish_(part.request, failure->MakeException());
      continue;
    }
    const Route& route = part.request->route;
    Scatter(route, part.first, part.rows, at);
    at += part.rows;
    if (part.first + part.rows == route.rows) finish_(part.request, nullptr);
  }
  open.parts.clear();
  open.rows = 0;
  return failure == nullptr;
}

void BatchComposer::RunOverdue(Clock::time_point now) {
  for (std::size_t branch = 0; branch < open_.size(); ++branch) {
    Open& open = open_[branch];
    if (open.parts.empty() || open.deadline > now) continue;
    const std::uint64_t missing = plan_.branch(branch).rows - open.rows;
    Gather(fillers_[branch], open.rows, missing, open.inputs, open.rows);
    RunOpen(branch);
  }
}

BatchComposer::Clock::time_point BatchComposer::deadline() const {
  Clock::time_point next = Clock::time_point::max();
  for (const Open& open : open_) {
    if (!open.parts.empty()) next = std::min(next, open.deadline);
  }
  return next;
}

bool BatchComposer::empty() const {
  return std::all_of(open_.begin(), open_.end(),
                     [](const Open& open) { return open.parts.empty(); });
}

void BatchComposer::FailAll(const DeviceFailure& failure) {
  for (Open& open : open_) {
    for (const Part& part : open.parts) finish_(part.request, failure.MakeException());
    open.parts.clear();
    open.rows = 0;
  }
}

const DeviceFailure* BatchComposer::RunWhole(const Route& route, std::uint64_t first) {
  const BatchPlan::Branch& plan = plan_.branch(route.branch);
  if (plan.contiguous || route.rows == plan.rows) return RunWhereItLies(route, first);
  Gather(route, first, plan.rows, inputs_[route.branch], 0);
  const DeviceFailure* failure = RunFrom(route.branch, route, inputs_[route.branch]);
  if (failure == nullptr) Scatter(route, first, plan.rows, 0);
  return failure;
}

const DeviceFailure* BatchComposer::RunWhereItLies(const Route& route, std::uint64_t first) {
  const BatchPlan::Branch& plan = plan_.branch(route.branch);
  input_pointers_.clear();
  output_pointers_.clear();
  for (std::size_t i = 0; i < route.inputs.size(); ++i) {
    const std::uint64_t offset = route.repeats[i] ? 0 : first * plan.inputs[i]->row_bytes;
    input_pointers_.push_back(Bytes(route.inputs[i]) + offset);
  }
  for (std::size_t i = 0; i < route.outputs.size(); ++i) {
    const std::uint64_t offset = first * plan.outputs[i]->row_bytes;
    output_pointers_.push_back(route.outputs[i] == nullptr ? nullptr
                                                           : Bytes(route.outputs[i]) + offset);
  }
  return run_(route.branch, input_pointers_, output_pointers_);
}

const DeviceFailure* BatchComposer::RunFrom(std::size_t branch, const Route& route,
                                            Memory& inputs) {
  input_pointers_.clear();
  output_pointers_.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    input_pointers_.push_back(route.repeats[i] ? route.inputs[i] : inputs[i].data());
  }
  for (std::vector<std::byte>& output : outputs_[branch]) output_pointers_.push_back(output.data());
  return run_(branch, input_pointers_, output_pointers_);
}

void BatchComposer::Gather(const Route& route, std::uint64_t first, std::uint64_t rows,
                           Memory& inputs, std::uint64_t at) const {
  const BatchPlan::Branch& plan = plan_.branch(route.branch);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!plan.inputs[i] || route.repeats[i]) continue;
    const RowRange<std::byte> to{inputs[i].data(), plan.rows, at};
    if (route.inputs[i] == nullptr) {
      ZeroRows(*plan.inputs[i], to, rows);
    } else {
      CopyRows(*plan.inputs[i], {Bytes(route.inputs[i]), route.rows, first}, to, rows);
    }
  }
}

void BatchComposer::Scatter(const Route& route, std::uint64_t first, std::uint64_t rows,
                            std::uint64_t at) const {
  const BatchPlan::Branch& plan = plan_.branch(route.branch);
  const Memory& outputs = outputs_[route.branch];
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (route.outputs[i] == nullptr) continue;
    CopyRows(*plan.outputs[i], {outputs[i].data(), plan.rows, at},
             {Bytes(route.outputs[i]), route.rows, first}, rows);
  }
}

}  // namespace model_runtime
