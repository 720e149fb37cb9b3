#include "tools/poprt/text_summary.hpp"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/ipu/report/summary_report.hpp"
#include "tools/poprt/ipu_table.hpp"
#include "tools/poprt/text_table.hpp"

namespace poprt::cli {
namespace {

std::string GraphTable(const Outcome& outcome) {
  const bool compiled = outcome.compiled.has_value();
  std::vector<std::vector<std::string>> rows = {{"model", "nodes", "parameters", "constants"}};
  if (outcome.fused) rows[0].insert(rows[0].begin(), "graph");
  if (compiled) rows[0].insert(rows[0].end(), {"steps", "weights", "arena"});
  for (std::size_t i = 0; i < outcome.models.size(); ++i) {
    const driver::ModelReport& model = outcome.models[i];
    std::vector<std::string> row = {model.path, absl::StrCat(model.nodes),
                                    absl::StrCat(model.parameters),
                                    BytesText(model.parameter_bytes)};
    if (outcome.fused) row.insert(row.begin(), model.name);
    if (compiled && i < outcome.compiled->graphs.size()) {
      const driver::GraphReport& graph = outcome.compiled->graphs[i];
      row.insert(row.end(), {absl::StrCat(graph.steps), BytesText(graph.weight_bytes),
                             BytesText(graph.arena_bytes)});
    }
    rows.push_back(std::move(row));
  }
  return TextTable(rows, outcome.fused ? 2 : 1);
}

std::string FrozenInputs(const Outcome& outcome) {
  std::string text;
  for (const driver::ModelReport& model : outcome.models) {
    for (const auto& [name, type] : model.frozen_inputs) {
      absl::StrAppend(&text, "frozen: input '", outcome.fused ? model.name + "/" : "", name, "', ",
                      type, "\n");
    }
  }
  return text;
}

std::string Savings(const Outcome& outcome) {
  if (!outcome.fused || outcome.models.size() < 2) return "";
  std::string text = absl::StrCat(
      "shared by graphs: constants ",
      BytesText(outcome.constant_bytes_before - outcome.constant_bytes_after), " saved");
  if (outcome.compiled) {
    absl::StrAppend(&text, ", weights ", BytesText(outcome.compiled->weight_bytes_shared),
                    " saved, arena ", BytesText(outcome.compiled->arena_bytes_shared), " saved");
  }
  return text + "\n";
}

std::string Totals(const driver::CompileReport& report) {
  const std::string variables =
      report.variable_bytes == 0 ? "" : ", variables " + BytesText(report.variable_bytes);
  return absl::StrCat("container: weights ", BytesText(report.weight_bytes), variables, ", arena ",
                      BytesText(report.arena_bytes), "\n");
}

std::string MicrosecondsText(double microseconds) {
  return absl::StrFormat(microseconds < 100 ? "%.1f" : "%.0f", microseconds);
}

std::string PercentText(double part, double whole) {
  return absl::StrFormat("%.1f %%", whole > 0 ? 100 * part / whole : 0);
}

/// What --perf_tuner decided. Times are those of one use, the gain is that of all.
std::string Tuning(const tuner::TuningReport& report) {
  std::string text = absl::StrCat("perf_tuner: ", report.machine.processor, ", ",
                                  report.machine.threads, " threads\n");
  if (report.choices.empty()) return text + "  there was nothing to choose\n";
  std::vector<std::vector<std::string>> rows = {
      {"choice", "from", "cost table", "chosen", "uses", "us", "chosen us", "saved", "gain us"}};
  for (const tuner::TunedChoice& choice : report.choices) {
    rows.push_back({choice.what, choice.measured ? "measured" : "cache", choice.expected,
                    choice.chosen, absl::StrCat(choice.uses), MicrosecondsText(choice.expected_us),
                    MicrosecondsText(choice.chosen_us),
                    PercentText(choice.expected_us - choice.chosen_us, choice.expected_us),
                    MicrosecondsText(choice.GainMicroseconds())});
  }
  rows.push_back({"all", "", "", "", "", "", "", "", MicrosecondsText(report.GainMicroseconds())});
  return text + TextTable(rows, 4);
}

std::string Times(const Outcome& outcome) {
  double import_seconds = 0;
  double convert_seconds = 0;
  for (const driver::ModelReport& model : outcome.models) {
    import_seconds += model.import_seconds;
    convert_seconds += model.convert_seconds;
  }
  std::vector<std::string> times = {"import " + SecondsText(import_seconds),
                                    "convert " + SecondsText(convert_seconds)};
  if (outcome.fused) times.push_back("fuse " + SecondsText(outcome.fuse_seconds));
  times.push_back("ONNX " + SecondsText(outcome.onnx_seconds));
  if (outcome.compiled) {
    times.push_back("IPU plan " + SecondsText(outcome.compiled->ipu_seconds));
    times.push_back("lower " + SecondsText(outcome.compiled->lower_seconds));
    times.push_back("plan " + SecondsText(outcome.compiled->plan_seconds));
    times.push_back("write " + SecondsText(outcome.compiled->emit_seconds));
  }
  return absl::StrCat("time: ", absl::StrJoin(times, ", "), ", total ",
                      SecondsText(outcome.total_seconds), "\n");
}

std::string Files(const Outcome& outcome) {
  std::string text;
  for (const WrittenFile& file : outcome.files) {
    absl::StrAppend(&text, "wrote ", file.path, " (", BytesText(file.bytes));
    if (file.kind == "onnx") absl::StrAppend(&text, ", opset ", outcome.convert_version);
    text += ")\n";
  }
  return text;
}

// Enough for three significant digits, at least two.
int Decimals(double number) {
  int decimals = 2;
  for (; number > 0 && number < 1 && decimals < 9; number *= 10) ++decimals;
  return decimals;
}

std::string Runs(const Outcome& outcome) {
  std::string text;
  for (const RunReport& run : outcome.runs) {
    if (outcome.fused) text += run.graph + "\n";
    absl::StrAppend(&text, "Bs: ", run.batch_size, "\n");
    absl::StrAppend(&text,
                    absl::StrFormat("Latency: %.*fms\nTput: %.0f\n", Decimals(run.latency_ms),
                                    run.latency_ms, run.throughput));
  }
  return text;
}

}  // namespace

std::string TextSummary(const Outcome& outcome) {
  return absl::StrCat(GraphTable(outcome), FrozenInputs(outcome), Savings(outcome),
                      outcome.compiled ? Totals(*outcome.compiled) : "",
                      outcome.ipu ? IpuTable(*outcome.ipu) : "",
                      outcome.tuning ? Tuning(*outcome.tuning) : "", Times(outcome), Files(outcome),
                      Runs(outcome), outcome.report ? ipu::SummaryReport(*outcome.ipu) : "");
}

}  // namespace poprt::cli
