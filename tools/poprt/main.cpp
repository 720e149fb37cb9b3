#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "tools/poprt/command.hpp"

int main(int argc, char** argv) {
  return poprt::cli::RunCommand(
      std::vector<std::string>(argv + 1, argv + argc),
      {.out = std::cout, .err = std::cerr, .err_is_terminal = isatty(STDERR_FILENO) == 1});
}
