#include "tools/popef_bench/command.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tools/display/escape.hpp"
#include "tools/popef_bench/bench_options.hpp"
#include "tools/popef_bench/chrome_trace.hpp"
#include "tools/popef_bench/container_report.hpp"
#include "tools/popef_bench/file_error.hpp"
#include "tools/popef_bench/graph_index.hpp"
#include "tools/popef_bench/profile_report.hpp"
#include "tools/requests/tool_command.hpp"

namespace poprt::bench {
namespace {

using Json = nlohmann::ordered_json;
using requests::kDone;
using requests::kWrongInput;

constexpr char kDescription[] =
    "Measures a PopEF container: load, first run, latency, throughput, switching between graphs "
    "and memory, or with --profile the time of every step.";
constexpr char kFooter[] =
    "Exit codes: 0 done, 1 the container is missing, damaged or does not fit the options, 2 wrong "
    "usage, 3 internal error.";

void Define(CLI::App& app, BenchOptions& options) {
  app.set_help_flag("-h,--help", "print this text and exit");
  app.set_version_flag("-v,--version", "popef_bench " POPRT_VERSION, "print the version and exit");
  app.footer(kFooter);
  app.add_option("FILE", options.popef, "the container")->required()->type_name("");
  app.add_option("--index", options.index, "one graph of a fused model [all]")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("I");
  app.add_option("--threads", options.threads,
                 "threads that kernels share [POPRT_NUM_THREADS, else one for every processor]")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  app.add_option("--clients", options.clients,
                 "threads that make requests for the throughput, 0: do not measure it [2]")
      ->check(CLI::Range(0, 4096).description(""))
      ->type_name("N");
  app.add_option("--seconds", options.seconds, "how long each measurement takes, about [1]")
      ->check(CLI::Range(0.001, 86400.0).description(""))
      ->type_name("S");
  app.add_option("--runs", options.runs, "runs of each measurement, instead of --seconds")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->type_name("N");
  app.add_option("--seed", options.seed, "of the random inputs [1]")->type_name("N");
  app.add_option("--input", options.inputs,
                 "the data of an input, as raw bytes; others are random (repeatable)")
      ->type_name("NAME=FILE");
  app.add_option("--output", options.outputs,
                 "write an output of the first run, as raw bytes (repeatable)")
      ->type_name("NAME=FILE");
  app.add_flag("--profile", options.profile, "time of every step and kernel instead");
  app.add_option("--trace", options.trace,
                 "write the fastest run as Chrome trace events; implies --profile")
      ->type_name("FILE");
  app.add_flag("--cpu_time", options.cpu_time,
               "profile by processor time instead of the clock, for machines that are busy: needs "
               "--threads 1");
  app.add_flag("--no_check_package_hash", options.any_package,
               "run containers of another version of the compiler too");
  app.add_flag("--json", options.json, "the report as JSON");
}

void CheckTogether(const CLI::App& app, BenchOptions& options) {
  options.profile = options.profile || !options.trace.empty();
  for (const char* option : {"--output", "--clients"}) {
    if (options.profile && app.count(option) > 0) {
      throw CLI::ValidationError(std::string(option) + " only counts without --profile");
    }
  }
  if (options.cpu_time && !options.profile) {
    throw CLI::ValidationError("--cpu_time only counts with --profile");
  }
  if (options.cpu_time && options.threads != 1) {
    throw CLI::ValidationError(
        "--cpu_time measures the one thread that runs: it needs --threads 1");
  }
}

std::string Text(const Json& json) {
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

void WriteTrace(const std::string& path, const std::vector<Profile>& profiles) {
  errno = 0;
  std::ofstream file(path);
  if (file) WriteChromeTrace(profiles, file);
  file.flush();
  if (!file) throw FileError("--trace", "write", path);
}

/// The graphs that the options select.
std::vector<std::size_t> SelectBranches(const program::Program& program,
                                        const BenchOptions& options) {
  if (options.index) {
    const auto index = static_cast<std::size_t>(*options.index);
    CheckIndex(index, program.branches.size());
    return {index};
  }
  std::vector<std::size_t> all(program.branches.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

void ProfileContainer(const BenchOptions& options, std::ostream& out) {
  LoadedContainer container(options.popef, options.any_package);
  const std::vector<std::size_t> branches = SelectBranches(container.program(), options);
  CheckFileOptions(container.program(), branches, options);
  std::vector<Profile> profiles;
  for (const std::size_t branch : branches) {
    profiles.push_back(ProfileBranch(container, branch, options));
  }
  if (!options.trace.empty()) WriteTrace(options.trace, profiles);
  if (options.json) {
    Json graphs = Json::array();
    for (const Profile& profile : profiles) graphs.push_back(ProfileJson(profile));
    out << Text({{"status", "ok"}, {"popef", options.popef}, {"profiles", std::move(graphs)}});
    return;
  }
  for (const Profile& profile : profiles) {
    out << (&profile == profiles.data() ? "" : "\n") << ProfileText(profile);
  }
}

void ReportContainer(const BenchOptions& options, std::ostream& out) {
  const ContainerReport report = MeasureContainer(options);
  out << (options.json ? Text(ReportJson(report, options)) : ReportText(report, options));
}

/// A line for each problem.
void PrintErrors(const std::string& problems, std::ostream& err) {
  std::istringstream lines(problems);
  for (std::string line; std::getline(lines, line);) {
    err << "error: " << display::Escape(line) << "\n";
  }
}

int Bench(const BenchOptions& options, std::ostream& out, std::ostream& err) {
  if (options.threads) {
    // Before the pool is made, which reads it once.
    setenv("POPRT_NUM_THREADS", std::to_string(*options.threads).c_str(), 1);
  }
  try {
    (options.profile ? ProfileContainer : ReportContainer)(options, out);
    if (!out.flush()) {
      throw std::runtime_error(
          "the output cannot be written: is the disk full or the pipe closed?");
    }
    return kDone;
  } catch (const std::bad_alloc&) {
    err << "error: running it needs more memory than there is\n";
  } catch (const std::length_error&) {
    err << "error: running it needs more memory than there can be\n";
  } catch (const std::runtime_error& error) {
    PrintErrors(error.what(), err);
  }
  return kWrongInput;
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CLI::App app(kDescription, "popef_bench");
  BenchOptions options;
  Define(app, options);
  const auto run = [&] {
    CheckTogether(app, options);
    return Bench(options, out, err);
  };
  return requests::RunTool(app, arguments, run, out, err);
}

}  // namespace poprt::bench
