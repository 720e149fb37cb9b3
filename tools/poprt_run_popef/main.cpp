#include <iostream>
#include <string>
#include <vector>

#include "tools/poprt_run_popef/command.hpp"

int main(int argc, char** argv) {
  return poprt::run_popef::RunCommand(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                      std::cerr);
}
