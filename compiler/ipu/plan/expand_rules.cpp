#include <map>

#include "compiler/ipu/plan/operation.hpp"

namespace poprt::ipu {
namespace {

using Rules = std::map<std::string_view, ExpandRule>;

const Rules& AllRules() {
  static const Rules rules = [] {
    Rules joined;
    for (const auto family :
         {ProductRules(), ElementwiseRules(), ReductionRules(), NormalizationRules(),
          PoolingRules(), GatherRules(), ViewRules(), MovementRules(), AttentionRules(),
          QuantizationRules(), RecurrentRules(), SortingRules(), SamplingRules(),
          ControlFlowRules()}) {
      for (const ExpandRow& row : family) joined.emplace(row.op, row.rule);
    }
    return joined;
  }();
  return rules;
}

}  // namespace

ExpandRule FindExpandRule(std::string_view op) {
  const auto found = AllRules().find(op);
  return found != AllRules().end() ? found->second : StepwiseRule(op);
}

}  // namespace poprt::ipu
