// Prints a page of docs/ that is made from a table of the compiler.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/import_time/import_time_op.hpp"
#include "compiler/frontend/upgrade/upgrade.hpp"
#include "compiler/ops/op.hpp"
#include "passes/pass.hpp"

namespace poprt {
namespace {

/// Names of ops::TypeSet, in its order.
constexpr std::string_view kTypeSets[] = {"all",     "numeric",  "signed", "float",
                                          "integer", "unsigned", "bool"};

void PrintTypeSets() {
  std::cout << "| types | element types |\n|---|---|\n";
  for (std::size_t set = 0; set < std::size(kTypeSets); ++set) {
    std::cout << "| " << kTypeSets[set] << " |";
    for (std::uint8_t number = 1; number < 255; ++number) {
      const auto type = static_cast<ElementType>(number);
      const bool is_in = IsElementType(number) && Contains(static_cast<ops::TypeSet>(set), type);
      if (is_in) std::cout << ' ' << ElementName(type);
    }
    std::cout << " |\n";
  }
}

std::string Count(const ops::Arity& arity) {
  const std::string min = std::to_string(arity.min);
  if (arity.max == ops::kAnyNumber) return min + " or more";
  return arity.max == arity.min ? min : min + " to " + std::to_string(arity.max);
}

/// Cases of the ONNX backend suite by operator, as "12/12".
using CaseCounts = std::map<std::string, std::string, std::less<>>;

/// Reads lines "OPERATOR PASSED CASES"; empty if there is no file of them.
CaseCounts ReadCounts(const char* path) {
  CaseCounts counts;
  std::ifstream file(path);
  for (std::string name, passed, cases; file >> name >> passed >> cases;) {
    counts[name] = passed + "/" + cases;
  }
  return counts;
}

std::string_view CountOf(std::string_view op, const CaseCounts& counts) {
  const auto count = counts.find(op);
  return count == counts.end() ? std::string_view() : count->second;
}

/// The name with its domain, if that is not the default one.
std::string FullName(const ops::OpDef& op) {
  return (op.domain.empty() ? "" : std::string(op.domain) + ".") + std::string(op.name);
}

void PrintRow(const ops::OpDef& op, const CaseCounts& counts) {
  std::cout << "| " << FullName(op) << " | " << op.since << " | " << Count(op.inputs) << " | ";
  for (const ops::StaticInput& input : op.static_inputs) {
    std::cout << (&input == op.static_inputs.data() ? "`" : ", `") << input.attribute << "` (input "
              << input.index;
    const bool is_newer = input.input_since > std::max(op.since, ops::kOldestOpset);
    std::cout << (is_newer ? " since " + std::to_string(input.input_since) : "") << ')';
  }
  const auto types = op.inputs.max == 0 ? "" : kTypeSets[static_cast<std::size_t>(op.types)];
  std::cout << " | " << types << " | " << CountOf(FullName(op), counts) << " | " << op.notes
            << " |\n";
}

/// Operators without a row of their own.
std::set<std::string> OtherOperators() {
  std::set<std::string> others;
  for (const std::string& name : frontend::ReplacedOps()) others.insert(name);
  for (const std::string& name : frontend::ImportTimeOps()) others.insert(name);
  for (const ops::OpDef& op : ops::AllOps()) others.erase(FullName(op));
  return others;
}

void PrintOperators(const CaseCounts& counts) {
  std::cout << "# Operators\n\n<!-- Made by `poprt_docs operators`; do not edit. -->\n\n"
            << "Models may use opset " << ops::kOldestOpset << " to " << ops::kNewestOpset
            << R"( of ONNX's default domain.

* **inputs**: how many there are besides the static ones. Those beyond the lower number are optional.
* **static inputs**: must be constant, or follow from constants and shapes, where they are given. Before
  the opset that is named they are what ONNX then had, most often attributes.
* **types**: element types of the first input that is not static.
* **cases**: of the node cases of the ONNX 1.17 backend suite whose model has the operator, how many pass,
  with inputs at run time or, where a shape depends on them, folded.

)";
  PrintTypeSets();
  std::cout << "\n| operator | since opset | inputs | static inputs | types | cases | notes |\n"
            << "|---|---|---|---|---|---|---|\n";
  for (const ops::OpDef& op : ops::AllOps()) {
    if (op.since <= ops::kNewestOpset) PrintRow(op, counts);
  }
  std::cout << R"(
## Made of others

Importing a model turns these into operators of the table, or computes them: sequences, optionals and
strings exist only then, and their structure must be known.

| operator | cases |
|---|---|
)";
  for (const std::string& name : OtherOperators()) {
    std::cout << "| " << name << " | " << CountOf(name, counts) << " |\n";
  }
}

std::vector<const passes::PassDef*> Pipeline(passes::Stage stage, const char* precision) {
  passes::PipelineOptions options;
  options.precision = precision;
  return *passes::BuildPipeline(stage, options);  // aborts with the reason if there is none
}

/// A table of passes; those that the pipeline of fp32 leaves out are marked.
void PrintPasses(std::string_view title, const std::vector<const passes::PassDef*>& list,
                 const std::vector<const passes::PassDef*>& fp32) {
  std::cout << "\n## " << title << "\n\n| pass | what it does |\n|---|---|\n";
  auto next = fp32.begin();
  for (const passes::PassDef* pass : list) {
    const bool is_common = next != fp32.end() && *next == pass;
    if (is_common) ++next;
    std::cout << "| `" << pass->name << "` | " << pass->summary << (is_common ? "" : " *fp16 only*")
              << " |\n";
  }
}

void PrintPasses() {
  std::cout << R"(# Passes

<!-- Made by `poprt_docs passes`; do not edit. -->

In the order in which they run. `--skip_passes` leaves some out, `--passes` runs more after them.
)";
  const auto conversion = Pipeline(passes::Stage::kConversion, "fp16");
  const auto lowering = Pipeline(passes::Stage::kLowering, "fp16");
  PrintPasses("Conversion", conversion, Pipeline(passes::Stage::kConversion, "fp32"));
  PrintPasses("Lowering to the host backend", lowering, Pipeline(passes::Stage::kLowering, "fp32"));
  std::set<const passes::PassDef*> listed(conversion.begin(), conversion.end());
  listed.insert(lowering.begin(), lowering.end());
  std::vector<const passes::PassDef*> others;
  for (const passes::PassDef& pass : passes::AllPasses()) {
    if (!listed.contains(&pass)) others.push_back(&pass);
  }
  if (!others.empty()) PrintPasses("Only when `--passes` names them", others, others);
}

}  // namespace
}  // namespace poprt

int main(int argc, char** argv) {
  const std::string_view page = argc >= 2 ? argv[1] : "";
  if (page == "operators" && argc == 3) {
    const poprt::CaseCounts counts = poprt::ReadCounts(argv[2]);
    if (counts.empty()) {
      std::cerr << "error: '" << argv[2] << "' is no file with lines OPERATOR PASSED CASES\n";
      return 1;
    }
    poprt::PrintOperators(counts);
  } else if (page == "passes" && argc == 2) {
    poprt::PrintPasses();
  } else {
    std::cerr << "usage: poprt_docs operators CASE_COUNTS | passes\n";
    return 2;
  }
  return std::cout.flush() ? 0 : 1;
}
