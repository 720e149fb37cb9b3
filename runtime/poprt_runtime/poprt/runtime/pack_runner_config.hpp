#pragma once

#include <string>
#include <utility>
#include <vector>

#include "poprt/runtime/device_wait_config.hpp"
#include "poprt/runtime/runner_type.hpp"

namespace poprt::runtime {

/// Which row of a pack gets the next entry, when entries must not cross rows.
enum class PackAlgorithm {
  FirstFit = 0,  ///< the first row with room; entries of a pack may change their order
  NextFit        ///< the row of the previous entry, else the one after it
};

/// Configuration of a PackRunner, see there for the terms. Fields and defaults are those of PopRT.
/// Values that cannot work make the runner's constructor throw, with all that is wrong with them.
struct PackRunnerConfig {
  explicit PackRunnerConfig(int timeoutMicroSeconds = 0, int mostEntries = 0,
                            std::string dynamicInput = "", std::string unpackInfoInput = "")
      : timeoutInMicroSeconds(timeoutMicroSeconds),
        maxValidNum(mostEntries),
        dynamicInputName(std::move(dynamicInput)),
        unpackInfoInputName(std::move(unpackInfoInput)) {}

  /// Strips from every request the tokens whose mask is 0, in `mask` and the inputs of `group`.
  /// With an empty group, in all inputs that have tokens.
  void enablePaddingRemovePattern(const std::string& mask,
                                  const std::vector<std::string>& group = {}) {
    enablePaddingRemove = true;
    maskName = mask;
    dynamicGroup = group;
  }

  /// Keeps every entry in one row and numbers the entries of each row in the packed mask.
  void enableSingleRowMode(const std::string& mask, const std::string& unpackInfoName = "",
                           int delimiters = 0) {
    disableDataAcrossRows = true;
    maskName = mask;
    if (!unpackInfoName.empty()) unpackInfoInputName = unpackInfoName;
    delimiterNum = delimiters;
  }

  RunnerType runnerType = RunnerType::PackRunner;
  DeviceWaitConfig deviceWaitConfig;
  /// How long the first entry of a pack waits for others. Must be set: more than 0.
  int timeoutInMicroSeconds = 0;
  /// The most entries of a pack. 0: as many as unpack_info has places for, or as fit.
  int maxValidNum = 0;
  /// The input that says how long a request is and what rows the model has. Empty: the mask, else
  /// the first input with at least two dimensions.
  std::string dynamicInputName;
  /// The input that tells the model where entries begin. Empty: "unpack_info", if there is one.
  std::string unpackInfoInputName;
  /// How many rows the model was compiled for, if its inputs do not have them as their first
  /// dimension. -1: they do; an input of one dimension is one row.
  int compileBatchSize = -1;
  /// 1 for each token of a request, 0 for padding. Needed by the two modes above.
  std::string maskName;
  /// The inputs that padding is stripped from. Inputs without tokens must not be among them.
  std::vector<std::string> dynamicGroup;
  /// Only with disableDataAcrossRows.
  PackAlgorithm algo = PackAlgorithm::NextFit;
  /// Entries stay in a row, placed by `algo`. Not set: they follow each other through all rows.
  bool disableDataAcrossRows = false;
  bool enablePaddingRemove = false;
  /// Zeros between entries of a row.
  int delimiterNum = 0;
  /// Accepted for programs that set it: inputs are read where they lie, nothing is prefetched.
  bool enablePrefetchDatastreams = true;
};

}  // namespace poprt::runtime
