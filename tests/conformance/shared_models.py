"""The models outside the project: where they are, and the skip that says what is absent."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("POPRT_SHARED") or PROJECT.parent / "shared")
LIGHT = SHARED / "conformance" / "onnx-1.17" / "light"
GENERATOR = SHARED / "bench" / "models" / "gen_models.py"
RANDOM_WEIGHTS = SHARED / "bench" / "models" / "materialise.py"


def require(path):
    """Skips the test that calls it when `path` is absent."""
    if not path.exists():
        raise unittest.SkipTest(f"absent: {path} (POPRT_SHARED names the folder that holds it)")


def load_module(path):
    """The Python module in a file, or a skip."""
    require(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_weights_random(source, target):
    """Writes a light model with seeded random weights in place of its constant ones, or skips."""
    require(RANDOM_WEIGHTS)
    require(source)
    command = [sys.executable, str(RANDOM_WEIGHTS), str(source), str(target)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def drop_final_softmax(model):
    """Makes the input of a Softmax at the end the output: for a deep model with random weights, it
    gives one 1 and zeros, which hides errors."""
    last, (output,) = model.graph.node[-1], model.graph.output
    if last.op_type == "Softmax":
        output.name = last.input[0]
        del model.graph.node[-1]


def element_type(value):
    return onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[value.type.tensor_type.elem_type]


def shape(value):
    """The shape of an input; a dimension without a value is 1."""
    return [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]


def graph_inputs(model):
    """The inputs that are no initializers."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def ramp_inputs(model):
    """The fixed input of the light models: 0 to 1 in even steps."""
    inputs = {}
    for value in graph_inputs(model):
        extents = shape(value)
        count = int(np.prod(extents))
        inputs[value.name] = (np.arange(count).reshape(extents) / count).astype(np.float32)
    return inputs


def random_inputs(model, seed):
    """Normal floats; integers are rows of the table that a Gather reads with them, else 0 or 1."""
    random = np.random.RandomState(seed)
    rows = {tensor.name: tensor.dims[0] for tensor in model.graph.initializer if tensor.dims}
    bounds = {n.input[1]: rows[n.input[0]] for n in model.graph.node if n.op_type == "Gather"}
    inputs = {}
    for value in graph_inputs(model):
        kind = element_type(value)
        if np.issubdtype(kind, np.integer):
            array = random.randint(bounds.get(value.name, 2), size=shape(value))
        else:
            array = random.standard_normal(shape(value))
        inputs[value.name] = array.astype(kind)
    return inputs


def stored_output(path):
    return numpy_helper.to_array(onnx.load_tensor(str(path)))
