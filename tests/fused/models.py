"""Small models for tests of fusion, the same bytes each time."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def _value(name, shape, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def _model(name, nodes, inputs, outputs, constants):
    initializers = [numpy_helper.from_array(array, key) for key, array in constants.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def _weights(seed):
    random = np.random.RandomState(seed)

    def weights(*shape):
        return (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    return weights


def conv_net():
    """Convolution, normalisation, pooling, a residual, a classifier: x [1,3,16,16] -> y [1,10]."""
    weights = _weights(1)
    constants = {
        "w0": weights(8, 3, 3, 3),
        "b0": weights(8, 1).reshape(8),
        "scale": weights(8, 1).reshape(8),
        "shift": weights(8, 1).reshape(8),
        "mean": weights(8, 1).reshape(8),
        "var": np.abs(weights(8, 1).reshape(8)) + np.float32(0.5),
        "w1": weights(8, 8, 3, 3),
        "w2": weights(10, 8),
        "b2": weights(10, 1).reshape(10),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["c0", "scale", "shift", "mean", "var"], ["n0"]),
        helper.make_node("Relu", ["n0"], ["r0"]),
        helper.make_node("Conv", ["r0", "w1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c1", "r0"], ["s1"]),
        helper.make_node("MaxPool", ["s1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p1"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "w2", "b2"], ["l"], transB=1),
        helper.make_node("Softmax", ["l"], ["y"], axis=1),
    ]
    return _model("conv_net", nodes, [_value("x", [1, 3, 16, 16])], [_value("y", [1, 10])], constants)


def mlp():
    """Two layers and a normalisation, two outputs: x [4,32] -> y [4,8], h [4,64]."""
    weights = _weights(2)
    constants = {
        "w0": weights(32, 64),
        "b0": weights(64, 1).reshape(64),
        "w1": weights(64, 8),
        "half": np.array(0.5, np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["m0"]),
        helper.make_node("Add", ["m0", "b0"], ["a0"]),
        helper.make_node("Tanh", ["a0"], ["h"]),
        helper.make_node("MatMul", ["h", "w1"], ["m1"]),
        helper.make_node("Mul", ["m1", "half"], ["s1"]),
        helper.make_node("LogSoftmax", ["s1"], ["y"], axis=1),
    ]
    outputs = [_value("y", [4, 8]), _value("h", [4, 64])]
    return _model("mlp", nodes, [_value("x", [4, 32])], outputs, constants)


def add_reshape():
    """The first model of the demo: X, Y [1,2] -> O [2]."""
    nodes = [
        helper.make_node("Add", ["X", "Y"], ["sum"]),
        helper.make_node("Reshape", ["sum", "shape"], ["O"]),
    ]
    inputs = [_value("X", [1, 2]), _value("Y", [1, 2])]
    return _model("add_reshape", nodes, inputs, [_value("O", [2])], {"shape": np.array([2], np.int64)})


ALL = {"conv_net": conv_net, "mlp": mlp, "add_reshape": add_reshape}


def save_all(folder):
    """Writes <name>.onnx for every model."""
    for name, make in ALL.items():
        onnx.save(make(), f"{folder}/{name}.onnx")
