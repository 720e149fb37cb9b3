#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "popef/Model.hpp"

/// Models for the tests of sessions.
namespace model_runtime::testing {

using Vector = std::array<float, 4>;

/// y = a + b, float32[4], float32[2, 2] if `rows`.
std::shared_ptr<popef::Model> SumModel(std::uint32_t batches_per_step = 1, bool rows = false);

/// Graph 0 "sum": y = a + b, graph 1 "double": y = x + x, all float32[4]. Names start with the
/// graph's.
std::shared_ptr<popef::Model> FusedModel();

/// y = x + w, float32[4]; w is a variable, with tensor data {1, 2, 3, 4} if `with_data`.
std::shared_ptr<popef::Model> VariableModel(bool with_data = true);

/// y = a + b, float32[4]; the container has tensor data {1, 2, 3, 4} for a, and as feed data for b
/// the tensors {10, 10, 10, 10} and {20, 20, 20, 20}.
std::shared_ptr<popef::Model> DataModel();

/// y = a + b for so many IPUs of that version.
std::shared_ptr<popef::Model> ModelFor(std::uint32_t num_ipus, std::uint32_t ipu_version);

/// y int64[1, up to 4] = the places of what is not zero in x float32[4]. Axis 1 of y is open.
std::shared_ptr<popef::Model> PlacesModel();

/// The message of the exception that `action` throws; empty if it throws none.
template <typename Action>
std::string ErrorOf(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace model_runtime::testing
