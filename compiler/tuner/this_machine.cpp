#include "compiler/tuner/this_machine.hpp"

#include <sys/utsname.h>

#include <fstream>
#include <string>

namespace poprt::tuner {
namespace {

/// "model name	: AMD EPYC 7B13" of the first processor, if there is such a line.
std::string ModelName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::string Architecture() {
  utsname names{};
  return uname(&names) == 0 ? names.machine : "unknown processor";
}

}  // namespace

Machine ThisMachine(const kernels::ThreadPool& pool) {
  std::string name = ModelName();
  if (name.empty()) name = Architecture();
  return {.processor = std::move(name), .threads = pool.size()};
}

}  // namespace poprt::tuner
