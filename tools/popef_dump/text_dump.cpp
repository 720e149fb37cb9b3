#include "tools/popef_dump/text_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "popef/Format.hpp"
#include "tools/display/escape.hpp"
#include "tools/display/table.hpp"
#include "tools/popef_dump/branch_weights.hpp"
#include "tools/popef_dump/open_axes.hpp"
#include "tools/popef_dump/program_text.hpp"

namespace poprt::dump {
namespace {

using display::Escape;
using display::Side;
using display::TableText;
using Row = std::vector<std::string>;

const std::string kIndent = "    ";
const std::string kIndent2 = kIndent + kIndent;
const std::string kIndent3 = kIndent2 + kIndent;

template <typename Number>
std::string Numbers(const std::vector<Number>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string YesNo(bool value) { return value ? "yes" : "no"; }

/// Lines "KEY:  VALUE" with aligned values.
std::string Fields(const std::vector<std::pair<std::string, std::string>>& fields,
                   const std::string& indent) {
  std::size_t width = 0;
  for (const auto& [key, value] : fields) width = std::max(width, key.size() + 1);
  std::string text;
  for (const auto& [key, value] : fields) {
    text += fmt::format("{}{:<{}}  {}\n", indent, key + ":", width, value);
  }
  return text;
}

// ---- metadata and anchors
// ------------------------------------------------------------------------

bool HasExecutable(const Contents& contents, const std::string& name) {
  const auto& executables = contents.reader.executables();
  return std::any_of(executables.begin(), executables.end(),
                     [&](const popef::ExecutableReader& reader) { return reader.name == name; });
}

std::string ExecutableText(const Contents& contents, const std::string& name) {
  return Escape(name) + (HasExecutable(contents, name) ? "" : " (not in this file)");
}

std::string ProgramNames(const popef::Metadata& metadata) {
  std::string text;
  for (const auto& [index, name] :
       std::map(metadata.programsMap().begin(), metadata.programsMap().end())) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", index, Escape(name));
  }
  return text.empty() ? "none" : text;
}

std::string OptionsText(const std::string& heading, const std::vector<popef::Option>& options) {
  std::string text = kIndent + heading + (options.empty() ? " none\n" : "\n");
  for (const popef::Option& option : options) {
    text += kIndent2 + Escape(option.name()) + " = " + Escape(option.value()) + "\n";
  }
  return text;
}

std::string MetadataText(const Contents& contents, const popef::Metadata& metadata) {
  const popef::ProgramFlow& flow = metadata.programFlow();
  return "Metadata:\n" +
         Fields({{"Executable", ExecutableText(contents, metadata.executable())},
                 {"IPU version", fmt::format("ipu{}", metadata.ipuVersion())},
                 {"IPUs", std::to_string(metadata.numIpus())},
                 {"Replicas", std::to_string(metadata.replicationFactor())},
                 {"Processes", std::to_string(metadata.numProcesses())},
                 {"POD", YesNo(metadata.isPOD())},
                 {"Inference", YesNo(metadata.isInference())},
                 {"Batches per step", std::to_string(metadata.deviceIterations())},
                 {"Seed handle",
                  metadata.seedHandle().empty() ? "none" : Escape(metadata.seedHandle())},
                 {"Program flow", fmt::format("load {}, main {}, save {}", Numbers(flow.load()),
                                              Numbers(flow.main()), Numbers(flow.save()))},
                 {"Program names", ProgramNames(metadata)}},
                kIndent) +
         OptionsText("Engine options:", metadata.engineOptions()) +
         OptionsText("Device options:", metadata.deviceOptions());
}

/// Cells for type, shape and bytes.
Row TypeCells(const popef::TensorInfo& info) {
  if (!info.hasDataType()) return {"unknown", "-", "-"};
  return {fmt::format("{}", info.dataType()), Numbers(info.shape()),
          std::to_string(info.sizeInBytes())};
}

std::string TransferText(const popef::Anchor& anchor) {
  std::string text = anchor.isPerReplica() ? "per replica" : "";
  if (anchor.useRemoteBuffers()) {
    text +=
        (text.empty() ? "" : ", ") + fmt::format("remote buffer with {} blocks", anchor.repeats());
  }
  return text;
}

/// "[3, up to 8]".
std::string ShapeText(const popef::Anchor& anchor, const OpenAxes& open_axes) {
  const std::vector<std::int64_t>& shape = anchor.tensorInfo().shape();
  const auto open = open_axes.find(anchor.name());
  std::vector<std::string> extents;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_open = open != open_axes.end() && open->second == i;
    extents.push_back((is_open ? "up to " : "") + std::to_string(shape[i]));
  }
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string AnchorTable(const std::vector<popef::Anchor>& anchors, popef::TensorType type,
                        const OpenAxes& open_axes) {
  std::vector<Row> rows;
  for (const popef::Anchor& anchor : anchors) {
    if (anchor.type() != type) continue;
    Row row{Escape(anchor.name())};
    for (std::string& cell : TypeCells(anchor.tensorInfo())) row.push_back(std::move(cell));
    if (anchor.tensorInfo().hasDataType() && type == popef::TensorType::OUTPUT) {
      row[2] = ShapeText(anchor, open_axes);
    }
    row.push_back(Numbers(anchor.programs()));
    row.push_back(anchor.handle().empty() ? "-" : Escape(anchor.handle()));
    row.push_back(TransferText(anchor));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  const bool plain =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.back().empty(); });
  return TableText({{"Name"},
                    {"Type"},
                    {"Shape"},
                    {"Bytes", Side::kRight},
                    {"Programs"},
                    {"Handle"},
                    {plain ? "" : "Transfer"}},
                   rows, kIndent2);
}

std::string AnchorsText(const Contents& contents, const popef::Metadata& metadata) {
  const OpenAxes open_axes = OpenAxesOf(contents, metadata.executable());
  const auto section = [&](const std::string& heading, popef::TensorType type) {
    const std::string table = AnchorTable(metadata.anchors(), type, open_axes);
    return kIndent + heading + (table.empty() ? " none\n" : "\n" + table);
  };
  std::string text = "Anchors:\n" + section("Inputs:", popef::TensorType::INPUT) +
                     section("Outputs:", popef::TensorType::OUTPUT);
  const std::string others = AnchorTable(metadata.anchors(), popef::TensorType::UNKNOWN, open_axes);
  return others.empty() ? text : text + kIndent + "Neither input nor output:\n" + others;
}

// ---- payloads --------------------------------------------------------------------------------

std::string GraphText(const FusedGraph& graph) {
  std::string text = fmt::format("{}Index {}: {}\n", kIndent2, graph.index, Escape(graph.name));
  for (const std::string& input : graph.inputs)
    text += kIndent3 + "input   " + Escape(input) + "\n";
  for (const std::string& output : graph.outputs) {
    text += kIndent3 + "output  " + Escape(output) + "\n";
  }
  return text;
}

std::string OpaquesText(const Contents& contents) {
  if (contents.opaques.empty()) return "Opaques: none\n";
  std::string text = "Opaques:\n";
  for (const Opaque& opaque : contents.opaques) {
    text += fmt::format("{}{}: {} bytes, of executable {}\n", kIndent, Escape(opaque.name),
                        opaque.bytes, ExecutableText(contents, opaque.executable));
    if (!opaque.graphs.has_value()) continue;
    for (const FusedGraph& graph : *opaque.graphs) text += GraphText(graph);
  }
  return text;
}

std::string PlanText(const IpuPlan& plan) {
  std::string text;
  std::string_view rest = plan.summary;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += (end == 0 ? "" : kIndent + Escape(rest.substr(0, end))) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

std::string PlansText(const Contents& contents) {
  std::string text;
  for (const Opaque& opaque : contents.opaques) {
    if (!opaque.plan.has_value()) continue;
    text += "Plan for the IPU of executable " + ExecutableText(contents, opaque.executable) +
            ":\n" + PlanText(*opaque.plan);
  }
  return text.empty() ? "Plan for the IPU: none\n" : text;
}

std::string TensorDataText(const popef::Reader& reader) {
  std::vector<Row> rows;
  for (const popef::TensorReader& tensor : reader.tensors()) {
    rows.push_back({Escape(tensor.info.name())});
    for (std::string& cell : TypeCells(tensor.info.tensorInfo())) {
      rows.back().push_back(std::move(cell));
    }
  }
  if (rows.empty()) return "";
  return "\nTensor data:\n" +
         TableText({{"Name"}, {"Type"}, {"Shape"}, {"Bytes", Side::kRight}}, rows, kIndent);
}

std::string FeedDataText(const popef::Reader& reader) {
  std::vector<Row> rows;
  for (const popef::FeedReader& feed : reader.feeds()) {
    rows.push_back({Escape(feed.info.name())});
    for (std::string& cell : TypeCells(feed.info.tensorInfo())) {
      rows.back().push_back(std::move(cell));
    }
    rows.back().push_back(std::to_string(feed.info.numTensors()));
  }
  if (rows.empty()) return "";
  return "\nFeed data:\n" + TableText({{"Name"},
                                       {"Type"},
                                       {"Shape"},
                                       {"Bytes each", Side::kRight},
                                       {"Tensors", Side::kRight}},
                                      rows, kIndent);
}

std::string BranchTable(const program::Program& program) {
  std::vector<Row> rows;
  for (const program::Branch& branch : program.branches) {
    rows.push_back({std::to_string(rows.size()), Escape(branch.name),
                    std::to_string(branch.inputs.size()), std::to_string(branch.outputs.size()),
                    std::to_string(branch.steps.size()), std::to_string(BranchWeightBytes(branch)),
                    std::to_string(branch.arena_bytes)});
  }
  return TableText({{"Index", Side::kRight},
                    {"Name"},
                    {"Inputs", Side::kRight},
                    {"Outputs", Side::kRight},
                    {"Steps", Side::kRight},
                    {"Weight bytes", Side::kRight},
                    {"Arena bytes", Side::kRight}},
                   rows, kIndent3);
}

std::string VariableTable(const program::Program& program) {
  std::vector<Row> rows;
  for (const program::Variable& variable : program.variables) {
    rows.push_back({Escape(variable.name), std::string(ElementName(variable.type.element)),
                    Numbers(variable.type.shape), std::to_string(variable.type.bytes()),
                    fmt::format("{:#x}", variable.offset)});
  }
  return TableText(
      {{"Name"}, {"Type"}, {"Shape"}, {"Bytes", Side::kRight}, {"Offset", Side::kRight}}, rows,
      kIndent3);
}

std::string StepsText(const program::Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.branches.size(); ++i) {
    const program::Branch& branch = program.branches[i];
    text += fmt::format("{}Branch {}: {}\n", kIndent2, i, Escape(branch.name)) +
            BranchText(branch, kIndent3);
  }
  return text;
}

std::string ProgramText(const Executable& executable, const Selection& selection) {
  const program::Program& program = *executable.program;
  std::string text =
      Fields({{"Target", Escape(program.ipu_version)},
              {"Tiles", fmt::format("{} ({} for I/O, {} for compute)", program.tiles,
                                    program.io_tiles, program.tiles - program.io_tiles)},
              {"Batches per step", std::to_string(program.batches_per_step)},
              {"Weights", fmt::format("{} bytes", executable.weight_bytes)},
              {"Arena", fmt::format("{} bytes", program.ArenaBytes())}},
             kIndent2) +
      kIndent2 + "Branches:\n" + BranchTable(program);
  if (!program.variables.empty()) {
    text += fmt::format("{}Variables, {} bytes:\n", kIndent2, program.VariableBytes()) +
            VariableTable(program);
  }
  return selection.steps ? text + StepsText(program) : text;
}

std::string ExecutablesText(const Contents& contents, const Selection& selection) {
  if (contents.executables.empty()) return "Executables: none\n";
  std::string text = "Executables:\n";
  for (const Executable& executable : contents.executables) {
    text += fmt::format("{}{}: {} bytes{}\n", kIndent, Escape(executable.name), executable.bytes,
                        executable.compressed ? ", stored compressed" : "");
    if (executable.program.has_value()) {
      text += ProgramText(executable, selection);
    } else {
      text += kIndent2 + (executable.by_poprt ? "The program cannot be read.\n"
                                              : "Not a program that poprt has written.\n");
    }
  }
  return text;
}

// ---- blobs -----------------------------------------------------------------------------------

Row BlobRow(std::size_t number, const popef::BlobInfo& blob) {
  return {std::to_string(number),
          fmt::format("{}", blob.type),
          Escape(blob.name),
          fmt::format("{}.{}", blob.versionMajor, blob.versionMinor),
          fmt::format("{:#x}/{:#x}", blob.mustUnderstandFlags, blob.mayIgnoreFlags),
          std::to_string(blob.offset),
          std::to_string(blob.totalSize),
          std::to_string(blob.infoOffset),
          std::to_string(blob.infoSize),
          std::to_string(blob.payloadOffset),
          std::to_string(blob.payloadSize),
          blob.compressed ? std::to_string(blob.uncompressedSize) : "-",
          std::to_string(blob.alignment),
          fmt::format("{:016x}", blob.infoHash),
          fmt::format("{:016x}", blob.payloadHash)};
}

std::string BlobsText(const popef::Reader& reader) {
  std::vector<Row> rows;
  for (const popef::BlobInfo& blob : reader.blobs()) rows.push_back(BlobRow(rows.size(), blob));
  return "Blobs (offsets from the start of the file):\n" +
         TableText({{"#", Side::kRight},
                    {"Kind"},
                    {"Name"},
                    {"Version"},
                    {"Flags"},
                    {"Offset", Side::kRight},
                    {"Size", Side::kRight},
                    {"Info at", Side::kRight},
                    {"Info size", Side::kRight},
                    {"Payload at", Side::kRight},
                    {"Payload size", Side::kRight},
                    {"Uncompressed", Side::kRight},
                    {"Alignment", Side::kRight},
                    {"Info hash"},
                    {"Payload hash"}},
                   rows, kIndent);
}

}  // namespace

std::string TextDump(const Contents& contents, const Selection& selection) {
  std::string text = "PopEF file: " + Escape(contents.path) + "\n";
  if (contents.reader.metadata().empty()) text += "\nMetadata: none\n";
  for (const popef::Metadata& metadata : contents.reader.metadata()) {
    text += "\n" + MetadataText(contents, metadata) + "\n" + AnchorsText(contents, metadata);
  }
  if (selection.payloads) {
    text += "\n" + OpaquesText(contents) + TensorDataText(contents.reader) +
            FeedDataText(contents.reader) + "\n" + ExecutablesText(contents, selection);
  }
  if (selection.plan) text += "\n" + PlansText(contents);
  if (selection.blobs) text += "\n" + BlobsText(contents.reader);
  if (selection.verified) {
    text += contents.problems.empty() ? "\nVerified: nothing has been altered\n"
                                      : "\nVerified: failed, see the errors\n";
  }
  return text;
}

}  // namespace poprt::dump
