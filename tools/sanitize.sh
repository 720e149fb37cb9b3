#!/usr/bin/env bash
# Builds tests with sanitizers and runs them: with ThreadSanitizer those of the runtime that have
# threads, with AddressSanitizer and UndefinedBehaviorSanitizer all of the runtime and those of the
# compiler that build in a few minutes. Arguments name other presets: tools/sanitize.sh asan
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/install_packages.sh
threads=(device_test model_runtime_test session_test poprt_runtime_test runtime_stress_test)
others=(popef_test program_test ir_test lower_test host_test)
presets=("$@")
((${#presets[@]} > 0)) || presets=(tsan asan)
for preset in "${presets[@]}"; do
  tests=("${threads[@]}")
  [[ $preset == tsan ]] || tests+=("${others[@]}")
  cmake --preset "$preset"
  cmake --build --preset "$preset" --target "${tests[@]}"
  ctest --preset "$preset" --parallel 2 -R "^($(IFS='|'; echo "${tests[*]}"))\$"
done
