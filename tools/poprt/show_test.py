"""What `poprt --show` prints.

show_test.py PATH_TO_POPRT [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

POPRT = ""


def pad():
    """Y = X padded as P says, of any extent."""
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, ["N", 2])
    p = helper.make_tensor_value_info("P", TensorProto.INT64, [4])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Pad", ["X", "P"], ["Y"])], "pad", [x, p], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


class ShowTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        onnx.save(pad(), str(self.folder / "pad.onnx"))
        np.save(self.folder / "p.npy", np.array([0, 1, 0, 0], np.int64))

    def show(self, *arguments):
        before = sorted(os.listdir(self.folder))
        result = subprocess.run(
            [POPRT, *arguments, "--show"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        return result.stdout

    def test_inputs_and_outputs_as_declared(self):
        self.assertEqual(
            self.show("-i", "pad.onnx"),
            "Input X: dtype - float32, shape - [N, 2]\n"
            "Input P: dtype - int64, shape - [4]\n"
            "Output Y: dtype - float32, shape - unknown\n",
        )

    def test_frozen_inputs_name_their_files(self):
        arguments = ("-i", "pad.onnx", "--freeze_input", "P=p.npy")
        self.assertEqual(
            self.show(*arguments),
            "Input X: dtype - float32, shape - [N, 2]\n"
            "Input P: dtype - int64, shape - [4], frozen - p.npy\n"
            "Output Y: dtype - float32, shape - unknown\n",
        )
        models = json.loads(self.show(*arguments, "--json"))["models"]
        self.assertEqual(
            models[0]["inputs"],
            [
                {"name": "X", "dtype": "float32", "shape": ["N", 2]},
                {"name": "P", "dtype": "int64", "shape": [4], "frozen": "p.npy"},
            ],
        )

    def test_inputs_are_frozen_for_each_model(self):
        onnx.save(pad(), str(self.folder / "b.onnx"))
        text = self.show("-i", "pad.onnx", "-i", "b.onnx", "--freeze_input", "graph1/P=p.npy")
        self.assertEqual(
            text,
            "pad.onnx\n"
            "Input X: dtype - float32, shape - [N, 2]\n"
            "Input P: dtype - int64, shape - [4]\n"
            "Output Y: dtype - float32, shape - unknown\n"
            "b.onnx\n"
            "Input X: dtype - float32, shape - [N, 2]\n"
            "Input P: dtype - int64, shape - [4], frozen - p.npy\n"
            "Output Y: dtype - float32, shape - unknown\n",
        )


if __name__ == "__main__":
    POPRT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
