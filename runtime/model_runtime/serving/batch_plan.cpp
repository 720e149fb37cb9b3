#include "model_runtime/serving/batch_plan.hpp"

#include <cstring>

#include "model_runtime/Errors.hpp"

namespace model_runtime {

using poprt::program::Program;
using poprt::program::Stream;

namespace {

void AddLine(std::string& problems, const std::string& line) {
  problems += (problems.empty() ? "" : "\n") + line;
}

}  // namespace

void CopyRows(const RowLayout& layout, const RowRange<const std::byte>& from,
              const RowRange<std::byte>& to, std::uint64_t count) {
  const std::size_t bytes = count * layout.row_bytes;
  if (bytes == 0) return;
  for (std::uint64_t block = 0; block < layout.outer; ++block) {
    std::memcpy(to.tensor + (block * to.rows + to.first) * layout.row_bytes,
                from.tensor + (block * from.rows + from.first) * layout.row_bytes, bytes);
  }
}

void ZeroRows(const RowLayout& layout, const RowRange<std::byte>& to, std::uint64_t count) {
  const std::size_t bytes = count * layout.row_bytes;
  if (bytes == 0) return;
  for (std::uint64_t block = 0; block < layout.outer; ++block) {
    std::memset(to.tensor + (block * to.rows + to.first) * layout.row_bytes, 0, bytes);
  }
}

BatchPlan::BatchPlan(const Program& program, std::uint32_t dim,
                     const std::set<std::string_view>& frozen)
    : dim_(dim) {
  std::string problems;
  for (const poprt::program::Branch& branch : program.branches) {
    Branch& plan = branches_.emplace_back();
    for (const Stream& input : branch.inputs) {
      if (frozen.count(input.name) > 0) {
        plan.inputs.emplace_back();
      } else {
        plan.inputs.emplace_back(LayoutOf(branch, input, plan, problems));
      }
    }
    for (const Stream& output : branch.outputs) {
      plan.outputs.emplace_back(LayoutOf(branch, output, plan, problems));
    }
    if (plan.rows == 0) plan.rows = 1;  // a graph without tensors that fall into rows
  }
  if (!problems.empty()) throw Error(problems);
}

RowLayout BatchPlan::LayoutOf(const poprt::program::Branch& branch, const Stream& stream,
                              Branch& plan, std::string& problems) const {
  const poprt::TensorType& type = branch.slots[stream.slot].type;
  const std::string tensor = "batching_dim is " + std::to_string(dim_) + ", but '" + stream.name +
                             "' of type " + poprt::ToString(type) + " ";
  if (dim_ >= type.shape.size()) {
    AddLine(problems, tensor +
                          (type.shape.empty()
                               ? "has no dimensions"
                               : "has dimensions 0 to " + std::to_string(type.shape.size() - 1)) +
                          ": freeze it if it is an input that is the same for all requests");
    return {};
  }
  if (stream.extent) {
    AddLine(problems, tensor +
                          "has an extent that depends on the data: such models run without "
                          "batching_dim");
    return {};
  }
  const auto at = type.shape.begin() + dim_;
  const auto rows = static_cast<std::uint64_t>(*at);
  if (plan.rows == 0) plan.rows = rows;
  if (rows == 0 || rows != plan.rows) {
    AddLine(problems,
            tensor + "has " + std::to_string(rows) + " rows along it, allowed are " +
                (rows == 0 ? "1 or more"
                           : std::to_string(plan.rows) + " as in the graph's other tensors"));
    return {};
  }
  const std::uint64_t bytes = type.bytes();
  if (bytes == 0) return {};
  RowLayout layout;
  layout.outer = static_cast<std::uint64_t>(poprt::ElementCount({type.shape.begin(), at}));
  layout.row_bytes = bytes / layout.outer / rows;
  plan.contiguous = plan.contiguous && layout.outer == 1;
  return layout;
}

}  // namespace model_runtime
