"""Writes model0.onnx and model1.onnx into the working directory."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def save(path, nodes, inputs, outputs, constants):
    graph = helper.make_graph(nodes, path.split(".")[0], inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, path)
    print(f"wrote {path}")


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


# O = Reshape(X + Y), with the batch left open: the configuration fixes it.
save(
    "model0.onnx",
    [
        helper.make_node("Add", ["X", "Y"], ["sum"]),
        helper.make_node("Reshape", ["sum", "shape"], ["O"]),
    ],
    [value("X", ["batch", 2]), value("Y", ["batch", 2])],
    [value("O", [2])],
    [numpy_helper.from_array(np.array([2], np.int64), "shape")],
)

# O = Concat(X, [1.5, 2.0])
save(
    "model1.onnx",
    [helper.make_node("Concat", ["X", "c"], ["O"], axis=1)],
    [value("X", [1, 1])],
    [value("O", [1, 3])],
    [numpy_helper.from_array(np.array([[1.5, 2.0]], np.float32), "c")],
)
