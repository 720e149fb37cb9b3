"""The Python packages on the demo's two-model container, which the tool in $POPRT compiles.

graph0: O [2] = Reshape(X + Y), float32 [1, 2]; graph1: O [1, 3] = Concat(X [1, 1], [1.5, 2.0]), float16.
"""

import gc
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import poprt
from poprt.compiler import Compiler, CompilerOptions
from poprt.runtime import (
    DeviceManager,
    DeviceWaitConfig,
    Executable,
    LightRunnerConfig,
    PackRunnerConfig,
    ReplicaIdToDevice,
    Runner,
    RunnerType,
    RuntimeConfig,
)

DEMO = pathlib.Path(__file__).resolve().parent.parent / "tools" / "demo"
FOLDER = pathlib.Path()
CONTAINER = pathlib.Path()


def setUpModule():
    global FOLDER, CONTAINER
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    FOLDER = pathlib.Path(temporary.name)
    os.environ["POPRT_DEVICE_LOCK_DIR"] = str(FOLDER / "devices")  # other tests have devices too
    CONTAINER = FOLDER / "executable.popef"
    quiet = {"cwd": FOLDER, "check": True, "stdout": subprocess.DEVNULL}
    shutil.copy(DEMO / "config.yaml", FOLDER)
    subprocess.run([sys.executable, DEMO / "make_models.py"], **quiet)
    subprocess.run(
        [
            os.environ["POPRT"],
            "--config_yaml",
            "config.yaml",
            "--disable_compilation_progress_bar",
        ],
        **quiet,
    )


def graph0(x=(1, 2), y=(10, 20)):
    """Inputs and outputs of a request for graph 0."""
    inputs = {
        "graph0/X": np.array([x], np.float32),
        "graph0/Y": np.array([y], np.float32),
    }
    return inputs, {"graph0/O": np.zeros(2, np.float32)}


def graph1(x=0.5):
    return {"graph1/X": np.array([[x]], np.float16)}, {"graph1/O": np.zeros((1, 3), np.float16)}


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.runner = Runner(CONTAINER)

    def refused(self, error, message, inputs, outputs, config=None):
        before = {name: np.copy(array) for name, array in outputs.items()}
        runner = Runner(CONTAINER, config) if config else self.runner
        with self.assertRaises(error) as caught:
            runner.execute(inputs, outputs)
        self.assertEqual(str(caught.exception), message)
        for name, array in before.items():
            np.testing.assert_array_equal(outputs[name], array)

    def test_both_graphs_by_the_names_of_tensors(self):
        inputs, outputs = graph0()
        self.runner.execute(inputs, outputs)
        self.assertEqual(outputs["graph0/O"].tolist(), [11, 22])
        inputs, outputs = graph1()
        self.runner.execute(inputs, outputs)
        self.assertEqual(outputs["graph1/O"].tolist(), [[0.5, 1.5, 2.0]])

    def test_both_graphs_by_index(self):
        for index in (0, np.uint32(0), np.array([0]), np.array([0], np.uint8), np.array(0)):
            inputs, outputs = graph0((3, 4), (0.5, 0.25))
            self.runner.execute({**inputs, "index": index}, outputs)
            self.assertEqual(outputs["graph0/O"].tolist(), [3.5, 4.25])
        inputs, outputs = graph1(-2)
        self.runner.execute({**inputs, "index": np.array([1], np.uint32)}, outputs)
        self.assertEqual(outputs["graph1/O"].tolist(), [[-2, 1.5, 2.0]])

    def test_configuration_and_executable_objects(self):
        config = RuntimeConfig()
        self.assertTrue(config.thread_safe)
        self.assertTrue(config.validate_io_params)
        self.assertEqual(config.timeout_ns, 10_000_000)
        for container in (str(CONTAINER), CONTAINER, Executable(str(CONTAINER))):
            runner = Runner(container, config)
            inputs, outputs = graph0()
            runner.execute(inputs, outputs)
            self.assertEqual(outputs["graph0/O"].tolist(), [11, 22])

    def test_several_batches_in_one_request(self):
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        output = np.zeros(6, np.float32)
        self.runner.execute({"graph0/X": x, "graph0/Y": 10 * x}, {"graph0/O": output})
        self.assertEqual(output.tolist(), [0, 11, 22, 33, 44, 55])

    def test_wrong_type(self):
        inputs, outputs = graph0()
        wide = {**inputs, "graph0/X": inputs["graph0/X"].astype(np.float64)}
        message = "input 'graph0/X' is float64, the model has float32: use .astype(numpy.float32)"
        self.refused(TypeError, message, wide, outputs)
        message = "output 'graph0/O' is int32, the model has float32: use .astype(numpy.float32)"
        self.refused(TypeError, message, inputs, {"graph0/O": np.zeros(2, np.int32)})

    def test_arrays_that_cannot_be_used_in_place(self):
        inputs, outputs = graph0()
        inputs["graph0/X"] = np.zeros((1, 4), np.float32)[:, ::2]
        message = "input 'graph0/X' is not C-contiguous: use numpy.ascontiguousarray"
        self.refused(TypeError, message, inputs, outputs)
        inputs["graph0/X"] = [[1, 2]]
        message = (
            "input 'graph0/X' is list, allowed is numpy.ndarray: "
            "use numpy.asarray(value, numpy.float32)"
        )
        self.refused(TypeError, message, inputs, outputs)
        inputs, _ = graph0()
        with self.assertRaises(TypeError) as caught:
            self.runner.execute(inputs, {"graph0/O": [0, 0]})
        message = (
            "output 'graph0/O' is list, allowed is numpy.ndarray: "
            "use numpy.empty([2], numpy.float32)"
        )
        self.assertEqual(str(caught.exception), message)
        inputs, outputs = graph0()
        outputs["graph0/O"].flags.writeable = False
        self.refused(TypeError, "output 'graph0/O' is read-only", inputs, outputs)

    def test_missing_tensors(self):
        inputs, outputs = graph0()
        del inputs["graph0/Y"]
        message = "input 'graph0/Y' of graph 'graph0' is missing"
        self.refused(RuntimeError, message, inputs, outputs)
        inputs, outputs = graph0()
        message = "output 'graph0/O' of graph 'graph0' is missing"
        self.refused(RuntimeError, message, inputs, {})
        message = "the request gives neither 'index' nor a tensor of any graph"
        self.refused(RuntimeError, message, {}, {})
        message += (
            "\ninput 'X' does not exist, names of a fused model start with the graph: "
            "write 'graph0/X' or 'graph1/X'"
        )
        self.refused(RuntimeError, message, {"X": np.zeros((1, 2), np.float32)}, {})

    def test_requests_that_are_no_dicts(self):
        wanted = "allowed is a dict from the names of tensors to numpy.ndarray"
        with self.assertRaises(TypeError) as caught:
            self.runner.execute([1], ())
        message = f"inputs is list, {wanted}\noutputs is tuple, {wanted}"
        self.assertEqual(str(caught.exception), message)
        message = "inputs: the name 3 is int, allowed is str"
        self.refused(TypeError, message, {3: np.zeros(1)}, {})

    def test_wrong_shapes(self):
        inputs, outputs = graph0()
        wanted = "the model has [1, 2]: give that, or N times the first dimension"
        for shape in [(2,), (2, 1), (1, 3), (0, 2), (1, 1, 2), ()]:
            message = f"input 'graph0/X' has shape {list(shape)}, {wanted}"
            odd = {**inputs, "graph0/X": np.zeros(shape, np.float32)}
            self.refused(TypeError, message, odd, outputs)
        message = (
            "output 'graph0/O' has shape [3], the model has [2]: "
            "give that, or N times the first dimension"
        )
        self.refused(TypeError, message, inputs, {"graph0/O": np.zeros(3, np.float32)})

    def test_tensors_of_two_graphs(self):
        inputs, outputs = graph0()
        mixed = {**inputs, **graph1()[0], "index": 0}
        message = (
            "input 'graph1/X' belongs to graph 1 'graph1', but the request runs graph 0 'graph0'"
        )
        self.refused(RuntimeError, message, mixed, outputs)
        del mixed["index"]
        message = (
            "the request mixes tensors of several graphs, give those of one:\n"
            "  graph 0 'graph0': graph0/O, graph0/X, graph0/Y\n"
            "  graph 1 'graph1': graph1/X"
        )
        self.refused(RuntimeError, message, mixed, outputs)
        inputs, outputs = graph0()
        message = (
            "input 'graph0/X' belongs to graph 0 'graph0', but the request runs graph 1 'graph1'"
        )
        with self.assertRaises(RuntimeError) as caught:
            self.runner.execute({**inputs, "index": 1}, outputs)
        self.assertIn(message, str(caught.exception).splitlines())

    def test_unknown_tensors(self):
        inputs, outputs = graph0()
        message = (
            "input 'graph0/Q' does not exist, input names of graph 'graph0' are: "
            "graph0/X, graph0/Y"
        )
        self.refused(RuntimeError, message, {**inputs, "graph0/Q": np.zeros(1), "index": 0}, outputs)

    def test_wrong_index(self):
        inputs, outputs = graph0()
        message = "input 'index' is 7, allowed are 0 to 1"
        self.refused(RuntimeError, message, {**inputs, "index": 7}, outputs)
        for index in (-1, np.int8(-1), np.array([-1], np.int32)):
            message = "input 'index' is -1, allowed are 0 to 1"
            self.refused(RuntimeError, message, {**inputs, "index": index}, outputs)
        message = "input 'index' is 255, allowed are 0 to 1"
        self.refused(RuntimeError, message, {**inputs, "index": np.uint8(255)}, outputs)
        message = "input 'index' is float64 of 1 elements, allowed is one integer"
        self.refused(TypeError, message, {**inputs, "index": 0.0}, outputs)
        message = "input 'index' is int64 of 2 elements, allowed is one integer"
        self.refused(TypeError, message, {**inputs, "index": np.array([0, 1])}, outputs)

    def test_outputs_may_be_left_out_without_validation(self):
        config = RuntimeConfig()
        config.validate_io_params = False
        inputs, outputs = graph0()
        Runner(CONTAINER, config).execute({**inputs, "other": np.zeros(1)}, outputs)
        self.assertEqual(outputs["graph0/O"].tolist(), [11, 22])

    def test_execute_async(self):
        requests = [(graph0((i, 0), (0, i)) if i % 2 else graph1(i)) for i in range(20)]
        futures = [self.runner.execute_async(*request) for request in requests]
        for i, (future, (_, outputs)) in enumerate(zip(futures, requests)):
            future.wait()
            for name, output in outputs.items():
                wanted = [i, i] if i % 2 else [[i, 1.5, 2.0]]
                self.assertEqual(output.tolist(), wanted)
                self.assertIs(future[name], output)

    def test_execute_async_keeps_its_arrays_and_raises_in_wait(self):
        future = self.runner.execute_async(*graph0((5, 6), (0, 0)))
        gc.collect()
        self.assertEqual(future["graph0/O"].tolist(), [5, 6])
        with self.assertRaises(KeyError):
            future["graph1/O"]
        inputs, outputs = graph0()
        del inputs["graph0/Y"]
        failing = self.runner.execute_async(inputs, outputs)
        with self.assertRaisesRegex(RuntimeError, "^input 'graph0/Y' of graph 'graph0' is missing$"):
            failing.wait()
        self.assertEqual(outputs["graph0/O"].tolist(), [0, 0])

    def test_execute_async_without_outputs_is_done_at_once(self):
        inputs, _ = graph0()
        with self.assertRaisesRegex(RuntimeError, "^output 'graph0/O' of graph 'graph0' is missing$"):
            self.runner.execute_async(inputs, {})

    def test_several_threads(self):
        wrong = []

        def work(number):
            for i in range(50):
                value = number * 50 + i
                inputs, outputs = graph0((value, 1), (1, value))
                self.runner.execute(inputs, outputs)
                if outputs["graph0/O"].tolist() != [value + 1, value + 1]:
                    wrong.append(value)
                inputs, outputs = graph1(value)
                self.runner.execute_async(inputs, outputs).wait()
                if outputs["graph1/O"].tolist() != [[value, 1.5, 2.0]]:
                    wrong.append(value)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_descriptions(self):
        def rows(descs):
            return [
                (d.name, list(d.shape), d.numpy_data_type(), d.size_in_bytes)
                for d in sorted(descs, key=lambda d: d.name)
            ]

        inputs = [
            ("graph0/X", [1, 2], np.dtype(np.float32), 8),
            ("graph0/Y", [1, 2], np.dtype(np.float32), 8),
            ("graph1/X", [1, 1], np.dtype(np.float16), 2),
            ("index", [1], np.dtype(np.uint32), 4),
        ]
        outputs = [
            ("graph0/O", [2], np.dtype(np.float32), 8),
            ("graph1/O", [1, 3], np.dtype(np.float16), 6),
        ]
        self.assertEqual(rows(self.runner.get_execute_inputs()), inputs)
        self.assertEqual(rows(self.runner.get_model_inputs()), inputs)
        self.assertEqual(rows(self.runner.get_execute_outputs()), outputs)
        self.assertEqual(rows(self.runner.get_model_outputs()), outputs)
        for desc in self.runner.get_execute_inputs():
            self.assertFalse(desc.popef_contains_tensor_data)
        output = next(d for d in self.runner.get_execute_outputs() if d.name == "graph1/O")
        self.assertEqual(repr(output), "DataDesc(name='graph1/O', shape=[1, 3], dtype=float16)")


def places():
    """T [up to 6, 2], where X, float32 [2, 3], is not zero; N, how often."""
    nodes = [
        helper.make_node("NonZero", ["X"], ["P"]),
        helper.make_node("Transpose", ["P"], ["T"]),
        helper.make_node("Shape", ["T"], ["S"]),
        helper.make_node("Gather", ["S", "zero"], ["N"]),
    ]
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [2, 3])]
    outputs = [helper.make_tensor_value_info("T", TensorProto.INT64, ["n", 2]),
               helper.make_tensor_value_info("N", TensorProto.INT64, [])]
    constants = [numpy_helper.from_array(np.int64(0), "zero")]
    graph = helper.make_graph(nodes, "places", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def best_boxes():
    """B [up to 3, 4], of the boxes X, float32 [1, 4, 4], those with the best scores Y [1, 1, 4]
    that do not overlap; Z [up to 2, 4], of the first two boxes those that C, bool [2], is true for.
    """
    ints = lambda name, *values: numpy_helper.from_array(np.array(values, np.int64), name)
    constants = [ints("most", 3), ints("first", 0), ints("second", 1), ints("last", 2),
                 numpy_helper.from_array(np.array([0.5], np.float32), "iou")]
    nodes = [
        helper.make_node("NonMaxSuppression", ["X", "Y", "most", "iou"], ["R"]),
        helper.make_node("Gather", ["R", "last"], ["I1"], axis=1),
        helper.make_node("Squeeze", ["I1", "second"], ["I"]),
        helper.make_node("Squeeze", ["X", "first"], ["F"]),
        helper.make_node("Gather", ["F", "I"], ["B"]),
        helper.make_node("Compress", ["F", "C"], ["Z"], axis=0),
    ]
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, 4, 4]),
              helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, 1, 4]),
              helper.make_tensor_value_info("C", TensorProto.BOOL, [2])]
    outputs = [helper.make_tensor_value_info("B", TensorProto.FLOAT, ["boxes", 4]),
               helper.make_tensor_value_info("Z", TensorProto.FLOAT, ["chosen", 4])]
    graph = helper.make_graph(nodes, "best_boxes", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def doublings():
    """S [up to 6, 1]: X, float32 [1], doubled until it is 10 or more."""
    value = helper.make_tensor_value_info
    number = lambda name, number, kind: numpy_helper.from_array(np.array(number, kind), name)
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]),
         helper.make_node("Less", ["w", "ten"], ["less"]),
         helper.make_node("Squeeze", ["less"], ["more"]),
         helper.make_node("Identity", ["w"], ["s"])],
        "body",
        [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []),
         value("v", TensorProto.FLOAT, [1])],
        [value("more", TensorProto.BOOL, []), value("w", TensorProto.FLOAT, [1]),
         value("s", TensorProto.FLOAT, [1])])
    nodes = [helper.make_node("Loop", ["six", "true", "X"], ["L", "S"], body=body)]
    constants = [number("ten", 10, np.float32), number("six", 6, np.int64),
                 number("true", True, bool)]
    graph = helper.make_graph(nodes, "doublings", [value("X", TensorProto.FLOAT, [1])],
                              [value("S", TensorProto.FLOAT, ["n", 1])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


class RawBitsTest(unittest.TestCase):
    """Element types that NumPy lacks: arrays hold their bits."""

    # Numbers of TensorProto.DataType that this onnx may not know.
    FLOAT8E4M3FN, FLOAT8E4M3FNUZ, INT4 = 17, 18, 22

    def casts(self):
        """X, bfloat16, and I, int4, as float32 A and B, and A again as types that NumPy lacks."""
        value = helper.make_tensor_value_info
        cast = lambda x, y, to: helper.make_node("Cast", [x], [y], to=to)
        kinds = {"F": self.FLOAT8E4M3FN, "U": self.FLOAT8E4M3FNUZ, "J": self.INT4,
                 "Y": TensorProto.BFLOAT16}
        nodes = [cast("X", "A", TensorProto.FLOAT), cast("I", "B", TensorProto.FLOAT)]
        nodes += [cast("A", name, kind) for name, kind in kinds.items()]
        outputs = [value("A", TensorProto.FLOAT, [4]), value("B", TensorProto.FLOAT, [4])]
        outputs += [value(name, kind, [4]) for name, kind in kinds.items()]
        graph = helper.make_graph(
            nodes, "casts",
            [value("X", TensorProto.BFLOAT16, [4]), value("I", self.INT4, [4])], outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])

    def setUp(self):
        self.runner = Runner(Compiler.compile(self.casts()))

    def test_values(self):
        x = (np.array([1, -2, 0.5, 1000], np.float32).view(np.uint32) >> 16).astype(np.uint16)
        # Of an element of 4 bits the high half of its byte does not matter.
        i = np.array([-8, 7, 0x5F, -1], np.int8)
        results = self.runner.execute({"X": x, "I": i})
        self.assertEqual(results["A"].tolist(), [1, -2, 0.5, 1000])
        self.assertEqual(results["B"].tolist(), [-8, 7, -1, -1])
        self.assertEqual(results["Y"].tolist(), x.tolist())
        self.assertEqual(results["F"].tolist(), [0x38, 0xC0, 0x30, 0x7E])
        self.assertEqual(results["U"].tolist(), [0x40, 0xC8, 0x38, 0x7F])
        self.assertEqual(results["J"].tolist(), [1, -2, 0, 7])

    def test_descriptions(self):
        descs = self.runner.get_execute_inputs() + self.runner.get_execute_outputs()
        found = {d.name: (d.element_type, d.numpy_data_type().name) for d in descs}
        self.assertEqual(found, {
            "X": ("bfloat16", "uint16"), "I": ("int4", "int8"), "A": ("float32", "float32"),
            "B": ("float32", "float32"), "F": ("float8e4m3fn", "uint8"),
            "U": ("float8e4m3fnuz", "uint8"), "J": ("int4", "int8"), "Y": ("bfloat16", "uint16")})

    def test_other_arrays_are_refused(self):
        with self.assertRaisesRegex(TypeError, "input 'X' is float32, the model has bfloat16, of "
                                    r"which numpy holds the bits: use .view\(numpy.uint16\)"):
            self.runner.execute({"X": np.zeros(4, np.float32), "I": np.zeros(4, np.int8)})


class OpenAxisTest(unittest.TestCase):
    """Outputs whose extent along an axis depends on the data."""

    X = np.array([[0, 5, 0], [6, 0, 7]], np.float32)
    PLACES = [[0, 1], [1, 0], [1, 2]]
    BOXES = {
        "X": np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [5, 5, 6, 6], [7, 7, 8, 8]]], np.float32),
        "Y": np.array([[[0.5, 0.9, 0.1, 0.3]]], np.float32),
        "C": np.array([False, True]),
    }

    def check_boxes(self, results, prefix=""):
        boxes = self.BOXES["X"][0]
        np.testing.assert_array_equal(results[prefix + "B"], boxes[[1, 3, 2]])
        np.testing.assert_array_equal(results[prefix + "Z"], boxes[[1]])

    def test_new_arrays_have_the_true_shape(self):
        runner = Runner(Compiler.compile(places()))
        results = runner.execute({"X": self.X})
        self.assertEqual(results["T"].tolist(), self.PLACES)
        self.assertEqual(results["N"], 3)
        self.assertEqual(runner.execute({"X": 0 * self.X})["T"].shape, (0, 2))
        self.assertEqual(runner.execute({"X": self.X + 1})["T"].shape, (6, 2))
        self.check_boxes(Runner(Compiler.compile(best_boxes())).execute(self.BOXES))

    def test_arrays_of_the_largest_shape(self):
        runner = Runner(Compiler.compile(places()))
        descs = {desc.name: desc for desc in runner.get_execute_outputs()}
        self.assertEqual(descs["T"].open_axis, 0)
        self.assertEqual(descs["T"].shape, [6, 2])
        self.assertIsNone(descs["N"].open_axis)
        outputs = {"T": np.full((6, 2), -1), "N": np.array(0)}
        results = runner.execute({"X": self.X}, outputs)
        self.assertEqual(results["T"].tolist(), self.PLACES)
        self.assertTrue(np.shares_memory(results["T"], outputs["T"]))
        self.assertEqual(outputs["T"].tolist(), self.PLACES + [[-1, -1]] * 3)
        self.assertIs(results["N"], outputs["N"])
        future = runner.execute_async({"X": self.X}, outputs)
        future.wait()
        self.assertEqual(future["T"].tolist(), self.PLACES)
        self.assertEqual(runner.execute_async({"X": self.X})["T"].tolist(), self.PLACES)

    def test_loops_that_end_early(self):
        runner = Runner(Compiler.compile(doublings()))
        for x, wanted in ((1, [2, 4, 8, 16]), (100, [200]), (0, [0] * 6)):
            results = runner.execute({"X": np.array([x], np.float32)})
            self.assertEqual(results["S"].tolist(), [[value] for value in wanted])

    def test_one_batch_only(self):
        runner = Runner(Compiler.compile(places()))
        with self.assertRaisesRegex(RuntimeError, "2 batches, allowed is 1: the extent of output "):
            runner.execute({"X": np.concatenate([self.X, self.X])})

    def test_fused_with_another_model(self):
        onnx.save(places(), str(FOLDER / "places.onnx"))
        onnx.save(best_boxes(), str(FOLDER / "boxes.onnx"))
        (FOLDER / "open.yaml").write_text(
            "output_dir: open\noutput_model: fused.onnx\nexport_popef: True\nmodel_fusion:\n"
            "  - input_model: places.onnx\n"
            "  - input_model: boxes.onnx\n")
        subprocess.run([os.environ["POPRT"], "--config_yaml", "open.yaml"], cwd=FOLDER, check=True,
                       capture_output=True)
        runner = Runner(FOLDER / "open" / "executable.popef")
        self.check_boxes(
            runner.execute({f"graph1/{name}": array for name, array in self.BOXES.items()}),
            "graph1/")
        results = runner.execute({"index": 0, "graph0/X": self.X})
        self.assertEqual(results["graph0/T"].tolist(), self.PLACES)
        self.assertEqual(results["graph0/N"], 3)

    def test_converted_models_are_onnx(self):
        for precision in ("fp32", "fp16"):
            folder = FOLDER / precision
            folder.mkdir()
            onnx.save(best_boxes(), str(folder / "boxes.onnx"))
            subprocess.run([os.environ["POPRT"], "--input_model", "boxes.onnx", "--output_model",
                            "boxes_out.onnx", "--precision", precision],
                           cwd=folder, check=True, capture_output=True)
            model = onnx.load(str(folder / "boxes_out.onnx"))
            onnx.checker.check_model(model)
            operators = [node.op_type for node in model.graph.node]
            self.assertIn("NonMaxSuppression", operators)
            dims = model.graph.output[0].type.tensor_type.shape.dim
            self.assertEqual([dim.dim_value for dim in dims], [0, 4])
            self.assertNotEqual(dims[0].dim_param, "")
            boxes = {name: array.astype(np.float16) if precision == "fp16" and name != "C"
                     else array for name, array in self.BOXES.items()}
            results = Runner(Compiler.compile(model)).execute(boxes)
            self.assertEqual([result.shape for result in results.values()], [(3, 4), (1, 4)])


class ConfigTest(unittest.TestCase):
    def test_defaults(self):
        self.assertEqual(
            json.loads(repr(RuntimeConfig())),
            {
                "autoReset": False,
                "batchSizeTimeoutNS": 2**63 - 1,
                "batchingDim": 2**32 - 1,
                "checkPackageHash": True,
                "dataParallelTimeoutNS": 2**63 - 1,
                "deviceWaitConfig": {"sleepTimeSec": 6, "timeoutSec": 1},
                "flushOnWaitingOutputs": False,
                "isBatchSizeTimeoutEnabled": False,
                "requestTracepointsBufferSize": 1000,
                "ringBufferSizeMultiplier": 2,
                "runnerType": 0,
                "threadSafe": True,
                "timeoutNS": 10_000_000,
                "validateIOParams": True,
            },
        )
        self.assertFalse(RuntimeConfig().verify_weights)
        self.assertFalse(RuntimeConfig().replica_id_to_device)
        self.assertEqual(RuntimeConfig().flush_by_name, ({}, {}))

    def test_settings_about_waiting_change_nothing(self):
        config = RuntimeConfig()
        config.timeout_ns = 0
        config.ring_buffer_size_multiplier = 3
        config.flush_on_waiting_outputs = True
        config.batch_size_timeout_ns = 1000
        config.data_parallel_timeout_ns = 2000
        config.is_batch_size_timeout_enabled = True
        config.request_tracepoints_buffer_size = 0
        config.flush_by_name = graph0()
        config.device_wait_config.timeout_sec = 5
        config.runner_type = RunnerType.ModelFusionRunner
        config.thread_safe = False
        self.assertIn('"batchSizeTimeoutNS":1000,', repr(config))
        self.assertIn('"deviceWaitConfig":{"sleepTimeSec":6,"timeoutSec":5}', repr(config))
        inputs, outputs = graph0()
        Runner(CONTAINER, config).execute(inputs, outputs)
        self.assertEqual(outputs["graph0/O"].tolist(), [11, 22])
        with self.assertRaises(AttributeError):
            config.time_out_ns = 1

    def test_packs_need_their_own_configuration(self):
        config = RuntimeConfig()
        config.runner_type = RunnerType.PackRunner
        with self.assertRaises(RuntimeError) as caught:
            Runner(CONTAINER, config)
        self.assertEqual(
            str(caught.exception),
            "runnerType is PackRunner: make a poprt::runtime::PackRunner with a PackRunnerConfig",
        )

    def test_packs_are_of_one_model(self):
        with self.assertRaises(RuntimeError) as caught:
            Runner(CONTAINER, PackRunnerConfig(timeout_microseconds=1000))
        self.assertEqual(
            str(caught.exception),
            "the container has several models, a PackRunner packs requests for one: use a ModelRunner",
        )

    def test_light_runner_runs_graphs(self):
        runner = Runner(CONTAINER, LightRunnerConfig())
        inputs, outputs = graph1(4)
        runner.execute(inputs, outputs)
        self.assertEqual(outputs["graph1/O"].tolist(), [[4, 1.5, 2.0]])
        self.assertEqual(runner.execute(graph0()[0])["graph0/O"].tolist(), [11, 22])

    def test_verify_weights(self):
        # The weights of this model are the only bytes of its container with this value.
        weight = np.array([[12345.678, 2]], np.float32)
        nodes = [helper.make_node("Add", ["X", "W"], ["Y"])]
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2])
        graph = helper.make_graph(
            nodes, "add", [value("X")], [value("Y")], [numpy_helper.from_array(weight, "W")]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        path = FOLDER / "altered.popef"
        Compiler.compile_and_export(model, None, path)
        config = RuntimeConfig()
        config.verify_weights = True
        Runner(path, config)
        content = path.read_bytes()
        self.assertEqual(content.count(weight.tobytes()), 1)
        path.write_bytes(content.replace(weight.tobytes(), (weight + 1).tobytes()))
        Runner(path)
        with self.assertRaisesRegex(RuntimeError, "altered.popef: .* the payload has been altered$"):
            Runner(path, config)

    def test_replica_id_to_device(self):
        config = RuntimeConfig()
        device = DeviceManager().get_device()
        config.replica_id_to_device[0] = device
        self.assertTrue(config.replica_id_to_device)
        self.assertIs(config.replica_id_to_device[0], device)
        self.assertEqual(list(config.replica_id_to_device), [0])
        self.assertEqual(json.loads(repr(config))["replicaIdToDevice"], {"0": device.id()})
        inputs, outputs = graph0()
        Runner(CONTAINER, config).execute(inputs, outputs)
        self.assertEqual(outputs["graph0/O"].tolist(), [11, 22])
        config.replica_id_to_device = {1: device}  # replica 0 takes a free one
        for _ in range(3):
            inputs, outputs = graph0()
            Runner(CONTAINER, config).execute(inputs, outputs)
            self.assertEqual(outputs["graph0/O"].tolist(), [11, 22])
        config.replica_id_to_device = {0: device, 1: device, 5000: device}
        with self.assertRaises(RuntimeError) as caught:
            Runner(CONTAINER, config)
        number, last = device.id(), DeviceManager().get_num_devices() - 1
        self.assertEqual(
            str(caught.exception),
            f"replicaIdToDevice names replica 1 with device {number}, which another replica has\n"
            f"replicaIdToDevice names replica 5000, allowed are 0 to {last}",
        )
        with self.assertRaises(TypeError):
            config.replica_id_to_device = None
        replicas = ReplicaIdToDevice()
        self.assertFalse(replicas)
        with self.assertRaises(KeyError):
            replicas[0]
        with self.assertRaises(TypeError):
            replicas[0] = None


class ExecutableTest(unittest.TestCase):
    def test_opaque_blobs_say_which_tensor_belongs_to_which_graph(self):
        blobs = poprt.Executable(str(CONTAINER)).get_opaque_blobs()
        self.assertEqual(
            json.loads(blobs["poprt.fusion"]),
            {
                "version": 1,
                "graphs": [
                    {
                        "index": 0,
                        "name": "graph0",
                        "inputs": ["graph0/X", "graph0/Y"],
                        "outputs": ["graph0/O"],
                    },
                    {
                        "index": 1,
                        "name": "graph1",
                        "inputs": ["graph1/X"],
                        "outputs": ["graph1/O"],
                    },
                ],
            },
        )

    def test_damaged_and_missing_containers(self):
        with self.assertRaisesRegex(RuntimeError, "no.popef"):
            Runner(FOLDER / "no.popef")
        content = CONTAINER.read_bytes()
        damaged = FOLDER / "damaged.popef"
        damaged.write_bytes(content[: len(content) // 2])
        with self.assertRaisesRegex(RuntimeError, "damaged.popef"):
            Runner(damaged)
        damaged.write_bytes(b"\0" * 4096)
        with self.assertRaisesRegex(RuntimeError, "damaged.popef"):
            Runner(damaged)
        path = FOLDER / "model.onnx"
        onnx.save(mul_add(), str(path))
        with self.assertRaisesRegex(RuntimeError, "model.onnx: .*: compile it first with poprt$"):
            Runner(path)
        with self.assertRaisesRegex(TypeError, "^popef is int, allowed is the path of a container"):
            Runner(5)
        with self.assertRaisesRegex(TypeError, "^config is dict, allowed is RuntimeConfig, "):
            Runner(CONTAINER, {})

    def test_what_objects_show(self):
        executable = Compiler.compile(mul_add())
        tensors = "input X float32[2], output P float32[2], output S float32[2]"
        self.assertEqual(repr(executable), f"<poprt.Executable: {tensors}>")
        self.assertEqual(repr(Runner(executable)), f"<poprt.runtime.ModelRunner: {tensors}>")
        self.assertIn("ModelRunner (fused): input index uint32[1], input graph0/X float32[1, 2]", repr(Runner(CONTAINER)))
        self.assertEqual(repr(DeviceManager().get_specific_device(3)), "<poprt.runtime.Device 3, ipu21>")


class PackageTest(unittest.TestCase):
    def test_version(self):
        self.assertRegex(poprt.__version__, r"^\d+\.\d+\.\d+$")

    def test_names_that_are_not_there_yet(self):
        with self.assertRaisesRegex(NotImplementedError, "^poprt.Pass is not there yet"):
            from poprt import Pass
        with self.assertRaisesRegex(NotImplementedError, "^poprt.converter is not there yet"):
            poprt.converter.Converter()
        with self.assertRaises(AttributeError):
            poprt.runtime.Nothing


class DeviceTest(unittest.TestCase):
    def test_devices_are_taken_and_released(self):
        manager = DeviceManager()
        count = manager.get_num_devices()
        devices = [manager.get_device() for _ in range(count)]
        self.assertEqual(sorted(device.id() for device in devices), list(range(count)))
        self.assertEqual(devices[0].ipu_version(), manager.ipu_hardware_version())
        config = RuntimeConfig()
        config.device_wait_config = DeviceWaitConfig(0, 1)
        with self.assertRaisesRegex(RuntimeError, f"^all {count} devices are in use[:,] "):
            Runner(CONTAINER, config)
        del devices[1:]
        with self.assertRaisesRegex(RuntimeError, f"^device {devices[0].id()} is in use[:,] "):
            manager.get_specific_device(devices[0].id())
        Runner(CONTAINER, config)


def mul_add(opset=13):
    """P = X * X, S = P + X, float32 [2]."""
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    nodes = [helper.make_node("Mul", ["X", "X"], ["P"]), helper.make_node("Add", ["P", "X"], ["S"])]
    graph = helper.make_graph(nodes, "mul_add", [value("X")], [value("P"), value("S")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


class CompilerTest(unittest.TestCase):
    def run_model(self, executable, names):
        outputs = {name: np.zeros(2, np.float32) for name in names}
        Runner(executable).execute({"X": np.array([3, -4], np.float32)}, outputs)
        return {name: output.tolist() for name, output in outputs.items()}

    def test_models_as_objects_bytes_and_paths(self):
        path = FOLDER / "mul_add.onnx"
        onnx.save(mul_add(), str(path))
        for model in (mul_add(), mul_add().SerializeToString(), str(path), path):
            with self.subTest(type=type(model).__name__):
                results = self.run_model(Compiler.compile(model), ["P", "S"])
                self.assertEqual(results, {"P": [9, 16], "S": [12, 12]})

    def test_some_outputs(self):
        executable = Compiler.compile(mul_add(), ["S"])
        self.assertEqual(self.run_model(executable, ["S"]), {"S": [12, 12]})
        with self.assertRaisesRegex(RuntimeError, "has no output 'Q', its outputs are 'P' 'S'"):
            Compiler.compile(mul_add(), ["Q"])

    def test_options(self):
        options = CompilerOptions.from_dict({"num_io_tiles": 32, "ipu_version": "ipu21"})
        self.assertEqual((options.num_io_tiles, options.ipu_version), (32, "ipu21"))
        self.assertEqual(options.partials_type, "half")
        options.opaque_blobs = {"note": "hello"}
        seen = []
        options.compilation_progress_logger = lambda done, maximum: seen.append((done, maximum))
        executable = Compiler.compile(mul_add(), None, options)
        self.assertEqual(executable.get_opaque_blobs()["note"], b"hello")
        self.assertTrue(seen)
        self.assertTrue(all(0 <= done <= maximum for done, maximum in seen))
        self.assertEqual(CompilerOptions(num_io_tiles=32).num_io_tiles, 32)
        self.assertEqual(CompilerOptions(num_io_tiles="auto").num_io_tiles, "auto")
        wrong = {"num_tiles": 1, "num_io_tiles": "x", "q": 2}
        message = (
            "CompilerOptions has no option 'num_tiles', the nearest is 'num_io_tiles'\n"
            "option 'num_io_tiles' cannot be 'x', its default is 0\n"
            "CompilerOptions has no option 'q'"
        )
        with self.assertRaises(AttributeError) as caught:
            CompilerOptions.from_dict(wrong)
        self.assertEqual(str(caught.exception), message)
        with self.assertRaises(TypeError) as caught:
            CompilerOptions(**wrong)
        self.assertEqual(str(caught.exception), message)
        with self.assertRaises(AttributeError) as caught:
            options.num_tiles = 1
        self.assertEqual(
            str(caught.exception),
            "CompilerOptions has no option 'num_tiles', the nearest is 'num_io_tiles'",
        )
        with self.assertRaises(TypeError) as caught:
            options.num_ipus = "two"
        self.assertEqual(
            str(caught.exception), "option 'num_ipus' cannot be 'two', its default is 1"
        )
        with self.assertRaisesRegex(RuntimeError, "ipu9"):
            Compiler.compile(mul_add(), None, CompilerOptions.from_dict({"ipu_version": "ipu9"}))
        with self.assertRaisesRegex(RuntimeError, "num_ipus is 0, allowed are 1 to 64"):
            Compiler.compile(mul_add(), None, CompilerOptions(num_ipus=0))

    def test_wrong_arguments(self):
        with self.assertRaises(TypeError) as caught:
            Compiler.compile(3, "S", {})
        self.assertEqual(
            str(caught.exception),
            "model is int, allowed is a path (str or os.PathLike), the bytes of a ModelProto or an "
            "onnx.ModelProto\n"
            "outputs is 'S', allowed is a list of names, or None for all\n"
            "options is dict, allowed is CompilerOptions or None: make one with "
            "CompilerOptions(name=value) or CompilerOptions.from_dict",
        )
        for name in ("no.onnx", "no"):
            with self.assertRaises(RuntimeError) as caught:
                Compiler.compile(name)
            self.assertEqual(str(caught.exception), f"{name}: No such file or directory")

    def test_export_and_report(self):
        path = FOLDER / "mul_add.popef"
        Compiler.compile_and_export(mul_add(), None, path)
        self.assertEqual(self.run_model(path, ["P", "S"]), {"P": [9, 16], "S": [12, 12]})
        report = Compiler.compile_and_get_summary_report(mul_add())
        for line in ("Target:", "  Tiles per IPU:          1,472", "Memory Usage:", "Execution:"):
            self.assertIn(line, report.splitlines())
        self.assertRegex(report, r"  Vertex Data \([\d,]+ B\):")
        self.assertIn("Predicted performance:", report)

    def test_what_cannot_be_compiled(self):
        model = mul_add()
        model.graph.node[0].op_type = "Magic"
        model.graph.node[1].op_type = "Wonder"
        with self.assertRaises(RuntimeError) as caught:
            Compiler.compile(model)
        self.assertIn("Magic", str(caught.exception))
        self.assertIn("Wonder", str(caught.exception))
        with self.assertRaises(RuntimeError):
            Compiler.compile(b"this is no model")

    def test_wrong_inputs(self):
        with self.assertRaises(TypeError) as caught:
            Compiler.compile(
                mul_add(),
                freeze_input={"X": [1, 2], "Y": np.array([None]), "Z": 3, "W": ""},
                input_shape={"X": 2, "Y": [1.5], "Z": "12", "W": (2,), "V": [-1]},
            )
        what = "allowed is the path of a .pb or .npy file or a numpy.ndarray"
        self.assertEqual(
            str(caught.exception),
            f"freeze_input['X'] is list, {what}\n"
            f"freeze_input['Y'] is an array of Python objects, {what}\n"
            f"freeze_input['Z'] is int, {what}\n"
            "input_shape['X'] is 2, allowed is a sequence of int\n"
            "input_shape['Y'] is [1.5], allowed is a sequence of int\n"
            "input_shape['Z'] is '12', allowed is a sequence of int",
        )
        with self.assertRaises(TypeError) as caught:
            Compiler.compile(mul_add(), freeze_input="X=x.npy", input_shape={1: [2]})
        self.assertEqual(
            str(caught.exception),
            "freeze_input is 'X=x.npy', allowed is a dict of names to paths or arrays, or None\n"
            "input_shape is {1: [2]}, allowed is a dict of names to shapes, or None",
        )

    def test_importing_the_runtime_loads_nothing_of_the_compiler(self):
        check = (
            "import sys, poprt.runtime\n"
            "assert 'poprt._compiler' not in sys.modules\n"
            "assert 'libonnx' not in open('/proc/self/maps').read()\n"
        )
        subprocess.run([sys.executable, "-c", check], check=True)


def padded():
    """Y = X, float32 [N, 2], with zeros around it as P, int64 [4], says."""
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, ["N", 2])
    p = helper.make_tensor_value_info("P", TensorProto.INT64, [4])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Pad", ["X", "P"], ["Y"])], "pad", [x, p], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


class InputsOfTheCompilerTest(unittest.TestCase):
    """freeze_input and input_shape."""

    PADS = np.array([1, 0, 0, 1], np.int64)
    SHAPE = {"X": (1, 2)}

    def check(self, executable):
        runner = Runner(executable)
        self.assertEqual([desc.name for desc in runner.get_execute_inputs()], ["X"])
        results = runner.execute({"X": np.array([[3, 4]], np.float32)})
        self.assertEqual(results["Y"].tolist(), [[0, 0, 0], [3, 4, 0]])

    def test_frozen_by_arrays(self):
        for pads in (self.PADS, self.PADS.astype(">i8"), np.repeat(self.PADS, 2)[::2]):
            with self.subTest(dtype=pads.dtype.str, strides=pads.strides):
                self.check(
                    Compiler.compile(padded(), freeze_input={"P": pads}, input_shape=self.SHAPE)
                )

    def test_frozen_by_files(self):
        np.save(FOLDER / "pads.npy", self.PADS)
        (FOLDER / "pads.pb").write_bytes(numpy_helper.from_array(self.PADS).SerializeToString())
        for path in (FOLDER / "pads.npy", FOLDER / "pads.pb", str(FOLDER / "pads.pb")):
            with self.subTest(path=path):
                self.check(
                    Compiler.compile(padded(), freeze_input={"P": path}, input_shape=self.SHAPE)
                )

    def test_export_and_report(self):
        inputs = {"freeze_input": {"P": self.PADS}, "input_shape": {"X": np.array([1, 2])}}
        path = FOLDER / "padded.popef"
        Compiler.compile_and_export(padded(), None, path, **inputs)
        self.check(path)
        report = Compiler.compile_and_get_summary_report(padded(), **inputs)
        self.assertIn("Number of compute sets:", report)

    def test_all_inputs_frozen(self):
        x = np.array([3, -4], np.float32)
        results = Runner(Compiler.compile(mul_add(), freeze_input={"X": x})).execute({})
        values = {name: y.tolist() for name, y in results.items()}
        self.assertEqual(values, {"P": [9, 16], "S": [12, 12]})

    def test_strings(self):
        x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [2])
        s = helper.make_tensor_value_info("S", TensorProto.STRING, [2])
        y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [2])
        nodes = [
            helper.make_node("Constant", [], ["word"], value_string="on"),
            helper.make_node("Equal", ["S", "word"], ["is_on"]),
            helper.make_node("Cast", ["is_on"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["X", "mask"], ["Y"]),
        ]
        graph = helper.make_graph(nodes, "g", [x, s], [y])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
        runner = Runner(Compiler.compile(model, freeze_input={"S": np.array(["off", "on"])}))
        results = runner.execute({"X": np.array([3, 4], np.float32)})
        self.assertEqual(results["Y"].tolist(), [0, 4])

    def refused(self, freeze_input, input_shape):
        with self.assertRaises(RuntimeError) as caught:
            Compiler.compile(padded(), freeze_input=freeze_input, input_shape=input_shape)
        return str(caught.exception).splitlines()

    def test_what_contradicts_the_model(self):
        self.assertEqual(
            self.refused({"P": self.PADS[:3], "Q": self.PADS}, {"X": [1, 3], "Z": []}),
            [
                "model: input 'X' --input_shape asks for [1, 3], but the model fixes dimension 1: "
                "[N, 2]",
                "model: input 'P' cannot be frozen: the given value is int64[3], but the model "
                "declares int64[4]",
                "model: --input_shape names 'Z', which is no input of the model "
                "(inputs: 'X', 'P')",
                "model: --freeze_input names 'Q', which is no input of the model "
                "(inputs: 'X', 'P')",
            ],
        )
        self.assertEqual(
            self.refused({"P": self.PADS.astype(np.complex64), "X": "no.npy"}, None),
            [
                "model: input 'P' cannot be frozen: the given value has elements of NumPy type "
                "'<c8', allowed are bool, integers, floats of 16 to 64 bits and strings (b1, i1 to "
                "i8, u1 to u8, f2, f4, f8, U, S)"
            ],
        )
        self.assertEqual(
            self.refused({"P": "", "X": "no.npy"}, None),
            [
                "model: input 'X' cannot be frozen: no.npy: No such file or directory",
                "model: input 'P' cannot be frozen: '' must be a .pb file (a TensorProto, "
                "SequenceProto or OptionalProto of ONNX) or a .npy file",
            ],
        )


if __name__ == "__main__":
    unittest.main()
