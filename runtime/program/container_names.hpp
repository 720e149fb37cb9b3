#pragma once

/// Names that compiler, runtime and tools share; docs/popef.md lists them.
namespace poprt::program {

/// The input that selects the graph of a fused container: uint32[1].
inline constexpr const char* kIndexInput = "index";
/// The opaque blob that describes the graphs of a fused container: JSON.
inline constexpr const char* kFusionBlob = "poprt.fusion";
/// The opaque blob that says what the program does on the IPU: JSON, see docs/ipu_report.md.
inline constexpr const char* kIpuPlanBlob = "poprt.ipu_plan";
/// The engine option that holds PackageHash().
inline constexpr const char* kPackageHashOption = "poprt.packageHash";

}  // namespace poprt::program
