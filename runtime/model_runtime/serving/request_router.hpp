#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model_runtime/serving/batch_plan.hpp"
#include "model_runtime/serving/request.hpp"
#include "runtime/program/program.hpp"

namespace model_runtime {

/// A request as the device takes it: a branch and pointers in the order of its streams.
struct Route {
  std::size_t branch = 0;
  std::uint64_t batches = 1;  ///< the last of which may lack rows
  std::uint64_t rows = 1;     ///< along the batching dimension; without one, as many as batches
  std::vector<const void*> inputs;
  std::vector<bool> repeats;                       ///< inputs that are the same for every batch
  std::vector<void*> outputs;                      ///< null for outputs that are left out
  std::vector<std::vector<std::int64_t>*> shapes;  ///< where the outputs' shapes go, or null
  std::vector<bool> given;  ///< which streams the request names; kept to save allocations
};

/// Finds out what a request asks for. Thread-safe once it is set up.
class RequestRouter {
 public:
  /// `fused`: the model has an `index` input.
  RequestRouter(const poprt::program::Program& program, bool fused, bool validate);

  /// Requests give any number of rows instead of multiples of a batch. `plan` must outlive the
  /// router.
  void UseRows(const BatchPlan& plan);

  /// Adds an input to every request that does not give it: the data of one batch, used for each, or
  /// without rows also of several, which the request then has. Also `index`. The memory must
  /// outlive the router. Throws Error.
  void Freeze(const InputBuffer& memory);

  /// Fills `route`, whose vectors keep their capacity: allocates nothing when they have it. Throws
  /// Error naming every problem.
  void Resolve(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
               Route& route) const;

  /// A tensor of the program.
  struct Place {
    std::size_t branch = 0;
    bool is_input = false;
    std::size_t position = 0;  ///< among the inputs or outputs of the branch
  };
  /// Where a tensor is that requests may call `name`.
  std::optional<Place> Locate(std::string_view name) const;

  /// The container's name for a tensor that requests may call `name`; `name` itself if unknown.
  std::string_view CanonicalName(std::string_view name) const;

  /// Resolve for the inputs alone: branch and number of batches.
  void ResolveInputs(std::span<const InputBuffer> inputs, Route& route) const;

 private:
  struct Tensor {
    std::size_t branch;
    std::size_t position;      ///< among the inputs or outputs of the branch
    std::uint64_t bytes;       ///< of one batch
    std::uint64_t unit_bytes;  ///< what memory has a multiple of: a batch, or a row
    bool repeats;              ///< has no rows: one batch serves all
    std::string type;          ///< for messages
    bool is_input;
  };
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };
  class Problems;

  void AddNames(std::size_t index);
  /// "graph0/x" for "resnet/x", unless something has that name.
  void AddNumberedNames(std::size_t index);
  const Tensor* Find(std::string_view name) const;
  std::size_t SelectBranch(std::span<const InputBuffer> inputs,
                           std::span<const OutputBuffer> outputs, Problems& problems) const;
  std::size_t BranchOfIndex(const InputBuffer& index, Problems& problems) const;
  std::size_t BranchOfTensors(std::span<const InputBuffer> inputs,
                              std::span<const OutputBuffer> outputs, Problems& problems) const;
  std::string MixedGraphs(std::span<const InputBuffer> inputs,
                          std::span<const OutputBuffer> outputs) const;
  /// What is wrong with a name no graph knows. `branch`: whose names to list.
  std::string Unknown(std::string_view name, bool is_input, std::size_t branch) const;
  /// The names of a fused model's tensors that are called `name` in their own graph.
  std::string NamesWithPrefix(std::string_view name, bool is_input) const;
  const Tensor* Check(std::string_view name, bool is_input, std::size_t branch,
                      Problems& problems) const;
  void Match(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
             Route& route, Problems& problems) const;
  void SetRows(std::string_view name, const Tensor& tensor, std::uint64_t bytes, Route& route,
               Problems& problems) const;
  void TakeInput(const InputBuffer& input, const Tensor& tensor, Route& route,
                 Problems& problems) const;
  void TakeFrozen(Route& route, Problems& problems) const;
  void MatchInputs(std::span<const InputBuffer> inputs, Route& route, Problems& problems) const;
  void MatchOutputs(std::span<const OutputBuffer> outputs, Route& route, Problems& problems) const;
  static void ReportMissing(const poprt::program::Branch& branch,
                            const std::vector<poprt::program::Stream>& streams, const char* kind,
                            const Route& route, Problems& problems);

  const poprt::program::Program& program_;
  bool fused_;
  bool validate_;
  const BatchPlan* plan_ = nullptr;
  std::unordered_map<std::string, Tensor, NameHash, std::equal_to<>> tensors_;
  std::vector<std::vector<InputBuffer>> frozen_;  ///< by branch and position; null: not frozen
  InputBuffer frozen_index_;
};

}  // namespace model_runtime
