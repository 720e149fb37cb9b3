#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model_runtime/DataDesc.hpp"
#include "model_runtime/Tensor.hpp"
#include "popef/Model.hpp"
#include "runtime/device/device.hpp"
#include "runtime/program/program.hpp"

namespace model_runtime {

/// True for anchors that the load or the save program transfers and the main program does not:
/// those of variables. All others belong to requests.
bool IsVariable(const popef::Anchor& anchor, const popef::Metadata& metadata);

/// Where the load program finds the data of a program's variables: in the tensor data of the model,
/// whichever of its files it comes from, unless the user gives other data. Not thread-safe.
class Variables {
 public:
  /// Throws Error when anchors or tensor data do not fit the program; lists every problem. Keeps
  /// the files of the model alive, nothing else of either.
  Variables(const popef::Model& model, const poprt::program::Program& program);

  /// Uses user memory for a variable from the next Load on; it must stay until it is replaced. A
  /// view without memory goes back to the tensor data of the model. Variables of graph i may be
  /// called by the name of the graph, "resnet/w", or by its number, "graph0/w". Throws Error that
  /// lists the variables when there is none of that name, and when the size is another.
  void Override(std::string_view name, const ConstTensorMemoryView& memory);

  /// Does not use the tensor data of the model for a variable, so that Load wants it from the user.
  /// Throws Error as Override does.
  void Exclude(std::string_view name);

  /// Runs the load program with all variables. Throws Error that lists every variable without data;
  /// nothing is loaded then.
  void Load(poprt::device::LoadedProgram& program) const;

  /// Runs the save program: what is in `targets`, by the names Override takes, gets the value that
  /// the device has. Throws Error that lists every name and size that does not fit; nothing is
  /// saved then.
  void Save(poprt::device::LoadedProgram& program, const OutputMemoryView& targets) const;

  /// Of all variables in the order of the program.
  std::vector<DataDesc> Describe() const;

  /// The position of a variable in the program by a name that Override takes, or Describe().size().
  std::size_t Find(std::string_view name) const;

 private:
  struct Source {
    DataDesc desc;
    popef::PayloadView tensor_data = {};
    ConstTensorMemoryView user = {};

    const void* data() const { return user.data != nullptr ? user.data : tensor_data.data; }
  };

  void Add(const popef::Model& model, const poprt::program::Variable& variable,
           std::string& problems);
  void AddNumberedNames(const poprt::program::Program& program);
  Source& At(std::string_view name);
  std::string Unknown(std::string_view name) const;

  std::vector<Source> sources_;
  std::map<std::string, std::size_t, std::less<>> positions_;
};

}  // namespace model_runtime
