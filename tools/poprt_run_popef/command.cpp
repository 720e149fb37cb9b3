#include "tools/poprt_run_popef/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tools/poprt_run_popef/run_options.hpp"
#include "tools/poprt_run_popef/workload.hpp"
#include "tools/requests/measurement.hpp"
#include "tools/requests/tool_command.hpp"

namespace poprt::run_popef {
namespace {

using requests::kDone;
using requests::kWrongInput;
using requests::Measurement;

constexpr char kDescription[] =
    "Runs a PopEF container on random data and reports latencies and throughput.";
constexpr char kFooter[] =
    "Models of several graphs run the graph that --index selects, 0 if it is left out.\n"
    "packRunner runs requests of random lengths; with --maskName every request stays in one row.\n"
    "Exit codes: 0 done, 1 the container is missing, damaged or does not fit the options, 2 wrong "
    "usage, 3 internal error.";

/// Options that need --runner packRunner.
constexpr const char* kPackOptions[] = {"--maxValidNum", "--packTimeout", "--dynamicInputName",
                                        "--maskName"};

void Define(CLI::App& app, RunOptions& options) {
  app.set_help_flag("-h,--help", "print this text and exit");
  app.set_version_flag("-v,--version", "poprt_run_popef " POPRT_VERSION,
                       "print the version and exit");
  app.footer(kFooter);
  app.add_option("--popef,popef", options.popef, "the container")->required()->type_name("FILE");
  const std::map<std::string, Runner> runners{{"modelRunner", Runner::kModel},
                                              {"modelFusionRunner", Runner::kModel},
                                              {"lightRunner", Runner::kLight},
                                              {"packRunner", Runner::kPack},
                                              {"hostConcatRunner", Runner::kHostConcat}};
  app.add_option("--runner", options.runner,
                 "modelRunner (default, also for several graphs), lightRunner, packRunner, or "
                 "hostConcatRunner, which here gives merged inputs as one")
      ->transform(CLI::CheckedTransformer(runners, CLI::ignore_case).description(""))
      ->type_name("NAME");
  app.add_option("--iteration", options.iterations,
                 "requests altogether, rounded up to a multiple of the threads [100]")
      ->check(CLI::Range(1, 1'000'000'000).description(""))
      ->type_name("N");
  app.add_option("--numThreads", options.threads, "threads that make requests [1]")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  app.add_option("--index", options.index, "the graph of a fused model to run")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("I");
  app.add_option("--batchSize", options.batch_size,
                 "samples of a request [the first dimension of the model's first input; for "
                 "packRunner 1]")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
  app.add_option("--maxValidNum", options.max_valid_num,
                 "packRunner: the most requests of a pack [as many as fit]")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("N");
  app.add_option("--packTimeout", options.pack_timeout_us,
                 "packRunner: microseconds that a request waits for others [1000]")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("US");
  app.add_option("--dynamicInputName", options.dynamic_input_name,
                 "packRunner: the input that says how long a request is")
      ->type_name("NAME");
  app.add_option("--maskName", options.mask_name,
                 "packRunner: the mask, in which the requests of a row are numbered")
      ->type_name("NAME");
  app.add_flag("--zeros", options.zeros, "zeros instead of random data");
  app.add_flag("--no_check_package_hash", options.any_package,
               "run containers of another version of the compiler too");
  app.add_flag("--json", options.json, "the report as JSON");
}

void CheckTogether(const CLI::App& app, const RunOptions& options) {
  std::string misplaced;
  for (const char* name : kPackOptions) {
    if (app.count(name) > 0) misplaced += std::string(misplaced.empty() ? "" : ", ") + name;
  }
  if (options.runner != Runner::kPack && !misplaced.empty()) {
    throw CLI::ValidationError(misplaced + " only count with --runner packRunner");
  }
  if (options.runner == Runner::kPack && options.index) {
    throw CLI::ValidationError("--index selects a graph, but packRunner runs models of one");
  }
}

using Rows = std::vector<std::pair<std::string, std::string>>;

/// Names to the left, values to the right.
std::string AlignedRows(const Rows& rows) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const auto& [name, value] : rows) {
    name_width = std::max(name_width, name.size());
    value_width = std::max(value_width, value.size());
  }
  std::string text;
  for (const auto& [name, value] : rows) {
    text += fmt::format("{:<{}}  {:>{}}\n", name, name_width, value, value_width);
  }
  return text;
}

double Throughput(const Workload& workload, const Measurement& measured) {
  const auto samples = static_cast<double>(workload.samples * measured.latencies.size());
  return measured.total > 0 ? samples * 1000 / measured.total : 0;
}

std::string TextReport(const RunOptions& options, const Workload& workload,
                       const Measurement& measured) {
  const auto ms = [](double value) { return fmt::format("{:.3f} ms", value); };
  Rows rows{{"runner", NameOf(options.runner)}};
  if (!workload.graph.empty()) rows.emplace_back("graph", workload.graph);
  const Rows numbers{{"iterations", std::to_string(measured.latencies.size())},
                     {"threads", std::to_string(options.threads)},
                     {"batch size", std::to_string(workload.samples)},
                     {"latency max", ms(measured.Max())},
                     {"latency min", ms(measured.Min())},
                     {"latency average", ms(measured.Average())},
                     {"latency p99", ms(measured.Percentile(99))},
                     {"total time", ms(measured.total)},
                     {"throughput", fmt::format("{:.1f} /s", Throughput(workload, measured))}};
  rows.insert(rows.end(), numbers.begin(), numbers.end());
  return AlignedRows(rows);
}

std::string JsonReport(const RunOptions& options, const Workload& workload,
                       const Measurement& measured) {
  nlohmann::ordered_json json{{"status", "ok"},
                              {"popef", options.popef},
                              {"runner", NameOf(options.runner)},
                              {"iterations", measured.latencies.size()},
                              {"threads", options.threads},
                              {"batch_size", workload.samples},
                              {"latency_ms",
                               {{"max", measured.Max()},
                                {"min", measured.Min()},
                                {"average", measured.Average()},
                                {"p99", measured.Percentile(99)}}},
                              {"total_ms", measured.total},
                              {"throughput", Throughput(workload, measured)}};
  if (!workload.graph.empty()) json["graph"] = workload.graph;
  return json.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

int RunContainer(const RunOptions& options, std::ostream& out, std::ostream& err) {
  try {
    Workload workload = MakeWorkload(options);
    const Measurement measured =
        requests::Measure(*workload.runner, workload.requests, options.iterations, options.threads);
    out << (options.json ? JsonReport : TextReport)(options, workload, measured);
    return kDone;
  } catch (const std::bad_alloc&) {
    err << "error: running it needs more memory than there is\n";
  } catch (const std::length_error&) {
    err << "error: running it needs more memory than there can be\n";
  } catch (const std::runtime_error& error) {
    err << "error: " << error.what() << "\n";
  }
  return kWrongInput;
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CLI::App app(kDescription, "poprt_run_popef");
  RunOptions options;
  Define(app, options);
  const auto run = [&] {
    CheckTogether(app, options);
    return RunContainer(options, out, err);
  };
  return requests::RunTool(app, arguments, run, out, err);
}

}  // namespace poprt::run_popef
