#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/kernels/kernel_test_tensors.hpp"

namespace poprt::kernels {
namespace {

using testing::BindError;
using testing::FromValues;
using testing::RandomShape;
using testing::RandomTensor;
using testing::ToValues;
using testing::Values;
using enum ElementType;

TEST(LabelEncoderTest, MatchesAMap) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const ElementType key =
        std::vector<ElementType>{kFloat32, kInt64, kFloat16, kUint8, kFloat64, kInt32}[seed % 6];
    const ElementType value = std::vector<ElementType>{kInt64, kFloat32, kBool, kInt16}[seed % 4];
    const Tensor x = RandomTensor(random, key, RandomShape(random, 6), 0, 40);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + ToString(x.type()));
    std::map<double, double> map;
    for (int i = 0; i < 25; ++i) map[static_cast<double>(random() % 40)] = random() % 2;
    // Of floats only those that are keys are found.
    Values xs = ToValues(x);
    for (double& number : xs) {
      if (random() % 2 == 0) number = std::floor(number);
    }
    Values keys;
    Values values;
    for (const auto& [k, v] : map) {
      keys.push_back(k);
      values.push_back(v);
    }
    const Shape list{static_cast<std::int64_t>(keys.size())};
    const auto found = RunOnce("LabelEncoder",
                               {FromValues(key, x.shape(), xs), FromValues(key, list, keys),
                                FromValues(value, list, values), FromValues(value, {}, {1})},
                               {{value, x.shape()}}, {});
    const Values stored = ToValues(FromValues(key, x.shape(), xs));
    Values expected;
    for (const double number : stored) {
      const auto at = map.find(number);
      expected.push_back(at == map.end() ? 1 : at->second);
    }
    EXPECT_EQ(ToValues(found[0]), expected);
  }
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
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const Pool pool = RandomPool(random);
    if (pool.columns.empty()) continue;
    const std::int64_t rows = random() % 4;
    const std::int64_t extent = random() % 12;
    const bool is_list = seed % 5 == 0;
    const Shape shape = is_list ? Shape{extent} : Shape{rows, extent};
    const Tensor x = RandomTensor(random, seed % 2 == 0 ? kInt32 : kInt64, shape, 0, 5);
    const std::int64_t shortest = 1 + random() % 3;
    const std::int64_t longest = shortest + random() % (4 - static_cast<unsigned>(shortest));
    const std::int64_t most_skipped = random() % 6;
    const std::string mode = std::vector<std::string>{"TF", "IDF", "TFIDF"}[seed % 3];
    const auto columns = static_cast<std::int64_t>(pool.columns.size());
    const auto found = RunOnce("TfIdfVectorizer", {x},
                               {{kFloat32, is_list ? Shape{columns} : Shape{rows, columns}}},
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
    EXPECT_EQ(ToValues(found[0]), expected);
  }
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
