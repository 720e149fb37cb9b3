"""Operators that fold over rows of which data decides how many there are, against numpy."""

import pathlib
import tempfile
import unittest

import numpy as np
from containers import compile_models, run
from onnx import TensorProto, helper, numpy_helper, save

ROWS, COLUMNS = 6, 5
X = np.random.default_rng(7).standard_normal((ROWS, COLUMNS)).astype(np.float32)
W = np.random.default_rng(8).standard_normal((ROWS, COLUMNS)).astype(np.float32)
BOXES = np.array([[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6], [5, 5, 6, 6.1], [9, 9, 10, 10], [0, 5, 1, 6]],
                 np.float32)
MASKS = [np.array(mask, bool) for mask in ([0] * 6, [0, 0, 1, 0, 0, 0], [1, 0, 1, 1, 0, 1], [1] * 6)]


def ints(name, *values, shape=None):
    return numpy_helper.from_array(np.array(values, np.int64).reshape(shape or [len(values)]), name)


CONSTANTS = [ints("zero", 0), ints("one", 1), ints("two", 2), ints("most", 4), ints("minus", -1),
             ints("first", 0, shape=[]), ints("pair", 0, 1),
             numpy_helper.from_array(W, "W"), numpy_helper.from_array(BOXES[None], "boxes"),
             numpy_helper.from_array(np.array([0.5], np.float32), "iou"),
             numpy_helper.from_array(np.array(2e4, np.float16), "large"),
             numpy_helper.from_array(np.array(1.2, np.float32), "limit"), ints("corner", -1, 1, shape=[1, 2])]
node = helper.make_node


def rows_of(x):
    """I: where M is true; R: those rows of X, and of W as V; N: how many there are."""
    return [node("NonZero", ["M"], ["P"]), node("Squeeze", ["P", "zero"], ["I"]),
            node("Gather", [x, "I"], ["R"]), node("Gather", ["W", "I"], ["V"]),
            node("Shape", ["I"], ["N"])]


def fold(op, attributes=None, axes=True):
    inputs = ["R", "zero"] if axes else ["R"]
    return [node(op, inputs, ["Y"], **(attributes or {"keepdims": 0}))]


def softmax(x):
    e = np.exp(x - x.max(axis=0, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=0, keepdims=True)


def scattered(rows, mask):
    y = W.copy()
    y[np.flatnonzero(mask)] = rows
    return y


def scattered_from_end(rows, mask):
    y = W.copy()
    y[np.flatnonzero(mask) - 1] = rows  # a -1 is the last row
    return y


def scattered_elements(rows, mask):
    y = W.copy()
    for i, place in enumerate(np.flatnonzero(mask)):
        y[place] = rows[i]
    return y


# Name -> (nodes, result from the rows of X and W that are there and the mask, fewest rows).
CASES = {
    "sum": (fold("ReduceSum"), lambda r, v, m: r.sum(0), 0),
    "mean": ([node("ReduceMean", ["R"], ["Y"], axes=[0], keepdims=0)], lambda r, v, m: r.mean(0), 1),
    "mean of all": ([node("ReduceMean", ["R"], ["Y"])], lambda r, v, m: r.mean(keepdims=True), 1),
    "max": ([node("ReduceMax", ["R"], ["Y"], axes=[0])], lambda r, v, m: r.max(0, keepdims=True), 1),
    "min": ([node("ReduceMin", ["R"], ["Y"], axes=[0])], lambda r, v, m: r.min(0, keepdims=True), 1),
    "product": ([node("ReduceProd", ["R"], ["Y"], axes=[0])], lambda r, v, m: r.prod(0, keepdims=True), 0),
    "norm": ([node("ReduceL2", ["R"], ["Y"], axes=[0])],
             lambda r, v, m: np.sqrt((r * r).sum(0, keepdims=True)), 0),
    "log of sums": ([node("ReduceLogSumExp", ["R"], ["Y"], axes=[0])],
                    lambda r, v, m: np.log(np.exp(r).sum(0, keepdims=True)), 1),
    "max of counts": ([node("ReduceMax", ["I"], ["Y"])], lambda r, v, m: np.flatnonzero(m).max(keepdims=True), 1),
    "arg max": ([node("ArgMax", ["R"], ["Y"], axis=0)], lambda r, v, m: r.argmax(0)[None], 1),
    "arg min": ([node("ArgMin", ["R"], ["Y"], axis=0)], lambda r, v, m: r.argmin(0)[None], 1),
    "largest": ([node("TopK", ["R", "one"], ["Y", ""], axis=0)], lambda r, v, m: r.max(0, keepdims=True), 1),
    "smallest": ([node("TopK", ["R", "one"], ["Y", ""], axis=0, largest=0)],
                 lambda r, v, m: r.min(0, keepdims=True), 1),
    "as many as there are": (
        [node("Min", ["N", "two"], ["k"]), node("TopK", ["R", "k"], ["T", ""], axis=0),
         node("ReduceSum", ["T", "zero"], ["Y"], keepdims=0)],
        lambda r, v, m: np.sort(r, axis=0)[::-1][:2].sum(0), 0),
    "first rows": (
        [node("Concat", ["N", "two"], ["both"], axis=0), node("ReduceMin", ["both"], ["k"]),
         node("Slice", ["W", "zero", "k", "zero"], ["T"]), node("ReduceSum", ["T", "zero"], ["Y"], keepdims=0)],
        lambda r, v, m: W[:min(2, m.sum())].sum(0), 0),
    "running sum": ([node("CumSum", ["R", "first"], ["C"]), node("ReduceMax", ["C"], ["Y"], axes=[0])],
                    lambda r, v, m: r.cumsum(0).max(0, keepdims=True), 1),
    "softmax": ([node("Softmax", ["R"], ["S"], axis=0), node("Mul", ["S", "V"], ["Q"])]
                + [node("ReduceSum", ["Q", "zero"], ["Y"], keepdims=0)],
                lambda r, v, m: (softmax(r) * v).sum(0), 0),
    "product of matrices": ([node("Transpose", ["R"], ["C"]), node("MatMul", ["C", "V"], ["Y"])],
                            lambda r, v, m: r.T @ v, 0),
    "gemm": ([node("Gemm", ["R", "V"], ["Y"], transA=1)], lambda r, v, m: r.T @ v, 0),
    "rows over a limit": ([node("ReduceMax", ["R"], ["t"], axes=[1], keepdims=0), node("NonZero", ["t"], ["u"]),
                           node("Shape", ["u"], ["Y"])],
                          lambda r, v, m: np.array([1, len(r)]), 0),
    "scatter": ([node("Unsqueeze", ["I", "one"], ["J"]), node("ScatterND", ["W", "J", "R"], ["Y"])],
                lambda r, v, m: scattered(r, m), 0),
    "scatter from the end": (
        [node("Sub", ["I", "one"], ["K"]), node("Unsqueeze", ["K", "one"], ["J"]),
         node("ScatterND", ["W", "J", "R"], ["Y"])],
        lambda r, v, m: scattered_from_end(r, m), 0),
    "scatter elements": (
        [node("Unsqueeze", ["I", "one"], ["J"]), node("Shape", ["R"], ["shape"]), node("Expand", ["J", "shape"], ["E"]),
         node("ScatterElements", ["W", "E", "R"], ["Y"], axis=0)],
        lambda r, v, m: scattered_elements(r, m), 0),
    "sum of halves": ([node("Cast", ["R"], ["h"], to=TensorProto.FLOAT16),
                       node("Mul", ["h", "large"], ["l"]),
                       node("ReduceMean", ["l"], ["q"], axes=[0], keepdims=0),
                       node("Cast", ["q"], ["Y"], to=TensorProto.FLOAT)],
                      lambda r, v, m: (r.astype(np.float16) * np.float16(2e4)).astype(np.float32).mean(0)
                      .astype(np.float16).astype(np.float32), 1),
    "rows by a best one": (
        [node("ReduceMax", ["R"], ["t"], axes=[1], keepdims=0), node("TopK", ["t", "one"], ["u", "best"], axis=0),
         node("Gather", ["R", "best"], ["Y"])],
        lambda r, v, m: r[[r.max(1).argmax()]], 1),
    "last row": ([node("Gather", ["R", "minus"], ["Y"])], lambda r, v, m: r[-1:], 1),
    "rows of the best scores": (
        [node("ReduceMax", ["R"], ["t"], axes=[1], keepdims=0), node("Min", ["N", "two"], ["k"]),
         node("TopK", ["t", "k"], ["u", "best"], axis=0), node("Gather", ["R", "best"], ["T"]),
         node("ReduceSum", ["T", "zero"], ["Y"], keepdims=0)],
        lambda r, v, m: r[np.argsort(-r.max(1, initial=-np.inf))[:2]].sum(0), 0),
    "running sum from the end": ([node("CumSum", ["R", "first"], ["C"], reverse=1),
                                  node("ReduceMax", ["C"], ["Y"], axes=[0])],
                                 lambda r, v, m: r[::-1].cumsum(0).max(0, keepdims=True), 1),
    "rows by the same mask twice": (
        [node("NonZero", ["M"], ["P2"]), node("Squeeze", ["P2", "zero"], ["I2"]), node("Gather", ["W", "I2"], ["V2"]),
         node("Mul", ["R", "V2"], ["Q"]), node("ReduceSum", ["Q", "zero"], ["Y"], keepdims=0)],
        lambda r, v, m: (r * v).sum(0), 0),
    "a mask of rows that a mask chose": (
        [node("ReduceMax", ["R"], ["t"], axes=[1], keepdims=0), node("Greater", ["t", "limit"], ["over"]),
         node("NonZero", ["over"], ["P2"]), node("Transpose", ["P2"], ["J"]), node("GatherND", ["R", "J"], ["T"]),
         node("ReduceSum", ["T", "zero"], ["Y"], keepdims=0)],
        lambda r, v, m: r[r.max(1, initial=-np.inf) > 1.2].sum(0), 0),
    "an element from the end": (
        [node("GatherND", ["R", "corner"], ["Y"])], lambda r, v, m: r[-1, 1:2], 1),
    "rows, others and rows": (
        [node("Concat", ["R", "W", "V"], ["T"], axis=0), node("TopK", ["T", "two"], ["Y", ""], axis=0)],
        lambda r, v, m: np.sort(np.concatenate([r, W, v]), axis=0)[::-1][:2], 0),
    "rows and others, as many as there are always": (
        [node("Concat", ["R", "W"], ["T"], axis=0), node("Slice", ["T", "zero", "most", "zero"], ["Y"])],
        lambda r, v, m: np.concatenate([r, W])[:4], 0),
    "boxes": (
        [node("Gather", ["boxes", "I"], ["B"], axis=1), node("ReduceMax", ["R"], ["t"], axes=[1], keepdims=0),
         node("Unsqueeze", ["t", "pair"], ["scores"]),
         node("NonMaxSuppression", ["B", "scores", "most", "iou"], ["chosen"]),
         node("Shape", ["chosen"], ["Y"])],
        lambda r, v, m: np.array([min(4, len(suppressed(r.max(1, initial=-np.inf), BOXES[m]))), 3]), 0),
}


def suppressed(scores, boxes):
    """The boxes that overlap none with a higher score by more than half."""
    chosen = []
    for i in np.argsort(-scores, kind="stable"):
        def overlap(j):
            low, high = np.maximum(boxes[i][:2], boxes[j][:2]), np.minimum(boxes[i][2:], boxes[j][2:])
            common = np.prod(np.maximum(high - low, 0))
            return common / (np.prod(boxes[i][2:] - boxes[i][:2]) + np.prod(boxes[j][2:] - boxes[j][:2]) - common)
        if all(overlap(j) <= 0.5 for j in chosen):
            chosen.append(i)
    return chosen


class OpenAxesTest(unittest.TestCase):
    def test_folds_over_the_rows_that_are_there(self):
        for name, (nodes, reference, fewest) in CASES.items():
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.onnx"
                wanted = reference(X, W, MASKS[-1])
                element = TensorProto.INT64 if np.issubdtype(wanted.dtype, np.integer) else TensorProto.FLOAT
                graph = helper.make_graph(
                    rows_of("X") + nodes, "g",
                    [helper.make_tensor_value_info("X", TensorProto.FLOAT, [ROWS, COLUMNS]),
                     helper.make_tensor_value_info("M", TensorProto.BOOL, [ROWS])],
                    [helper.make_tensor_value_info("Y", element, wanted.shape)], CONSTANTS)
                save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
                runner = compile_models([path], pathlib.Path(folder))
                for mask in MASKS:
                    if mask.sum() < fewest:
                        continue
                    with self.subTest(name=name, rows=int(mask.sum())):
                        found = run(runner, {"X": X, "M": mask})["Y"]
                        np.testing.assert_allclose(found, reference(X[mask], W[mask], mask), rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    unittest.main()
