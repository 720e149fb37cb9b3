#include "tools/popef_bench/bench_requests.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/tensor/shape.hpp"
#include "tools/popef_bench/file_error.hpp"

namespace poprt::bench {
namespace {

using runtime::DataDesc;

/// The FILE of the last NAME=FILE with this name.
std::optional<std::string> FileOf(const std::string& name, const std::vector<std::string>& given) {
  std::optional<std::string> file;
  for (const std::string& entry : given) {
    if (entry.starts_with(name + "=")) file = entry.substr(name.size() + 1);
  }
  return file;
}

void ReadFile(const std::string& path, const DataDesc& desc, std::span<std::byte> memory) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a folder can be opened, but not read
  if (!file.is_open() || file.bad()) throw FileError("--input " + desc.name, "read", path);
  file.clear();
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::size_t>(file.tellg());
  if (size != memory.size()) {
    throw std::runtime_error("--input " + desc.name + ": '" + path + "' has " +
                             std::to_string(size) + " bytes, the input has " +
                             std::to_string(memory.size()) + " in one batch");
  }
  file.seekg(0);
  file.read(reinterpret_cast<char*>(memory.data()), static_cast<std::streamsize>(size));
  if (!file) throw FileError("--input " + desc.name, "read", path);
}

/// One line for each entry that belongs to none of the tensors.
std::string Unknown(const std::string& option, std::span<const DataDesc> tensors,
                    const std::vector<std::string>& given) {
  std::string names;
  for (const DataDesc& tensor : tensors) names += (names.empty() ? "" : ", ") + tensor.name;
  std::string problems;
  for (const std::string& entry : given) {
    const auto names_tensor = [&](const DataDesc& tensor) {
      return entry.starts_with(tensor.name + "=");
    };
    if (std::ranges::any_of(tensors, names_tensor)) continue;
    problems += "\n" + option + " is '" + entry + "', allowed is NAME=FILE with a NAME of " + names;
  }
  return problems;
}

}  // namespace

void CheckFileOptions(std::span<const DataDesc> inputs, std::span<const DataDesc> outputs,
                      const BenchOptions& options) {
  const std::string problems =
      Unknown("--input", inputs, options.inputs) + Unknown("--output", outputs, options.outputs);
  if (!problems.empty()) throw std::runtime_error(problems.substr(1));
}

void WriteOutputs(const requests::Request& request, std::span<const DataDesc> outputs,
                  const runtime::OutputShapes& shapes, const BenchOptions& options) {
  for (const DataDesc& output : outputs) {
    const auto path = FileOf(output.name, options.outputs);
    if (!path) continue;
    std::int64_t bytes = output.sizeInBytes;
    const auto shape = shapes.find(output.name);
    if (bytes > 0 && shape != shapes.end()) {
      bytes = bytes / ElementCount(output.shape) * ElementCount(shape->second);
    }
    errno = 0;
    std::ofstream file(*path, std::ios::binary);
    file.write(static_cast<const char*>(request.outputs.at(output.name).data), bytes);
    file.flush();
    if (!file) throw FileError("--output " + output.name, "write", *path);
  }
}

requests::Request MakeRequest(std::span<const DataDesc> inputs, std::span<const DataDesc> outputs,
                              const BenchOptions& options) {
  requests::Request request;
  std::uint32_t seed = options.seed;
  for (const DataDesc& input : inputs) {
    const std::span<std::byte> memory = request.AddInput(input);
    if (const auto file = FileOf(input.name, options.inputs)) {
      ReadFile(*file, input, memory);
    } else {
      requests::FillRandom(input.dataType, seed, memory);
    }
    ++seed;  // an input's data does not depend on which others are given
  }
  for (const DataDesc& output : outputs) request.AddOutput(output);
  return request;
}

}  // namespace poprt::bench
