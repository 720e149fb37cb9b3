#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace poprt::cli {

/// Exit codes of the tool.
inline constexpr int kDone = 0;
inline constexpr int kWrongInput = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kInternalError = 3;

/// Everything wrong with what was asked for, collected so that all of it is told at once.
class Problems {
 public:
  /// The options, from the command line or a configuration file, ask for what cannot be.
  void AddUsage(std::string message) { Add(std::move(message), kWrongUsage); }
  /// A file is missing, unreadable or wrong in itself.
  void AddInput(std::string message) { Add(std::move(message), kWrongInput); }

  /// A model file is missing. The other models can be looked at nevertheless.
  void AddMissingModel(std::string message) {
    AddInput(std::move(message));
    ++missing_models_;
  }

  /// True if there is at least one problem, and all are missing models.
  bool only_missing_models() const { return !empty() && missing_models_ == messages_.size(); }
  bool any_missing_models() const { return missing_models_ > 0; }

  bool empty() const { return messages_.empty(); }
  const std::vector<std::string>& messages() const { return messages_; }
  /// kDone if there are none, kWrongUsage if any is a matter of usage, kWrongInput otherwise.
  int exit_code() const { return exit_code_; }

 private:
  void Add(std::string message, int code) {
    messages_.push_back(std::move(message));
    if (code > exit_code_) exit_code_ = code;
  }

  std::vector<std::string> messages_;
  std::size_t missing_models_ = 0;
  int exit_code_ = kDone;
};

}  // namespace poprt::cli
