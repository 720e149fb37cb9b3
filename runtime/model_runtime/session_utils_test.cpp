#include <gtest/gtest.h>

#include "model_runtime/SessionUtils.hpp"

namespace model_runtime {
namespace {

using enum AnchorCallbackPolicy;

popef::Anchor AnchorOf(const std::vector<std::uint32_t>& programs) {
  popef::Anchor anchor;
  anchor.setPrograms(programs);
  return anchor;
}

popef::ProgramFlow Flow() {
  popef::ProgramFlow flow;
  flow.setLoad({0});
  flow.setMain({5, 6});
  flow.setSave({7});
  return flow;
}

TEST(SessionUtilsTest, SelectsByProgramFlow) {
  const AnchorCallbackPredicate main = predicate_factory::predProgramFlowMain(Flow());
  EXPECT_EQ(main(AnchorOf({0, 6})), BIND_USER_CB);
  EXPECT_EQ(main(AnchorOf({0, 7})), BIND_EMPTY_CB);
  EXPECT_EQ(main(AnchorOf({})), BIND_EMPTY_CB);
  using namespace predicate_factory::anchor_callbacks;
  EXPECT_EQ(predProgramFlowLoad(Flow(), SKIP_CB, BIND_USER_CB)(AnchorOf({0})), SKIP_CB);
  EXPECT_EQ(predProgramFlowSave(Flow(), SKIP_CB, BIND_USER_CB)(AnchorOf({0})), BIND_USER_CB);
}

TEST(SessionUtilsTest, SelectsAnchorsWithoutPrograms) {
  const AnchorCallbackPredicate predicate = predicate_factory::predProgramNotAssigned();
  EXPECT_EQ(predicate(AnchorOf({})), BIND_USER_CB);
  EXPECT_EQ(predicate(AnchorOf({5})), BIND_EMPTY_CB);
}

TEST(SessionUtilsTest, OrBindAcceptsWhatOneAccepts) {
  static constexpr auto accept = BIND_USER_CB;
  static constexpr auto reject = SKIP_CB;
  using namespace predicate_factory::anchor_callbacks;
  const AnchorCallbackPredicate predicate =
      orBind(accept, reject, predProgramFlowMain(Flow(), accept, reject),
             predProgramNotAssigned(accept, reject));
  EXPECT_EQ(predicate(AnchorOf({6})), BIND_USER_CB);
  EXPECT_EQ(predicate(AnchorOf({})), BIND_USER_CB);
  EXPECT_EQ(predicate(AnchorOf({7})), SKIP_CB);
  EXPECT_EQ(
      orBind(accept, reject, [](const popef::Anchor&) { return BIND_EMPTY_CB; })(AnchorOf({})),
      SKIP_CB);
}

}  // namespace
}  // namespace model_runtime
