#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace poprt::compiler {

/// Value of numIoTiles that lets the compiler choose: Python and the command line say "auto".
inline constexpr std::int64_t kAutoIoTiles = -1;
/// Most IPUs a model may be compiled for: those of a POD64.
inline constexpr std::int64_t kMostIpus = 64;

/// Options of the compiler proper, named as in PopRT. Python spells the members in snake_case; so
/// do `--compiler_options` and YAML.
///
/// What neither the model device nor the plan for the IPU needs is kept in the container's engine
/// options and named once in the log at INFO.
struct CompilerOptions {
  std::int64_t numIpus = 1;  ///< 1 to kMostIpus
  /// 2 or more: the operators are split into that many stages, each on an IPU; 0: nodes say where
  /// they run.
  std::int64_t autoSharding = 0;
  std::string ipuVersion;    ///< "ipu1", "ipu2", "ipu21"; empty: ipu2
  std::string targetConfig;  ///< file with the constants of the target, instead of ipuVersion
  std::string platform;      ///< "m2000", "bow2000", "c600", ...; empty: the target's default
  /// Programs that do not fit the tiles are written nevertheless: the model device runs them.
  bool allowOutOfMemory = false;
  std::int64_t batchesPerStep = 1;
  std::string partialsType = "half";  ///< or "float"
  double availableMemoryProportion = 0.6;
  std::int64_t numIoTiles = 0;  ///< or kAutoIoTiles
  bool enableModelFusion = false;
  bool enablePrefetchDatastreams = true;
  std::int64_t streamBufferingDepth = 1;
  bool serializeIr = false;
  std::string serializedIrDest;
  bool enableGatherSimplifier = true;
  std::map<std::string, std::string> engineOptions;
  bool showCompilationProgressBar = true;
  /// Hears of progress: (done, maximum).
  std::function<void(int, int)> compilationProgressLogger;
  std::vector<std::string> customPatterns;
  std::map<std::string, bool> customTransformApplierSettings;
  std::map<std::string, std::string> opaqueBlobs;  ///< appended to the container: name to content
  bool use128bitConvUnitLoad = false;
  bool enableMultiStageReduce = true;
  bool enableFastReduce = false;
  bool enableOutlining = true;
  double outlineThreshold = 1.0;
  bool groupHostSync = false;
  bool rearrangeStreamsOnHost = false;
  bool rearrangeAnchorsOnHost = true;
  bool enableNonStableSoftmax = false;
  /// Nodes that say an IPU and no stage of the pipeline run in the stage of that number.
  bool enablePipelining = false;
  bool enableEngineCaching = false;
  std::string cachePath;
  /// False: weights are variables that the load program fills from tensor data and that users may
  /// change between runs; kernels then cannot use them packed.
  bool constantWeights = true;
  std::int64_t subgraphCopyingStrategy = 0;
  /// "auto": as autoSharding with numIpus; "off" and "manual": nodes say where they run.
  std::string virtualGraphMode = "off";
  std::vector<double> virtualGraphSplitRatios;
  double timeLimitScheduler = 1e9;
  std::int64_t swapLimitScheduler = 1000000000;
  std::int64_t transitiveClosureOptimizationThreshold = 100000;
};

}  // namespace poprt::compiler
