#include "compiler/ipu/memory/codelet_bytes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace poprt::ipu {
namespace {

/// Vertex code of an operator of BERT-large's first layer (section 3.5), and the tiles that have it
/// where its state and control code tell: a bias has 28 bytes of the latter on each, 35,840 in all.
struct PublishedOperator {
  std::string name;
  std::uint64_t bytes;
  std::uint64_t tiles;
  std::vector<std::string> codelets;
};

TEST(CodeletBytesTest, OperatorsOfBertLarge) {
  const std::vector<PublishedOperator> operators = {
      {"dense matmul",
       2372928,
       1472,
       {"poplin::ConvPartial1x1Out<half,half,16>", "poplin::ReduceAdd",
        "poplar_rt::DstVectorMemcpy"}},
      {"attention score",
       2137088,
       1280,
       {"poplin::ConvPartial1x1Out<half,half,16>", "poplin::ReduceAdd",
        "poplar_rt::StridedCopy<64bit>"}},
      {"attention value",
       1794048,
       1280,
       {"poplin::ConvPartial1x1Out<half,half,16>", "poplar_rt::StridedCopy<64bit>"}},
      {"softmax",
       2295839,
       1472,
       {"popops::Reduce<MAX,half,half>", "popops::BroadcastVectorOuterByRow<SUBTRACT>",
        "popops::UnaryOp<EXP>", "popops::Reduce<ADD,half,float>", "popops::UnaryOp<INVERSE>",
        "popops::Cast<float,half>", "popops::BroadcastVectorOuterByRow<MULTIPLY>"}},
      {"layernorm",
       2973137,
       1472,
       {"popops::Reduce<ADD,half,half>", "popops::Reduce<SQUARE_ADD,half,float>",
        "popops::Reduce<ADD,float,half>", "popops::UnaryOp<VARIANCE_TO_INVERSE_STD_DEV>",
        "popops::BroadcastVectorOuterByRow<SUBTRACT>",
        "popops::BroadcastVectorOuterByRow<MULTIPLY>",
        "popops::BroadcastVectorOuterByColumn<MULTIPLY>",
        "popops::BroadcastVectorOuterByColumn<ADD>", "popops::Cast<float,half>"}},
      {"bias", 235872, 1280, {"popops::BroadcastVectorOuterByColumn<ADD>"}},
      {"mask", 207360, 1280, {"popops::BroadcastVectorOuterByColumn<ADD>"}},
      {"scale", 367908, 1280, {"popops::BroadcastScalar<MULTIPLY>"}},
      {"residual", 380228, 1456, {"popops::BinaryOp<ADD>"}},
      {"positions", 1090560, 1280, {"popops::MultiSlice"}},
  };
  for (const PublishedOperator& op : operators) {
    std::uint64_t bytes = 0;
    for (const std::string& codelet : op.codelets) bytes += CodeletBytes(codelet);
    EXPECT_NEAR(
        static_cast<double>(bytes) * static_cast<double>(op.tiles) / static_cast<double>(op.bytes),
        1.0, 0.10)
        << op.name;
  }
}

TEST(CodeletBytesTest, UnknownCodeletsAreElementwise) {
  EXPECT_EQ(CodeletBytes("popops::UnaryOp<relu>"), 200U);
  EXPECT_EQ(CodeletBytes(""), 0U);
}

}  // namespace
}  // namespace poprt::ipu
