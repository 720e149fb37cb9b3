#pragma once

#include <string>
#include <vector>

#include "tools/poprt/model_interface.hpp"
#include "tools/poprt/outcome.hpp"

namespace poprt::cli {

/// What --json prints: one JSON object with a line break at its end. Sizes are bytes, times seconds
/// unless a name says otherwise. docs/cli.md describes the members.
std::string JsonSummary(const Outcome& outcome);

/// {"status": "error", "exit_code": 1, "errors": [...]}
std::string JsonErrors(int exit_code, const std::vector<std::string>& errors);

/// {"status": "ok", "models": [{"name": ..., "path": ..., "inputs": [...], "outputs": [...]}]}; one
/// name of a graph and one path for each model.
std::string JsonInterfaces(const std::vector<std::string>& names,
                           const std::vector<std::string>& paths,
                           const std::vector<ModelInterface>& models);

}  // namespace poprt::cli
