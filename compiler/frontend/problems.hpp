#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace poprt::frontend {

/// Collects what is wrong with one model, so that all of it is reported at once.
class Problems {
 public:
  /// `model` starts every line of the report.
  explicit Problems(std::string model) : model_(std::move(model)) {}

  /// A problem for each line of the message. The code matters as far as it is Unimplemented or
  /// NotFound; anything else counts as InvalidArgument.
  void Add(const absl::Status& status, const std::string& where = "");
  void AddInvalid(const std::string& message) { Add(absl::InvalidArgumentError(message)); }

  /// While it lives, problems are said to be `where`, which ends in ": ".
  class Within {
   public:
    Within(Problems& problems, const std::string& where)
        : problems_(problems), outer_(std::exchange(problems.within_, problems.within_ + where)) {}
    ~Within() { problems_.within_ = outer_; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    Problems& problems_;
    std::string outer_;
  };

  /// For an attempt whose problems may not matter: no problems yet, the same place.
  Problems Attempt() const;
  /// Adds the problems of an attempt.
  void Append(const Problems& attempt);

  bool empty() const { return lines_.empty(); }
  const std::string& model() const { return model_; }

  /// Ok when there are no problems. NotFound or Unimplemented if all problems are that, otherwise
  /// InvalidArgument.
  absl::Status ToStatus() const;

 private:
  std::string model_;
  std::string within_;
  std::vector<std::string> lines_;
  std::vector<absl::StatusCode> codes_;
};

}  // namespace poprt::frontend
