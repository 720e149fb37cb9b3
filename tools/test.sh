#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Arguments go to ctest: tools/test.sh -R popef
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/install_packages.sh
tools/build.sh
ctest --preset release --parallel 2 "$@"
