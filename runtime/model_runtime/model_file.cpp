#include "model_runtime/model_file.hpp"

#include "popef/Reader.hpp"

namespace model_runtime {

std::shared_ptr<popef::Model> ReadModel(const std::vector<std::string>& popef_paths) {
  auto reader = std::make_shared<popef::Reader>();
  for (const std::string& path : popef_paths) reader->parseFile(path);
  return popef::ModelBuilder(reader).createModel();
}

}  // namespace model_runtime
