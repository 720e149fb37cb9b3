#include "tools/popef_dump/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string_view>

#include "tools/display/escape.hpp"
#include "tools/popef_dump/contents.hpp"
#include "tools/popef_dump/json_dump.hpp"
#include "tools/popef_dump/selection.hpp"
#include "tools/popef_dump/text_dump.hpp"

namespace poprt::dump {
namespace {

using display::Escape;
using Json = nlohmann::ordered_json;

enum ExitCode : int { kDone = 0, kWrongInput = 1, kWrongUsage = 2, kInternalError = 3 };

constexpr char kDescription[] =
    "Shows what PopEF files hold: metadata, anchors, opaque blobs and, for executables of poprt, "
    "their programs.";
constexpr char kFooter[] =
    "Exit codes: 0 done, 1 a file is missing, damaged or altered (the others are still shown), 2 "
    "wrong usage, 3 internal error.";

struct Options {
  std::vector<std::string> files;
  bool metadata = false;
  bool program = false;
  bool plan = false;
  bool all = false;
  bool json = false;
  bool verify = false;
};

void Define(CLI::App& app, Options& options) {
  app.set_help_flag("-h,--help", "print this text and exit");
  app.set_version_flag("-v,--version", "popef_dump " POPRT_VERSION, "print the version and exit");
  app.footer(kFooter);
  app.add_option("FILE", options.files, "PopEF files")->required()->type_name("");
  CLI::Option* const metadata =
      app.add_flag("-m,--metadata", options.metadata, "metadata and anchors only");
  app.add_flag("--program", options.program, "the steps of the programs too")->excludes(metadata);
  app.add_flag("--plan", options.plan, "what the programs do on the IPU too")->excludes(metadata);
  app.add_flag("--all", options.all,
               "everything: the blob table, the steps of the programs and the plan too")
      ->excludes(metadata);
  app.add_flag("--json", options.json, "one JSON document for all files");
  app.add_flag("--verify", options.verify,
               "compare the hashes of all payloads and check the programs");
}

/// A file that was read, or the reason why not.
struct FileDump {
  std::string text;
  Json json;
  std::vector<std::string> problems;
};

/// Messages of the container library start with the name of the file, which is added later.
std::string WithoutPath(const std::string& message, const std::string& path) {
  const std::string start = path + ": ";
  return message.starts_with(start) ? message.substr(start.size()) : message;
}

/// For a file that can't be read: it may be what containers are made from.
std::string Advice(const std::string& path) {
  std::error_code ignored;
  const bool is_model = path.ends_with(".onnx") && std::filesystem::is_regular_file(path, ignored);
  return is_model ? ". This is an ONNX model: poprt compiles it, and shows it with -i FILE --show"
                  : "";
}

FileDump DumpFile(const std::string& path, const Options& options) {
  const Selection selection{.payloads = !options.metadata,
                            .steps = options.program || options.all,
                            .blobs = options.all,
                            .plan = options.plan || options.all,
                            .verified = options.verify};
  FileDump dump;
  try {
    const Contents contents = LoadContents(
        path, {.payloads = selection.payloads || options.verify, .verify = options.verify});
    dump.problems = contents.problems;
    if (options.json) {
      dump.json = JsonDump(contents, selection);
    } else {
      dump.text = TextDump(contents, selection);
    }
  } catch (const std::bad_alloc&) {
    dump.problems = {"showing it needs more memory than there is"};
  } catch (const std::exception& error) {
    dump.problems = {WithoutPath(error.what(), path) + Advice(path)};
  }
  if (dump.json.is_null()) dump.json = {{"file", path}, {"errors", dump.problems}};
  return dump;
}

/// Returns false if there was a problem.
bool DumpFiles(const Options& options, std::ostream& out, std::ostream& err) {
  bool good = true;
  bool first = true;
  Json files = Json::array();
  for (const std::string& path : options.files) {
    FileDump dump = DumpFile(path, options);
    if (!dump.text.empty()) {
      out << (first ? "" : "\n") << dump.text << std::flush;
      first = false;
    }
    for (const std::string& problem : dump.problems) {
      err << "error: " << Escape(path) << ": " << Escape(problem) << "\n";
    }
    good = good && dump.problems.empty();
    if (options.json) files.push_back(std::move(dump.json));
  }
  if (options.json) {
    // All but ASCII is escaped, bytes that are not UTF-8 are replaced.
    out << Json{{"status", good ? "ok" : "error"}, {"files", std::move(files)}}.dump(
               2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace)
        << "\n";
  }
  return good;
}

int Run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CLI::App app(kDescription, "popef_dump");
  Options options;
  Define(app, options);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << "\n";
    return kDone;
  } catch (const CLI::ParseError& error) {
    err << "error: " << Escape(error.what()) << "; see popef_dump --help\n";
    return kWrongUsage;
  }
  const bool good = DumpFiles(options, out, err);
  out.flush();
  if (!out.good()) {
    err << "error: the output cannot be written: is the disk full or the pipe closed?\n";
    return kWrongInput;
  }
  return good ? kDone : kWrongInput;
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  try {
    return Run(arguments, out, err);
  } catch (const std::exception& error) {
    err << "error: internal error: " << Escape(error.what()) << "\n";
    return kInternalError;
  }
}

}  // namespace poprt::dump
