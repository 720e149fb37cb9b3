#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/compile.hpp"
#include "compiler/driver/convert.hpp"
#include "compiler/tuner/kernel_tuner.hpp"

namespace poprt::cli {

/// A file that was written.
struct WrittenFile {
  std::string kind;  ///< "onnx", "popef", "report" or "perf_tuner_cache"
  std::string path;
  std::uint64_t bytes = 0;
};

/// How fast one graph ran.
struct RunReport {
  std::string graph;            ///< its name, the same as in the model's report
  std::int64_t batch_size = 1;  ///< first extent of the first input
  int iterations = 0;
  double latency_ms = 0;  ///< median over single requests
  double throughput = 0;  ///< items of a batch per second at that latency
};

/// What a successful run of the tool did; the summaries are made from it.
struct Outcome {
  std::vector<driver::ModelReport> models;
  bool fused = false;
  int convert_version = 0;
  std::uint64_t constant_bytes_before = 0;  ///< of fusion
  std::uint64_t constant_bytes_after = 0;
  std::optional<driver::CompileReport> compiled;
  std::optional<ipu::Plan> ipu;               ///< what is compiled, or would be, does on the IPU
  bool report = false;                        ///< the whole of it is wanted
  std::optional<tuner::TuningReport> tuning;  ///< of --perf_tuner
  std::vector<RunReport> runs;
  std::vector<WrittenFile> files;
  std::vector<std::string> warnings;
  double fuse_seconds = 0;
  double onnx_seconds = 0;   ///< making the converted model, and writing it while it compiles
  double total_seconds = 0;  ///< with all that is not in a phase
};

}  // namespace poprt::cli
