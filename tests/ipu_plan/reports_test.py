"""The plan for the IPU as users meet it: --report, --profile_dir, out of memory, targets, popef_dump --plan."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SMALL_TARGET = """
base: ipu21
architecture: small
tiles: 64
"""


def write_mlp(path, batch=2048, width=512, layers=3):
    random = np.random.default_rng(1)
    nodes, weights, value = [], [], "x"
    for layer in range(layers):
        matrix = random.standard_normal((width, width)).astype(np.float16)
        weights.append(numpy_helper.from_array(matrix, f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [value, f"w{layer}"], [f"m{layer}"], f"layer{layer}/MatMul"))
        nodes.append(helper.make_node("Relu", [f"m{layer}"], [f"r{layer}"], f"layer{layer}/Relu"))
        value = f"r{layer}"
    shape = [batch, width]
    graph = helper.make_graph(
        nodes, "mlp", [helper.make_tensor_value_info("x", TensorProto.FLOAT16, shape)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT16, shape)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.model = cls.folder / "mlp.onnx"
        write_mlp(cls.model)
        (cls.folder / "small.yaml").write_text(SMALL_TARGET)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def poprt(self, *words, code=0):
        command = [os.environ["POPRT"], "-i", self.model, "--output_dir", self.folder / "out", *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def plan(self, *words):
        return json.loads(self.poprt("--report", "--json", *words).stdout)["ipu"]

    def test_report_has_the_lines_that_tools_parse(self):
        text = self.poprt("--report").stdout
        order = ["Target:", "Graph:", "Memory Usage:", "  Vertex Data (", "    By Type:", "  By Tile",
                 "Execution:", "  Cycles by vertex type:", "Predicted performance:"]
        places = [text.index("\n" + label) for label in order]
        self.assertEqual(places, sorted(places))
        self.assertRegex(text, r"poplin::ConvPartial1x1Out<half,half,16> +\(\d+ instances\): +[\d,]+")

    def test_profile_folder_is_the_same_twice(self):
        for name in ("a", "b"):
            self.poprt("--profile_dir", self.folder / name)
        for file in ("report.html", "report.json", "trace.json"):
            content = (self.folder / "a" / file).read_bytes()
            self.assertEqual(content, (self.folder / "b" / file).read_bytes(), file)
        report = json.loads((self.folder / "a" / "report.json").read_text())
        self.assertEqual(report["schema"], 1)
        trace = json.loads((self.folder / "a" / "trace.json").read_text())
        self.assertTrue(trace["traceEvents"])
        self.assertNotRegex((self.folder / "a" / "report.html").read_text(), r"(src|href)=\"?http")

    def test_the_plan_travels_in_the_container(self):
        self.poprt("--export_popef")
        command = [os.environ["POPEF_DUMP"], "--plan", "--json", self.folder / "out" / "executable.popef"]
        opaques = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["files"][0]["opaques"]
        plan = next(opaque["plan"] for opaque in opaques if opaque["name"] == "poprt.ipu_plan")
        self.assertEqual(plan["summary"], self.poprt("--report").stdout[-len(plan["summary"]):])

    def test_a_target_of_ones_own_gets_into_containers(self):
        self.poprt("--export_popef", "--target_config", self.folder / "small.yaml")
        command = [os.environ["POPEF_DUMP"], "--json", self.folder / "out" / "executable.popef"]
        file = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["files"][0]
        self.assertEqual(file["executables"][0]["program"]["ipu_version"], "ipu21")
        self.assertEqual(file["executables"][0]["program"]["tiles"], 64)

    def test_figures_move_the_way_hardware_would(self):
        usual = self.plan("--ipu_version", "ipu2", "--platform", "m2000")
        faster = self.plan("--ipu_version", "ipu2", "--platform", "bow2000")
        single = self.plan("--ipu_version", "ipu2", "--compiler_options", "partials_type=float")
        fewer = self.plan("--ipu_version", "ipu2", "--num_io_tiles", "736")

        def cycles(plan):
            return plan["graphs"][0]["cycles"]

        self.assertEqual(cycles(faster), cycles(usual))
        self.assertGreater(faster["graphs"][0]["throughput"], usual["graphs"][0]["throughput"])
        self.assertGreater(cycles(single), cycles(usual))
        self.assertGreater(cycles(fewer), cycles(usual))
        self.assertEqual(fewer["compute_tiles"], 736)

    def test_io_tiles_chosen(self):
        text = self.poprt("--report", "--num_io_tiles", "auto", "--batches_per_step", "16").stdout
        chosen = int(re.search(r": (\d+) I/O and \d+ compute tiles", text)[1])
        tried = {int(tiles) for tiles in re.findall(r"(?m)^ +(\d+) I/O tiles: ", text)}
        self.assertIn(chosen, tried)
        self.assertGreaterEqual(tried, {0, 32})
        self.assertTrue(all(tiles == 0 or (tiles >= 32 and tiles % 2 == 0) for tiles in tried), tried)

    def test_few_batches_a_step_are_warned_about(self):
        error = self.poprt("--report", "--num_io_tiles", "32", "--batches_per_step", "2").stderr
        self.assertIn("batches_per_step is 2 with 32 I/O tiles", error)

    def test_out_of_memory(self):
        model, self.model = self.model, self.folder / "large.onnx"
        try:
            write_mlp(self.model, batch=16384, width=1024, layers=2)
            words = ("--target_config", self.folder / "small.yaml")
            done = self.poprt("--export_popef", *words, code=1)
            lines = done.stderr.splitlines()
            self.assertIn("error: Out of memory: Cannot fit all variable data onto one or more tiles.", lines)
            tiles = [int(found[1]) for line in lines
                     if (found := re.fullmatch(r"error: Out of memory on tile (\d+): \d+ bytes", line))]
            self.assertTrue(tiles)
            self.assertEqual(len(tiles), len(set(tiles)))
            self.assertIn("error: What would help:", lines)
            self.assertFalse((self.folder / "out" / "large.optimized.onnx").exists())
            allowed = self.poprt("--report", "--json", "--allow_out_of_memory", *words)
            self.assertEqual(json.loads(allowed.stdout)["ipu"]["tiles_out_of_memory"], len(tiles))
        finally:
            self.model = model

    def test_mistakes(self):
        (self.folder / "wrong.yaml").write_text("base: ipu21\ntils: 64\nsram_bytes_per_tile: -1\n")
        for words, message in (
                (("--platform", "m3000"), "m3000"),
                (("--num_io_tiles", "1472"), "num_io_tiles"),
                (("--target_config", self.folder / "no.yaml"), "no.yaml"),
                (("--target_config", self.folder / "wrong.yaml"), "wrong.yaml:2"),
                (("--target_config", self.folder / "wrong.yaml"), "wrong.yaml:3"),
                (("--target_config", self.folder / "small.yaml", "--ipu_version", "ipu2"), "give one of the two"),
                (("--profile_dir", self.model / "x"), "--profile_dir")):
            with self.subTest(words=words):
                command = [os.environ["POPRT"], "-i", self.model, "--output_dir", self.folder / "m", "--report", *words]
                done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
                self.assertIn(done.returncode, (1, 2))
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
