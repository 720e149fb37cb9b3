#!/usr/bin/env bash
# Shows the tool at work: two small ONNX models become one container, which is looked at and run.
# Installs what is missing and builds first. Results stay in build/demo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

if [[ -t 1 ]]; then
  bold=$'\e[1m' blue=$'\e[1;34m' plain=$'\e[0m'
else
  bold='' blue='' plain=''
fi

say() { printf '\n%s# %s%s\n' "$blue" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$bold" "$*" "$plain"; }
run() {
  show "$@"
  "$@"
}

say 'Install the Debian packages that are missing, and build'
run tools/install_packages.sh
run tools/build.sh

rm -rf build/demo
mkdir -p build/demo
cp tools/demo/{make_models.py,run_graphs.py,config.yaml} build/demo/
say 'Everything below can be repeated by hand: these lines and those behind each $'
run cd "$root/build/demo"
show "export PATH=$root/build/bin:\$PATH PYTHONPATH=$root/build/python"
export PATH="$root/build/bin:$PATH" PYTHONPATH="$root/build/python"

say 'Two models: O = Reshape(X + Y), and O = Concat(X, [1.5, 2.0])'
run /usr/bin/python3 make_models.py
run poprt --input_model model0.onnx --show
run poprt --input_model model1.onnx --show

say 'A configuration that fuses them, the second one in float16'
run cat config.yaml

say 'Compile'
run poprt --config_yaml config.yaml
run ls -l model_fusion.onnx executable.popef

say 'What the container holds: the inputs and outputs, and which graph they belong to'
run popef_dump executable.popef

say 'Run both graphs from Python'
run cat run_graphs.py
run /usr/bin/python3 run_graphs.py executable.popef

say 'Done. The files are in build/demo; README.md shows how to go on with a model of your own.'
