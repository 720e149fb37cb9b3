#include <iostream>
#include <string>
#include <vector>

#include "tools/popef_dump/command.hpp"

int main(int argc, char** argv) {
  return poprt::dump::RunCommand(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                 std::cerr);
}
