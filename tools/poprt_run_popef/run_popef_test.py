"""poprt_run_popef on containers that the tool poprt compiles."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

POPRT, RUN_POPEF = sys.argv[1], sys.argv[2]
DEMO = pathlib.Path(__file__).resolve().parent.parent / "demo"
FOLDER = pathlib.Path()


def compile_model(name, inputs, output, nodes, *options):
    declare = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, name, [declare(n, t, s) for n, t, s in inputs],
                              [declare(*output)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              FOLDER / f"{name}.onnx")
    subprocess.run([POPRT, "--input_model", f"{name}.onnx", "--export_popef", "--output_dir", name,
                    "--disable_compilation_progress_bar", *options],
                   cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
    return str(FOLDER / name / "executable.popef")


def setUpModule():
    global FOLDER, FUSED, PLAIN, PACKED
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    FOLDER = pathlib.Path(temporary.name)
    os.environ["POPRT_DEVICE_LOCK_DIR"] = str(FOLDER / "devices")  # other tests have devices too
    shutil.copy(DEMO / "config.yaml", FOLDER)
    quiet = {"cwd": FOLDER, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([sys.executable, DEMO / "make_models.py"], **quiet)
    subprocess.run([POPRT, "--config_yaml", "config.yaml", "--disable_compilation_progress_bar"],
                   **quiet)
    FUSED = str(FOLDER / "executable.popef")
    x = ("x", TensorProto.FLOAT, [4, 2])
    PLAIN = compile_model("plain", [x], ("y", TensorProto.FLOAT, [4, 2]),
                          [helper.make_node("Relu", ["x"], ["y"])])
    ids = ("input_ids", TensorProto.FLOAT, [3, 10])
    mask = ("attention_mask", TensorProto.FLOAT, [3, 10])
    PACKED = compile_model("packed", [mask, ids], ("output", TensorProto.FLOAT, [3, 10]),
                           [helper.make_node("Mul", ["input_ids", "attention_mask"], ["output"])])


def run(*arguments):
    return subprocess.run([RUN_POPEF, *arguments], capture_output=True, text=True)


class RunPopefTest(unittest.TestCase):
    def report(self, *arguments):
        done = run(*arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        latency = report["latency_ms"]
        self.assertLessEqual(latency["min"], latency["average"])
        self.assertLessEqual(latency["average"], latency["max"])
        self.assertLessEqual(latency["p99"], latency["max"])
        self.assertGreater(report["throughput"], 0)
        return report

    def refused(self, code, message, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertEqual(done.stderr, f"error: {message}\n")

    def test_text(self):
        done = run("--popef", PLAIN, "--iteration", "7", "--numThreads", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = dict(line.split("  ", 1) for line in done.stdout.splitlines())
        self.assertEqual(list(rows), ["runner", "iterations", "threads", "batch size", "latency max",
                                      "latency min", "latency average", "latency p99",
                                      "total time", "throughput"])
        self.assertEqual(rows["iterations"].strip(), "8")
        self.assertEqual(rows["batch size"].strip(), "4")
        self.assertEqual({len(line) for line in done.stdout.splitlines()},
                         {len(done.stdout.splitlines()[0])})

    def test_runners(self):
        for runner in ("modelRunner", "lightRunner", "hostConcatRunner", "modelrunner"):
            report = self.report(PLAIN, "--runner", runner, "--iteration", "3", "--zeros")
            self.assertEqual(report["runner"].lower(), runner.lower())
            self.assertEqual(report["iterations"], 3)

    def test_graphs(self):
        self.assertEqual(self.report("--popef", FUSED, "--iteration", "3")["graph"], "graph0")
        report = self.report("--popef", FUSED, "--index", "1", "--iteration", "3")
        self.assertEqual(report["graph"], "graph1")
        self.refused(1, "--index is 2, allowed are 0 to 1", FUSED, "--index", "2")
        self.refused(1, "--index 0 selects a graph, but the container has one model: leave it out",
                     PLAIN, "--index", "0")

    def test_batch_size(self):
        for size in (1, 4, 6, 8):
            report = self.report(PLAIN, "--batchSize", str(size), "--iteration", "4",
                                 "--numThreads", "2")
            self.assertEqual(report["batch_size"], size)
        self.refused(1, "--batchSize is 6, allowed are multiples of the model's batch, 4",
                     PLAIN, "--runner", "lightRunner", "--batchSize", "6")

    def test_requests_that_do_not_fit(self):
        self.refused(1, "the tensors of the requests take more memory than there is: reduce "
                     "--batchSize or --numThreads",
                     PLAIN, "--batchSize", "2000000000", "--numThreads", "4096")

    def test_pack_runner(self):
        report = self.report("--popef", PACKED, "--runner", "packRunner", "--numThreads", "12",
                             "--maxValidNum", "10", "--packTimeout", "2000", "--dynamicInputName",
                             "input_ids", "--maskName", "attention_mask", "--batchSize", "1")
        self.assertEqual(report["iterations"], 108)
        self.report(PACKED, "--runner", "packRunner", "--iteration", "4")
        self.refused(1, "dynamicInputName is 'ids', which is no input of the model: "
                     "attention_mask, input_ids",
                     PACKED, "--runner", "packRunner", "--dynamicInputName", "ids")

    def test_wrong_usage(self):
        hint = "; see poprt_run_popef --help"
        self.refused(2, "--popef is required" + hint)
        self.refused(2, "--maxValidNum, --maskName only count with --runner packRunner" + hint,
                     PLAIN, "--maskName", "x", "--maxValidNum", "3")
        self.refused(2, "--index selects a graph, but packRunner runs models of one" + hint,
                     PLAIN, "--runner", "packRunner", "--index", "0")
        done = run(PLAIN, "--runner", "fastRunner")
        self.assertEqual(done.returncode, 2)
        self.assertIn("fastRunner", done.stderr)
        done = run(PLAIN, "--iteration", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--iteration", done.stderr)

    def test_files_that_are_no_containers(self):
        done = run(str(FOLDER / "none.popef"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.popef", done.stderr)
        done = run(str(FOLDER / "plain.onnx"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("compile it first with poprt", done.stderr)

    def test_help(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--popef", "--runner", "--iteration", "--numThreads", "--index",
                       "--maxValidNum", "--packTimeout", "--dynamicInputName", "--maskName",
                       "--batchSize", "--json"):
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
