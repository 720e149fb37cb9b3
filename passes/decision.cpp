#include "passes/decision.hpp"

namespace poprt::passes {

std::size_t CheapestWorthwhile(std::span<const double> costs) {
  constexpr double kWorthwhile = 0.9;
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < costs.size(); ++i) {
    if (costs[i] <= kWorthwhile * costs[chosen]) chosen = i;
  }
  return chosen;
}

std::size_t DecideByEstimate(const ir::Graph&, const Decision& decision) {
  std::vector<double> costs;
  for (const Alternative& alternative : decision.alternatives)
    costs.push_back(alternative.estimate);
  return CheapestWorthwhile(costs);
}

}  // namespace poprt::passes
