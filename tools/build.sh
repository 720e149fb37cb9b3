#!/usr/bin/env bash
# Configures and builds everything, Release, into build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for tool in cmake ninja c++; do
  if ! command -v "$tool" >/dev/null; then
    echo "error: there is no $tool; run tools/install_packages.sh first" >&2
    exit 1
  fi
done

cmake --preset release
cmake --build --preset release
