#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "popef/Model.hpp"
#include "runtime/device/device.hpp"

namespace model_runtime {

/// Throws Error if another version of the compiler has written the container.
void CheckPackage(const popef::Metadata& metadata);

/// The executable of the model; keeps the file alive. Throws Error if it is damaged, or
/// popef::Error.
std::shared_ptr<const poprt::device::Image> MakeImage(const popef::Model& model);

/// Throws Error that lists the inputs and outputs of the program without an anchor of their type.
void CheckAnchors(const popef::Metadata& metadata, const poprt::program::Program& program);

/// The container's name for a tensor that is called by the number of its graph: "resnet/x" for
/// "graph0/x" if graph 0 is "resnet". Names the program has, and unknown ones, stay as they are.
std::string CanonicalName(const poprt::program::Program& program, std::string_view name);

/// Whether `index` selects a branch.
bool HasIndex(const popef::Metadata& metadata, const poprt::program::Program& program);

}  // namespace model_runtime
