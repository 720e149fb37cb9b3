"""Writes the ONNX models that the examples run: affine.onnx, double.onnx and square.onnx."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def save(name, nodes, inputs, constants=()):
    tensors = [helper.make_tensor_value_info(i, TensorProto.FLOAT, [4, 3]) for i in inputs]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, [4, 3])
    graph = helper.make_graph(nodes, name, tensors, [output], list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.save(model, name + ".onnx")


weights = numpy_helper.from_array(np.full((4, 3), 2, np.float32), "weights")
save("affine",  # output = tensor_A * weights + tensor_B
     [helper.make_node("Mul", ["tensor_A", "weights"], ["product"]),
      helper.make_node("Add", ["product", "tensor_B"], ["output"])],
     ["tensor_A", "tensor_B"], [weights])
save("double", [helper.make_node("Add", ["x", "x"], ["output"])], ["x"])
save("square", [helper.make_node("Mul", ["x", "x"], ["output"])], ["x"])
