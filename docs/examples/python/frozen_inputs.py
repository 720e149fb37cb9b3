"""output = tensor_A * weights + tensor_B of a container that holds data for `weights`.

    frozen_inputs.py affine_variable.popef
"""

import sys

import numpy as np

import model_runtime
import popef

reader = popef.Reader()
reader.parseFile(sys.argv[1])
for tensor in reader.tensors():
    print("the container holds", tensor.info.name(), tensor.info.tensorInfo().shape())
model = popef.ModelBuilder(reader).createModel()

runner = model_runtime.ModelRunner(model)
inputs = {d.name: np.full(d.shape, 3, np.float32) for d in runner.getExecuteInputs()}
assert (runner.execute(inputs)["output"] == 9).all()
del runner

frozen = model_runtime.InputMemoryView()
frozen["weights"] = np.full((4, 3), 5, np.float32)
frozen["tensor_B"] = np.full((4, 3), 1, np.float32)
config = model_runtime.ModelRunnerConfig()
config.frozen_inputs = frozen
runner = model_runtime.ModelRunner(model, config=config)
assert [d.name for d in runner.getExecuteInputs()] == ["tensor_A"]
assert (runner.execute({"tensor_A": inputs["tensor_A"]})["output"] == 16).all()
print("9 with the weights of the container, 16 with frozen ones")
