#!/usr/bin/env bash
# Installs the Debian packages that poprt is built from, those that are missing only. Needs root or
# sudo if anything is missing, and nothing otherwise.
set -euo pipefail

# What tools/cmake/PoprtPackages.cmake looks for.
packages=(
  # building
  build-essential cmake ninja-build python3
  # container and runtime
  flatbuffers-compiler libflatbuffers-dev libhwy-dev libxxhash-dev nlohmann-json3-dev zlib1g-dev
  # compiler and tools
  libabsl-dev libcli11-dev libfmt-dev libonnx-dev libprotobuf-dev libre2-dev
  libyaml-cpp-dev protobuf-compiler
  # Python packages
  pybind11-dev python3-dev python3-numpy python3-onnx
  # tests
  libgmock-dev libgtest-dev
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "error: this script installs Debian packages, but this system has no apt-get." >&2
  echo "       Install these by other means and run tools/build.sh: ${packages[*]}" >&2
  exit 1
fi

installed() {
  [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "error: Debian packages are missing, and this is neither root nor is there sudo." >&2
    echo "       Run as root: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get update --quiet
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
