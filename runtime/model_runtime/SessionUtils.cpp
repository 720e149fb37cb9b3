#include "model_runtime/SessionUtils.hpp"

#include <algorithm>
#include <utility>

namespace model_runtime::predicate_factory::anchor_callbacks {
namespace {

using Programs = std::vector<popef::ProgramFlow::ProgramIndexType>;

AnchorCallbackPredicate TransferredBy(Programs programs, AnchorCallbackPolicy accept,
                                      AnchorCallbackPolicy reject) {
  return [programs = std::move(programs), accept, reject](const popef::Anchor& anchor) {
    return std::ranges::find_first_of(anchor.programs(), programs) != anchor.programs().end()
               ? accept
               : reject;
  };
}

}  // namespace

AnchorCallbackPredicate predProgramFlowMain(const popef::ProgramFlow& flow,
                                            AnchorCallbackPolicy accept,
                                            AnchorCallbackPolicy reject) {
  return TransferredBy(flow.main(), accept, reject);
}

AnchorCallbackPredicate predProgramFlowLoad(const popef::ProgramFlow& flow,
                                            AnchorCallbackPolicy accept,
                                            AnchorCallbackPolicy reject) {
  return TransferredBy(flow.load(), accept, reject);
}

AnchorCallbackPredicate predProgramFlowSave(const popef::ProgramFlow& flow,
                                            AnchorCallbackPolicy accept,
                                            AnchorCallbackPolicy reject) {
  return TransferredBy(flow.save(), accept, reject);
}

AnchorCallbackPredicate predProgramNotAssigned(AnchorCallbackPolicy accept,
                                               AnchorCallbackPolicy reject) {
  return [accept, reject](const popef::Anchor& anchor) {
    return anchor.programs().empty() ? accept : reject;
  };
}

AnchorCallbackPredicate orBind(AnchorCallbackPolicy accept, AnchorCallbackPolicy reject,
                               std::vector<AnchorCallbackPredicate> predicates) {
  return [predicates = std::move(predicates), accept, reject](const popef::Anchor& anchor) {
    const auto accepts = [&](const AnchorCallbackPredicate& predicate) {
      return predicate && predicate(anchor) == accept;
    };
    return std::ranges::any_of(predicates, accepts) ? accept : reject;
  };
}

}  // namespace model_runtime::predicate_factory::anchor_callbacks
