#include "runtime/tensor/attributes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace poprt {
namespace {

TEST(AttributesTest, KeepsNamesInOrder) {
  const Attributes attributes{{"pads", Ints{1, 2}},
                              {"axis", std::int64_t{3}},
                              {"names", Strings{"a", ""}},
                              {"scales", Floats{1, 0.5F}}};
  ASSERT_EQ(attributes.entries().size(), 4U);
  EXPECT_EQ(ToString(attributes.entries()[0]), "axis=3");
  EXPECT_EQ(ToString(attributes.entries()[1]), "names=[\"a\", \"\"]");
  EXPECT_EQ(ToString(attributes.entries()[2]), "pads=[1, 2]");
  EXPECT_EQ(ToString(attributes.entries()[3]), "scales=[1, 0.5]");
}

TEST(AttributesTest, ReturnsDefaultOrValue) {
  const Attributes attributes{{"axis", std::int64_t{3}}};
  EXPECT_EQ(attributes.get_int("axis", 0), 3);
  EXPECT_EQ(attributes.get_int("group", 1), 1);
}

TEST(AttributesTest, NamesTheAttributeOfWrongType) {
  const Attributes attributes{{"axis", 1.5F}};
  try {
    attributes.get_int("axis", 0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "attribute 'axis' is not an integer");
  }
}

}  // namespace
}  // namespace poprt
