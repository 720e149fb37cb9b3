#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace poprt::run_popef {

enum class Runner { kModel, kLight, kPack, kHostConcat };

/// What the command line asks for.
struct RunOptions {
  std::string popef;
  Runner runner = Runner::kModel;
  int iterations = 100;
  int threads = 1;
  std::optional<int> index;       ///< of the graph of a fused model
  std::optional<int> batch_size;  ///< rows of a request; the model's own
  bool zeros = false;             ///< otherwise random data
  bool any_package = false;       ///< run containers of other versions of the compiler too
  bool json = false;
  // Of the pack runner.
  int max_valid_num = 0;
  int pack_timeout_us = 1000;
  std::string dynamic_input_name;
  std::string mask_name;
};

/// "modelRunner" and so on, as on the command line.
std::string NameOf(Runner runner);

}  // namespace poprt::run_popef
