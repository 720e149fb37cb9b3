"""The ways to run a request: now or queued, with dicts of arrays or with views.

    execution_modes.py affine.popef
"""

import sys

import numpy as np

import model_runtime

runner = model_runtime.ModelRunner(model_runtime.PopefPaths([sys.argv[1]]))
inputs = {d.name: np.full(d.shape, 3, d.numpy_data_type()) for d in runner.getExecuteInputs()}
outputs = {d.name: np.zeros(d.shape, d.numpy_data_type()) for d in runner.getExecuteOutputs()}

result = runner.execute(inputs)
assert (result["output"] == 9).all()

runner.execute(inputs, outputs)
assert (outputs["output"] == 9).all()

future = runner.executeAsync(inputs)
future.wait()
assert (np.array(future["output"], copy=False) == 9).all()

outputs["output"][:] = 0
future = runner.executeAsync(inputs, outputs)
future.wait()
assert (outputs["output"] == 9).all()

view = model_runtime.InputMemoryView()
for name, array in inputs.items():
    view[name] = array
result = runner.execute(view)
assert (np.frombuffer(result["output"], np.float32) == 9).all()
print("9 in every mode")
