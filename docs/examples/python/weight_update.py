"""Other weights for a loaded model, without compiling or loading it again.

    weight_update.py affine_variable.popef
"""

import sys

import numpy as np

from poprt import runtime

runner = runtime.LightRunner(runtime.Executable(sys.argv[1]), runtime.LightRunnerConfig())
inputs = {d.name: np.full(d.shape, 3, np.float32) for d in runner.get_execute_inputs()}
outputs = {"output": np.zeros((4, 3), np.float32)}

runner.execute(inputs, outputs)
assert (outputs["output"] == 9).all()

for weight in runner.get_model_inputs():
    if weight.popef_contains_tensor_data:
        print("updating", weight.name)
        runner.set_input_anchor(weight.name, np.full(weight.shape, 7, np.float32))
runner.update_weights()
runner.execute(inputs, outputs)
assert (outputs["output"] == 24).all()
print("3 * 2 + 3 is 9, 3 * 7 + 3 is 24")
