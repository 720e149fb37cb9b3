#include <gtest/gtest.h>

#include "compiler/ops/infer_text.hpp"

namespace poprt::ops {
namespace {

TEST(MlOps, LabelEncoder) {
  EXPECT_EQ(InferText("LabelEncoder", {I64({2, 3}), I64({5}), F32({5}), F32({})}), "float32[2, 3]");
  EXPECT_NE(InferText("LabelEncoder", {I64({2}), I32({5}), F32({5}), F32({})}), "float32[2]");
  EXPECT_NE(InferText("LabelEncoder", {I64({2}), I64({5}), F32({4}), F32({})}), "float32[2]");
  EXPECT_NE(InferText("LabelEncoder", {I64({2}), I64({5}), F32({5}), F32({1})}), "float32[2]");
  EXPECT_NE(InferText("LabelEncoder", {I64({2}), I64({5}), F32({5}), F16({})}), "float32[2]");
  EXPECT_NE(InferText("LabelEncoder", {I64({2}), I64({}), F32({}), F32({})}), "float32[2]");
}

std::string TfIdfText(TensorType data, const Ints& columns, const std::string& mode = "TF") {
  return InferText("TfIdfVectorizer", {std::move(data)},
                   {{"pool_int64s", Ints{1, 2}},
                    {"ngram_counts", Ints{0}},
                    {"ngram_indexes", columns},
                    {"mode", mode},
                    {"min_gram_length", std::int64_t{1}},
                    {"max_gram_length", std::int64_t{1}},
                    {"max_skip_count", std::int64_t{0}}});
}

TEST(MlOps, TfIdfVectorizer) {
  EXPECT_EQ(TfIdfText(I64({2, 9}), {0, 4}), "float32[2, 5]");
  EXPECT_EQ(TfIdfText(I32({0}), {1, 0}), "float32[2]");
  EXPECT_EQ(TfIdfText(I64({1, 2, 3}), {0, 1}),
            "input 0 is int64[1, 2, 3], it must have the shape [C] or [N, C]");
  EXPECT_EQ(TfIdfText(I64({3}), {0, -1}),
            "attribute 'ngram_indexes' has -1, which is no position in the output");
  EXPECT_NE(TfIdfText(I64({3}), {0, 1}, "BM25"), "float32[2]");
  EXPECT_NE(TfIdfText(F32({3}), {0, 1}), "float32[2]");
  EXPECT_NE(TfIdfText(U8({3}), {0, 1}), "float32[2]");
}

}  // namespace
}  // namespace poprt::ops
