#include "compiler/ops/attribute_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ops/op.hpp"

namespace poprt::ops {
namespace {

using Names = std::vector<std::string>;

std::string BareName(const std::string& op) { return op.substr(op.rfind('.') + 1); }

std::string DomainOf(const std::string& op) {
  const std::size_t dot = op.rfind('.');
  return dot == std::string::npos ? "" : op.substr(0, dot);
}

TEST(AttributeNames, OfAllVersions) {
  EXPECT_EQ(AttributeNames("Relu"), (Names{"consumed_inputs"}));
  EXPECT_EQ(AttributeNames("Clip"), (Names{"consumed_inputs", "max", "min"}));
  EXPECT_EQ(AttributeNames("MatMul"), Names());
  EXPECT_EQ(AttributeNames("Scaler", kMlDomain), (Names{"offset", "scale"}));
  EXPECT_EQ(AttributeNames("Gradient", kTrainingDomain), (Names{"xs", "y", "zs"}));
}

TEST(AttributeNames, UnknownOperators) {
  EXPECT_EQ(AttributeNames("Scaler"), std::nullopt);
  EXPECT_EQ(AttributeNames("Relu", kMlDomain), std::nullopt);
  EXPECT_EQ(AttributeNames(""), std::nullopt);
  EXPECT_EQ(AttributeNames("Zzz"), std::nullopt);
}

TEST(AttributeNames, Sorted) {
  const Names ops = OpsWithAttributeNames();
  EXPECT_TRUE(std::is_sorted(ops.begin(), ops.end(), [](const auto& a, const auto& b) {
    return BareName(a) < BareName(b);
  }));
  for (const std::string& op : ops) {
    const auto names = AttributeNames(BareName(op), DomainOf(op));
    ASSERT_TRUE(names) << op;
    EXPECT_TRUE(std::is_sorted(names->begin(), names->end())) << op;
    EXPECT_EQ(std::adjacent_find(names->begin(), names->end()), names->end()) << op;
  }
}

TEST(AttributeNames, OfAllRowsAreListed) {
  for (const OpDef& op : AllOps()) {
    EXPECT_EQ(AttributeNames(op.name, op.domain).has_value(), op.since <= kNewestOpset) << op.name;
  }
}

}  // namespace
}  // namespace poprt::ops
