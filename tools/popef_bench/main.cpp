#include <iostream>
#include <string>
#include <vector>

#include "tools/popef_bench/command.hpp"

int main(int argc, char** argv) {
  return poprt::bench::RunCommand(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                  std::cerr);
}
