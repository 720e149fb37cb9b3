#!/usr/bin/env bash
# Writes the models of the examples and compiles them, in the current folder:
#   make_containers.sh [POPRT]
set -euo pipefail
poprt=${1:-poprt}

/usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/make_models.py"
"$poprt" --input_model affine.onnx --export_popef
mv executable.popef affine.popef
"$poprt" --input_model affine.onnx --export_popef --compiler_options constant_weights=False
mv executable.popef affine_variable.popef
"$poprt" --config_yaml "$(dirname "${BASH_SOURCE[0]}")/fusion.yaml"
mv executable.popef fused.popef
