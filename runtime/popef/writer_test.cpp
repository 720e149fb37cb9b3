#include "popef/Writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <span>
#include <sstream>

#include "popef/Reader.hpp"
#include "runtime/popef/example_container.hpp"

namespace popef {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::MakeContainer;
using testing::MakeInfo;
using testing::MakeSmallContainer;
using testing::MakeTensorData;
using testing::ReadFile;
using testing::TemporaryFolder;
using testing::WriteFile;

const TensorDataInfo kThreeBytes = MakeTensorData("t", MakeInfo(DataType::U8, {3}));

TEST(Writer, TheNextBlobDeactivatesTheOneBefore) {
  std::ostringstream out;
  Writer writer(out);
  const auto first = writer.createOpaqueBlob("a", "e");
  first->stream << "one";
  const auto second = writer.createOpaqueBlob("b", "e");
  EXPECT_THAT(ErrorOf([&] { first->write("x", 1); }),
              AllOf(HasSubstr("opaque blob \"a\""), HasSubstr("finished")));
  EXPECT_THROW(first->stream << "more", std::runtime_error);
  EXPECT_THROW(first->stream << "again", std::runtime_error);
  first->close();
  second->stream << "two";
  second->close();
  second->close();
  EXPECT_THROW(second->stream.put('x'), Error);
  writer.close();
  writer.close();
  Reader reader;
  reader.parseStream(std::make_shared<std::istringstream>(out.str()));
  EXPECT_EQ(reader.opaqueBlobs()[0].getAvailableReadSize(), 3U);
}

TEST(Writer, BlobStreamsSeek) {
  std::ostringstream out;
  Writer writer(out);
  const auto blob = writer.createExecutable("e", false);
  blob->stream << "????body";
  EXPECT_EQ(blob->stream.tellp(), std::streampos(8));
  blob->stream.seekp(0);
  blob->stream << "size";
  blob->stream.seekp(0, std::ios::end);
  blob->stream << '!';
  EXPECT_FALSE(blob->stream.seekp(10));
  writer.close();
  Reader reader;
  reader.parseStream(std::make_shared<std::istringstream>(out.str()));
  std::string text;
  std::getline(*reader.executables()[0].getStandaloneExecutableStream(), text);
  EXPECT_EQ(text, "sizebody!");
}

TEST(Writer, AnExecutableInPiecesIsThatInOne) {
  const std::string payload = "head, weights";
  const auto bytes = std::as_bytes(std::span(payload));
  const std::array<std::span<const std::byte>, 3> pieces{bytes.first(5), bytes.subspan(5, 0),
                                                         bytes.subspan(5)};
  std::ostringstream in_pieces;
  Writer writer(in_pieces);
  writer.writeExecutable("e", pieces);
  EXPECT_THAT(ErrorOf([&] { writer.writeExecutable("e", pieces); }), HasSubstr("already"));
  std::ostringstream in_one;
  Writer other(in_one);
  other.createExecutable("e", false)->stream << payload;
  other.close();
  EXPECT_EQ(in_pieces.str(), in_one.str());
}

TEST(Writer, DestructionFinishes) {
  std::ostringstream out;
  std::shared_ptr<BlobWriter> blob;
  {
    Writer writer(out);
    blob = writer.createOpaqueBlob("o", "e");
    blob->stream << "abc";
  }
  EXPECT_EQ(out.str(), MakeSmallContainer());
  EXPECT_THROW(blob->write("x", 1), Error);
  blob->close();
}

TEST(Writer, RefusesPayloadsOfTheWrongSize) {
  for (const std::string data : {"", "ab", "abcd"}) {
    std::ostringstream out;
    Writer writer(out);
    writer.createTensorData(kThreeBytes)->stream << data;
    EXPECT_EQ(ErrorOf([&] { writer.close(); }),
              "tensor data \"t\" has " + std::to_string(data.size()) +
                  " bytes, allowed is exactly 3 by its shape and data type");
    EXPECT_THAT(ErrorOf([&] { writer.close(); }), HasSubstr("earlier blob"));
    EXPECT_EQ(out.str(), "");
  }
  std::ostringstream out;
  Writer writer(out);
  EXPECT_THAT(ErrorOf([&] { writer.writeTensorData(kThreeBytes, {}); }), HasSubstr("has 0 bytes"));
}

TEST(Writer, RefusesBadArguments) {
  std::ostringstream out;
  Writer writer(out);
  EXPECT_THAT(ErrorOf([&] { writer.createExecutable("", false); }), HasSubstr("empty name"));
  EXPECT_THAT(ErrorOf([&] { writer.createOpaqueBlob("", "e"); }), HasSubstr("empty name"));
  EXPECT_THAT(ErrorOf([&] { writer.createOpaqueBlob("o", ""); }), HasSubstr("\"o\""));
  EXPECT_THAT(ErrorOf([&] { writer.createTensorData(MakeTensorData("t", TensorInfo())); }),
              HasSubstr("\"t\" has no data type"));
  EXPECT_THAT(
      ErrorOf([&] { writer.createTensorData(MakeTensorData("t", MakeInfo(DataType::U8, {-2}))); }),
      HasSubstr("dimension -2 is negative"));
  EXPECT_THAT(ErrorOf([&] { writer.write(Metadata()); }), HasSubstr("executable of the metadata"));
  Metadata metadata = testing::MakeMetadata();
  metadata.anchors()[1].setType(static_cast<TensorType>(3));
  EXPECT_THAT(ErrorOf([&] { writer.write(metadata); }), HasSubstr("anchor \"out\" has type 3"));
  // None of these was an error of writing.
  writer.createExecutable("e", false);
  EXPECT_EQ(ErrorOf([&] { writer.createExecutable("e", false); }),
            "POPLAR_EXECUTABLE \"e\" is there already, allowed is one of a name");
  writer.close();
  EXPECT_THAT(ErrorOf([&] { writer.createExecutable("f", false); }), HasSubstr("closed"));
}

TEST(Writer, ReportsAFailingStream) {
  std::ostringstream out;
  Writer writer(out);
  const auto blob = writer.createOpaqueBlob("o", "e");
  out.setstate(std::ios::badbit);
  EXPECT_EQ(ErrorOf([&] { blob->close(); }), "stream: writing failed at byte 0");
  EXPECT_THAT(ErrorOf([&] { Writer other(out); }), HasSubstr("cannot be written"));
}

TEST(FileWriter, CreateReplacesOnClose) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.popef");
  WriteFile(path, "old");
  FileWriter writer(path, FileWriter::Mode::CREATE);
  writer.createOpaqueBlob("o", "e")->stream << "abc";
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(folder.Names().size(), 2U);
  writer.close();
  EXPECT_EQ(ReadFile(path), MakeSmallContainer());
  EXPECT_THAT(folder.Names(), ElementsAre("a.popef"));
}

TEST(FileWriter, CreateLeavesNothingWithoutClose) {
  const TemporaryFolder folder;
  {
    FileWriter writer(folder.File("a.popef"), FileWriter::Mode::CREATE);
    writer.createOpaqueBlob("o", "e")->stream << "abc";
    writer.createOpaqueBlob("p", "e")->stream << "abc";
  }
  EXPECT_THAT(folder.Names(), ElementsAre());
}

TEST(FileWriter, CreateLeavesNothingAfterAnError) {
  const TemporaryFolder folder;
  FileWriter writer(folder.File("a.popef"), FileWriter::Mode::CREATE);
  writer.createTensorData(kThreeBytes)->stream << "ab";
  EXPECT_THROW(writer.close(), Error);
  EXPECT_THAT(folder.Names(), ElementsAre());
  EXPECT_THROW(writer.close(), Error);
  EXPECT_THAT(folder.Names(), ElementsAre());
}

TEST(FileWriter, CreateNamesThePathItCannotWrite) {
  const TemporaryFolder folder;
  const std::string missing = folder.File("no/such/a.popef");
  EXPECT_EQ(ErrorOf([&] { FileWriter(missing, FileWriter::Mode::CREATE); }),
            missing + ": creating a file beside it failed: No such file or directory");
  EXPECT_THAT(ErrorOf([] { FileWriter("/dev/null", FileWriter::Mode::CREATE); }),
              HasSubstr("not a regular file"));
}

TEST(FileWriter, CreateWritesThroughALink) {
  const TemporaryFolder folder;
  WriteFile(folder.File("real"), "old");
  std::filesystem::create_symlink("real", folder.File("link"));
  FileWriter writer(folder.File("link"), FileWriter::Mode::CREATE);
  writer.createOpaqueBlob("o", "e")->stream << "abc";
  writer.close();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.File("link")));
  EXPECT_EQ(ReadFile(folder.File("real")), MakeSmallContainer());
}

TEST(FileWriter, AppendKeepsWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.popef");
  WriteFile(path, MakeContainer());
  {
    FileWriter writer(path, FileWriter::Mode::APPEND);
    writer.createOpaqueBlob("poptorch", "exe")->stream << "added";
    writer.createTensorData(kThreeBytes)->stream << "abc";
  }
  EXPECT_EQ(ReadFile(path).substr(0, MakeContainer().size()), MakeContainer());
  Reader reader;
  reader.parseFile(path);
  ASSERT_EQ(reader.blobs().size(), 7U);
  EXPECT_EQ(reader.opaqueBlobs()[1].name, "poptorch");
  EXPECT_EQ(reader.blobs()[6].alignment, 4096U);
  reader.verifyPayloads();
}

TEST(FileWriter, AppendIsCutBackAfterAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.popef");
  WriteFile(path, MakeContainer());
  {
    FileWriter writer(path, FileWriter::Mode::APPEND);
    writer.createOpaqueBlob("p", "exe")->stream << "added";
    writer.createTensorData(kThreeBytes)->stream << "ab";
    EXPECT_GT(ReadFile(path).size(), MakeContainer().size());
    EXPECT_THROW(writer.close(), Error);
    EXPECT_EQ(ReadFile(path), MakeContainer());
  }
  try {
    FileWriter writer(path, FileWriter::Mode::APPEND);
    writer.createOpaqueBlob("p", "exe")->close();
    throw std::runtime_error("on its way");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(ReadFile(path), MakeContainer());
}

TEST(FileWriter, AppendChecksTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.popef");
  EXPECT_THAT(ErrorOf([&] { FileWriter(path, FileWriter::Mode::APPEND); }),
              HasSubstr("use Mode::CREATE"));
  WriteFile(path, MakeContainer());
  {
    FileWriter writer(path, FileWriter::Mode::APPEND);
    EXPECT_THAT(ErrorOf([&] { writer.createExecutable("exe", false); }), HasSubstr("already"));
    EXPECT_THAT(ErrorOf([&] { writer.createOpaqueBlob("notes", "exe"); }), HasSubstr("already"));
  }
  EXPECT_EQ(ReadFile(path), MakeContainer());
  const std::string cut = MakeContainer().substr(0, 300);
  WriteFile(path, cut);
  EXPECT_THAT(ErrorOf([&] { FileWriter(path, FileWriter::Mode::APPEND); }), HasSubstr("truncated"));
  EXPECT_EQ(ReadFile(path), cut);
}

}  // namespace
}  // namespace popef
