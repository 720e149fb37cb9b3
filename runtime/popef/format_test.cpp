// Pins docs/popef.md: the bytes of its example, and every rule that makes a reader refuse a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <sstream>

#include "popef/Reader.hpp"
#include "popef/Writer.hpp"
#include "popef_generated.h"
#include "runtime/popef/blob_header.hpp"
#include "runtime/popef/example_container.hpp"
#include "runtime/popef/hash.hpp"
#include "runtime/popef/info_codec.hpp"

namespace popef {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::MakeContainer;
using testing::MakeInfo;
using testing::MakeSmallContainer;

Reader Parse(const std::string& bytes) {
  Reader reader;
  reader.parseStream(std::make_shared<std::istringstream>(bytes));
  return reader;
}

std::string ParseError(const std::string& bytes) {
  return ErrorOf([&] { Parse(bytes); });
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  std::istringstream in(hex);
  for (std::string pair; in >> pair;) bytes += static_cast<char>(std::stoi(pair, nullptr, 16));
  return bytes;
}

/// A blob with a correct header hash, whatever `change` does to its header.
std::string MakeBlob(
    BlobHeader header, const InfoBytes& info, const std::string& payload,
    const std::function<void(BlobHeader&)>& change = [](BlobHeader&) {}) {
  header.info_offset = kHeaderSize;
  header.info_size = info.size();
  header.payload_offset = (kHeaderSize + info.size() + 63) / 64 * 64;
  header.payload_size = payload.size();
  header.total_size = (header.payload_offset + payload.size() + 63) / 64 * 64;
  header.info_hash = Hash(info);
  header.payload_hash = Hash(std::as_bytes(std::span(payload)));
  std::string bytes(header.total_size, '\0');
  bytes.replace(kHeaderSize, info.size(), reinterpret_cast<const char*>(info.data()), info.size());
  bytes.replace(header.payload_offset, payload.size(), payload);
  change(header);
  const HeaderBytes encoded = Encode(header);
  return bytes.replace(0, kHeaderSize, reinterpret_cast<const char*>(encoded.data()), kHeaderSize);
}

std::string Opaque(const std::function<void(BlobHeader&)>& change) {
  return MakeBlob({}, EncodeOpaque({"o", "e"}), "abc", change);
}

/// The header is hashed again after `change`, so that the rule itself is met and not the hash.
std::string Rehashed(std::string bytes, const std::function<void(std::string&)>& change) {
  change(bytes);
  bytes.replace(88, 8, 8, '\0');
  const std::uint64_t hash = Hash(std::as_bytes(std::span(bytes)).first(kHeaderSize));
  for (std::size_t i = 0; i < 8; ++i) bytes[88 + i] = static_cast<char>(hash >> (8 * i) & 0xFFU);
  return bytes;
}

template <typename Fill>
InfoBytes BuildInfo(const Fill& fill) {
  flatbuffers::FlatBufferBuilder builder;
  fill(builder);
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

BlobHeader Kind(BlobType type) {
  BlobHeader header;
  header.type = type;
  return header;
}

TEST(Format, TheHashIsXxh3) {
  EXPECT_EQ(Hash({}), 0x2D06800538D394C2U);
  EXPECT_EQ(Hash(std::as_bytes(std::span("abc", 3))), 0x78AF5F94892F3950U);
}

TEST(Format, TheExampleOfTheSpecification) {
  const std::string expected = FromHex(
      // clang-format off
      "89 50 6F 70 45 46 43 0A 01 00 00 00 04 00 00 00 "
      "00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 "
      "80 00 00 00 00 00 00 00 28 00 00 00 00 00 00 00 "
      "C0 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 "
      "FF FF FF FF FF FF FF FF 94 F3 CB 74 29 B5 B9 CC "
      "50 39 2F 89 94 5F AF 78 38 EB 2E C2 99 5F FE D2 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "0C 00 00 00 08 00 0C 00 04 00 08 00 08 00 00 00 "
      "10 00 00 00 04 00 00 00 01 00 00 00 65 00 00 00 "
      "01 00 00 00 6F 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "61 62 63 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ");
  // clang-format on
  EXPECT_EQ(MakeSmallContainer(), expected);
}

TEST(Format, EveryTruncationIsNoticed) {
  for (const std::string& bytes : {MakeSmallContainer(), MakeContainer(), MakeContainer(true)}) {
    std::vector<std::uint64_t> ends;
    const Reader whole = Parse(bytes);
    for (const BlobInfo& blob : whole.blobs()) ends.push_back(blob.offset + blob.totalSize);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto blobs = std::ranges::find(ends, size) - ends.begin() + 1;
      const std::string cut = bytes.substr(0, size);
      if (std::ranges::find(ends, size) == ends.end()) {
        EXPECT_NE(ParseError(cut), "") << size;
      } else {
        EXPECT_EQ(Parse(cut).blobs().size(), static_cast<std::size_t>(blobs)) << size;
      }
    }
  }
}

TEST(Format, EveryAlteredByteIsNoticed) {
  for (const std::string& bytes : {MakeSmallContainer(), MakeContainer(), MakeContainer(true)}) {
    const Reader whole = Parse(bytes);
    const auto in_payload = [&](std::size_t at) {
      return std::ranges::any_of(whole.blobs(), [&](const BlobInfo& blob) {
        return at >= blob.payloadOffset && at - blob.payloadOffset < blob.payloadSize;
      });
    };
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string altered = bytes;
      altered[at] = static_cast<char>(altered[at] ^ (1 << at % 8));
      if (in_payload(at)) {
        const Reader reader = Parse(altered);
        EXPECT_THAT(ErrorOf([&] { reader.verifyPayloads(); }), HasSubstr("has been altered")) << at;
      } else {
        EXPECT_THAT(ParseError(altered), HasSubstr("stream: byte ")) << at;
      }
    }
  }
}

TEST(Format, RandomInfosNeverCrash) {
  constexpr unsigned kSeed = 20240607;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  const std::vector<std::pair<BlobType, InfoBytes>> infos = {
      {BlobType::METADATA, EncodeMetadata(testing::MakeMetadata())},
      {BlobType::POPLAR_EXECUTABLE, EncodeExecutable("exe")},
      {BlobType::DATA_TENSOR,
       EncodeTensorData(testing::MakeTensorData("t", MakeInfo(DataType::U8, {3})))},
      {BlobType::DATA_FEED,
       EncodeFeedData(testing::MakeFeedData("f", MakeInfo(DataType::U8, {3}), 1))},
      {BlobType::OPAQUE, EncodeOpaque({"o", "e"})}};
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    auto [type, info] = infos[static_cast<std::size_t>(round) % infos.size()];
    for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
      info[random() % info.size()] = static_cast<std::byte>(random());
    }
    if (random() % 8 == 0) info.resize(random() % info.size());
    const std::string payload = type == BlobType::METADATA ? "" : "abc";
    // The hashes are right, so this reaches the FlatBuffers verifier and the decoder.
    refused += ParseError(MakeBlob(Kind(type), info, payload)).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 10000);
  EXPECT_LT(refused, 20000);
}

TEST(Format, IdentityAndVersion) {
  EXPECT_THAT(ParseError(""), HasSubstr("stream: byte 0: the file is empty"));
  EXPECT_THAT(ParseError(std::string(128, 'x')),
              HasSubstr("stream: byte 0: magic is 78 78 78 78 78 78 78 78, allowed is 89 50 6F 70 "
                        "45 46 43 0A"));
  EXPECT_THAT(ParseError(Opaque([](BlobHeader& header) { header.major = 2; })),
              HasSubstr("stream: byte 8: format version is 2, allowed is 1"));
  EXPECT_EQ(ParseError(Opaque([](BlobHeader& header) { header.minor = 9; })), "");
  EXPECT_EQ(ParseError(Opaque([](BlobHeader& header) { header.may_ignore = ~0U; })), "");
}

TEST(Format, ReservedBytesAndFlags) {
  const std::string bytes = MakeSmallContainer();
  EXPECT_THAT(ParseError(Rehashed(bytes, [](std::string& b) { b[14] = 1; })),
              HasSubstr("byte 14: reserved field is 1, allowed is 0"));
  EXPECT_THAT(ParseError(Rehashed(bytes, [](std::string& b) { b[127] = 5; })),
              HasSubstr("byte 127: reserved byte is 5, allowed is 0"));
  EXPECT_THAT(ParseError(Opaque([](BlobHeader& header) { header.must_understand = 4; })),
              HasSubstr("byte 16: must-understand flags is 0x0000000000000004"));
  EXPECT_THAT(ParseError(Opaque([](BlobHeader& header) { header.must_understand = kFlagZlib; })),
              HasSubstr("byte 64: uncompressed size"));
  EXPECT_THAT(ParseError(Opaque([](BlobHeader& header) { header.uncompressed_size = 3; })),
              HasSubstr("byte 64: uncompressed size"));
  EXPECT_THAT(ParseError(Opaque([](BlobHeader& header) {
                header.must_understand = kFlagZlib;
                header.uncompressed_size = 3;
              })),
              HasSubstr("flag ZLIB is set, allowed is on executables only"));
}

TEST(Format, SizesAndOffsets) {
  constexpr std::uint64_t kHuge = ~std::uint64_t{63};
  using Change = std::function<void(BlobHeader&)>;
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](BlobHeader& h) { h.total_size = 0; }, "byte 24: blob size is 0"},
      {[](BlobHeader& h) { h.total_size += 1; }, "byte 24: blob size"},
      {[](BlobHeader& h) { h.total_size += 64; }, "the file is truncated"},
      {[](BlobHeader& h) { h.total_size = kHuge; }, "byte 24: blob size"},
      {[](BlobHeader& h) { h.info_offset = 64; }, "byte 32: info offset is 64"},
      {[](BlobHeader& h) { h.info_offset = 129; }, "byte 32: info offset is 129"},
      {[](BlobHeader& h) { h.info_offset = kHuge; }, "byte 32: info offset"},
      {[](BlobHeader& h) { h.info_offset = h.total_size + 64; }, "byte 32: info offset"},
      {[](BlobHeader& h) { h.info_size = ~std::uint64_t{0}; }, "byte 40: info size"},
      {[](BlobHeader& h) { h.info_size = h.total_size; }, "byte 40: info size"},
      {[](BlobHeader& h) { h.payload_offset = 128; }, "byte 48: payload offset is 128"},
      {[](BlobHeader& h) { h.payload_offset += 1; }, "byte 48: payload offset"},
      {[](BlobHeader& h) { h.payload_offset = kHuge; }, "byte 48: payload offset"},
      {[](BlobHeader& h) { h.payload_offset = h.total_size + 64; }, "byte 48: payload offset"},
      {[](BlobHeader& h) { h.payload_size = ~std::uint64_t{0}; }, "byte 56: payload size"},
      {[](BlobHeader& h) { h.payload_size = 65; }, "byte 56: payload size is 65"},
      {[](BlobHeader& h) { h.payload_size = 0; }, "byte 56: payload size is 0"},
      {[](BlobHeader& h) { h.payload_size = 2; }, "padding byte is 99, allowed is 0"},
      {[](BlobHeader& h) { h.info_hash ^= 1; }, "byte 128: info hash"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_THAT(ParseError(Opaque(cases[i].first)), HasSubstr(cases[i].second)) << "case " << i;
  }
}

TEST(Format, PayloadsMustFitTheirInfo) {
  const auto tensor = EncodeTensorData(testing::MakeTensorData("t", MakeInfo(DataType::F16, {2})));
  EXPECT_THAT(ParseError(MakeBlob(Kind(BlobType::DATA_TENSOR), tensor, "abc")),
              HasSubstr("payload size of \"t\" is 3, allowed is 4"));
  const auto feed = EncodeFeedData(testing::MakeFeedData("f", MakeInfo(DataType::U8, {2}), 3));
  EXPECT_THAT(ParseError(MakeBlob(Kind(BlobType::DATA_FEED), feed, "abc")),
              HasSubstr("payload size of \"f\" is 3, allowed is 6"));
  const auto metadata = EncodeMetadata(testing::MakeMetadata());
  EXPECT_THAT(ParseError(MakeBlob(Kind(BlobType::METADATA), metadata, "abc")),
              HasSubstr("payload size is 3, allowed is 0 for metadata"));
}

TEST(Format, NamesAreUnique) {
  const std::string small = MakeSmallContainer();
  EXPECT_THAT(ParseError(small + small),
              HasSubstr("stream: byte 256: OPAQUE \"o\" is there already, in stream at byte 0"));
  const std::string executable =
      MakeBlob(Kind(BlobType::POPLAR_EXECUTABLE), EncodeExecutable("e"), "");
  Reader reader = Parse(executable + small);
  EXPECT_THAT(
      ErrorOf([&] { reader.parseStream(std::make_shared<std::istringstream>(executable)); }),
      HasSubstr("POPLAR_EXECUTABLE \"e\" is there already"));
  EXPECT_EQ(reader.blobs().size(), 2U) << "a call that throws must leave the reader as it was";
  const std::string other = MakeBlob({}, EncodeOpaque({"o", "f"}), "");
  EXPECT_EQ(ParseError(small + other), "") << "opaque blobs of two executables may share a name";
}

TEST(Format, UnknownKindsArePassedOverUnlessTheyMustBeUnderstood) {
  const auto blob = [](std::uint32_t flags) {
    BlobHeader header = Kind(static_cast<BlobType>(77));
    header.must_understand = flags;
    return MakeBlob(header, {}, "from the future");
  };
  const Reader reader = Parse(blob(0) + MakeSmallContainer());
  ASSERT_EQ(reader.blobs().size(), 2U);
  EXPECT_EQ(static_cast<int>(reader.blobs()[0].type), 77);
  EXPECT_EQ(reader.opaqueBlobs().size(), 1U);
  reader.verifyPayloads();
  EXPECT_THAT(ParseError(blob(kFlagKind)), HasSubstr("byte 12: blob kind is 77"));
  std::string altered = blob(0);
  altered[130] ^= 1;
  EXPECT_THAT(ErrorOf([&] { Parse(altered).verifyPayloads(); }), HasSubstr("?77"));
}

std::string Compressed(const std::string& stream, std::uint64_t uncompressed) {
  BlobHeader header = Kind(BlobType::POPLAR_EXECUTABLE);
  header.must_understand = kFlagZlib;
  header.uncompressed_size = uncompressed;
  return MakeBlob(header, EncodeExecutable("e"), stream);
}

TEST(Format, DecompressionIsBoundedAndExact) {
  const std::string zlib = FromHex("78 9c 4b 4c 4a 06 00 02 4d 01 27");  // "abc"
  EXPECT_EQ(Parse(Compressed(zlib, 3)).executables()[0].view().size, 3U);
  for (const auto& [stream, size] : std::vector<std::pair<std::string, std::uint64_t>>{
           {zlib, 2}, {zlib, 4}, {zlib, 0}, {zlib + "x", 3}, {zlib.substr(0, 10), 3}, {"", 0}}) {
    const Reader reader = Parse(Compressed(stream, size));
    const auto& executable = reader.executables()[0];
    EXPECT_THAT(ErrorOf([&] { executable.view(); }), HasSubstr("malformed")) << size;
    EXPECT_THAT(ErrorOf([&] { executable.verify(); }), HasSubstr("malformed")) << size;
    EXPECT_THAT(ErrorOf([&] { executable.getStandaloneExecutableStream(); }),
                HasSubstr("inflates to exactly " + std::to_string(size)));
  }
  EXPECT_THAT(ParseError(Compressed(zlib, 1032 * 12)),
              HasSubstr("allowed is at most 1032 times the payload of 11 bytes"));
  EXPECT_THAT(ParseError(Compressed(zlib, ~std::uint64_t{1})), HasSubstr("byte 64"));
}

TEST(Format, InfosWithForbiddenValues) {
  const auto tensor_error = [](std::vector<std::int64_t> shape, std::uint16_t type) {
    const InfoBytes info = BuildInfo([&](auto& builder) {
      const auto name = builder.CreateString("t");
      const auto dims = builder.CreateVector(shape);
      const auto tensor = wire::CreateTensorInfo(builder, dims, type);
      builder.Finish(wire::CreateTensorDataInfo(builder, name, tensor));
    });
    return ParseError(MakeBlob(Kind(BlobType::DATA_TENSOR), info, ""));
  };
  EXPECT_THAT(tensor_error({-1}, 0), HasSubstr("tensor data \"t\": dimension -1 is negative"));
  EXPECT_THAT(tensor_error({0}, 24), HasSubstr("data type 24 is unknown"));
  EXPECT_THAT(tensor_error({1LL << 32, 1LL << 31}, 1), HasSubstr("not below 2^63"));
  EXPECT_EQ(tensor_error({0}, 14), "");
  const InfoBytes unnamed = BuildInfo([](auto& builder) {
    builder.Finish(wire::CreateExecutableInfo(builder, builder.CreateString("")));
  });
  EXPECT_THAT(ParseError(MakeBlob(Kind(BlobType::POPLAR_EXECUTABLE), unnamed, "")),
              HasSubstr("byte 128: name of the executable is empty"));
  EXPECT_THAT(ParseError(MakeBlob(Kind(BlobType::POPLAR_EXECUTABLE), {}, "")),
              HasSubstr("byte 128: info is malformed"));
}

TEST(Format, SharedReferencesCannotFillTheMemory) {
  const InfoBytes info = BuildInfo([](auto& builder) {
    const auto text = builder.CreateString(std::string(10000, 'x'));
    const std::vector options(1000, wire::CreateOption(builder, text, text));
    const auto vector = builder.CreateVector(options);
    builder.Finish(wire::CreateMetadata(builder, 1, 1, 1, text, 1, false, false, text, vector));
  });
  EXPECT_THAT(ParseError(MakeBlob(Kind(BlobType::METADATA), info, "")),
              HasSubstr("larger than the info"));
}

TEST(Format, VerificationIsLazyAndListsAllAlteredPayloads) {
  std::string bytes = MakeContainer();
  const Reader whole = Parse(bytes);
  bytes[whole.blobs()[1].payloadOffset] ^= 1;
  bytes[whole.blobs()[3].payloadOffset + 2] ^= 1;
  const Reader reader = Parse(bytes);
  const std::string error = ErrorOf([&] { reader.verifyPayloads(); });
  EXPECT_THAT(error, HasSubstr("payload hash of POPLAR_EXECUTABLE \"exe\""));
  EXPECT_THAT(error, HasSubstr("byte " + std::to_string(whole.blobs()[3].payloadOffset) +
                               ": payload hash of DATA_TENSOR \"weights\""));
  EXPECT_THROW(reader.executables()[0].verify(), Error);
  EXPECT_THROW(reader.tensors()[0].verify(), Error);
  reader.feeds()[0].verify();
  reader.opaqueBlobs()[0].verify();
}

TEST(Format, FilesThatCannotBeMapped) {
  const testing::TemporaryFolder folder;
  Reader reader;
  EXPECT_EQ(ErrorOf([&] { reader.parseFile(folder.File("a")); }),
            folder.File("a") + ": opening failed: No such file or directory");
  EXPECT_EQ(ErrorOf([&] { reader.parseFile(folder.File("")); }),
            folder.File("") +
                ": a folder, allowed is a PopEF file; give one in it, e.g. executable.popef");
  EXPECT_EQ(ErrorOf([&] { reader.parseFile("/dev/null"); }),
            "/dev/null: not a regular file, allowed is a PopEF file");
  testing::WriteFile(folder.File("b"), "");
  EXPECT_THAT(ErrorOf([&] { reader.parseFile(folder.File("b")); }), HasSubstr("the file is empty"));
}

}  // namespace
}  // namespace popef
