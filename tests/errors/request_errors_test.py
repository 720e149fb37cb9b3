"""Requests that mix tensors up: what the runtime says, with the exact text.

    request_errors_test.py PATH_TO_POPRT [unittest arguments]

The Python package must be on PYTHONPATH.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper

from poprt.runtime import Runner

POPRT = ""


def write_model(path, width):
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, width])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, width])
    graph = helper.make_graph([helper.make_node("Relu", ["X"], ["Y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def floats(*shape):
    return np.zeros(shape, np.float32)


class RequestErrorsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        for name, width in (("a.onnx", 2), ("b.onnx", 3)):
            write_model(os.path.join(folder.name, name), width)
        subprocess.run(
            [POPRT, "-i", "a.onnx", "-i", "b.onnx", "--export_popef"],
            cwd=folder.name,
            check=True,
            capture_output=True,
        )
        cls.runner = Runner(os.path.join(folder.name, "executable.popef"))

    def refused(self, kind, error, inputs, outputs):
        with self.assertRaises(kind) as caught:
            self.runner.execute(inputs, outputs)
        self.assertEqual(str(caught.exception), error)

    def test_missing_tensors(self):
        self.refused(
            RuntimeError,
            "input 'graph0/X' of graph 'graph0' is missing",
            {},
            {"graph0/Y": floats(1, 2)},
        )
        self.refused(
            RuntimeError,
            "output 'graph1/Y' of graph 'graph1' is missing",
            {"graph1/X": floats(1, 3)},
            {},
        )

    def test_tensors_of_two_graphs(self):
        self.refused(
            RuntimeError,
            "the request mixes tensors of several graphs, give those of one:\n"
            "  graph 0 'graph0': graph0/X\n"
            "  graph 1 'graph1': graph1/Y",
            {"graph0/X": floats(1, 2)},
            {"graph1/Y": floats(1, 3)},
        )
        self.refused(
            RuntimeError,
            "input 'graph0/X' belongs to graph 0 'graph0', but the request runs graph 1 'graph1'\n"
            "input 'graph1/X' of graph 'graph1' is missing",
            {"index": 1, "graph0/X": floats(1, 2)},
            {"graph1/Y": floats(1, 3)},
        )

    def test_wrong_type(self):
        self.refused(
            TypeError,
            "input 'graph0/X' is float64, the model has float32: use .astype(numpy.float32)",
            {"graph0/X": np.zeros((1, 2))},
            {"graph0/Y": floats(1, 2)},
        )

    def test_wrong_index(self):
        self.refused(
            RuntimeError,
            "input 'index' is 2, allowed are 0 to 1",
            {"index": 2, "graph0/X": floats(1, 2)},
            {"graph0/Y": floats(1, 2)},
        )


if __name__ == "__main__":
    POPRT = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
