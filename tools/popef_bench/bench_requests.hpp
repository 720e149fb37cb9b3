#pragma once

#include <span>
#include <vector>

#include "tools/popef_bench/bench_options.hpp"
#include "tools/requests/request_data.hpp"

namespace poprt::bench {

/// Throws std::runtime_error that lists every --input and --output that names none of the tensors.
void CheckFileOptions(std::span<const runtime::DataDesc> inputs,
                      std::span<const runtime::DataDesc> outputs, const BenchOptions& options);

/// A request with the data of --input where given, otherwise random data of --seed. Throws
/// std::runtime_error naming the input whose file cannot be read or has another size.
requests::Request MakeRequest(std::span<const runtime::DataDesc> inputs,
                              std::span<const runtime::DataDesc> outputs,
                              const BenchOptions& options);

/// Writes the outputs that --output names from the first bytes of their memory: as many as their
/// shapes in `shapes` have elements. Throws std::runtime_error naming the file that cannot be
/// written.
void WriteOutputs(const requests::Request& request, std::span<const runtime::DataDesc> outputs,
                  const runtime::OutputShapes& shapes, const BenchOptions& options);

}  // namespace poprt::bench
