// Round trips: what is written is read back, from files and from streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "popef/Model.hpp"
#include "popef/Reader.hpp"
#include "popef/Writer.hpp"
#include "runtime/popef/example_container.hpp"

namespace popef {
namespace {

using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace): popef::testing, for brevity

std::string All(std::istream& in) {
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string Text(const PayloadReader& reader) {
  const PayloadView view = reader.view();
  return {reinterpret_cast<const char*>(view.data), view.size};
}

Reader Parse(const std::string& bytes) {
  Reader reader;
  reader.parseStream(std::make_shared<std::istringstream>(bytes));
  return reader;
}

void ExpectExample(const Reader& reader) {
  ASSERT_EQ(reader.metadata().size(), 1U);
  EXPECT_EQ(reader.metadata()[0], MakeMetadata());
  ASSERT_EQ(reader.executables().size(), 1U);
  EXPECT_EQ(reader.executables()[0].name, "exe");
  EXPECT_EQ(Text(reader.executables()[0]), "program");
  EXPECT_EQ(reader.executables()[0].getAvailableReadSize(), 7U);
  EXPECT_EQ(All(*reader.executables()[0].getStandaloneExecutableStream()), "program");
  ASSERT_EQ(reader.opaqueBlobs().size(), 1U);
  EXPECT_EQ(reader.opaqueBlobs()[0].name, "notes");
  EXPECT_EQ(reader.opaqueBlobs()[0].executable, "exe");
  EXPECT_EQ(All(*reader.opaqueBlobs()[0].getStandaloneDataStream()), "hello");
  ASSERT_EQ(reader.tensors().size(), 1U);
  EXPECT_EQ(reader.tensors()[0].info, MakeTensorData("weights", MakeInfo(DataType::U8, {3})));
  EXPECT_EQ(Text(reader.tensors()[0]), "\7\10\11");
  ASSERT_EQ(reader.feeds().size(), 1U);
  EXPECT_EQ(reader.feeds()[0].info, MakeFeedData("in", MakeInfo(DataType::F32, {2, 3}), 2));
  float eleventh = 0;
  ASSERT_EQ(reader.feeds()[0].getAvailableReadSize(), 48U);
  std::memcpy(&eleventh, reader.feeds()[0].view().data + 11 * sizeof(float), sizeof(float));
  EXPECT_EQ(eleventh, 11.0F);
  reader.verifyPayloads();
}

TEST(Container, RoundTripThroughAStream) { ExpectExample(Parse(MakeContainer())); }

TEST(Container, RoundTripThroughAFile) {
  const TemporaryFolder folder;
  WriteFile(folder.File("a.popef"), MakeContainer());
  Reader reader;
  reader.parseFile(folder.File("a.popef"));
  ExpectExample(reader);
  EXPECT_EQ(reader.blobs()[0].file, folder.File("a.popef"));
}

TEST(Container, RoundTripCompressed) {
  const Reader reader = Parse(MakeContainer(true));
  ExpectExample(reader);
  EXPECT_TRUE(reader.executables()[0].compressed());
  EXPECT_TRUE(reader.blobs()[1].compressed);
  EXPECT_EQ(reader.blobs()[1].uncompressedSize, 7U);
}

TEST(Container, CompressionOfLargeAndEmptyExecutables) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{3} << 20}) {
    std::ostringstream out;
    Writer writer(out);
    writer.createExecutable("e", true)->stream << std::string(size, 'x');
    writer.close();
    EXPECT_LT(out.str().size(), 16384U);
    const Reader reader = Parse(out.str());
    EXPECT_EQ(Text(reader.executables()[0]), std::string(size, 'x'));
  }
}

TEST(Container, EmptyPayloads) {
  std::ostringstream out;
  Writer writer(out);
  writer.createExecutable("e", false);
  writer.createTensorData(MakeTensorData("t", MakeInfo(DataType::F32, {0, 5})));
  writer.createFeedData(MakeFeedData("f", MakeInfo(DataType::F32, {5}), 0));
  writer.createOpaqueBlob("o", "e");
  writer.close();
  const Reader reader = Parse(out.str());
  EXPECT_EQ(reader.blobs().size(), 4U);
  EXPECT_EQ(Text(reader.tensors()[0]), "");
  EXPECT_EQ(reader.tensors()[0].data.get(), std::char_traits<char>::eof());
  reader.verifyPayloads();
}

TEST(Container, TheSameCallsGiveTheSameBytes) {
  EXPECT_EQ(MakeContainer(), MakeContainer());
  EXPECT_EQ(MakeContainer(true), MakeContainer(true));
}

TEST(Container, WriteTensorDataGivesTheBytesOfCreateTensorData) {
  const auto info = MakeTensorData("t", MakeInfo(DataType::U8, {3}));
  std::ostringstream direct;
  std::ostringstream streamed;
  Writer direct_writer(direct);
  direct_writer.writeTensorData(info, std::as_bytes(std::span("abc", 3)));
  Writer streamed_writer(streamed);
  streamed_writer.createTensorData(info)->stream << "abc";
  streamed_writer.close();
  EXPECT_EQ(direct.str(), streamed.str());
}

TEST(Container, BlobsAccumulateAndReadersOutliveTheReader) {
  const TemporaryFolder folder;
  WriteFile(folder.File("a"), MakeContainer());
  std::vector<TensorReader> kept;
  {
    Reader reader;
    reader.parseFile(folder.File("a"));
    reader.parseStream(std::make_shared<std::istringstream>(MakeSmallContainer()));
    EXPECT_EQ(reader.opaqueBlobs().size(), 2U);
    EXPECT_EQ(reader.blobs().size(), 6U);
    kept = reader.tensors();
  }
  EXPECT_EQ(Text(kept[0]), "\7\10\11");
  EXPECT_EQ(All(kept[0].data), "\7\10\11");
}

TEST(Container, FilesPutTogetherAreAFile) {
  const Reader reader = Parse(MakeSmallContainer() + MakeContainer());
  ASSERT_EQ(reader.blobs().size(), 6U);
  EXPECT_EQ(reader.blobs()[1].offset, MakeSmallContainer().size());
  EXPECT_EQ(reader.blobs()[4].alignment, 256U) << "the first file has 256 bytes";
  EXPECT_EQ(Text(reader.tensors()[0]), "\7\10\11");
}

TEST(Container, AStreamMayBeReadInPart) {
  const std::string bytes = MakeSmallContainer();
  auto in = std::make_shared<std::istringstream>("skipped" + bytes + "rest");
  in->ignore(7);
  Reader reader;
  reader.parseStream(in, bytes.size());
  EXPECT_EQ(All(reader.opaqueBlobs()[0].data), "abc");
  EXPECT_EQ(All(*in), "rest");
  EXPECT_EQ(
      ErrorOf([&] { reader.parseStream(std::make_shared<std::istringstream>("x"), 1 << 30); }),
      "stream: the stream ends after 1 bytes, asked for were 1073741824");
  EXPECT_THAT(ErrorOf([&] { reader.parseStream(nullptr); }), HasSubstr("none given"));
}

TEST(Container, DataStreamsSeekAndCopiesStartAtZero) {
  const Reader reader = Parse(MakeContainer());
  const OpaqueReader& opaque = reader.opaqueBlobs()[0];
  opaque.data.seekg(-2, std::ios::end);
  EXPECT_EQ(opaque.data.tellg(), std::streampos(3));
  EXPECT_EQ(opaque.data.get(), 'l');
  OpaqueReader copy = opaque;
  EXPECT_EQ(All(copy.data), "hello");
  EXPECT_EQ(opaque.data.get(), 'o');
  const auto standalone = opaque.getStandaloneDataStream();
  standalone->seekg(1);
  EXPECT_EQ(standalone->get(), 'e');
  EXPECT_FALSE(standalone->seekg(6));
  standalone->clear();
  EXPECT_FALSE(standalone->seekg(std::numeric_limits<std::streamoff>::min(), std::ios::cur));
}

TEST(Container, TheBlobTable) {
  const std::string bytes = MakeContainer();
  const Reader reader = Parse(bytes);
  const auto& blobs = reader.blobs();
  ASSERT_EQ(blobs.size(), 5U);
  const std::vector<std::string> names = {"exe", "exe", "notes", "weights", "in"};
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    EXPECT_EQ(blobs[i].name, names[i]);
    EXPECT_EQ(blobs[i].offset, offset);
    EXPECT_EQ(blobs[i].infoOffset, offset + 128);
    EXPECT_EQ(blobs[i].versionMajor, 1);
    EXPECT_FALSE(blobs[i].compressed);
    offset += blobs[i].totalSize;
  }
  EXPECT_EQ(offset, bytes.size());
  for (const std::size_t page : {1U, 3U, 4U}) {
    EXPECT_EQ(blobs[page].alignment, 4096U);
    EXPECT_EQ(blobs[page].payloadOffset % 4096, 0U);
  }
  EXPECT_EQ(blobs[3].type, BlobType::DATA_TENSOR);
  EXPECT_EQ(blobs[3].payloadSize, 3U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reader.tensors()[0].view().data) % 4096, 0U);
}

TEST(Container, ManyBlobs) {
  std::ostringstream out;
  Writer writer(out);
  for (int i = 0; i < 500; ++i) {
    writer.createTensorData(MakeTensorData(std::to_string(i), MakeInfo(DataType::U16, {})))
        ->write("xy", 2);
  }
  writer.close();
  const Reader reader = Parse(out.str());
  ASSERT_EQ(reader.tensors().size(), 500U);
  EXPECT_EQ(reader.tensors()[499].info.name(), "499");
}

}  // namespace
}  // namespace popef
