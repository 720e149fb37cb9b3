#pragma once

#include <string>
#include <string_view>

namespace poprt::cli {

/// Script that completes the options of the tool and their values, for "bash" or "zsh".
std::string CompletionScript(std::string_view shell);

}  // namespace poprt::cli
