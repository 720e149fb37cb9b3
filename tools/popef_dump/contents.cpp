#include "tools/popef_dump/contents.hpp"

#include <algorithm>
#include <span>

#include "runtime/program/container_names.hpp"
#include "runtime/program/executable_payload.hpp"
#include "tools/display/escape.hpp"

namespace poprt::dump {
namespace {

using display::Quote;

void ReadProgram(std::span<const std::byte> bytes, Executable& executable) {
  program::Payload payload = program::ParsePayload(bytes);
  executable.program = std::move(payload.program);
  executable.weight_bytes = payload.weights.size();
}

Executable LoadExecutable(const popef::ExecutableReader& reader,
                          std::vector<std::string>& problems) {
  Executable executable{.name = reader.name,
                        .bytes = reader.getAvailableReadSize(),
                        .compressed = reader.compressed(),
                        .by_poprt = false,
                        .program = std::nullopt,
                        .weight_bytes = 0};
  try {
    const popef::PayloadView view = reader.view();
    executable.by_poprt = program::IsPayload(view.bytes());
    if (!executable.by_poprt) return executable;
    ReadProgram(view.bytes(), executable);
  } catch (const std::exception& error) {
    problems.push_back("executable " + Quote(reader.name) + ": " + error.what());
  }
  return executable;
}

Opaque LoadOpaque(const popef::OpaqueReader& reader, std::vector<std::string>& problems) {
  Opaque opaque{.name = reader.name,
                .executable = reader.executable,
                .bytes = reader.getAvailableReadSize(),
                .graphs = std::nullopt};
  try {
    if (reader.name == program::kFusionBlob) {
      opaque.graphs = ParseFusionDescription(reader.view().bytes());
    }
    if (reader.name == program::kIpuPlanBlob) opaque.plan = ParseIpuPlan(reader.view().bytes());
  } catch (const std::exception& error) {
    problems.push_back("opaque blob " + Quote(reader.name) + ": " + error.what());
  }
  return opaque;
}

/// One problem for each line that starts with the file's name: names of blobs may hold line feeds.
void VerifyPayloads(const Contents& contents, std::vector<std::string>& problems) {
  try {
    contents.reader.verifyPayloads();
  } catch (const popef::Error& error) {
    const std::string start = contents.path + ": ";
    std::string_view rest = error.what();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find("\n" + start), rest.size());
      std::string_view line = rest.substr(0, end);
      if (line.starts_with(start)) line.remove_prefix(start.size());
      problems.emplace_back(line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

}  // namespace

Contents LoadContents(const std::string& path, const LoadOptions& options) {
  Contents contents;
  contents.path = path;
  contents.reader.parseFile(path);
  if (options.verify) VerifyPayloads(contents, contents.problems);
  if (!options.payloads) return contents;
  for (const popef::ExecutableReader& reader : contents.reader.executables()) {
    contents.executables.push_back(LoadExecutable(reader, contents.problems));
  }
  for (const popef::OpaqueReader& reader : contents.reader.opaqueBlobs()) {
    contents.opaques.push_back(LoadOpaque(reader, contents.problems));
  }
  return contents;
}

}  // namespace poprt::dump
