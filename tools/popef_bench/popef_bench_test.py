"""popef_bench on containers that the tool poprt compiles: what it reports, not how fast it is."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

POPRT, BENCH = sys.argv[1], sys.argv[2]
FOLDER = pathlib.Path()
HINT = "; see popef_bench --help"


def save_model(name, inputs, outputs, nodes):
    declare = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, name, [declare(*i) for i in inputs],
                              [declare(*o) for o in outputs])
    path = FOLDER / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def compile_models(name, *models):
    subprocess.run([POPRT, *(word for model in models for word in ("-i", model)), "--export_popef",
                    "--output_dir", FOLDER / name, "--disable_compilation_progress_bar"],
                   check=True, stdout=subprocess.DEVNULL)
    return str(FOLDER / name / "executable.popef")


def setUpModule():
    global FOLDER, PLAIN, FUSED
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    FOLDER = pathlib.Path(temporary.name)
    os.environ["POPRT_DEVICE_LOCK_DIR"] = str(FOLDER / "devices")  # other tests have devices too
    f32 = TensorProto.FLOAT
    product = save_model("product", [("a", f32, [3, 5]), ("b", f32, [5, 4])], [("y", f32, [3, 4])],
                         [helper.make_node("MatMul", ["a", "b"], ["p"], name="product"),
                          helper.make_node("Neg", ["p"], ["y"], name="negated")])
    relu = save_model("relu", [("x", f32, [4])], [("y", f32, [4])],
                      [helper.make_node("Relu", ["x"], ["y"])])
    PLAIN = compile_models("plain", product)
    FUSED = compile_models("fused", f"first={product}", f"second={relu}")


def run(*arguments, **environment):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})


def floats(path):
    data = path.read_bytes()
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def write_floats(name, values):
    path = FOLDER / name
    path.write_bytes(struct.pack(f"<{len(values)}f", *values))
    return path


class PopefBenchTest(unittest.TestCase):
    def report(self, *arguments, **environment):
        done = run(*arguments, "--json", "--runs", "4", **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(report["status"], "ok")
        return report

    def refused(self, code, messages, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertEqual(done.stderr, "".join(f"error: {line}\n" for line in messages))


class ReportTest(PopefBenchTest):
    def check_memory(self, memory):
        self.assertEqual(list(memory), ["start", "loaded", "first_run", "steady"])
        for use in memory.values():
            self.assertEqual(use["resident"],
                             use["anonymous"] + use["container"] + use["other_files"])
            self.assertLessEqual(use["proportional"], use["resident"])
            self.assertLessEqual(use["container_proportional"], use["container"])
        self.assertEqual(memory["start"]["container"], 0)
        self.assertGreater(memory["loaded"]["container"], 0)

    def test_json(self):
        report = self.report(PLAIN, "--threads", "2", "--clients", "3", "--seed", "7")
        self.assertEqual(list(report), ["status", "popef", "threads", "instruction_set", "clients",
                                        "seed", "load_ms", "graphs", "memory_bytes",
                                        "predicted_for_ipu"])
        self.assertIn(report["instruction_set"], ("portable", "avx2", "avx512", "amx"))
        self.assertEqual([report[key] for key in ("popef", "threads", "clients", "seed")],
                         [PLAIN, 2, 3, 7])
        self.assertEqual(list(report["load_ms"]), ["first", "map", "verify", "bind"])
        [graph] = report["graphs"]
        self.assertEqual(list(graph), ["graph", "first_run_ms", "runs", "latency_ms",
                                       "requests_per_second"])
        self.assertEqual((graph["graph"], graph["runs"]), ("", 4))
        latency = graph["latency_ms"]
        self.assertEqual(list(latency), ["min", "average", "p50", "p90", "p99"])
        self.assertLessEqual(latency["min"], latency["p50"])
        self.assertLessEqual(latency["p50"], latency["p90"])
        self.assertLessEqual(latency["p90"], latency["p99"])
        self.assertGreater(graph["requests_per_second"], 0)
        self.check_memory(report["memory_bytes"])

    def test_instruction_set(self):
        for name, used in (("portable", "portable"), ("mmx", self.report(PLAIN)["instruction_set"])):
            done = run(PLAIN, "--json", "--runs", "4", POPRT_INSTRUCTION_SET=name)
            self.assertEqual(json.loads(done.stdout)["instruction_set"], used)

    def test_fused_graphs(self):
        report = self.report(FUSED, "--clients", "0")
        self.assertEqual([graph["graph"] for graph in report["graphs"]], ["first", "second"])
        for graph in report["graphs"]:
            self.assertIsNone(graph["requests_per_second"])
            self.assertGreater(graph["repeated_ms"], 0)
            self.assertGreater(graph["alternating_ms"], 0)
        self.assertGreater(report["switching_ratio"], 0)
        [graph] = self.report(FUSED, "--index", "1")["graphs"]
        self.assertEqual(graph["graph"], "second")
        self.assertNotIn("repeated_ms", graph)

    def test_text(self):
        done = run(FUSED, "--runs", "4", "--threads", "1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        instruction_set = self.report(FUSED)["instruction_set"]
        self.assertEqual(lines[0], f"{FUSED}: 1 threads, {instruction_set}")
        for heading in ("Latency (ms) of one client, throughput of 2:", "Switching (ms, medians):",
                        "Memory (MiB):"):
            self.assertIn(heading, lines)

    def test_threads_of_the_environment(self):
        self.assertEqual(self.report(PLAIN, POPRT_NUM_THREADS="3")["threads"], 3)
        self.assertEqual(self.report(PLAIN, "--threads", "1", POPRT_NUM_THREADS="3")["threads"], 1)

    def test_given_inputs_and_outputs(self):
        a = [float(i) for i in range(15)]
        b = [float(i % 3) for i in range(20)]
        y = FOLDER / "y.bin"
        self.report(PLAIN, "--input", f"a={write_floats('a.bin', a)}", "--input",
                    f"b={write_floats('b.bin', b)}", "--output", f"y={y}")
        self.assertEqual(floats(y), [-sum(a[5 * i + k] * b[4 * k + j] for k in range(5))
                                     for i in range(3) for j in range(4)])

    def test_the_seed_decides_the_inputs(self):
        results = []
        for seed in ("1", "1", "2"):
            y = FOLDER / "y.bin"
            self.report(FUSED, "--seed", seed, "--output", f"second/y={y}")
            results.append(floats(y))
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0], results[2])
        self.assertTrue(all(0 <= value < 1 for value in results[0]))


class ProfileTest(PopefBenchTest):
    def test_json(self):
        report = self.report(PLAIN, "--profile")
        self.assertEqual(list(report), ["status", "popef", "profiles"])
        [profile] = report["profiles"]
        self.assertEqual(list(profile), ["graph", "runs", "run_us", "min_run_us", "steps_us",
                                         "kernels", "steps"])
        self.assertEqual(profile["runs"], 4)
        product = profile["steps"][0]
        self.assertEqual(list(product), ["position", "name", "kernel", "stage", "operands", "calls", "us",
                                         "min_us", "percent", "bytes", "gb_per_s", "operations",
                                         "gflop_per_s"])
        self.assertEqual((product["name"], product["position"], product["calls"]), ("product", 0, 1))
        self.assertEqual(product["operands"], "3x5 5x4 -> 3x4")
        self.assertEqual((product["bytes"], product["operations"]), (4 * (15 + 20 + 12), 2 * 60))
        self.assertAlmostEqual(sum(step["percent"] for step in profile["steps"]), 100, places=3)
        times = [kernel["us"] for kernel in profile["kernels"]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(sum(kernel["steps"] for kernel in profile["kernels"]),
                         len(profile["steps"]))

    def test_text(self):
        done = run(FUSED, "--profile", "--runs", "2", "--threads", "1", "--cpu_time")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        headings = [line for line in done.stdout.splitlines() if line and line[0] != " "]
        self.assertEqual([line.split(",")[0] for line in headings],
                         ["first: 2 runs", "Kernels:", "Steps:",
                          "second: 2 runs", "Kernels:", "Steps:"])

    def test_trace(self):
        path = FOLDER / "trace.json"
        self.report(FUSED, "--trace", str(path))
        events = json.loads(path.read_text())["traceEvents"]
        self.assertEqual([event["args"]["name"] for event in events if event["ph"] == "M"],
                         ["first", "second"])
        steps = [event for event in events if event["ph"] == "X"]
        self.assertEqual(steps[0]["name"], "first/product")
        self.assertEqual(steps[0]["args"]["operands"], "3x5 5x4 -> 3x4")
        self.assertEqual({event["tid"] for event in steps}, {0, 1})
        self.assertTrue(all(event["ts"] >= 0 and event["dur"] >= 0 for event in steps))

    def test_loops(self):
        body = helper.make_graph(
            [helper.make_node("Identity", ["on"], ["still"]),
             helper.make_node("Mul", ["v", "v"], ["next"], name="square")], "body",
            [helper.make_tensor_value_info("i", TensorProto.INT64, []),
             helper.make_tensor_value_info("on", TensorProto.BOOL, []),
             helper.make_tensor_value_info("v", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info("still", TensorProto.BOOL, []),
             helper.make_tensor_value_info("next", TensorProto.FLOAT, [4])])
        loop = save_model("loop", [("n", TensorProto.INT64, []), ("x", TensorProto.FLOAT, [4])],
                          [("y", TensorProto.FLOAT, [4])],
                          [helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)])
        container = compile_models("loop", loop)
        for size in (4, 8):  # of n, which may have become int32
            n = FOLDER / "n.bin"
            n.write_bytes((3).to_bytes(size, "little"))
            done = run(container, "--profile", "--json", "--runs", "2", "--input", f"n={n}")
            if done.returncode == 0:
                break
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        calls = {step["name"]: step["calls"] for step in
                 json.loads(done.stdout)["profiles"][0]["steps"]}
        self.assertEqual((calls["loop"], calls["square"]), (1, 3))


class ErrorTest(PopefBenchTest):
    def test_wrong_usage(self):
        self.refused(2, ["FILE is required" + HINT])
        self.refused(2, ["--cpu_time only counts with --profile" + HINT], PLAIN, "--cpu_time")
        self.refused(2, ["--cpu_time measures the one thread that runs: it needs --threads 1" + HINT],
                     PLAIN, "--profile", "--cpu_time")
        self.refused(2, ["--clients only counts without --profile" + HINT], PLAIN, "--profile",
                     "--clients", "3")
        self.refused(2, ["--output only counts without --profile" + HINT], PLAIN, "--profile",
                     "--output", "y=y.bin")
        for option, value in (("--runs", "0"), ("--threads", "0"), ("--seconds", "-1"),
                              ("--clients", "-1"), ("--index", "-1"), ("--seed", "x")):
            done = run(PLAIN, option, value)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(option, done.stderr)

    def test_graphs_that_do_not_exist(self):
        for mode in ([], ["--profile"]):
            self.refused(1, ["--index is 2, allowed are 0 to 1"], FUSED, "--index", "2", *mode)

    def test_all_wrong_names_at_once(self):
        self.refused(1, ["--input is 'x=f', allowed is NAME=FILE with a NAME of a, b",
                         "--input is 'a', allowed is NAME=FILE with a NAME of a, b",
                         "--output is 'z=f', allowed is NAME=FILE with a NAME of y"],
                     PLAIN, "--input", "x=f", "--input", "a", "--output", "z=f")
        self.refused(1, ["--input is 'c=f', allowed is NAME=FILE with a NAME of a, b"],
                     PLAIN, "--profile", "--input", "c=f")

    def test_files_that_do_not_fit(self):
        short = write_floats("short.bin", [1.0])
        self.refused(1, [f"--input a: '{short}' has 4 bytes, the input has 60 in one batch"],
                     PLAIN, "--input", f"a={short}")
        self.refused(1, [f"--input a: cannot read '{FOLDER}/none': No such file or directory"],
                     PLAIN, "--input", f"a={FOLDER}/none")
        self.refused(1, [f"--output y: cannot write '{FOLDER}/none/y': No such file or directory"],
                     PLAIN, "--runs", "1", "--output", f"y={FOLDER}/none/y")
        self.refused(1, [f"--trace: cannot write '{FOLDER}/none/t': No such file or directory"],
                     PLAIN, "--runs", "1", "--trace", f"{FOLDER}/none/t")

    def test_folders_in_the_place_of_files(self):
        self.refused(1, [f"--input a: cannot read '{FOLDER}': Is a directory"],
                     PLAIN, "--input", f"a={FOLDER}")
        self.refused(1, [f"--output y: cannot write '{FOLDER}': Is a directory"],
                     PLAIN, "--runs", "1", "--output", f"y={FOLDER}")
        self.refused(1, [f"--trace: cannot write '{FOLDER}': Is a directory"],
                     PLAIN, "--runs", "1", "--trace", f"{FOLDER}")
        self.refused(1, [f"{FOLDER}: a folder, allowed is a PopEF file; give one in it, "
                         "e.g. executable.popef"], str(FOLDER))

    def test_files_that_are_no_containers(self):
        for mode in ([], ["--profile"]):
            for name, message in (("none.popef", "none.popef"),
                                  ("relu.onnx", "compile it first with poprt")):
                done = run(str(FOLDER / name), *mode)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(message, done.stderr)

    def test_help(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--index", "--threads", "--clients", "--seconds", "--runs", "--seed",
                       "--input", "--output", "--profile", "--cpu_time", "--trace", "--json"):
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
