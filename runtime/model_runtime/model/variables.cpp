#include "model_runtime/model/variables.hpp"

#include <algorithm>
#include <utility>

#include "model_runtime/Errors.hpp"
#include "runtime/program/anchor_type.hpp"

namespace model_runtime {
namespace {

using poprt::program::Program;
using poprt::program::Variable;

bool Transfers(const popef::Anchor& anchor, const std::vector<std::uint32_t>& flow) {
  return std::ranges::any_of(anchor.programs(), [&](std::uint32_t program) {
    return std::ranges::find(flow, program) != flow.end();
  });
}

void AddLine(std::string& problems, const std::string& line) {
  problems += (problems.empty() ? "" : "\n") + line;
}

std::string WrongSize(const DataDesc& desc, std::uint64_t bytes) {
  return "variable '" + desc.name + "' has " + std::to_string(desc.size_in_bytes) +
         " bytes, the memory given for it has " + std::to_string(bytes);
}

}  // namespace

bool IsVariable(const popef::Anchor& anchor, const popef::Metadata& metadata) {
  const popef::ProgramFlow& flow = metadata.programFlow();
  return (Transfers(anchor, flow.load()) || Transfers(anchor, flow.save())) &&
         !Transfers(anchor, flow.main());
}

Variables::Variables(const popef::Model& model, const Program& program) {
  std::string problems;
  for (const Variable& variable : program.variables) Add(model, variable, problems);
  if (!problems.empty()) throw Error(problems);
  AddNumberedNames(program);
}

void Variables::Add(const popef::Model& model, const Variable& variable, std::string& problems) {
  const auto type = poprt::program::AnchorDataType(variable.type.element);
  const auto fits = [&](const popef::TensorInfo& info) {
    return info.dataType() == type && info.shape() == variable.type.shape;
  };
  const std::string what =
      "'" + variable.name + "' of type " + poprt::ToString(variable.type) + ", ";
  const auto& anchors = model.metadata.anchors();
  if (std::ranges::none_of(anchors, [&](const popef::Anchor& anchor) {
        return anchor.name() == variable.name && anchor.type() == popef::TensorType::INPUT &&
               fits(anchor.tensorInfo());
      })) {
    AddLine(problems, "the metadata has no input anchor " + what +
                          "a variable of the program: the container is damaged");
    return;
  }
  Source source{.desc = {.name = variable.name,
                         .size_in_bytes = static_cast<std::int64_t>(variable.type.bytes()),
                         .shape = variable.type.shape,
                         .data_type = *type}};
  const auto tensor = std::ranges::find_if(model.tensors, [&](const popef::TensorReader& reader) {
    return reader.info.name() == variable.name;
  });
  if (tensor != model.tensors.end()) {
    if (!fits(tensor->info.tensorInfo())) {
      AddLine(problems, "the tensor data of variable " + what + "is of another type or shape");
      return;
    }
    source.tensor_data = tensor->view();
    source.desc.popef_contains_tensor_data = true;
  }
  positions_.emplace(variable.name, sources_.size());
  sources_.push_back(std::move(source));
}

void Variables::AddNumberedNames(const Program& program) {
  for (std::size_t i = 0; i < program.branches.size(); ++i) {
    const std::string prefix = program.branches[i].name + "/";
    for (std::size_t v = 0; v < sources_.size(); ++v) {
      const std::string& name = sources_[v].desc.name;
      if (!name.starts_with(prefix)) continue;
      positions_.emplace("graph" + std::to_string(i) + "/" + name.substr(prefix.size()), v);
    }
  }
}

std::size_t Variables::Find(std::string_view name) const {
  const auto at = positions_.find(name);
  return at == positions_.end() ? sources_.size() : at->second;
}

std::string Variables::Unknown(std::string_view name) const {
  std::string message = "there is no variable '" + std::string(name) + "'";
  if (sources_.empty()) {
    return message +
           ": the weights of the model are constants, compile it with the compiler "
           "option constant_weights = false";
  }
  message += ", the variables are";
  for (const Source& source : sources_) message += " '" + source.desc.name + "'";
  return message;
}

Variables::Source& Variables::At(std::string_view name) {
  const std::size_t position = Find(name);
  if (position == sources_.size()) throw Error(Unknown(name));
  return sources_[position];
}

void Variables::Override(std::string_view name, const ConstTensorMemoryView& memory) {
  Source& source = At(name);
  const auto bytes = static_cast<std::uint64_t>(source.desc.size_in_bytes);
  if (memory.data != nullptr && memory.data_size_bytes != bytes) {
    throw Error(WrongSize(source.desc, memory.data_size_bytes));
  }
  source.user = memory;
}

void Variables::Exclude(std::string_view name) {
  Source& source = At(name);
  source.tensor_data = {};
  source.desc.popef_contains_tensor_data = false;
}

void Variables::Load(poprt::device::LoadedProgram& program) const {
  std::vector<const void*> data;
  std::string missing;
  for (const Source& source : sources_) {
    data.push_back(source.data());
    if (source.data() == nullptr) missing += " '" + source.desc.name + "'";
  }
  if (!missing.empty()) {
    throw Error("there is no data for the variables" + missing +
                ": read the file with their tensor data together with the executable, or give "
                "memory for them");
  }
  if (!data.empty()) program.LoadVariables(data);
}

void Variables::Save(poprt::device::LoadedProgram& program, const OutputMemoryView& targets) const {
  std::vector<void*> data(sources_.size(), nullptr);
  std::vector<std::string> problems;
  for (const auto& [name, memory] : targets) {
    const std::size_t position = Find(name);
    if (position == sources_.size()) {
      problems.push_back(Unknown(name));
      continue;
    }
    const DataDesc& desc = sources_[position].desc;
    if (memory.data == nullptr ||
        memory.data_size_bytes != static_cast<std::uint64_t>(desc.size_in_bytes)) {
      problems.push_back(WrongSize(desc, memory.data == nullptr ? 0 : memory.data_size_bytes));
    }
    data[position] = memory.data;
  }
  if (!problems.empty()) {
    std::ranges::sort(problems);  // those of an unordered map
    std::string message;
    for (const std::string& problem : problems) AddLine(message, problem);
    throw Error(message);
  }
  if (!data.empty()) program.SaveVariables(data);
}

std::vector<DataDesc> Variables::Describe() const {
  std::vector<DataDesc> result;
  for (const Source& source : sources_) result.push_back(source.desc);
  return result;
}

}  // namespace model_runtime
