#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "model_runtime/DataDesc.hpp"
#include "model_runtime/model/shared_variables.hpp"
#include "model_runtime/serving/batch_composer.hpp"
#include "model_runtime/serving/batch_plan.hpp"
#include "model_runtime/serving/engine_config.hpp"
#include "model_runtime/serving/request_router.hpp"
#include "popef/Model.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

/// What the replicas of a model share: everything that does not change from run to run, and the
/// sources of its variables. Thread-safe.
class ServedModel {
 public:
  /// Reads, checks and describes a model. Throws Error when it or the configuration cannot be
  /// served, popef::Error when the container is damaged.
  ServedModel(const popef::Model& model, const EngineConfig& config);
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const std::shared_ptr<const poprt::device::Image>& image() const { return image_; }
  const poprt::program::Program& program() const { return image_->payload.program; }
  const RequestRouter& router() const { return *router_; }
  /// Null when requests have multiples of the batch.
  const BatchPlan* plan() const { return plan_ ? &*plan_ : nullptr; }
  const Fillers& fillers() const { return fillers_; }
  SharedVariables& variables() { return *variables_; }
  const SharedVariables& variables() const { return *variables_; }

  /// What requests give and get. model_ also has inputs that the container has the data of, and
  /// what the load and save programs transfer.
  const std::vector<DataDesc>& inputs() const { return inputs_; }
  const std::vector<DataDesc>& outputs() const { return outputs_; }
  const std::vector<DataDesc>& model_inputs() const { return model_inputs_; }
  const std::vector<DataDesc>& model_outputs() const { return model_outputs_; }

  /// The input or output that requests may call `name`, or null.
  const DataDesc* Describe(std::string_view name) const;

  /// The shape of output `position` of a request. `extent`: what it has along its open axis.
  std::vector<std::int64_t> ResultShape(const Route& route, std::size_t position,
                                        std::int64_t extent) const;

  /// Of all outputs of the graph, for a request with these inputs. Throws Error.
  std::vector<DataDesc> OutputsFor(std::span<const InputBuffer> inputs) const;

 private:
  /// Freezes inputs that the container has the data of, unless they are frozen already.
  void UseTensorData(const popef::Model& model, InputMemoryView& frozen);
  void Freeze(const InputMemoryView& frozen, std::uint32_t batching_dim);
  void MakeFillers(const InputMemoryView& inputs, const OutputMemoryView& outputs);

  std::shared_ptr<const poprt::device::Image> image_;
  std::vector<popef::PayloadView> tensor_data_;  ///< of inputs; keeps their files
  std::vector<DataDesc> request_inputs_;         ///< all that the main program transfers
  std::vector<DataDesc> inputs_;                 ///< those whose data the container has not
  std::vector<DataDesc> outputs_;
  std::vector<DataDesc> model_inputs_;
  std::vector<DataDesc> model_outputs_;
  std::optional<SharedVariables> variables_;
  std::optional<RequestRouter> router_;
  std::optional<BatchPlan> plan_;
  Fillers fillers_;
};

}  // namespace model_runtime
