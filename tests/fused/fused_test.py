"""Fused models give the bits that each of them gives alone, in any order, at any precision, under
their names and their numbers. Uses the tool in $POPRT and the packages on PYTHONPATH."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import models
import numpy as np
from poprt.runtime import Runner

POPRT = os.environ["POPRT"]
NAMES = list(models.ALL)


def poprt(folder, *arguments):
    """Compiles; returns what the tool prints."""
    return subprocess.run(
        [POPRT, *arguments, "--export_popef", "--disable_compilation_progress_bar"],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def requests_of(runner, seed):
    """Random inputs for all inputs of a runner."""
    random = np.random.RandomState(seed)
    return {
        desc.name: random.standard_normal(desc.shape).astype(desc.numpy_data_type())
        for desc in runner.get_execute_inputs()
    }


class FusedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        models.save_all(cls.folder)

    def alone(self, name, *options):
        """Inputs and results of a model compiled alone."""
        poprt(self.folder, "-i", f"{name}.onnx", "--output_dir", f"alone_{name}", *options)
        runner = Runner(self.folder / f"alone_{name}" / "executable.popef")
        inputs = requests_of(runner, seed=7)
        outputs = {
            desc.name: np.zeros(desc.shape, desc.numpy_data_type())
            for desc in runner.get_execute_outputs()
        }
        runner.execute(inputs, outputs)
        for output in outputs.values():
            self.assertTrue(np.all(np.isfinite(output)))
            self.assertTrue(np.any(output))
        return inputs, outputs

    def check(self, runner, index, prefix, inputs, outputs):
        """One graph of a fused model against the same model alone, with and without index."""
        for extra in ({}, {"index": np.array([index], np.uint32)}):
            got = {f"{prefix}/{name}": np.zeros_like(value) for name, value in outputs.items()}
            runner.execute({**{f"{prefix}/{n}": v for n, v in inputs.items()}, **extra}, got)
            for name, wanted in outputs.items():
                self.assertEqual(
                    got[f"{prefix}/{name}"].tobytes(), wanted.tobytes(), f"{prefix}/{name} {extra}"
                )

    def check_order(self, order, *options):
        expected = {name: self.alone(name, *options) for name in order}
        folder = "fused_" + "_".join(order)
        arguments = [word for name in order for word in ("-i", f"{name}.onnx")]
        poprt(self.folder, *arguments, "--output_dir", folder, *options)
        runner = Runner(self.folder / folder / "executable.popef")
        # Twice and interleaved: no graph leaves anything behind for the next.
        for _ in range(2):
            for index, name in enumerate(order):
                with self.subTest(model=name):
                    self.check(runner, index, f"graph{index}", *expected[name])

    def test_every_graph_gives_the_bits_of_the_model_alone(self):
        self.check_order(NAMES)

    def test_in_another_order(self):
        self.check_order(NAMES[::-1])

    def test_in_float16(self):
        self.check_order(NAMES, "--precision", "fp16")

    def weight_bytes(self, *names):
        arguments = [word for name in names for word in ("-i", f"{name}.onnx")]
        summary = poprt(self.folder, *arguments, "--output_dir", "weights", "--json")
        return json.loads(summary)["compile"]["weight_bytes"]

    def test_the_same_model_twice_shares_its_weights(self):
        self.check_order(["mlp", "conv_net", "mlp"])
        self.assertGreater(self.weight_bytes("mlp", "conv_net"), self.weight_bytes("mlp"))
        self.assertEqual(
            self.weight_bytes("mlp", "conv_net", "mlp"), self.weight_bytes("mlp", "conv_net")
        )

    def test_names_of_graphs(self):
        poprt(
            self.folder,
            *("-i", "classifier=conv_net.onnx", "-i", "mlp.onnx", "-i", "sum=add_reshape.onnx"),
            *("--output_dir", "named"),
        )
        runner = Runner(self.folder / "named" / "executable.popef")
        names = {desc.name for desc in runner.get_execute_inputs()}
        self.assertEqual(names, {"index", "classifier/x", "graph1/x", "sum/X", "sum/Y"})
        names = {desc.name for desc in runner.get_execute_outputs()}
        self.assertEqual(names, {"classifier/y", "graph1/y", "graph1/h", "sum/O"})
        graphs = (("conv_net", "classifier"), ("mlp", "graph1"), ("add_reshape", "sum"))
        for index, (model, name) in enumerate(graphs):
            expected = self.alone(model)
            self.check(runner, index, name, *expected)
            self.check(runner, index, f"graph{index}", *expected)

    def test_values(self):
        """The demo's model by hand, so that equal does not mean equally wrong."""
        poprt(self.folder, "-i", "mlp.onnx", "-i", "add_reshape.onnx", "--output_dir", "values")
        runner = Runner(self.folder / "values" / "executable.popef")
        x, y = np.array([[1.5, -2]], np.float32), np.array([[0.25, 8]], np.float32)
        output = np.zeros(2, np.float32)
        runner.execute({"graph1/X": x, "graph1/Y": y}, {"graph1/O": output})
        self.assertEqual(output.tolist(), [1.75, 6.0])


if __name__ == "__main__":
    unittest.main()
