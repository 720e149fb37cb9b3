"""Runs both graphs of the container that the first argument names."""

import sys

import numpy as np
from poprt.runtime import Runner, RuntimeConfig

runner = Runner(sys.argv[1], RuntimeConfig())
for desc in runner.get_execute_inputs():
    print("input ", desc.name, desc.shape, desc.numpy_data_type())
for desc in runner.get_execute_outputs():
    print("output", desc.name, desc.shape, desc.numpy_data_type())

# The names of the tensors say which graph runs.
x = np.array([[1, 2]], np.float32)
y = np.array([[10, 20]], np.float32)
out = np.zeros(2, np.float32)
runner.execute({"graph0/X": x, "graph0/Y": y}, {"graph0/O": out})
print(f"graph 0: {x} + {y} -> {out}")
assert out.tolist() == [11, 22]

# `index` says it as well.
x = np.array([[0.5]], np.float16)
out = np.zeros((1, 3), np.float16)
runner.execute({"index": np.array([1], np.uint32), "graph1/X": x}, {"graph1/O": out})
print(f"graph 1: {x} -> {out}")
assert out.tolist() == [[0.5, 1.5, 2.0]]
