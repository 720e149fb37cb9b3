#!/usr/bin/env bash
# Installs, moves the prefix, and uses what is there as another project would: C++ by find_package,
# Python from the prefix, the tools from the prefix. Nothing of the build folder may be needed.
#
#   install_test.sh CMAKE BUILD_DIR CONSUMER_DIR WORK_DIR PYTHON
set -euo pipefail
cmake=$1 build=$2 consumer=$3 work=$4 python=$5

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work/run"
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

for file in bin/poprt bin/popef_dump bin/popef_bench \
  lib/lib{popef,model_runtime,poprt_runtime,poprt_compiler}.so \
  include/popef/{Format,Model,Reader,Types,Writer}.hpp \
  include/model_runtime/{DataDesc,DeviceWaitConfig,ModelRunner,ModelRunnerConfig,Tensor}.hpp \
  include/poprt/executable.hpp include/poprt/compiler/compiler.hpp \
  include/poprt/runtime/model_runner.hpp \
  lib/cmake/{popef,model_runtime,poprt} share/poprt/configs/targets/ipu21.yaml; do
  [[ -e $prefix/$file ]] || fail "$file is not installed"
done

# Public headers need other public headers only.
if grep -rnE '#include "(runtime|compiler|passes|tools)/' "$prefix/include"; then
  fail 'installed headers include headers of the project that are not installed'
fi
if grep -rn "$build" "$prefix/lib/cmake"; then
  fail 'the CMake packages name the build folder'
fi
# LINK_DEPENDENT names libraries for the linker's search only: a consumer need not have them.
internal='poprt_(tensor|kernels|program|device|driver|flags)|absl|onnx|protobuf|ZLIB'
if grep -rnE "$internal" "$prefix/lib/cmake" | grep -v 'IMPORTED_LINK_DEPENDENT_LIBRARIES'; then
  fail 'the CMake packages ask for libraries that are no part of the public interface'
fi
for binary in "$prefix"/bin/* "$prefix"/lib/*.so "$prefix"/lib/python3/dist-packages/*/*.so; do
  if readelf -d "$binary" | grep -E 'R(UN)?PATH' | grep -v 'ORIGIN'; then
    fail "$binary has a run path outside the prefix"
  fi
  ! ldd "$binary" | grep 'not found' || fail "$binary misses libraries"
done

cd "$work/run"
"$prefix/bin/poprt" --version
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$prefix/lib/python3/dist-packages "$python" - <<'EOF'
import model_runtime
import numpy as np
import onnx
import popef
from onnx import TensorProto, helper

import poprt.compiler
import poprt.runtime

value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2])
graph = helper.make_graph([helper.make_node("Add", ["X", "X"], ["Y"])], "g", [value("X")], [value("Y")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), "model.onnx")
executable = poprt.compiler.Compiler.compile("model.onnx")
y = np.zeros((1, 2), np.float32)
poprt.runtime.Runner(executable).execute({"X": np.array([[1, 2]], np.float32)}, {"Y": y})
assert y.tolist() == [[2, 4]], y

poprt.compiler.Compiler.compile_and_export("model.onnx", None, "python.popef")
reader = popef.Reader()
reader.parseFile("python.popef")
runner = model_runtime.ModelRunner(popef.ModelBuilder(reader).createModel())
z = runner.execute({"X": np.array([[3, 4]], np.float32)})["Y"]
assert z.tolist() == [[6, 8]], z
EOF

"$cmake" -G Ninja -S "$consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
  >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; fail 'the consumer does not configure'; }
"$cmake" --build "$work/consumer"
"$work/consumer/consumer" model.onnx executable.popef
"$prefix/bin/popef_dump" executable.popef >dump.txt
grep -q X dump.txt || fail 'popef_dump does not show the input'
