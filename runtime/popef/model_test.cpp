#include "popef/Model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "popef/Writer.hpp"
#include "runtime/popef/example_container.hpp"

namespace popef {
namespace {

using ::testing::AllOf;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::MakeInfo;
using testing::MakeTensorData;

template <typename Write>
std::shared_ptr<Reader> ReaderOf(const Write& write) {
  auto stream = std::make_shared<std::stringstream>();
  Writer writer(*stream);
  write(writer);
  writer.close();
  auto reader = std::make_shared<Reader>();
  reader->parseStream(stream);
  return reader;
}

TEST(Model, HoldsEverythingOfTheReader) {
  auto reader = std::make_shared<Reader>();
  reader->parseStream(std::make_shared<std::istringstream>(testing::MakeContainer()));
  std::shared_ptr<Model> model = ModelBuilder(reader).createModel();
  reader.reset();
  EXPECT_EQ(model->metadata, testing::MakeMetadata());
  EXPECT_EQ(model->executable.name, "exe");
  EXPECT_EQ(model->executable.view().size, 7U);
  EXPECT_EQ(model->tensors[0].info.name(), "weights");
  EXPECT_EQ(model->feeds[0].info.numTensors(), 2U);
  EXPECT_EQ(model->opaques[0].name, "notes");
}

TEST(Model, NeedsOneExecutableAndOneMetadata) {
  EXPECT_THAT(ErrorOf([] { ModelBuilder(nullptr); }), HasSubstr("no reader"));
  EXPECT_EQ(ErrorOf([] { ModelBuilder(std::make_shared<Reader>()).createModel(); }),
            "the files read hold 0 blobs of kind POPLAR_EXECUTABLE, allowed is exactly 1; read the "
            "file that holds it as well\n"
            "the files read hold 0 blobs of kind METADATA, allowed is exactly 1; read the file "
            "that holds it as well");
  const auto reader = ReaderOf([](Writer& writer) {
    writer.write(testing::MakeMetadata());
    writer.createExecutable("exe", false);
    writer.createExecutable("other", false);
  });
  EXPECT_THAT(
      ErrorOf([&] { ModelBuilder(reader).createModel(); }),
      AllOf(HasSubstr("2 blobs of kind POPLAR_EXECUTABLE"), HasSubstr("POPLAR_EXECUTABLE \"exe\""),
            HasSubstr("POPLAR_EXECUTABLE \"other\"")));
}

TEST(Model, ListsAllViolations) {
  Metadata metadata = testing::MakeMetadata();
  metadata.setExecutable("gone");
  metadata.anchors().push_back(metadata.anchors()[0]);
  const auto reader = ReaderOf([&](Writer& writer) {
    writer.write(metadata);
    writer.createExecutable("exe", false);
    writer.createOpaqueBlob("notes", "lost");
    writer.createTensorData(MakeTensorData("weights", MakeInfo(DataType::S8, {3})))
        ->write("abc", 3);
    writer.createTensorData(MakeTensorData("unnamed", MakeInfo(DataType::S8, {})))->write("a", 1);
  });
  EXPECT_EQ(
      ErrorOf([&] { ModelBuilder(reader).createModel(); }),
      "stream: byte 0: METADATA \"gone\" refers to executable \"gone\", which no file read "
      "holds\n"
      "stream: byte 4096: OPAQUE \"notes\" refers to executable \"lost\", which no file read "
      "holds\n"
      "stream: byte 0: METADATA \"gone\": anchor \"in\" of type INPUT is there twice, allowed "
      "is once\n"
      "stream: byte 4288: DATA_TENSOR \"weights\" is { dtype: S8, sizeInBytes: 3, shape: [3] "
      "}, allowed by its anchor is { dtype: U8, sizeInBytes: 3, shape: [3] }");
}

TEST(Model, TensorDataMayHaveAShapeOfItsOwn) {
  const auto reader = ReaderOf([](Writer& writer) {
    writer.write(testing::MakeMetadata());
    writer.createExecutable("exe", false);
    writer.createTensorData(MakeTensorData("weights", MakeInfo(DataType::U8, {1, 3})))
        ->write("abc", 3);
  });
  EXPECT_EQ(ModelBuilder(reader).createModel()->tensors.size(), 1U);
}

}  // namespace
}  // namespace popef
