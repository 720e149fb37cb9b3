#include "tools/poprt/pass_list.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "passes/pass.hpp"
#include "tools/poprt/text_table.hpp"

namespace poprt::cli {
namespace {

std::string StageName(passes::Stage stage) {
  return stage == passes::Stage::kConversion ? "conversion" : "lowering";
}

}  // namespace

std::string PassTable() {
  std::vector<std::vector<std::string>> rows = {{"pass", "stage", "summary"}};
  for (const passes::PassDef& pass : passes::AllPasses()) {
    rows.push_back({std::string(pass.name), StageName(pass.stage), std::string(pass.summary)});
  }
  return TextTable(rows, rows[0].size());
}

std::string PassJson() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const passes::PassDef& pass : passes::AllPasses()) {
    list.push_back(
        {{"name", pass.name}, {"stage", StageName(pass.stage)}, {"summary", pass.summary}});
  }
  return nlohmann::ordered_json{{"passes", std::move(list)}}.dump(2) + "\n";
}

}  // namespace poprt::cli
