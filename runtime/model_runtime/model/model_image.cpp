#include "model_runtime/model/model_image.hpp"

#include <algorithm>
#include <string>

#include "model_runtime/Errors.hpp"
#include "runtime/program/anchor_type.hpp"
#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "runtime/program/package.hpp"

namespace model_runtime {

using poprt::device::Image;
using poprt::program::Branch;
using poprt::program::Program;
using poprt::program::Stream;

namespace {

void CheckStreams(const popef::Metadata& metadata, const Branch& branch,
                  const std::vector<Stream>& streams, popef::TensorType direction,
                  std::string& problems) {
  for (const Stream& stream : streams) {
    const poprt::TensorType& type = branch.slots[stream.slot].type;
    const auto agrees = [&](const popef::Anchor& anchor) {
      return anchor.type() == direction && anchor.name() == stream.name &&
             anchor.tensorInfo().shape() == type.shape &&
             anchor.tensorInfo().dataType() == poprt::program::AnchorDataType(type.element);
    };
    if (std::ranges::any_of(metadata.anchors(), agrees)) continue;
    problems += (problems.empty() ? "" : "\n");
    problems += "the metadata has no anchor '" + stream.name + "' of type " +
                poprt::ToString(type) + ", which the program needs: the container is damaged";
  }
}

bool HasStream(const Program& program, std::string_view name) {
  return std::ranges::any_of(program.branches, [&](const Branch& branch) {
    const auto named = [&](const Stream& stream) { return stream.name == name; };
    return std::ranges::any_of(branch.inputs, named) || std::ranges::any_of(branch.outputs, named);
  });
}

}  // namespace

void CheckPackage(const popef::Metadata& metadata) {
  const std::string wanted = poprt::program::PackageHash();
  for (const popef::Option& option : metadata.engineOptions()) {
    if (option.name() != poprt::program::kPackageHashOption) continue;
    if (option.value() == wanted) return;
    throw Error("the container was written by " + option.value() + ", this runtime is " + wanted +
                ": compile the model again or switch check_package_hash off");
  }
  throw Error("the container does not say which compiler wrote it (engine option " +
              std::string(poprt::program::kPackageHashOption) +
              "): compile the model again or switch check_package_hash off");
}

std::shared_ptr<const Image> MakeImage(const popef::Model& model) {
  const popef::PayloadView view = model.executable.view();
  try {
    return std::make_shared<Image>(
        Image{.owner = view.owner, .payload = poprt::program::ParsePayload(view.bytes())});
  } catch (const poprt::program::PayloadError& error) {
    throw Error("executable '" + model.executable.name + "': " + error.what());
  }
}

void CheckAnchors(const popef::Metadata& metadata, const Program& program) {
  std::string problems;
  for (const Branch& branch : program.branches) {
    CheckStreams(metadata, branch, branch.inputs, popef::TensorType::INPUT, problems);
    CheckStreams(metadata, branch, branch.outputs, popef::TensorType::OUTPUT, problems);
  }
  if (!problems.empty()) throw Error(problems);
}

std::string CanonicalName(const Program& program, std::string_view name) {
  if (!HasStream(program, name)) {
    for (std::size_t i = 0; i < program.branches.size(); ++i) {
      const std::string numbered = "graph" + std::to_string(i) + "/";
      if (!name.starts_with(numbered)) continue;
      return program.branches[i].name + "/" + std::string(name.substr(numbered.size()));
    }
  }
  return std::string(name);
}

bool HasIndex(const popef::Metadata& metadata, const Program& program) {
  if (program.branches.size() > 1) return true;
  const auto is_index = [](const auto& name) { return name == poprt::program::kIndexInput; };
  return std::ranges::any_of(metadata.anchors(),
                             [&](const popef::Anchor& anchor) {
                               return anchor.type() == popef::TensorType::INPUT &&
                                      is_index(anchor.name());
                             }) &&
         std::ranges::none_of(program.branches[0].inputs,
                              [&](const Stream& stream) { return is_index(stream.name); });
}

}  // namespace model_runtime
