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
       {"poplin::ConvPartial1x1Out", "popops::Reduce", "popops::Transpose2d"}},
      {"attention score",
       2137088,
       {"poplin::ConvPartial1x1Out", "popops::Reduce", "poplar_rt::Copy"}},
      {"attention value", 1794048, {"poplin::ConvPartial1x1Out", "poplar_rt::Copy"}},
      {"softmax",
       2295839,
       {"popops::Reduce<max>", "popops::BroadcastVectorOuter<sub>", "popops::UnaryOp<exp>",
        "popops::Reduce<add>", "popops::UnaryOp<inv>", "popops::Cast",
        "popops::BroadcastVectorOuter<mul>"}},
      {"layernorm",
       2973137,
       {"popops::Reduce<add>", "popops::Reduce<square>", "popops::UnaryOp<ivsd>",
        "popops::BroadcastVectorOuter<sub>", "popops::BroadcastVectorOuter<mul>",
        "popops::BroadcastVectorInner<mul>", "popops::BroadcastVectorInner<add>", "popops::Cast"}},
      {"bias", 380228, {"popops::BroadcastVectorOuter<add>"}},
      {"mask multiply", 367908, {"popops::BroadcastVectorOuter<mul>"}},
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
