#!/usr/bin/env bash
# Checks the layout and the clang-tidy findings of sources: those named, else all that differ from
# the revision LINT_BASE (default: every file of the project). Needs a configured release preset.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# > 0)); then
  files=("$@")
elif [[ -n ${LINT_BASE:-} ]]; then
  mapfile -t files < <(git diff --name-only --diff-filter=d "$LINT_BASE" -- '*.cpp' '*.hpp')
else
  mapfile -t files < <(git ls-files '*.cpp' '*.hpp')
fi
((${#files[@]} > 0)) || exit 0

clang-format --dry-run --Werror "${files[@]}"

# Without what g++ alone understands and without precompiled headers: a source names what it uses.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -fno-loop-[a-z-]*//g; s/ -Winvalid-pch -include [^ ]*//' "${BUILD_DIR:-build}/compile_commands.json" \
  >"$commands/compile_commands.json"

printf '%s\n' "${files[@]}" | { grep '\.cpp$' || true; } |
  xargs -r -P "$(nproc)" -n 1 clang-tidy -p "$commands" --quiet --extra-arg=-Wno-unknown-warning-option
