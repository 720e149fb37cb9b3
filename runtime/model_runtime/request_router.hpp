#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model_runtime/engine.hpp"
#include "runtime/program/program.hpp"

namespace model_runtime {

/// A request as the device takes it: a branch and pointers in the order of its streams.
struct Route {
  std::size_t branch = 0;
  std::uint64_t batches = 1;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;                      ///< null for outputs that are left out
  std::vector<std::vector<std::int64_t>*> shapes;  ///< where the outputs' shapes go, or null
  std::vector<bool> given;  ///< which streams the request names; kept to save allocations
};

/// Finds out what a request asks for. Immutable; thread-safe.
class RequestRouter {
 public:
  /// `fused`: the model has an `index` input.
  RequestRouter(const poprt::program::Program& program, bool fused, bool validate);

  /// Fills `route`, whose vectors keep their capacity. Throws Error naming every problem.
  void Resolve(std::span<const InputBuffer> inputs, std::span<const OutputBuffer> outputs,
               Route& route) const;

  /// The container's name for a tensor that requests may call `name`; `name` itself if unknown.
  std::string_view CanonicalName(std::string_view name) const;

  /// Resolve for the inputs alone: branch and number of batches.
  void ResolveInputs(std::span<const InputBuffer> inputs, Route& route) const;

 private:
  struct Tensor {
    std::size_t branch;
    std::size_t position;  ///< among the inputs or outputs of the branch
    std::uint64_t bytes;   ///< of one batch
    std::string type;      ///< for messages
    bool is_input;
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
  void SetBatches(std::string_view name, const Tensor& tensor, std::uint64_t bytes, Route& route,
                  Problems& problems) const;
  void MatchInputs(std::span<const InputBuffer> inputs, Route& route, Problems& problems) const;
  void MatchOutputs(std::span<const OutputBuffer> outputs, Route& route, Problems& problems) const;
  static void ReportMissing(const poprt::program::Branch& branch,
                            const std::vector<poprt::program::Stream>& streams, const char* kind,
                            const Route& route, Problems& problems);

  const poprt::program::Program& program_;
  bool fused_;
  bool validate_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace model_runtime
