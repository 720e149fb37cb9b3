#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poprt/runtime/base_runner.hpp"
#include "tools/poprt_run_popef/run_options.hpp"
#include "tools/requests/request_data.hpp"

namespace poprt::run_popef {

/// A runner and requests for it.
struct Workload {
  std::unique_ptr<runtime::BaseRunner> runner;
  std::string graph;                        ///< of a fused model, otherwise empty
  std::int64_t samples = 1;                 ///< of a request
  std::vector<requests::Request> requests;  ///< one for each thread, for a pack runner several
};

/// Loads the container and makes its requests. Throws std::runtime_error that says which option or
/// tensor does not fit.
Workload MakeWorkload(const RunOptions& options);

}  // namespace poprt::run_popef
