#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poprt/executable.hpp"
#include "poprt/runtime/base_runner.hpp"
#include "poprt/runtime/pack_runner_config.hpp"

namespace poprt::runtime {

/// Packs requests of different lengths, *entries*, into runs of a model that was compiled for a
/// fixed size: inputs begin with [rows, row length], where a row holds tokens. Made for many client
/// threads, each with one entry at a time.
///
/// An entry's tensors have its own number of tokens, at most the length of a row, whatever their
/// shape; all of them the same number. Entries are taken in the order in which they come. A pack is
/// sent when it has maxValidNum entries, when the next entry does not fit or not one token is free,
/// or when its first entry has waited for timeoutInMicroSeconds. What no entry fills is 0.
///
///   * By default entries follow each other and may cross rows (end to end).
///   * enableSingleRowMode keeps every entry in one row, placed by FirstFit or NextFit, and gives
///   the
///     tokens of the n-th entry of a row the number n in the packed mask, where the request's mask
///     is not 0: [1, 1, 1, 2, 0, 0].
///   * enablePaddingRemovePattern leaves out tokens whose mask is 0.
///   * delimiterNum tokens of 0 stand between entries of a row.
///
/// Inputs without tokens have a place for every entry in their first dimension; a request gives the
/// part of one. The input unpack_info tells the model where entries begin: its elements are the
/// distances from each entry, as they lie, to the next one, or to the end of the row (end to end:
/// the length of the last one). The runner fills it, whatever requests give for it.
///
/// The result of an output that has tokens is the entry's tokens (without padding), of one that has
/// a place for every entry the part of that one; with unpack_info the second has precedence. It
/// takes the first bytes of the memory of the request, which may be larger.
///
/// A wrong request fails alone and at once; a failed run fails all entries of its pack. Errors of
/// construction are std::runtime_error with all that does not fit, model_runtime::Error and
/// popef::Error.
class PackRunner : public BaseRunner {
 public:
  /// A container.
  explicit PackRunner(const std::string& popefPath,
                      const PackRunnerConfig& config = PackRunnerConfig());
  explicit PackRunner(const std::shared_ptr<Executable>& executable,
                      const PackRunnerConfig& config = PackRunnerConfig());
  /// Finishes the pack that runs; entries that wait get an error.
  ~PackRunner() override;

  void execute(const InputMemoryView& inputs, const OutputMemoryView& outputs) override;
  /// The futures of a request are ready when its pack has run; those of a wrong one at once. A
  /// request without outputs has no future and throws. Waits while four times as many requests are
  /// queued as a pack may have entries.
  OutputFutureMemoryView executeAsync(const InputMemoryView& inputs,
                                      const OutputMemoryView& outputs) override;

  /// The most tokens of an entry: those of a row.
  std::int64_t longestEntry() const;
  /// Shape and size of what an entry of that many tokens gives: all inputs but unpack_info.
  std::vector<InputDesc> entryInputs(std::int64_t tokens) const;
  /// Shape and size of the results of a request with these inputs. Throws as execute does.
  std::vector<OutputDesc> outputsFor(const InputMemoryView& inputs) const;
  /// The model's tensors, for whole packs.
  std::vector<InputDesc> getExecuteInputs() const override;
  std::vector<OutputDesc> getExecuteOutputs() const override;
  std::vector<InputDesc> getModelInputs() const;
  std::vector<OutputDesc> getModelOutputs() const;

 private:
  class Queue;
  std::unique_ptr<Queue> queue_;
};

}  // namespace poprt::runtime
