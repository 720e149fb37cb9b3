#include "runtime/kernels/inner_loops.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/kernels/inner_loops_testing.hpp"

namespace poprt::kernels::testing {
namespace {

TEST(InnerLoops, ThePortableOnesComeFirstAndTheFastestLast) {
  const auto supported = SupportedInnerLoops();
  const std::vector<std::string> known{"portable", "avx2", "avx512", "amx"};
  ASSERT_GE(supported.size(), 1U);
  ASSERT_LE(supported.size(), known.size());
  for (std::size_t i = 0; i < supported.size(); ++i) {
    EXPECT_EQ(supported[i]->instruction_set, known[i]);
  }
  EXPECT_EQ(supported.front(), &PortableInnerLoops());
  // Which of them is best is the user's word, if there is one.
  if (std::getenv("POPRT_INSTRUCTION_SET") == nullptr) {
    EXPECT_EQ(supported.back(), &BestInnerLoops());
  }
}

TEST(InnerLoops, EveryInstructionSetHasTheSameElementFunctions) {
  const ElementFunctions& wanted = PortableInnerLoops().element_functions;
  for (const InnerLoops* loops : AllInnerLoops()) {
    SCOPED_TRACE(loops->instruction_set);
    const ElementFunctions& found = loops->element_functions;
    ASSERT_EQ(found.count, wanted.count);
    for (std::int64_t i = 0; i < found.count; ++i) {
      EXPECT_STREQ(found.rows[i].name, wanted.rows[i].name);
      EXPECT_EQ(found.rows[i].operands, wanted.rows[i].operands);
    }
  }
}

}  // namespace
}  // namespace poprt::kernels::testing
