#pragma once

#include <mutex>
#include <string_view>

#include "model_runtime/model/variables.hpp"

namespace model_runtime {

/// The variables of a model that several replicas load, each when it needs to. Thread-safe.
class SharedVariables {
 public:
  explicit SharedVariables(Variables variables) : variables_(std::move(variables)) {}

  bool Has(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return variables_.Find(name) < variables_.Describe().size();
  }
  void Override(std::string_view name, const ConstTensorMemoryView& memory) {
    const std::lock_guard lock(mutex_);
    variables_.Override(name, memory);
  }
  void Load(poprt::device::LoadedProgram& program) const {
    const std::lock_guard lock(mutex_);
    variables_.Load(program);
  }

 private:
  mutable std::mutex mutex_;
  Variables variables_;
};

}  // namespace model_runtime
