#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/kernel_test_index.hpp"

namespace poprt::kernels {
namespace {

using testing::AnyShape;
using testing::BindError;
using testing::Draw;
using testing::ForSeeds;
using testing::FromValues;
using testing::RandomOperand;
using testing::RandomTensor;
using testing::Run1;
using testing::ToValues;
using testing::Values;
using enum ElementType;

/// The key that equals the element, one after the other; NaN is a key like any other.
TEST(LabelEncoderTest, MatchesAMap) {
  constexpr ElementType kKeys[] = {kFloat32, kInt64, kFloat16,  kUint8, kFloat64,
                                   kInt32,   kInt8,  kBFloat16, kUint64};
  constexpr ElementType kLabels[] = {kInt64, kFloat32, kBool, kInt16};
  ForSeeds(200, [&](std::mt19937& random) {
    const ElementType key = kKeys[random() % 9];
    const ElementType label = kLabels[random() % 4];
    const Shape shape = AnyShape(random);
    Values xs = ToValues(RandomOperand(random, key, shape, 0, 40));
    // Of fractions none is a key.
    for (double& number : xs) {
      if (random() % 2 == 0) number = std::floor(number);
    }
    const Tensor x = FromValues(key, shape, xs);
    Values keys;
    for (int i = 0; i < 40; ++i) {
      if (random() % 2 == 0) keys.push_back(i);
    }
    if (IsFloat(key) && random() % 2 == 0) {
      keys.insert(keys.begin(), -std::numeric_limits<double>::infinity());
      keys.push_back(std::numeric_limits<double>::infinity());
      keys.push_back(std::nan(""));
    }
    const Shape list{static_cast<std::int64_t>(keys.size())};
    const Tensor labels = RandomTensor(random, label, list, 0, 2);
    const Values values = ToValues(labels);
    Values expected;
    for (const double number : ToValues(x)) {
      expected.push_back(1);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const bool both_nan = std::isnan(number) && std::isnan(keys[i]);
        if (number == keys[i] || both_nan) expected.back() = values[i];
      }
    }
    const Tensor found =
        Run1("LabelEncoder", {x, FromValues(key, list, keys), labels, FromValues(label, {}, {1})},
             {label, shape});
    EXPECT_EQ(ToValues(found), expected);
  });
}

TEST(LabelEncoderTest, FindsInfinitiesButNotNan) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = FromValues(kFloat32, {4}, {inf, -inf, std::nan(""), 0.0});
  const auto found = RunOnce("LabelEncoder",
                             {x, FromValues(kFloat32, {3}, {-inf, -0.0, inf}),
                              FromValues(kInt32, {3}, {1, 2, 3}), FromValues(kInt32, {}, {9})},
                             {{kInt32, {4}}}, {});
  EXPECT_EQ(ToValues(found[0]), (Values{3, 1, 9, 2}));
}

TEST(LabelEncoderTest, RefusesWhatDoesNotFit) {
  const auto error = [](TensorType keys, TensorType values, TensorType otherwise) {
    return BindError("LabelEncoder", {{kInt64, {2}}, keys, values, otherwise}, {{kFloat32, {2}}},
                     {});
  };
  EXPECT_EQ(error({kInt64, {3}}, {kFloat32, {3}}, {kFloat32, {}}), "");
  EXPECT_NE(error({kInt32, {3}}, {kFloat32, {3}}, {kFloat32, {}}), "");
  EXPECT_NE(error({kInt64, {}}, {kFloat32, {}}, {kFloat32, {}}), "");
  EXPECT_NE(error({kInt64, {3}}, {kFloat32, {4}}, {kFloat32, {}}), "");
  EXPECT_NE(error({kInt64, {3}}, {kFloat32, {3}}, {kFloat32, {1}}), "");
  EXPECT_NE(error({kInt64, {3}}, {kInt32, {3}}, {kInt32, {}}), "");
}

struct Pool {
  Ints items;
  Ints starts;
  Ints columns;
  Floats weights;
};

/// One and two and three items, each n-gram once.
Pool RandomPool(std::mt19937& random) {
  Pool pool;
  std::int64_t grams = 0;
  for (std::int64_t length = 1; length <= 3; ++length) {
    pool.starts.push_back(static_cast<std::int64_t>(pool.items.size()));
    std::vector<Ints> all(random() % 6, Ints(static_cast<std::size_t>(length)));
    for (Ints& gram : all) {
      for (auto& item : gram) item = random() % 4;
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::shuffle(all.begin(), all.end(), random);
    for (const Ints& gram : all) {
      pool.items.insert(pool.items.end(), gram.begin(), gram.end());
      pool.columns.push_back(grams++);
      pool.weights.push_back(static_cast<float>(random() % 8) / 4);
    }
  }
  std::shuffle(pool.columns.begin(), pool.columns.end(), random);
  return pool;
}

/// Every way to pick an n-gram out of the row, as the specification describes it.
Values Reference(const Values& row, const Pool& pool, std::int64_t shortest, std::int64_t longest,
                 std::int64_t most_skipped, const std::string& mode) {
  Values counts(pool.columns.size());
  std::size_t gram = 0;
  for (std::size_t n = 0; n < pool.starts.size(); ++n) {
    const auto end = n + 1 < pool.starts.size() ? pool.starts[n + 1]
                                                : static_cast<std::int64_t>(pool.items.size());
    const auto length = static_cast<std::int64_t>(n) + 1;
    for (std::int64_t at = pool.starts[n]; at < end; at += length, ++gram) {
      if (length < shortest || length > longest) continue;
      double count = 0;
      for (std::int64_t skipped = 0; skipped <= (length == 1 ? 0 : most_skipped); ++skipped) {
        for (std::int64_t start = 0; start < static_cast<std::int64_t>(row.size()); ++start) {
          bool matches = true;
          for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t from = start + i * (skipped + 1);
            matches = matches && from < static_cast<std::int64_t>(row.size()) &&
                      row[static_cast<std::size_t>(from)] ==
                          static_cast<double>(pool.items[static_cast<std::size_t>(at + i)]);
          }
          count += matches ? 1 : 0;
        }
      }
      const double weight = pool.weights[gram];
      counts[static_cast<std::size_t>(pool.columns[gram])] = mode == "TF" ? count
                                                             : mode == "IDF"
                                                                 ? (count > 0 ? weight : 0)
                                                                 : count * weight;
    }
  }
  return counts;
}

TEST(TfIdfVectorizerTest, MatchesTheDefinition) {
  ForSeeds(200, [](std::mt19937& random) {
    const Pool pool = RandomPool(random);
    const std::int64_t rows = random() % 4;
    const std::int64_t extent = random() % 12;
    const bool is_list = random() % 4 == 0;
    const Shape shape = is_list ? Shape{extent} : Shape{rows, extent};
    // Negative items are in no pool.
    const Tensor x = RandomTensor(random, random() % 2 == 0 ? kInt32 : kInt64, shape, -2, 5);
    const std::int64_t shortest = Draw(random, 1, 3);
    const std::int64_t longest = Draw(random, shortest, 3);
    const std::int64_t most_skipped = random() % 6;
    const std::string mode = std::vector<std::string>{"TF", "IDF", "TFIDF"}[random() % 3];
    const auto columns = static_cast<std::int64_t>(pool.columns.size());
    const Tensor found =
        Run1("TfIdfVectorizer", {x}, {kFloat32, is_list ? Shape{columns} : Shape{rows, columns}},
             {{"pool_int64s", pool.items},
              {"ngram_counts", pool.starts},
              {"ngram_indexes", pool.columns},
              {"weights", pool.weights},
              {"mode", mode},
              {"min_gram_length", shortest},
              {"max_gram_length", longest},
              {"max_skip_count", most_skipped}});
    const Values xs = ToValues(x);
    Values expected;
    for (std::int64_t r = 0; r < (is_list ? 1 : rows); ++r) {
      const Values row(xs.begin() + r * extent, xs.begin() + (r + 1) * extent);
      const Values counts = Reference(row, pool, shortest, longest, most_skipped, mode);
      expected.insert(expected.end(), counts.begin(), counts.end());
    }
    EXPECT_EQ(ToValues(found), expected);
  });
}

TEST(TfIdfVectorizerTest, RefusesWhatDoesNotFit) {
  const auto error = [](Attributes changes, TensorType x = {kInt64, {4}}) {
    Attributes attributes{
        {"pool_int64s", Ints{1, 2, 1, 3}},    {"ngram_counts", Ints{0, 2}},
        {"ngram_indexes", Ints{0, 1, 2}},     {"mode", std::string("TF")},
        {"min_gram_length", std::int64_t{1}}, {"max_gram_length", std::int64_t{2}},
        {"max_skip_count", std::int64_t{0}}};
    for (const auto& [name, value] : changes.entries()) attributes.set(name, value);
    return BindError("TfIdfVectorizer", {x}, {{kFloat32, {3}}}, attributes);
  };
  EXPECT_EQ(error({}), "");
  EXPECT_NE(error({}, {kFloat32, {4}}), "");
  EXPECT_NE(error({}, {kInt64, {}}), "");
  EXPECT_NE(error({{"mode", std::string("tf")}}), "");
  EXPECT_NE(error({{"ngram_indexes", Ints{0, 1}}}), "");
  EXPECT_NE(error({{"ngram_indexes", Ints{0, 1, 3}}}), "");
  EXPECT_NE(error({{"ngram_indexes", Ints{0, 1, -1}}}), "");
  EXPECT_NE(error({{"ngram_counts", Ints{0, 3}}}), "");
  EXPECT_NE(error({{"ngram_counts", Ints{0, 9}}}), "");
  EXPECT_NE(error({{"ngram_counts", Ints{-2, 2}}}), "");
  EXPECT_NE(error({{"pool_int64s", Ints{1, 1, 1, 3}}}), "");
  EXPECT_NE(error({{"max_gram_length", std::int64_t{0}}}), "");
  EXPECT_NE(error({{"max_skip_count", std::int64_t{-1}}}), "");
  EXPECT_NE(error({{"mode", std::string("IDF")}, {"weights", Floats{1}}}), "");
}

}  // namespace
}  // namespace poprt::kernels
