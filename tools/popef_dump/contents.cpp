#include "tools/popef_dump/contents.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/program/executable_payload.hpp"
#include "tools/popef_dump/escape.hpp"

namespace poprt::dump {
namespace {

using std::string_view_literals::operator""sv;

/// With this every program written by poprt starts, whatever its version.
constexpr std::string_view kProgramMagic = "PRTPROG\0"sv;

struct alignas(program::kSlotAlignment) Line {
  std::array<std::byte, program::kSlotAlignment> bytes;
};

bool StartsLikeProgram(std::span<const std::byte> bytes) {
  return bytes.size() >= kProgramMagic.size() &&
         std::memcmp(bytes.data(), kProgramMagic.data(), kProgramMagic.size()) == 0;
}

void ReadProgram(std::span<const std::byte> bytes, Executable& executable) {
  program::Payload payload = program::ParsePayload(bytes);
  executable.program = std::move(payload.program);
  executable.weight_bytes = payload.weights.size();
}

/// Decompressed payloads may lie anywhere, programs are parsed from an aligned place.
void ReadCompressedProgram(std::span<const std::byte> bytes, Executable& executable) {
  std::vector<Line> aligned((bytes.size() + sizeof(Line) - 1) / sizeof(Line));
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  ReadProgram(std::as_bytes(std::span(aligned)).first(bytes.size()), executable);
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
    executable.by_poprt = StartsLikeProgram(view.bytes());
    if (!executable.by_poprt) return executable;
    if (executable.compressed) {
      ReadCompressedProgram(view.bytes(), executable);
    } else {
      ReadProgram(view.bytes(), executable);
    }
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
  if (reader.name != kFusionBlob) return opaque;
  try {
    opaque.graphs = ParseFusionDescription(reader.view().bytes());
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
