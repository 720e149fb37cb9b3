#pragma once

#include <stdexcept>
#include <string>

namespace poprt::runtime {

/// Everything that is wrong, in the order of discovery, a line each.
class ProblemList {
 public:
  void Add(const std::string& problem) { text_ += (text_.empty() ? "" : "\n") + problem; }
  bool empty() const { return text_.empty(); }
  /// std::runtime_error, unless nothing is wrong.
  void Throw() const {
    if (!empty()) throw std::runtime_error(text_);
  }

 private:
  std::string text_;
};

}  // namespace poprt::runtime
