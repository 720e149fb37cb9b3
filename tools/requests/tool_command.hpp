#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace poprt::requests {

enum ExitCode : int { kDone = 0, kWrongInput = 1, kWrongUsage = 2, kInternalError = 3 };

/// Parses the arguments, those after the program's name, and calls `run`, which may throw
/// CLI::ParseError for options that do not go together. Help and version go to `out`, errors to
/// `err`, a line each. Returns the exit code.
inline int RunTool(CLI::App& app, const std::vector<std::string>& arguments,
                   const std::function<int()>& run, std::ostream& out, std::ostream& err) {
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return run();
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << "\n";
    return kDone;
  } catch (const CLI::ParseError& error) {
    err << "error: " << error.what() << "; see " << app.get_name() << " --help\n";
    return kWrongUsage;
  } catch (const std::exception& error) {
    err << "error: internal error: " << error.what() << "\n";
    return kInternalError;
  }
}

}  // namespace poprt::requests
