"""Evaluates ONNX graphs with numpy in float64, independently of the compiler: the operators and
attributes that the models of these tests use, and an error for any other."""

import math

import numpy as np
from onnx import helper, numpy_helper

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _windows(x, kernel, strides, pads, fill):
    """The taps of a 2-D window over x [N,C,H,W]: pairs of kernel position and [N,C,OH,OW]."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    high = (x.shape[2] - kernel[0]) // strides[0] + 1
    wide = (x.shape[3] - kernel[1]) // strides[1] + 1
    for row, column in np.ndindex(*kernel):
        rows = slice(row, row + (high - 1) * strides[0] + 1, strides[0])
        columns = slice(column, column + (wide - 1) * strides[1] + 1, strides[1])
        yield (row, column), x[:, :, rows, columns]


def _conv(x, w, bias=None, *, kernel_shape, strides, pads=(0, 0, 0, 0), group=1):
    outputs, depth = w.shape[:2]
    total = 0.0
    for (row, column), tap in _windows(x, kernel_shape, strides, pads, 0.0):
        batch, _, high, wide = tap.shape
        taken = tap.reshape(batch, group, depth, high * wide)
        weights = w[:, :, row, column].reshape(group, outputs // group, depth)
        total = total + np.matmul(weights, taken)
    y = total.reshape(batch, outputs, high, wide)
    return y if bias is None else y + bias.reshape(1, -1, 1, 1)


def _max_pool(x, *, kernel_shape, strides, pads):
    return np.max([tap for _, tap in _windows(x, kernel_shape, strides, pads, -np.inf)], axis=0)


def _average_pool(x, *, kernel_shape, strides, pads=(0, 0, 0, 0)):
    """The padding does not count."""

    def total(values):
        return sum(tap for _, tap in _windows(values, kernel_shape, strides, pads, 0.0))

    return total(x) / total(np.ones_like(x))


def _lrn(x, *, size, alpha, beta, bias):
    before, channels = (size - 1) // 2, x.shape[1]
    squares = np.pad(x**2, ((0, 0), (before, size - 1 - before), (0, 0), (0, 0)))
    near = sum(squares[:, first : first + channels] for first in range(size))
    return x / (bias + alpha / size * near) ** beta


def _softmax(x, *, axis=None):
    # Only models older than opset 13 leave the axis out: all axes from the second on, as one.
    axes = tuple(range(1, x.ndim)) if axis is None else axis
    e = np.exp(x - x.max(axes, keepdims=True))
    return e / e.sum(axes, keepdims=True)


def _layer_normalization(x, scale, bias, *, axis, epsilon):
    axes = tuple(range(axis % x.ndim, x.ndim))
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon) * scale + bias


def _batch_normalization(x, scale, bias, mean, variance, *, epsilon=1e-5):
    scale, bias, mean, variance = (v.reshape(1, -1, 1, 1) for v in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


def _reshape(x, shape):
    return x.reshape([x.shape[i] if extent == 0 else extent for i, extent in enumerate(shape)])


def _unsqueeze(x, axes):
    return np.expand_dims(x, tuple(int(axis) for axis in axes))


OPERATORS = {
    "Add": np.add,
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_normalization,
    "Cast": lambda x, to: x.astype(np.float64),
    "Clip": np.clip,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Conv": _conv,
    "Div": np.divide,
    "Dropout": lambda x, ratio: x,
    "Erf": _erf,
    "Flatten": lambda x, axis: x.reshape(int(np.prod(x.shape[:axis])), -1),
    "Gather": lambda x, index, axis: np.take(x, index, axis),
    "Gemm": lambda a, b, c, transB: a @ (b.T if transB else b) + c,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
    "LRN": _lrn,
    "LayerNormalization": _layer_normalization,
    "MatMul": np.matmul,
    "MaxPool": _max_pool,
    "Mul": np.multiply,
    "Pow": np.power,
    "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), keepdims=bool(keepdims)),
    "Relu": lambda x: np.maximum(x, 0),
    "Reshape": _reshape,
    "Softmax": _softmax,
    "Sqrt": np.sqrt,
    "Sub": np.subtract,
    "Sum": lambda *terms: sum(terms),
    "Tanh": np.tanh,
    "Transpose": lambda x, perm: x.transpose(perm),
    "Unsqueeze": _unsqueeze,
}


def _widened(array):
    return array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array


def evaluate(model, inputs):
    """Name -> array of the outputs; floats are float64 throughout."""
    values = {t.name: _widened(numpy_helper.to_array(t)) for t in model.graph.initializer}
    values.update((name, _widened(array)) for name, array in inputs.items())
    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        arguments = [values[name] for name in node.input]
        values[node.output[0]] = OPERATORS[node.op_type](*arguments, **attributes)
    return {value.name: values[value.name] for value in model.graph.output}
