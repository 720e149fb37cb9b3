#include "model_runtime/serving/served_model.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "model_runtime/Errors.hpp"
#include "model_runtime/model/model_image.hpp"

namespace model_runtime {
namespace {

using poprt::program::Branch;
using poprt::program::Stream;

/// The container's anchors of one direction: those of variables, or those of requests.
std::vector<DataDesc> DescribeAnchors(const popef::Metadata& metadata, popef::TensorType direction,
                                      bool variables) {
  std::vector<DataDesc> result;
  for (const popef::Anchor& anchor : metadata.anchors()) {
    if (anchor.type() != direction || IsVariable(anchor, metadata) != variables) continue;
    result.push_back({.name = anchor.name(),
                      .size_in_bytes = anchor.tensorInfo().sizeInBytes(),
                      .shape = anchor.tensorInfo().shape(),
                      .data_type = anchor.tensorInfo().dataType(),
                      .popef_contains_tensor_data = false,
                      .open_axis = std::nullopt});
  }
  return result;
}

std::vector<DataDesc> Joined(std::vector<DataDesc> first, const std::vector<DataDesc>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Tells of the streams' extents, which metadata has no place for.
void DescribeExtents(const std::vector<Stream>& streams, std::vector<DataDesc>& anchors) {
  for (const Stream& stream : streams) {
    for (DataDesc& anchor : anchors) {
      if (stream.extent && anchor.name == stream.name) anchor.open_axis = stream.extent->axis;
    }
  }
}

void AddLine(std::string& problems, const std::string& line) {
  problems += (problems.empty() ? "" : "\n") + line;
}

}  // namespace

ServedModel::ServedModel(const popef::Model& model, const EngineConfig& config) {
  if (config.check_package_hash) CheckPackage(model.metadata);
  if (config.verify_weights) model.executable.verify();
  image_ = MakeImage(model);
  CheckAnchors(model.metadata, program());
  request_inputs_ = DescribeAnchors(model.metadata, popef::TensorType::INPUT, false);
  outputs_ = DescribeAnchors(model.metadata, popef::TensorType::OUTPUT, false);
  for (const Branch& branch : program().branches) DescribeExtents(branch.outputs, outputs_);
  model_outputs_ =
      Joined(outputs_, DescribeAnchors(model.metadata, popef::TensorType::OUTPUT, true));
  router_.emplace(program(), HasIndex(model.metadata, program()), config.validate_io_params);

  InputMemoryView frozen = config.frozen_inputs;
  UseTensorData(model, frozen);
  Variables variables(model, program());
  model_inputs_ = Joined(request_inputs_, variables.Describe());
  std::ranges::copy_if(request_inputs_, std::back_inserter(inputs_),
                       [](const DataDesc& input) { return !input.popef_contains_tensor_data; });
  variables_.emplace(std::move(variables));
  Freeze(frozen, config.batching_dim);
  MakeFillers(config.flush_by_name.first, config.flush_by_name.second);
}

void ServedModel::UseTensorData(const popef::Model& model, InputMemoryView& frozen) {
  std::set<std::string_view> given;
  for (const auto& [name, memory] : frozen) given.insert(router_->CanonicalName(name));
  for (const popef::TensorReader& tensor : model.tensors) {
    const auto input = std::ranges::find(request_inputs_, tensor.info.name(), &DataDesc::name);
    if (input == request_inputs_.end()) continue;
    input->popef_contains_tensor_data = true;
    if (given.count(input->name) > 0) continue;
    const popef::PayloadView& data = tensor_data_.emplace_back(tensor.view());
    frozen.emplace(input->name, ConstTensorMemoryView(data.data, data.size));
  }
}

void ServedModel::Freeze(const InputMemoryView& frozen, std::uint32_t batching_dim) {
  std::set<std::string_view> names;
  for (const auto& [name, memory] : frozen) names.insert(router_->CanonicalName(name));
  if (batching_dim != kNoBatching) {
    plan_.emplace(program(), batching_dim, names);
    router_->UseRows(*plan_);
  }
  std::string problems;
  for (const auto& [name, memory] : std::map(frozen.begin(), frozen.end())) {
    try {
      if (variables_->Has(name)) {
        variables_->Override(name, memory);
      } else {
        router_->Freeze({name, memory.data, memory.data_size_bytes});
      }
    } catch (const Error& error) {
      AddLine(problems, error.what());
    }
  }
  if (!problems.empty()) throw Error(problems);
}

void ServedModel::MakeFillers(const InputMemoryView& inputs, const OutputMemoryView& outputs) {
  for (std::size_t b = 0; b < program().branches.size(); ++b) {
    const Branch& branch = program().branches[b];
    Route& filler = fillers_.emplace_back();
    filler.branch = b;
    filler.rows = plan_ ? plan_->branch(b).rows : 1;
    filler.inputs.resize(branch.inputs.size());
    filler.repeats.resize(branch.inputs.size());
    filler.outputs.resize(branch.outputs.size());
  }
  std::string problems;
  const auto place = [&](const std::string& name, std::uint64_t bytes, bool is_input) {
    const auto found = router_->Locate(name);
    const DataDesc* desc = Describe(name);
    if (!found || found->is_input != is_input || desc == nullptr) {
      AddLine(problems, "flush_by_name has '" + name + "', which is no " +
                            (is_input ? "input" : "output") + " of the model");
    } else if (bytes != static_cast<std::uint64_t>(desc->size_in_bytes)) {
      AddLine(problems, "flush_by_name has " + std::to_string(bytes) + " bytes for '" + name +
                            "', a batch has " + std::to_string(desc->size_in_bytes));
    }
    return found;
  };
  for (const auto& [name, memory] : std::map(inputs.begin(), inputs.end())) {
    const auto found = place(name, memory.data_size_bytes, true);
    if (found) fillers_[found->branch].inputs[found->position] = memory.data;
  }
  for (const auto& [name, memory] : std::map(outputs.begin(), outputs.end())) {
    const auto found = place(name, memory.data_size_bytes, false);
    if (found) fillers_[found->branch].outputs[found->position] = memory.data;
  }
  if (!problems.empty()) throw Error(problems);
}

const DataDesc* ServedModel::Describe(std::string_view name) const {
  const std::string_view known = router_->CanonicalName(name);
  for (const auto* descs : {&request_inputs_, &outputs_}) {
    for (const DataDesc& desc : *descs) {
      if (desc.name == known) return &desc;
    }
  }
  return nullptr;
}

std::vector<std::int64_t> ServedModel::ResultShape(const Route& route, std::size_t position,
                                                   std::int64_t extent) const {
  const Branch& branch = program().branches[route.branch];
  const Stream& stream = branch.outputs[position];
  std::vector<std::int64_t> shape = branch.slots[stream.slot].type.shape;
  if (stream.extent) {
    shape[stream.extent->axis] = extent;
  } else if (plan_) {
    shape[plan_->dim()] = static_cast<std::int64_t>(route.rows);
  } else if (!shape.empty()) {
    shape[0] *= static_cast<std::int64_t>(route.batches);
  }
  return shape;
}

std::vector<DataDesc> ServedModel::OutputsFor(std::span<const InputBuffer> inputs) const {
  Route route;
  router_->ResolveInputs(inputs, route);
  const Branch& branch = program().branches[route.branch];
  std::vector<DataDesc> result;
  for (std::size_t i = 0; i < branch.outputs.size(); ++i) {
    const Stream& stream = branch.outputs[i];
    DataDesc& desc = result.emplace_back(*Describe(stream.name));
    const std::int64_t bound = stream.extent ? desc.shape[stream.extent->axis] : 0;
    desc.shape = ResultShape(route, i, bound);
    const std::int64_t batch_rows =
        plan_ ? static_cast<std::int64_t>(plan_->branch(route.branch).rows) : 1;
    desc.size_in_bytes = desc.size_in_bytes / batch_rows * static_cast<std::int64_t>(route.rows);
  }
  return result;
}

}  // namespace model_runtime
