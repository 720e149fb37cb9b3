#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace poprt::tuner {

/// Where something was measured.
struct Machine {
  std::string processor;  ///< "AMD EPYC 7B13"
  std::int64_t threads = 1;

  auto operator<=>(const Machine&) const = default;
};

/// What was measured: kernel calls as Describe() writes them, "3 x " before one that counts thrice.
using Kernels = std::vector<std::string>;

/// Candidates that were measured in turn, on which machine and with the kernels of which version.
struct TimingKey {
  Machine machine;
  std::string package;  ///< program::PackageHash()
  std::vector<Kernels> candidates;

  auto operator<=>(const TimingKey&) const = default;
};

/// The times of candidates, by all they depend on. One file may hold those of several machines.
class TimingCache {
 public:
  /// Reads what ToJson wrote. InvalidArgument says what is wrong and where, without the file's
  /// name.
  static absl::StatusOr<TimingCache> FromJson(std::string_view text);

  /// The same cache gives the same bytes.
  std::string ToJson() const;

  /// Microseconds, one for each candidate, or null.
  const std::vector<double>* Find(const TimingKey& key) const;

  /// Replaces what is known. `microseconds` are greater than 0, as many as candidates.
  void Set(TimingKey key, std::vector<double> microseconds);

  std::size_t size() const { return times_.size(); }

 private:
  std::map<TimingKey, std::vector<double>> times_;
};

/// The cache in a file; an empty one if there is none. InvalidArgument if it cannot be read or is
/// no cache, with the path.
absl::StatusOr<TimingCache> ReadTimingCache(const std::string& path);

}  // namespace poprt::tuner
