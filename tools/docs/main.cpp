// Prints a page of docs/ that is made from a table of the compiler.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

void PrintRow(const ops::OpDef& op) {
  std::cout << "| " << op.name << " | " << op.since << " | " << Count(op.inputs) << " | ";
  for (const ops::StaticInput& input : op.static_inputs) {
    std::cout << (&input == op.static_inputs.data() ? "`" : ", `") << input.attribute << "` (input "
              << input.index;
    const bool is_newer = input.input_since > std::max(op.since, ops::kOldestOpset);
    std::cout << (is_newer ? " since " + std::to_string(input.input_since) : "") << ')';
  }
  const auto types = op.inputs.max == 0 ? "" : kTypeSets[static_cast<std::size_t>(op.types)];
  std::cout << " | " << types << " | " << op.notes << " |\n";
}

void PrintOperators() {
  std::cout << "# Operators\n\n<!-- Made by `poprt_docs operators`; do not edit. -->\n\n"
            << "Models may use opset " << ops::kOldestOpset << " to " << ops::kNewestOpset
            << R"( of ONNX's default domain: the operators below and `Constant`.

* **inputs**: how many there are besides the static ones. Those beyond the lower number are optional.
* **static inputs**: must be constant, or follow from constants and shapes, where they are given. Before
  the opset that is named they are what ONNX then had, most often attributes.
* **types**: element types of the first input that is not static.

)";
  PrintTypeSets();
  std::cout << "\n| operator | since opset | inputs | static inputs | types | notes |\n"
            << "|---|---|---|---|---|---|\n";
  for (const ops::OpDef& op : ops::AllOps()) {
    if (op.since <= ops::kNewestOpset) PrintRow(op);
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
  const std::string_view page = argc == 2 ? argv[1] : "";
  if (page == "operators") {
    poprt::PrintOperators();
  } else if (page == "passes") {
    poprt::PrintPasses();
  } else {
    std::cerr << "usage: poprt_docs operators|passes\n";
    return 2;
  }
  return std::cout.flush() ? 0 : 1;
}
