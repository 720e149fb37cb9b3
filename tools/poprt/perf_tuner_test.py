"""What `poprt --perf_tuner` chooses, prints and keeps.

perf_tuner_test.py PATH_TO_POPRT [unittest arguments]
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
from onnx import TensorProto, helper, numpy_helper

POPRT = ""


def convolutions(count):
    """Y = X after 3x3 convolutions of equal size."""
    random = np.random.default_rng(1)
    nodes, weights = [], []
    for i in range(count):
        w = random.standard_normal((32, 32, 3, 3)).astype(np.float32) / 20
        weights.append(numpy_helper.from_array(w, f"w{i}"))
        source = "X" if i == 0 else f"y{i - 1}"
        target = "Y" if i + 1 == count else f"y{i}"
        nodes.append(helper.make_node("Conv", [source, f"w{i}"], [target], pads=[1, 1, 1, 1]))
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, 32, 16, 16])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, 32, 16, 16])
    graph = helper.make_graph(nodes, "convolutions", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


class PerfTunerTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        onnx.save(convolutions(2), str(self.folder / "m.onnx"))

    def poprt(self, *arguments):
        return subprocess.run(
            [POPRT, "-i", "m.onnx", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "POPRT_NUM_THREADS": "1"},
        )

    def tuned(self, output_dir):
        """The summary of a run with the cache t.json."""
        result = self.poprt("--export_popef", "--output_dir", output_dir, "--json", "--perf_tuner",
                            "--perf_tuner_cache", "t.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def container(self, output_dir):
        return (self.folder / output_dir / "executable.popef").read_bytes()

    def test_nothing_is_measured_unless_asked(self):
        for output_dir in ("a", "b"):
            result = self.poprt("--export_popef", "--output_dir", output_dir)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("perf_tuner", result.stdout)
        self.assertEqual(self.container("a"), self.container("b"))

    def test_the_cache_decides_what_was_measured_before(self):
        first = self.tuned("a")["perf_tuner"]
        self.assertEqual(first["threads"], 1)
        choices = {choice["what"]: choice for choice in first["choices"]}
        convolution = choices["3x3 convolution, 32 to 32 channels, 16x16"]
        self.assertEqual(convolution["uses"], 2)
        names = ["direct", "Winograd F(2x2)", "Winograd F(4x4)"]
        self.assertIn(convolution["cost_table"], names)
        self.assertIn(convolution["chosen"], names)
        self.assertGreater(convolution["chosen_us"], 0)
        whole = choices["graph 'm'"]
        self.assertEqual(whole["cost_table"], "with block_channels")
        self.assertTrue(all(choice["measured"] for choice in first["choices"]))
        gain = sum(choice["gain_us"] for choice in first["choices"])
        self.assertAlmostEqual(first["gain_us"], gain, places=3)

        again = self.tuned("b")
        self.assertFalse(any(choice["measured"] for choice in again["perf_tuner"]["choices"]))
        for choice in again["perf_tuner"]["choices"]:
            self.assertEqual(choice["chosen"], choices[choice["what"]]["chosen"])
        self.assertEqual(self.container("a"), self.container("b"))
        self.assertIn("perf_tuner_cache", [file["kind"] for file in again["files"]])

    def test_the_cache_says_what_is_chosen(self):
        self.tuned("a")
        path = self.folder / "t.json"
        cache = json.loads(path.read_text())
        by_kernel = {}
        for choice in cache["choices"]:
            for candidate in choice["candidates"]:
                candidate["microseconds"] = 1000
            kernels = {c["kernels"][0].split("(")[0]: c for c in choice["candidates"]}
            if "blocked_conv2d" in kernels:
                by_kernel.update(kernels)
        by_kernel["blocked_winograd_conv2d"]["microseconds"] = 1
        path.write_text(json.dumps(cache))
        dump = json.dumps(self.tuned("b"))
        self.assertIn('"chosen": "Winograd F(4x4)"', dump)
        self.assertIn(b"blocked_winograd_conv2d", self.container("b"))

    def test_a_table_shows_the_gain(self):
        result = self.poprt("--run", "--perf_tuner")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"perf_tuner: .+, 1 threads\n"
                         r"choice +from +cost table +chosen +uses +us +chosen us +saved +gain us\n")
        self.assertRegex(result.stdout, r"3x3 convolution, 32 to 32 channels, 16x16 +measured ")
        self.assertRegex(result.stdout, r"all +-?[0-9.]+\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["m.onnx", "m.optimized.onnx"])

    def test_what_is_no_cache_is_refused_and_kept(self):
        for text, problem in [
            ("{", "byte 2 is not what JSON allows there"),
            ("[]", "the file: is [], allowed is an object"),
            ('{"format": "other"}', "'format' is \"other\", allowed is"),
        ]:
            (self.folder / "t.json").write_text(text)
            result = self.poprt("--export_popef", "--output_dir", "a", "--perf_tuner",
                                "--perf_tuner_cache", "t.json")
            self.assertEqual(result.returncode, 1)
            self.assertIn("t.json: is no cache of --perf_tuner: " + problem, result.stderr)
            self.assertEqual((self.folder / "t.json").read_text(), text)
            self.assertFalse((self.folder / "a").exists())

    def test_wrong_usage(self):
        for arguments, problem in [
            (["--perf_tuner"], "--perf_tuner: measures when the model is compiled"),
            (["--run", "--perf_tuner_cache", "t.json"], "--perf_tuner_cache: needs perf_tuner"),
        ]:
            result = self.poprt(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(problem, result.stderr)


if __name__ == "__main__":
    POPRT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
