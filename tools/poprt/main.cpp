#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "tools/poprt/command.hpp"

namespace {

constexpr int kUsualColumns = 80;

int ColumnsOf(int file) {
  winsize size{};
  return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

}  // namespace

int main(int argc, char** argv) {
  return poprt::cli::RunCommand(std::vector<std::string>(argv + 1, argv + argc),
                                {.out = std::cout,
                                 .err = std::cerr,
                                 .err_is_terminal = isatty(STDERR_FILENO) == 1,
                                 .err_columns = ColumnsOf(STDERR_FILENO)});
}
