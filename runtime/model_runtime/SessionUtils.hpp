#pragma once

#include <utility>
#include <vector>

#include "model_runtime/SessionConfig.hpp"
#include "popef/Types.hpp"

/// Predicates for SessionConfig and Session::createQueueManager. They keep copies of what they are
/// made of. Thread-safe.
namespace model_runtime::predicate_factory {

namespace anchor_callbacks {

/// `accept` for anchors that a main program of the flow transfers, `reject` for others.
AnchorCallbackPredicate predProgramFlowMain(
    const popef::ProgramFlow& flow,
    AnchorCallbackPolicy accept = AnchorCallbackPolicy::BIND_USER_CB,
    AnchorCallbackPolicy reject = AnchorCallbackPolicy::BIND_EMPTY_CB);
/// The same for load and save programs.
AnchorCallbackPredicate predProgramFlowLoad(
    const popef::ProgramFlow& flow,
    AnchorCallbackPolicy accept = AnchorCallbackPolicy::BIND_USER_CB,
    AnchorCallbackPolicy reject = AnchorCallbackPolicy::BIND_EMPTY_CB);
AnchorCallbackPredicate predProgramFlowSave(
    const popef::ProgramFlow& flow,
    AnchorCallbackPolicy accept = AnchorCallbackPolicy::BIND_USER_CB,
    AnchorCallbackPolicy reject = AnchorCallbackPolicy::BIND_EMPTY_CB);

/// `accept` for anchors of which the container does not say which programs transfer them.
AnchorCallbackPredicate predProgramNotAssigned(
    AnchorCallbackPolicy accept = AnchorCallbackPolicy::BIND_USER_CB,
    AnchorCallbackPolicy reject = AnchorCallbackPolicy::BIND_EMPTY_CB);

/// `accept` for anchors that one of the predicates accepts, which means: answers `accept`.
AnchorCallbackPredicate orBind(AnchorCallbackPolicy accept, AnchorCallbackPolicy reject,
                               std::vector<AnchorCallbackPredicate> predicates);
template <typename... Predicates>
AnchorCallbackPredicate orBind(AnchorCallbackPolicy accept, AnchorCallbackPolicy reject,
                               AnchorCallbackPredicate first, Predicates... others) {
  return orBind(accept, reject,
                std::vector<AnchorCallbackPredicate>{std::move(first), std::move(others)...});
}

}  // namespace anchor_callbacks

using anchor_callbacks::orBind;
using anchor_callbacks::predProgramFlowLoad;
using anchor_callbacks::predProgramFlowMain;
using anchor_callbacks::predProgramFlowSave;
using anchor_callbacks::predProgramNotAssigned;

}  // namespace model_runtime::predicate_factory
