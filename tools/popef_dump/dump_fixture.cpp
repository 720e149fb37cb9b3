#include "tools/popef_dump/dump_fixture.hpp"

#include <cstdint>
#include <fstream>
#include <sstream>

#include "popef/Writer.hpp"
#include "runtime/program/executable_payload.hpp"
#include "tools/popef_dump/command.hpp"

namespace poprt::dump::testing {
namespace {

using program::Branch;
using program::kNoSlot;
using program::Program;
using program::Space;

constexpr std::uint64_t kWeightBytes = 192;

/// graph0: O = gemm(X, weights 0..127); graph1: P, Q = TopK(Add(A, weights 64..191)).
Program FusedProgram() {
  const TensorType two{ElementType::kFloat32, {1, 2}};
  const TensorType weights{ElementType::kFloat32, {16, 2}};
  const TensorType bias{ElementType::kFloat16, {64}};
  const Branch gemm{
      .name = "graph0",
      .slots = {{two, Space::kArena, 0}, {weights, Space::kWeights, 0}, {two, Space::kArena, 64}},
      .inputs = {{"graph0/X", 0}},
      .outputs = {{"graph0/O", 2}},
      .steps = {{"fc",
                 "gemm",
                 {0, 1, kNoSlot},
                 {2},
                 Attributes{{"activation", std::string("a\"b")},
                            {"alpha", 1.0F},
                            {"pads", Ints{0, -1}},
                            {"scales", Floats{0.5F, 2.0F}}}}},
      .arena_bytes = 128};
  const Branch topk{.name = "graph1",
                    .slots = {{bias, Space::kArena, 0},
                              {bias, Space::kWeights, 64},
                              {bias, Space::kArena, 128},
                              {{ElementType::kInt64, {}}, Space::kArena, 256},
                              {bias, Space::kArena, 320}},
                    .inputs = {{"graph1/A", 0}},
                    .outputs = {{"graph1/P", 2}, {"graph1/Q", 1}},
                    .steps = {{"add", "Add", {0, 1}, {4}, {}},
                              {"", "TopK", {4}, {2, 3}, Attributes{{"axis", std::int64_t{-1}}}}},
                    .arena_bytes = 448};
  return {.branches = {gemm, topk},
          .batches_per_step = 4,
          .ipu_version = "ipu21",
          .tiles = 1472,
          .io_tiles = 32};
}

popef::Anchor MakeAnchor(const std::string& name, popef::TensorType type, popef::DataType element,
                         const std::vector<std::int64_t>& shape) {
  popef::Anchor anchor;
  anchor.setName(name);
  anchor.setHandle("h_" + name);
  anchor.setTensorInfo({element, shape});
  anchor.setPrograms({1});
  anchor.setType(type);
  return anchor;
}

popef::Metadata MakeMetadata() {
  popef::Metadata metadata;
  metadata.setExecutable("exe");
  metadata.setIpuVersion(21);
  metadata.setIsInference(true);
  metadata.setDeviceIterations(4);
  metadata.setProgramFlow([] {
    popef::ProgramFlow flow;
    flow.setLoad({0});
    flow.setMain({1});
    flow.setSave({2});
    return flow;
  }());
  metadata.setProgramsMap({{2, "save"}, {0, "load"}, {1, "main"}});
  metadata.setEngineOptions({{"poprt.packageHash", "p"}});
  const auto input = popef::TensorType::INPUT;
  const auto output = popef::TensorType::OUTPUT;
  metadata.setAnchors({MakeAnchor("index", input, popef::DataType::U32, {1}),
                       MakeAnchor("graph0/X", input, popef::DataType::F32, {1, 2}),
                       MakeAnchor("graph0/O", output, popef::DataType::F32, {1, 2}),
                       MakeAnchor("graph1/A", input, popef::DataType::F16, {64}),
                       MakeAnchor("graph1/P", output, popef::DataType::F16, {64}),
                       MakeAnchor("graph1/Q", output, popef::DataType::F16, {64})});
  return metadata;
}

constexpr char kFusion[] = R"({"version": 1, "graphs": [
  {"index": 0, "name": "graph0", "inputs": ["graph0/X"], "outputs": ["graph0/O"]},
  {"index": 1, "name": "graph1", "inputs": ["graph1/A"], "outputs": ["graph1/P", "graph1/Q"]}]})";

}  // namespace

Blobs::Blobs()
    : metadata(MakeMetadata()),
      executable(program::SerializeHead(FusedProgram(), kWeightBytes) +
                 std::string(kWeightBytes, 'w')),
      fusion(kFusion) {}

std::string MetadataText(const std::string& path) {
  return "PopEF file: " + path + R"(

Metadata:
    Executable:        exe
    IPU version:       ipu21
    IPUs:              1
    Replicas:          1
    Processes:         1
    POD:               no
    Inference:         yes
    Batches per step:  4
    Seed handle:       none
    Program flow:      load [0], main [1], save [2]
    Program names:     0 load, 1 main, 2 save
    Engine options:
        poprt.packageHash = p
    Device options: none

Anchors:
    Inputs:
        Name      Type  Shape   Bytes  Programs  Handle
        index     U32   [1]         4  [1]       h_index
        graph0/X  F32   [1, 2]      8  [1]       h_graph0/X
        graph1/A  F16   [64]      128  [1]       h_graph1/A
    Outputs:
        Name      Type  Shape   Bytes  Programs  Handle
        graph0/O  F32   [1, 2]      8  [1]       h_graph0/O
        graph1/P  F16   [64]      128  [1]       h_graph1/P
        graph1/Q  F16   [64]      128  [1]       h_graph1/Q
)";
}

const char* const kPayloads = R"(
Opaques:
    poprt.fusion: 205 bytes, of executable exe
        Index 0: graph0
            input   graph0/X
            output  graph0/O
        Index 1: graph1
            input   graph1/A
            output  graph1/P
            output  graph1/Q
    note: 5 bytes, of executable exe

Executables:
    exe: 4288 bytes
        Target:            ipu21
        Tiles:             1472 (32 for I/O, 1440 for compute)
        Batches per step:  4
        Weights:           192 bytes
        Arena:             448 bytes
        Branches:
            Index  Name    Inputs  Outputs  Steps  Weight bytes  Arena bytes
                0  graph0       1        1      1           128          128
                1  graph1       1        2      2           128          448
)";

const char* const kSteps = R"(        Branch 0: graph0
            %0 = input "graph0/X" : float32[1, 2] @arena 0x0
            %2 = gemm(%0, w@0x0 float32[16, 2], _) {activation="a\"b", alpha=1.0, pads=[0, -1], scales=[0.5, 2.0]} : float32[1, 2] @arena 0x40  # fc
            output "graph0/O" = %2
        Branch 1: graph1
            %0 = input "graph1/A" : float16[64] @arena 0x0
            %4 = Add(%0, w@0x40 float16[64]) : float16[64] @arena 0x140  # add
            %2, %3 = TopK(%4) {axis=-1} : float16[64] @arena 0x80, int64[] @arena 0x100
            output "graph1/P" = %2
            output "graph1/Q" = w@0x40 float16[64]
)";

void DumpTest::SetUp() {
  folder_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("popef_dump_") +
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder_);
}

void DumpTest::TearDown() { std::filesystem::remove_all(folder_); }

std::string DumpTest::Write(const std::string& name, const Blobs& blobs) const {
  popef::FileWriter writer(Path(name), popef::FileWriter::Mode::CREATE);
  writer.write(blobs.metadata);
  writer.createExecutable("exe", blobs.compress)
      ->write(blobs.executable.data(), blobs.executable.size());
  writer.createOpaqueBlob("poprt.fusion", "exe")->write(blobs.fusion.data(), blobs.fusion.size());
  writer.createOpaqueBlob(blobs.note_name, "exe")->write(blobs.note.data(), blobs.note.size());
  writer.close();
  return Path(name);
}

void DumpTest::Alter(const std::string& path, const std::string& text) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  const std::size_t at = content.str().find(text);
  ASSERT_NE(at, std::string::npos);
  file.seekp(static_cast<std::streamoff>(at + text.size()));
  file.put('#');
}

int DumpTest::Run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCommand(arguments, out, err);
  out_ = out.str();
  err_ = err.str();
  return code;
}

}  // namespace poprt::dump::testing
