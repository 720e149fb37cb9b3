#!/usr/bin/env bash
# Builds the runtime and its tests with sanitizers and runs them: first ThreadSanitizer, then
# AddressSanitizer with UndefinedBehaviorSanitizer, which sees tests of the compiler too: those that
# build in a few minutes. Arguments name other presets: tools/sanitize.sh asan
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/install_packages.sh
runtime=(popef_test program_test device_test model_runtime_test session_test
         poprt_runtime_test runtime_stress_test)
compiler=(ir_test lower_test host_test)
presets=("$@")
((${#presets[@]} > 0)) || presets=(tsan asan)
for preset in "${presets[@]}"; do
  tests=("${runtime[@]}")
  [[ $preset == tsan ]] || tests+=("${compiler[@]}")  # these have one thread
  cmake --preset "$preset"
  cmake --build --preset "$preset" --target "${tests[@]}"
  ctest --preset "$preset" --parallel 2 -R "^($(IFS='|'; echo "${tests[*]}"))\$"
done
