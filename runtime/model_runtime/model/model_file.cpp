#include "model_runtime/model/model_file.hpp"

#include <filesystem>

#include "popef/Reader.hpp"

namespace model_runtime {
namespace {

void Parse(const std::string& path, popef::Reader& reader) {
  try {
    reader.parseFile(path);
  } catch (const popef::Error& error) {
    std::error_code ignored;
    if (!path.ends_with(".onnx") || !std::filesystem::exists(path, ignored)) throw;
    throw popef::Error(std::string(error.what()) +
                       ". This is an ONNX model: compile it first with poprt");
  }
}

}  // namespace

std::shared_ptr<popef::Model> ReadModel(const std::vector<std::string>& popef_paths) {
  auto reader = std::make_shared<popef::Reader>();
  for (const std::string& path : popef_paths) Parse(path, *reader);
  return popef::ModelBuilder(reader).createModel();
}

}  // namespace model_runtime
