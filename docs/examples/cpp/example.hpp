#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "model_runtime/ModelRunner.hpp"
#include "model_runtime/Tensor.hpp"

/// What the examples share.
namespace example {

/// Memory for every tensor, all elements of which are `value`: the models compute with float32.
inline model_runtime::InputMemory Filled(const std::vector<model_runtime::DataDesc>& tensors,
                                         float value) {
  model_runtime::InputMemory memory;
  for (const model_runtime::DataDesc& tensor : tensors) {
    const auto added = memory.emplace(tensor.name, tensor.size_in_bytes).first;
    auto* elements = static_cast<float*>(added->second.data.get());
    std::fill_n(elements, tensor.size_in_bytes / sizeof(float), value);
  }
  return memory;
}

inline model_runtime::InputMemoryView InputViews(const model_runtime::InputMemory& memory) {
  model_runtime::InputMemoryView views;
  for (const auto& [name, tensor] : memory) views.emplace(name, tensor.getView());
  return views;
}

inline model_runtime::OutputMemoryView OutputViews(model_runtime::OutputMemory& memory) {
  model_runtime::OutputMemoryView views;
  for (auto& [name, tensor] : memory) views.emplace(name, tensor.getView());
  return views;
}

/// Prints the first element; ends the program when it is not the expected one.
inline void Expect(const std::string& what, const void* data, float expected) {
  const float found = *static_cast<const float*>(data);
  std::cout << what << ": " << found << "\n";
  if (found == expected) return;
  std::cerr << "expected " << expected << "\n";
  std::exit(EXIT_FAILURE);
}

}  // namespace example
