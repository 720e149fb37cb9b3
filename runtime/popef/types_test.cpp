#include "popef/Types.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "popef/Format.hpp"
#include "runtime/popef/example_container.hpp"

namespace popef {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::MakeInfo;

TEST(Types, ElementSizesFollowTheNumbersOfTheFormat) {
  const std::array<std::int64_t, 24> sizes = {1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8,
                                              8, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sizeInBytes(static_cast<DataType>(i)), sizes[i]) << i;
  }
  EXPECT_THAT(ErrorOf([] { sizeInBytes(static_cast<DataType>(24)); }), HasSubstr("0 to 23"));
}

TEST(Types, SizeOfATensor) {
  EXPECT_EQ(MakeInfo(DataType::F64, {}).sizeInBytes(), 8);
  EXPECT_EQ(MakeInfo(DataType::F16, {1}).sizeInBytes(), 2);
  EXPECT_EQ(MakeInfo(DataType::S32, {2, 3, 5}).sizeInBytes(), 120);
  EXPECT_EQ(MakeInfo(DataType::S32, {1LL << 62, 0, 1LL << 62}).sizeInBytes(), 0);
  EXPECT_EQ(TensorInfo().sizeInBytes(), 0);
  const auto size = MakeInfo(DataType::U8, {std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(size.sizeInBytes(), std::numeric_limits<std::int64_t>::max());
}

TEST(Types, SizeRefusesOverflowAndNegativeDimensions) {
  EXPECT_THAT(ErrorOf([] { MakeInfo(DataType::F32, {1LL << 61}).sizeInBytes(); }),
              HasSubstr("shape [2305843009213693952] is not below 2^63"));
  EXPECT_THAT(ErrorOf([] {
                MakeInfo(DataType::F32, {0, -1}).sizeInBytes();
              }),
              HasSubstr("dimension -1 is negative"));
  EXPECT_THAT(
      ErrorOf([] {
        testing::MakeFeedData("f", MakeInfo(DataType::U8, {1LL << 40}), 1U << 24).sizeInBytes();
      }),
      HasSubstr("2^63"));
}

TEST(Types, MutableGettersChangeInPlace) {
  Anchor anchor;
  anchor.tensorInfo().shape() = {4};
  anchor.tensorInfo().setDataType(DataType::S8);
  anchor.programs().push_back(3);
  EXPECT_EQ(anchor.tensorInfo(), MakeInfo(DataType::S8, {4}));
  EXPECT_NE(anchor.tensorInfo(), MakeInfo(DataType::U8, {4}));
  EXPECT_EQ(anchor.programs(), std::vector<Anchor::ProgramsType>{3});
}

TEST(Types, TextThroughFmt) {
  EXPECT_EQ(fmt::format("{} {} {}", DataType::F8143, BlobType::DATA_FEED, TensorType::OUTPUT),
            "F8143 DATA_FEED OUTPUT");
  EXPECT_EQ(fmt::format("{}", static_cast<BlobType>(17)), "?17");
  const Metadata metadata = testing::MakeMetadata();
  EXPECT_EQ(fmt::format("{}", metadata.anchors()[0]),
            "{ name: \"in\", type: INPUT, tensorInfo: { dtype: F32, sizeInBytes: 24, shape: [2, 3] "
            "}, programs: [5], handle: \"h2d_in\", isPerReplica: true, useRemoteBuffers: true, "
            "repeats: 9 }");
  EXPECT_THAT(fmt::format("{}", metadata),
              HasSubstr("programsMap: {0: \"load\", 5: \"main\", 7: \"save\"}"));
  EXPECT_EQ(fmt::format("{}", TensorInfo()), "{ dtype: unknown }");
}

}  // namespace
}  // namespace popef
