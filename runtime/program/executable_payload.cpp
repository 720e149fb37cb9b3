#include "runtime/program/executable_payload.hpp"

#include <array>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "program_generated.h"

namespace poprt::program {
namespace {

constexpr std::array<char, 8> kMagic{'P', 'R', 'T', 'P', 'R', 'O', 'G', '\0'};

/// More than any kernel has; keeps setting them one by one short.
constexpr std::uint32_t kMostAttributes = 256;

/// Little-endian, as every field of the container.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t flags;  ///< must-understand; none is defined
  std::uint64_t program_bytes;
  std::uint64_t program_hash;
  std::uint64_t weights_offset;
  std::uint64_t weights_bytes;
  std::array<std::uint64_t, 2> reserved;  ///< zero
};
static_assert(sizeof(Header) == 64);
static_assert(std::endian::native == std::endian::little, "the container is read in place");

std::uint64_t AlignUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// ---- writing ---------------------------------------------------------------------------------

flatbuffers::Offset<fb::Attribute> WriteAttribute(flatbuffers::FlatBufferBuilder& builder,
                                                  const Attributes::Entry& entry) {
  fb::AttributeT out;
  out.name = entry.first;
  if (const auto* number = std::get_if<std::int64_t>(&entry.second)) {
    out.kind = fb::AttributeKind_Int;
    out.ints = {*number};
  } else if (const auto* real = std::get_if<float>(&entry.second)) {
    out.kind = fb::AttributeKind_Float;
    out.floats = {*real};
  } else if (const auto* text = std::get_if<std::string>(&entry.second)) {
    out.kind = fb::AttributeKind_Text;
    out.text = *text;
  } else if (const auto* ints = std::get_if<Ints>(&entry.second)) {
    out.kind = fb::AttributeKind_Ints;
    out.ints = *ints;
  } else if (const auto* floats = std::get_if<Floats>(&entry.second)) {
    out.kind = fb::AttributeKind_Floats;
    out.floats = *floats;
  } else if (const auto* texts = std::get_if<Strings>(&entry.second)) {
    out.kind = fb::AttributeKind_Texts;
    out.texts = *texts;
  } else {
    throw PayloadError("attribute '" + entry.first + "' holds a tensor, which programs cannot");
  }
  return fb::CreateAttribute(builder, &out);
}

flatbuffers::Offset<fb::Step> WriteStep(flatbuffers::FlatBufferBuilder& builder, const Step& step);

flatbuffers::Offset<fb::Body> WriteBody(flatbuffers::FlatBufferBuilder& builder, const Body& body) {
  std::vector<flatbuffers::Offset<fb::Step>> steps;
  for (const Step& step : body.steps) steps.push_back(WriteStep(builder, step));
  return fb::CreateBodyDirect(builder, &body.inputs, &body.outputs, &steps);
}

flatbuffers::Offset<fb::Step> WriteStep(flatbuffers::FlatBufferBuilder& builder, const Step& step) {
  std::vector<flatbuffers::Offset<fb::Attribute>> attributes;
  for (const Attributes::Entry& entry : step.attributes.entries()) {
    attributes.push_back(WriteAttribute(builder, entry));
  }
  std::vector<flatbuffers::Offset<fb::Body>> bodies;
  for (const Body& body : step.bodies) bodies.push_back(WriteBody(builder, body));
  return fb::CreateStepDirect(builder, step.name.c_str(), step.kernel.c_str(), &step.inputs,
                              &step.outputs, &attributes, bodies.empty() ? nullptr : &bodies,
                              step.stage);
}

std::vector<flatbuffers::Offset<fb::Stream>> WriteStreams(flatbuffers::FlatBufferBuilder& builder,
                                                          const std::vector<Stream>& streams) {
  std::vector<flatbuffers::Offset<fb::Stream>> result;
  for (const Stream& stream : streams) {
    flatbuffers::Offset<fb::Extent> extent;
    if (stream.extent) extent = fb::CreateExtent(builder, stream.extent->axis, stream.extent->slot);
    result.push_back(fb::CreateStreamDirect(builder, stream.name.c_str(), stream.slot, extent));
  }
  return result;
}

flatbuffers::Offset<fb::Branch> WriteBranch(flatbuffers::FlatBufferBuilder& builder,
                                            const Branch& branch) {
  std::vector<flatbuffers::Offset<fb::Slot>> slots;
  for (const Slot& slot : branch.slots) {
    slots.push_back(fb::CreateSlotDirect(builder, static_cast<std::uint8_t>(slot.type.element),
                                         &slot.type.shape, static_cast<fb::Space>(slot.space),
                                         slot.offset));
  }
  const auto inputs = WriteStreams(builder, branch.inputs);
  const auto outputs = WriteStreams(builder, branch.outputs);
  std::vector<flatbuffers::Offset<fb::Step>> steps;
  for (const Step& step : branch.steps) steps.push_back(WriteStep(builder, step));
  return fb::CreateBranchDirect(builder, branch.name.c_str(), &slots, &inputs, &outputs, &steps,
                                branch.arena_bytes);
}

std::vector<flatbuffers::Offset<fb::Variable>> WriteVariables(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<Variable>& variables) {
  std::vector<flatbuffers::Offset<fb::Variable>> result;
  result.reserve(variables.size());
  for (const Variable& variable : variables) {
    result.push_back(fb::CreateVariableDirect(builder, variable.name.c_str(),
                                              static_cast<std::uint8_t>(variable.type.element),
                                              &variable.type.shape, variable.offset));
  }
  return result;
}

// ---- reading ---------------------------------------------------------------------------------

/// Turns a verified FlatBuffer into a Program. A FlatBuffer may mention one string or vector many
/// times; to copy each only as often as a writer wrote it, the reader stops when it has copied more
/// bytes than there are.
class ProgramReader {
 public:
  explicit ProgramReader(std::uint64_t program_bytes) : budget_(program_bytes) {}

  Program Read(const fb::Program& source) {
    return {.branches = ReadAll(source.branches(), &ProgramReader::ReadBranch),
            .batches_per_step = source.batches_per_step(),
            .ipu_version = Read(*source.ipu_version()),
            .tiles = source.tiles(),
            .io_tiles = source.io_tiles(),
            .variables = ReadAll(source.variables(), &ProgramReader::ReadVariable)};
  }

 private:
  void Charge(std::uint64_t bytes) {
    if (bytes > budget_) throw PayloadError("the program mentions one part of itself many times");
    budget_ -= bytes;
  }

  std::string Read(const flatbuffers::String& text) {
    Charge(text.size());
    return text.str();
  }

  std::string ReadText(const flatbuffers::String& text) { return Read(text); }

  template <typename T>
  std::vector<T> ReadNumbers(const flatbuffers::Vector<T>* numbers) {
    if (numbers == nullptr) return {};
    Charge(numbers->size() * sizeof(T));
    return {numbers->begin(), numbers->end()};
  }

  template <typename Source, typename Result>
  std::vector<Result> ReadAll(const flatbuffers::Vector<flatbuffers::Offset<Source>>* sources,
                              Result (ProgramReader::*read)(const Source&)) {
    std::vector<Result> result;
    if (sources == nullptr) return result;
    Charge(sources->size() * sizeof(flatbuffers::uoffset_t));
    result.reserve(sources->size());
    for (const Source* source : *sources) result.push_back((this->*read)(*source));
    return result;
  }

  Branch ReadBranch(const fb::Branch& source) {
    return {.name = Read(*source.name()),
            .slots = ReadAll(source.slots(), &ProgramReader::ReadSlot),
            .inputs = ReadAll(source.inputs(), &ProgramReader::ReadStream),
            .outputs = ReadAll(source.outputs(), &ProgramReader::ReadStream),
            .steps = ReadAll(source.steps(), &ProgramReader::ReadStep),
            .arena_bytes = source.arena_bytes()};
  }

  TensorType ReadType(const std::string& what, std::uint8_t element,
                      const flatbuffers::Vector<std::int64_t>* shape) {
    if (!IsElementType(element)) {
      throw PayloadError(what + " has element type number " + std::to_string(element) +
                         ", which is unknown");
    }
    return {static_cast<ElementType>(element), ReadNumbers(shape)};
  }

  Variable ReadVariable(const fb::Variable& source) {
    const std::string name = Read(*source.name());
    return {.name = name,
            .type = ReadType("variable '" + name + "'", source.element(), source.shape()),
            .offset = source.offset()};
  }

  Slot ReadSlot(const fb::Slot& source) {
    if (source.space() > fb::Space_MAX) {
      throw PayloadError("a slot lies in memory space number " + std::to_string(source.space()) +
                         ", which is unknown");
    }
    return {.type = ReadType("a slot", source.element(), source.shape()),
            .space = static_cast<Space>(source.space()),
            .offset = source.offset()};
  }

  Stream ReadStream(const fb::Stream& source) {
    Stream stream{.name = Read(*source.name()), .slot = source.slot()};
    if (const fb::Extent* extent = source.extent()) {
      stream.extent = {.axis = extent->axis(), .slot = extent->slot()};
    }
    return stream;
  }

  Step ReadStep(const fb::Step& source) {
    Step step{.name = Read(*source.name()),
              .kernel = Read(*source.kernel()),
              .inputs = ReadNumbers(source.inputs()),
              .outputs = ReadNumbers(source.outputs()),
              .attributes = {}};
    ReadAttributes(source.attributes(), step);
    step.bodies = ReadAll(source.bodies(), &ProgramReader::ReadBody);
    step.stage = source.stage();
    return step;
  }

  Body ReadBody(const fb::Body& source) {
    return {.inputs = ReadNumbers(source.inputs()),
            .outputs = ReadNumbers(source.outputs()),
            .steps = ReadAll(source.steps(), &ProgramReader::ReadStep)};
  }

  void ReadAttributes(const flatbuffers::Vector<flatbuffers::Offset<fb::Attribute>>* sources,
                      Step& step) {
    if (sources == nullptr) return;
    if (sources->size() > kMostAttributes) {
      throw PayloadError("step '" + step.name + "' has " + std::to_string(sources->size()) +
                         " attributes, allowed are " + std::to_string(kMostAttributes));
    }
    Charge(sources->size() * sizeof(flatbuffers::uoffset_t));
    for (const fb::Attribute* source : *sources) {
      auto [name, value] = ReadAttribute(*source);
      step.attributes.set(name, std::move(value));
    }
  }

  Attributes::Entry ReadAttribute(const fb::Attribute& source) {
    std::string name = Read(*source.name());
    Ints ints = ReadNumbers(source.ints());
    Floats floats = ReadNumbers(source.floats());
    switch (source.kind()) {
      case fb::AttributeKind_Int:
        if (ints.size() == 1) return {std::move(name), ints[0]};
        break;
      case fb::AttributeKind_Float:
        if (floats.size() == 1) return {std::move(name), floats[0]};
        break;
      case fb::AttributeKind_Text:
        return {std::move(name), source.text() == nullptr ? std::string() : Read(*source.text())};
      case fb::AttributeKind_Ints:
        return {std::move(name), std::move(ints)};
      case fb::AttributeKind_Floats:
        return {std::move(name), std::move(floats)};
      case fb::AttributeKind_Texts:
        return {std::move(name), ReadAll(source.texts(), &ProgramReader::ReadText)};
    }
    throw PayloadError("attribute '" + name + "' is malformed");
  }

  std::uint64_t budget_;
};

Header ReadHeader(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof(header)) {
    throw PayloadError("executable payload has " + std::to_string(bytes.size()) +
                       " bytes, its header alone needs " + std::to_string(sizeof(header)));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic) {
    throw PayloadError("executable payload does not start with PRTPROG: not written by poprt");
  }
  if (header.version != kPayloadVersion || header.flags != 0) {
    throw PayloadError("executable payload has version " + std::to_string(header.version) +
                       " and flags " + std::to_string(header.flags) +
                       ", this runtime reads version " + std::to_string(kPayloadVersion) +
                       " with flags 0: compile the model again");
  }
  return header;
}

void CheckLayout(const Header& header, std::uint64_t size) {
  const std::uint64_t room = size - sizeof(Header);
  const bool program_fits = header.program_bytes <= room;
  const bool weights_fit = header.weights_offset <= size &&
                           header.weights_bytes == size - header.weights_offset &&
                           header.weights_offset % kWeightsAlignment == 0;
  if (!program_fits || !weights_fit ||
      header.weights_offset < sizeof(Header) + header.program_bytes ||
      header.reserved != std::array<std::uint64_t, 2>{}) {
    throw PayloadError("executable payload of " + std::to_string(size) +
                       " bytes is truncated or damaged: its header promises a program of " +
                       std::to_string(header.program_bytes) + " bytes and weights of " +
                       std::to_string(header.weights_bytes) + " bytes at offset " +
                       std::to_string(header.weights_offset));
  }
}

}  // namespace

std::string SerializeHead(const Program& program, std::uint64_t weight_bytes) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::Branch>> branches;
  for (const Branch& branch : program.branches) branches.push_back(WriteBranch(builder, branch));
  const auto variables = WriteVariables(builder, program.variables);
  builder.Finish(fb::CreateProgramDirect(
      builder, &branches, program.batches_per_step, program.ipu_version.c_str(), program.tiles,
      program.io_tiles, variables.empty() ? nullptr : &variables));
  Header header{.magic = kMagic,
                .version = kPayloadVersion,
                .flags = 0,
                .program_bytes = builder.GetSize(),
                .program_hash = XXH3_64bits(builder.GetBufferPointer(), builder.GetSize()),
                .weights_offset = AlignUp(sizeof(Header) + builder.GetSize(), kWeightsAlignment),
                .weights_bytes = weight_bytes,
                .reserved = {}};
  std::string bytes(header.weights_offset, '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), builder.GetBufferPointer(), builder.GetSize());
  return bytes;
}

bool IsPayload(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Payload ParsePayload(std::span<const std::byte> bytes) {
  const Header header = ReadHeader(bytes);
  CheckLayout(header, bytes.size());
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data()) + sizeof(Header);
  if (XXH3_64bits(data, header.program_bytes) != header.program_hash) {
    throw PayloadError("the program at byte " + std::to_string(sizeof(Header)) +
                       " of the executable payload does not match its hash: the file was altered");
  }
  // A table takes 8 bytes at least: its offset to a vtable and somebody's offset to it.
  constexpr flatbuffers::uoffset_t depth = 16 + 2 * kMostNesting;
  const auto tables = static_cast<flatbuffers::uoffset_t>(header.program_bytes / 8 + 1);
  flatbuffers::Verifier verifier(data, header.program_bytes, depth, tables);
  if (!fb::VerifyProgramBuffer(verifier)) {
    throw PayloadError("the program of the executable payload is malformed");
  }
  Payload payload{.program = ProgramReader(header.program_bytes).Read(*fb::GetProgram(data)),
                  .weights = bytes.subspan(header.weights_offset)};
  const std::string problem = FindProblem(payload.program, payload.weights.size());
  if (!problem.empty()) throw PayloadError("the program must not run: " + problem);
  return payload;
}

}  // namespace poprt::program
