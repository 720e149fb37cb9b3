"""Two models in one container: a request gives the tensors of one of them.

    fusion.py fused.popef
"""

import sys

import numpy as np

import model_runtime

runner = model_runtime.ModelRunner(sys.argv[1])
x = np.full((4, 3), 3, np.float32)
assert (runner.execute({"graph0/x": x})["graph0/output"] == 6).all()
index = np.array([1], np.uint32)
assert (runner.execute({"index": index, "graph1/x": x})["graph1/output"] == 9).all()
try:
    runner.execute({"index": index, "graph0/x": x})
except RuntimeError as error:
    print(error)
else:
    raise SystemExit("a request with tensors of another graph than its index must fail")
