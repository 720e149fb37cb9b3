#pragma once

#include <cstdint>
#include <string>

namespace poprt::ipu {

/// Options that change what the program does on the IPU, with the defaults of CompilerOptions.
struct PlanOptions {
  bool half_partials = true;  ///< partials_type
  double available_memory_proportion = 0.6;
  bool use_128bit_conv_unit_load = false;
  bool enable_fast_reduce = false;
  bool enable_multi_stage_reduce = true;
  bool enable_non_stable_softmax = false;
  bool enable_outlining = true;
  double outline_threshold = 1.0;
  std::int64_t batches_per_step = 1;
  std::uint32_t num_ipus = 1;
};

}  // namespace poprt::ipu
