#!/usr/bin/env bash
# Runs the backend suite that lies outside the project and compares with what is known of it: the
# expected failures, and the counts that docs/operators.md shows. shared_suite_test.sh RUNNER
set -euo pipefail
runner=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
suite=${POPRT_SHARED:-$here/../../../shared}/conformance/onnx-1.17
if [[ ! -d $suite ]]; then
  echo "skipped: absent: $suite (POPRT_SHARED names the folder that holds it)"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
for group in node simple pytorch-converted pytorch-operator light; do
  "$runner" "$suite/$group" --expect "$here/expected_failures.txt" \
    --operator_counts "$scratch/$group" >"$scratch/report" || status=1
  tail -n 30 "$scratch/report"
done
if ! diff "$here/operator_counts.txt" "$scratch/node"; then
  echo "operator_counts.txt is stale: write it with --operator_counts, then remake docs/operators.md"
  status=1
fi
exit $status
