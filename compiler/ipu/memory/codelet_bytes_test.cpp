#include "compiler/ipu/memory/codelet_bytes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace poprt::ipu {
namespace {

/// Vertex code of an operator of BERT-large's first layer over 1,472 tiles (section 3.5).
struct PublishedOperator {
  std::string name;
  std::uint64_t bytes;
  std::vector<std::string> codelets;
};

TEST(CodeletBytesTest, OperatorsOfBertLarge) {
  const std::vector<PublishedOperator> operators = {
      {"dense matmul",
       2372928,
       {"poplin::ConvPartial1x1Out", "poplin::ReduceAdd", "popops::Transpose2d"}},
      {"attention score",
       2137088,
       {"poplin::ConvPartial1x1Out", "poplin::ReduceAdd", "poplar_rt::StridedCopy<64bit>"}},
      {"attention value", 1794048, {"poplin::ConvPartial1x1Out", "poplar_rt::StridedCopy<64bit>"}},
      {"softmax",
       2295839,
       {"popops::Reduce<MAX,half,half>", "popops::BroadcastVectorOuterByRow<SUBTRACT>",
        "popops::UnaryOp<EXP>", "popops::Reduce<ADD,half,float>", "popops::UnaryOp<INVERSE>",
        "popops::Cast<float,half>", "popops::BroadcastVectorOuterByRow<MULTIPLY>"}},
      {"layernorm",
       2973137,
       {"popops::Reduce<ADD,half,half>", "popops::Reduce<SQUARE_ADD,half,float>",
        "popops::Reduce<ADD,float,half>", "popops::UnaryOp<VARIANCE_TO_INVERSE_STD_DEV>",
        "popops::BroadcastVectorOuterByRow<SUBTRACT>",
        "popops::BroadcastVectorOuterByRow<MULTIPLY>",
        "popops::BroadcastVectorOuterByColumn<MULTIPLY>",
        "popops::BroadcastVectorOuterByColumn<ADD>", "popops::Cast<float,half>"}},
      {"bias", 235872, {"popops::BroadcastVectorOuterByColumn<ADD>"}},
      {"mask", 207360, {"popops::BroadcastVectorOuterByColumn<ADD>"}},
      {"scale", 367908, {"popops::BroadcastScalar<MULTIPLY>"}},
      {"residual", 380228, {"popops::BinaryOp<ADD>"}},
      {"gather", 1180000, {"popops::MultiSlice"}},
  };
  for (const PublishedOperator& op : operators) {
    std::uint64_t bytes = 0;
    for (const std::string& codelet : op.codelets) bytes += CodeletBytes(codelet);
    EXPECT_NEAR(static_cast<double>(bytes) * 1472 / static_cast<double>(op.bytes), 1.0, 0.10)
        << op.name;
  }
}

TEST(CodeletBytesTest, UnknownCodeletsAreElementwise) {
  EXPECT_EQ(CodeletBytes("popops::UnaryOp<relu>"), 200U);
  EXPECT_EQ(CodeletBytes(""), 0U);
}

}  // namespace
}  // namespace poprt::ipu
