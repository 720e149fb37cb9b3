#pragma once

#include <string>
#include <unordered_set>

namespace poprt::emit {

/// The names of one ONNX model, over all its scopes: ONNX allows no name twice.
class OnnxNames {
 public:
  /// False if the name is taken.
  bool Take(const std::string& name) { return taken_.insert(name).second; }

  /// Takes `wanted` or the first free of wanted_1, wanted_2, ...
  std::string Unique(const std::string& wanted) {
    std::string name = wanted;
    for (int suffix = 1; !Take(name); ++suffix) name = wanted + "_" + std::to_string(suffix);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace poprt::emit
