#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "compiler/ipu/plan/plan.hpp"
#include "compiler/ipu/report/json_text.hpp"

namespace poprt::ipu {

/// Writes graphs for report.json. What operators and tensors have in common is kept once for the
/// whole program, since the layers of a model are alike: this keeps the document small.
class GraphJson {
 public:
  explicit GraphJson(const Plan& plan) : plan_(plan) {}

  /// An element of "graphs". Its rows refer to the two lists below.
  Json Graph(std::size_t index);

  /// The lists "expansions" and "layouts": what the graphs written so far refer to.
  Json Expansions() const { return expansions_.entries; }
  Json Layouts() const;

 private:
  /// Different entries in the order in which they came.
  struct Entries {
    Json entries = Json::array();
    std::map<std::string, std::size_t> numbers = {};

    std::size_t Add(Json entry);
  };

  Json Operators(std::size_t index);
  Json Tensors(const GraphPlan& graph);

  const Plan& plan_;
  Entries expansions_ = {};
  Entries layouts_ = {};
};

}  // namespace poprt::ipu
