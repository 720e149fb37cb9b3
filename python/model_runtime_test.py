"""The package model_runtime, on containers that the tool in $POPRT compiles."""

import collections
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref
from datetime import timedelta

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import model_runtime
import popef
from model_runtime import (
    DeviceManager,
    DeviceWaitConfig,
    DeviceWaitStrategy,
    InputMemoryView,
    ModelRunner,
    ModelRunnerConfig,
    OutputMemoryView,
    PopefPaths,
)

FOLDER = pathlib.Path()
FLOAT = TensorProto.FLOAT


def compile_model(name, nodes, inputs, outputs, *options):
    tensors = [
        [helper.make_tensor_value_info(*tensor) for tensor in side] for side in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, name, *tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    (FOLDER / name).mkdir()
    onnx.save(model, FOLDER / name / "model.onnx")
    run(FOLDER / name, "--input_model", "model.onnx", "--export_popef", *options)
    return FOLDER / name / "executable.popef"


def run(folder, *arguments):
    subprocess.run(
        [os.environ["POPRT"], *arguments, "--disable_compilation_progress_bar"],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def setUpModule():
    global FOLDER, SIMPLE, PLACES, FUSED
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    FOLDER = pathlib.Path(temporary.name)
    os.environ["POPRT_DEVICE_LOCK_DIR"] = str(FOLDER / "devices")
    (FOLDER / "devices").mkdir()
    # output [2, 3] = tensor_A * weights + tensor_B
    shape = [2, 3]
    SIMPLE = compile_model(
        "simple",
        [
            helper.make_node("Mul", ["tensor_A", "weights"], ["product"]),
            helper.make_node("Add", ["product", "tensor_B"], ["output"]),
        ],
        [(name, FLOAT, shape) for name in ("tensor_A", "tensor_B", "weights")],
        [("output", FLOAT, shape)],
    )
    # P [2, up to 6]: where X is not zero
    PLACES = compile_model(
        "places",
        [helper.make_node("NonZero", ["X"], ["P"])],
        [("X", FLOAT, shape)],
        [("P", TensorProto.INT64, [2, "n"])],
    )
    FUSED = fused()


def fused():
    """Graph "neg": y = -x, float32 [2]; graph "double": y = x + x, int32 [1, 2]."""
    folder = FOLDER / "fused"
    folder.mkdir()
    for name, node, type_, shape in (
        ("neg", helper.make_node("Neg", ["x"], ["y"]), FLOAT, [2]),
        ("double", helper.make_node("Add", ["x", "x"], ["y"]), TensorProto.INT32, [1, 2]),
    ):
        tensors = [[helper.make_tensor_value_info(side, type_, shape)] for side in ("x", "y")]
        model = helper.make_model(
            helper.make_graph([node], name, *tensors), opset_imports=[helper.make_opsetid("", 13)]
        )
        onnx.save(model, folder / f"{name}.onnx")
    (folder / "config.yaml").write_text(
        "output_dir: ./\n"
        "export_popef: True\n"
        "model_fusion:\n"
        "  - name: neg\n"
        "    input_model: neg.onnx\n"
        "  - name: double\n"
        "    input_model: double.onnx\n"
    )
    run(folder, "--config_yaml", "config.yaml")
    return folder / "executable.popef"


def tensors(a=1.0, b=0.5, weights=3.0):
    return {
        name: np.full((2, 3), value, np.float32) + np.arange(6, dtype=np.float32).reshape(2, 3)
        for name, value in (("tensor_A", a), ("tensor_B", b), ("weights", weights))
    }


def expected(inputs):
    return inputs["tensor_A"] * inputs["weights"] + inputs["tensor_B"]


class SimpleTest(unittest.TestCase):
    def setUp(self):
        self.runner = ModelRunner(str(SIMPLE))
        self.inputs = tensors()
        self.expected = expected(self.inputs)
        self.output = np.zeros((2, 3), np.float32)

    def tearDown(self):
        self.runner = None  # a test that failed is kept, its device must not be

    def input_view(self):
        view = InputMemoryView()
        for name, array in self.inputs.items():
            view[name] = array
        return view

    def output_view(self):
        view = OutputMemoryView()
        view["output"] = self.output
        return view

    def check(self, array):
        self.assertIsInstance(array, np.ndarray)
        self.assertEqual((array.dtype, array.shape), (np.float32, (2, 3)))
        np.testing.assert_array_equal(array, self.expected)


class ExecuteTest(SimpleTest):
    def test_views(self):
        result = self.runner.execute(self.input_view())
        self.assertIsInstance(result, collections.abc.Mapping)
        self.assertEqual(list(result), ["output"])
        flat = np.frombuffer(result["output"], dtype=np.float32)
        self.check(flat.reshape(2, 3))
        self.check(result["output"])
        self.assertEqual(memoryview(result["output"]).format, "f")

    def test_views_with_outputs(self):
        self.assertIsNone(self.runner.execute(self.input_view(), self.output_view()))
        self.check(self.output)

    def test_dicts(self):
        result = self.runner.execute(self.inputs)
        self.assertEqual(list(result), ["output"])
        self.assertIs(type(result["output"]), np.ndarray)
        self.check(result["output"])
        again = self.runner.execute(self.inputs)
        self.assertFalse(np.shares_memory(result["output"], again["output"]))

    def test_dicts_with_outputs(self):
        result = self.runner.execute(self.inputs, {"output": self.output})
        self.check(self.output)
        self.assertIs(result["output"], self.output)

    def test_replica_id(self):
        self.check(self.runner.execute(self.input_view(), replica_id=0)["output"])
        self.check(self.runner.execute(self.inputs, replica_id=0)["output"])
        self.runner.execute(self.inputs, {"output": self.output}, replica_id=0)
        self.check(self.output)
        self.check(self.runner.executeAsync(self.inputs, replica_id=0)["output"])
        for call in (self.runner.execute, self.runner.executeAsync):
            with self.assertRaisesRegex(model_runtime.Error, "replica_id is 1"):
                call(self.inputs, replica_id=1)

    def test_memory_outlives_the_runner(self):
        result = self.runner.execute(self.input_view())["output"]
        copies = [result.numpy(), np.frombuffer(result, np.float32).reshape(2, 3)]
        future = self.runner.executeAsync(self.inputs)
        future.wait()
        self.runner = None
        gc.collect()
        for array in (result, *copies, future["output"]):
            self.check(array)
        self.assertFalse(np.shares_memory(result, copies[0]))
        self.assertTrue(np.shares_memory(result, copies[1]))

    def test_several_batches(self):
        self.inputs = {name: np.repeat(array, 3, axis=0) for name, array in self.inputs.items()}
        result = self.runner.execute(self.inputs)["output"]
        self.assertEqual(result.shape, (6, 3))
        np.testing.assert_array_equal(result, expected(self.inputs))
        future = self.runner.executeAsync(self.inputs)
        np.testing.assert_array_equal(future["output"], expected(self.inputs))

    def test_any_shape_of_the_right_size(self):
        flat = {name: array.reshape(-1) for name, array in self.inputs.items()}
        self.check(self.runner.execute(flat)["output"])
        output = np.zeros((3, 1, 2), np.float32)
        result = self.runner.execute(self.inputs, {"output": output})["output"]
        self.assertIs(result, output)
        self.check(output.reshape(2, 3))

    def test_no_copies(self):
        view, outputs = self.input_view(), self.output_view()
        self.assertIs(view["tensor_A"], self.inputs["tensor_A"])
        self.assertIs(outputs["output"], self.output)
        self.inputs["tensor_A"][:] = 7
        self.runner.execute(view, outputs)
        np.testing.assert_array_equal(self.output, expected(self.inputs))

    def test_other_threads_run_meanwhile(self):
        wrong = []

        def work(number):
            for i in range(100):
                inputs = tensors(number, i, number + i)
                if i % 2:
                    results = self.runner.execute(inputs)
                else:
                    future = self.runner.executeAsync(inputs)
                    future.wait()
                    results = future
                if not np.array_equal(results["output"], expected(inputs)):
                    wrong.append((number, i))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class ExecuteAsyncTest(SimpleTest):
    def test_views(self):
        future = self.runner.executeAsync(self.input_view())
        future.wait()
        self.check(np.frombuffer(future["output"], dtype=np.float32).reshape(2, 3))
        self.check(future["output"])

    def test_views_with_outputs(self):
        future = self.runner.executeAsync(self.input_view(), self.output_view())
        future.wait()
        self.check(self.output)
        self.assertTrue(np.shares_memory(np.asarray(future["output"]), self.output))

    def results(self, future):
        future.wait()
        results = (
            future["output"].numpy(),
            np.array(future["output"], copy=True),
            np.array(future["output"], copy=False),
        )
        for array in results:
            self.assertIs(type(array), np.ndarray)
            self.check(array)
        return results

    def test_dicts(self):
        future = self.runner.executeAsync(self.inputs)
        numpy, copied, viewed = self.results(future)
        for one, other in ((numpy, copied), (numpy, viewed), (copied, viewed)):
            self.assertFalse(np.shares_memory(one, other))
        self.assertTrue(np.shares_memory(viewed, future["output"]))
        viewed[0, 0] = 99
        self.assertEqual(future["output"][0, 0], 99)

    def test_dicts_with_outputs(self):
        future = self.runner.executeAsync(self.inputs, {"output": self.output})
        numpy, copied, viewed = self.results(future)
        self.assertTrue(np.shares_memory(numpy, self.output))
        self.assertTrue(np.shares_memory(viewed, self.output))
        self.assertFalse(np.shares_memory(copied, self.output))

    def test_mapping(self):
        future = self.runner.executeAsync(self.inputs)
        future.wait()
        self.assertTrue(future.ready())
        self.assertEqual((len(future), list(future), "output" in future), (1, ["output"], True))
        self.check(dict(future.items())["output"])
        self.check(future.values()[0])
        with self.assertRaisesRegex(KeyError, "the request has no output 'other'"):
            future["other"]
        self.assertEqual(
            repr(future), "<model_runtime.OutputFutureMemory of output: ready>"
        )

    def test_the_last_of_many_without_waiting_for_the_others(self):
        for i in range(200):
            future = self.runner.executeAsync(tensors(weights=i))
        np.testing.assert_array_equal(future["output"], expected(tensors(weights=199)))

    def test_reused_view(self):
        view = InputMemoryView()
        futures = []
        for i in range(20):
            view.update(tensors(i))
            futures.append(self.runner.executeAsync(view))
        gc.collect()
        for i, future in enumerate(futures):
            np.testing.assert_array_equal(future["output"], expected(tensors(i)))

    def test_wait_raises_what_went_wrong(self):
        del self.inputs["weights"]
        future = self.runner.executeAsync(self.inputs, {"output": self.output})
        for attempt in (future.wait, lambda: future["output"], future.wait):
            with self.assertRaisesRegex(model_runtime.Error, "'weights' .*is missing"):
                attempt()
        np.testing.assert_array_equal(self.output, np.zeros((2, 3)))

    def test_without_outputs_it_is_done_at_once(self):
        with self.assertRaisesRegex(RuntimeError, "output 'output' .*is missing"):
            self.runner.executeAsync(self.inputs, {})


class RefusedTest(SimpleTest):
    def refused(self, error, message, inputs=None, outputs=None):
        with self.assertRaises(error) as caught:
            self.runner.execute({**self.inputs, **(inputs or {})}, outputs)
        self.assertEqual(str(caught.exception), message)

    def test_wrong_type(self):
        message = "input 'weights' is float64, the model has float32: use .astype(numpy.float32)"
        self.refused(TypeError, message, {"weights": np.zeros((2, 3))})
        swapped = np.zeros((2, 3), ">f4")
        message = "input 'weights' is >f4, the model has float32: use .astype(numpy.float32)"
        self.refused(TypeError, message, {"weights": swapped})
        message = "output 'output' is int32, the model has float32: use .astype(numpy.float32)"
        self.refused(TypeError, message, None, {"output": np.zeros((2, 3), np.int32)})
        message = (
            "input 'weights' is list, allowed is numpy.ndarray: "
            "use numpy.asarray(value, numpy.float32)"
        )
        self.refused(TypeError, message, {"weights": [1, 2]})
        message = (
            "output 'output' is list, allowed is numpy.ndarray: "
            "use numpy.empty([2, 3], numpy.float32)"
        )
        self.refused(TypeError, message, None, {"output": [1, 2]})

    def test_memory_that_cannot_be_used_in_place(self):
        message = (
            "input 'weights' is not C-contiguous, its memory cannot be used in place: "
            "use numpy.ascontiguousarray"
        )
        self.refused(ValueError, message, {"weights": np.zeros((2, 6), np.float32)[:, ::2]})
        self.refused(ValueError, message, {"weights": np.zeros((3, 2), np.float32).T})
        self.output.flags.writeable = False
        message = "output 'output' is read-only: give an array that can be written"
        self.refused(ValueError, message, None, {"output": self.output})

    def test_all_problems_at_once(self):
        message = (
            "input 'weights' is int8, the model has float32: use .astype(numpy.float32)\n"
            "input 'tensor_A' is not C-contiguous, its memory cannot be used in place: "
            "use numpy.ascontiguousarray"
        )
        wrong = {
            "tensor_A": np.zeros((3, 2), np.float32).T,
            "weights": np.zeros((2, 3), np.int8),
        }
        self.refused(TypeError, message, wrong)

    def test_no_dicts(self):
        wanted = "allowed is a dict from the names of tensors to numpy.ndarray"
        for call in (self.runner.execute, self.runner.executeAsync):
            with self.assertRaises(TypeError) as caught:
                call([1], ())
            message = f"inputs is list, {wanted}\noutputs is tuple, {wanted}"
            self.assertEqual(str(caught.exception), message)
        self.refused(TypeError, "inputs: the name 3 is int, allowed is str", {3: np.zeros(1)})
        with self.assertRaisesRegex(TypeError, "^the name 3 is int, allowed is str$"):
            InputMemoryView()[3] = self.output
        with self.assertRaisesRegex(TypeError, "^tensor 'x' is list, allowed is numpy.ndarray"):
            InputMemoryView()["x"] = [1]

    def test_names_and_sizes(self):
        for inputs, part in (
            ({"other": self.output}, "input 'other' does not exist, input names are: tensor_A"),
            ({"weights": np.zeros(5, np.float32)}, "input 'weights'"),
        ):
            with self.assertRaisesRegex(model_runtime.Error, part):
                self.runner.execute({**self.inputs, **inputs})
        self.assertTrue(issubclass(model_runtime.Error, RuntimeError))

    def test_other_mappings(self):
        inputs = collections.ChainMap(self.inputs)
        self.check(self.runner.execute(inputs)["output"])

    def test_kinds_of_models_and_configurations(self):
        with self.assertRaisesRegex(TypeError, "^the model is int, allowed is PopefPaths"):
            ModelRunner(5)
        with self.assertRaisesRegex(TypeError, "^config is dict, allowed is ModelRunnerConfig"):
            ModelRunner(str(SIMPLE), config={})
        with self.assertRaisesRegex(popef.Error, "missing.popef"):
            ModelRunner(PopefPaths("missing.popef"))


class TracepointsTest(SimpleTest):
    def test_tracepoints(self):
        self.assertEqual(self.runner.requestTracepoints(), [])
        config = ModelRunnerConfig()
        config.flush_on_waiting_outputs = True
        before = time.monotonic()
        runner = ModelRunner(str(SIMPLE), config=config)
        runner.execute(self.inputs)
        runner.executeAsync(self.inputs).wait()
        points = runner.requestTracepoints()
        self.assertEqual([(p.id, p.replica_id) for p in points], [(0, 0), (1, 0)])
        for point in points:
            self.assertEqual(point.state, model_runtime.RequestState.Succeeded)
            times = [before, point.queued, point.started, point.finished, time.monotonic()]
            self.assertEqual(times, sorted(times))
        self.assertIn("RequestTracepoint(id=0, replica_id=0, state=RequestState.", repr(points[0]))


class ViewsTest(unittest.TestCase):
    def test_dicts(self):
        x, y = np.zeros((1, 2), np.float32), np.zeros(3, np.int8)
        view = InputMemoryView({"x": x}, y=y)
        self.assertIs(view["x"], x)
        self.assertEqual((len(view), sorted(view), "x" in view), (2, ["x", "y"], True))
        self.assertEqual(repr(view), "InputMemoryView({'x': float32[1, 2], 'y': int8[3]})")
        self.assertIs(view.setdefault("z", y), y)
        del view["y"]
        self.assertEqual(list(view.copy()), ["x", "z"])
        self.assertIsInstance(view.copy(), InputMemoryView)
        self.assertEqual(repr(OutputMemoryView()), "OutputMemoryView({})")

    def test_arrays_are_kept_alive(self):
        array = np.zeros(3, np.float32)
        alive = weakref.ref(array)
        view = InputMemoryView()
        view["x"] = array
        del array
        gc.collect()
        self.assertIsNotNone(alive())
        del view["x"]
        self.assertIsNone(alive())

    def test_what_shares_its_memory(self):
        memory = bytearray(8)
        view = OutputMemoryView()
        view["x"] = memory
        memory[0] = 5
        self.assertEqual(view["x"][0], 5)

        class Tensor:
            array = np.zeros(2)

            def __array__(self, *_):
                return self.array

        view["y"] = Tensor()
        self.assertIs(view["y"], Tensor.array)


class DescriptionsTest(SimpleTest):
    def test_descriptions(self):
        inputs = self.runner.getExecuteInputs()
        self.assertEqual(sorted(d.name for d in inputs), ["tensor_A", "tensor_B", "weights"])
        (output,) = self.runner.getExecuteOutputs()
        for desc in (*inputs, output):
            self.assertEqual(desc.shape, [2, 3])
            self.assertEqual(desc.numpy_data_type(), np.float32)
            self.assertEqual(np.zeros(1).astype(desc.numpy_data_type()).dtype, np.float32)
            self.assertEqual(desc.data_type, popef.DataType.F32)
            self.assertEqual(popef.popefTypeToNumpyDType(desc.data_type), np.float32)
            self.assertEqual(desc.size_in_bytes, 24)
            self.assertFalse(desc.popef_contains_tensor_data)
            self.assertIsNone(desc.open_axis)
        self.assertEqual(
            repr([output]),
            "[DataDesc(name='output', shape=[2, 3], data_type=DataType.F32, size_in_bytes=24)]",
        )
        self.assertEqual(len(self.runner.getModelInputs()), 3)
        self.assertEqual(len(self.runner.getModelOutputs()), 1)
        self.assertIn("input tensor_A float32[2, 3]", repr(self.runner))

    def test_shape_is_a_new_list(self):
        desc = self.runner.getExecuteInputs()[0]
        shape = desc.shape
        shape[0] *= 5
        self.assertEqual((shape, desc.shape), ([10, 3], [2, 3]))
        desc.shape = shape
        desc.size_in_bytes *= 5
        self.assertEqual((desc.shape, desc.size_in_bytes), ([10, 3], 120))


class ModelsTest(SimpleTest):
    def test_paths(self):
        for paths in (
            PopefPaths([str(SIMPLE)]),
            PopefPaths(str(SIMPLE)),
            PopefPaths(SIMPLE),
            str(SIMPLE),
            SIMPLE,
            os.fsencode(SIMPLE),
        ):
            self.check(ModelRunner(paths).execute(self.inputs)["output"])
        self.assertEqual(repr(PopefPaths("a.popef")), "PopefPaths(['a.popef'])")
        self.assertEqual(PopefPaths(["a", pathlib.Path("b")]), ["a", "b"])

    def test_model(self):
        reader = popef.Reader()
        reader.parseFile(str(SIMPLE))
        model = popef.ModelBuilder(reader).createModel()
        runner = ModelRunner(model, config=ModelRunnerConfig())
        del reader, model
        gc.collect()
        self.check(runner.execute(self.inputs)["output"])


class ConfigurationTest(SimpleTest):
    DURATIONS = ("timeout_ns", "batch_size_timeout_ns", "data_parallel_timeout_ns")

    def test_defaults(self):
        config = ModelRunnerConfig()
        wait = config.device_wait_config
        self.assertEqual(wait.strategy, DeviceWaitStrategy.NO_WAIT)
        self.assertEqual((wait.timeout, wait.sleepTime), (timedelta(0), timedelta(seconds=15)))
        for name, value in {
            "replication_factor": 1,
            "thread_safe": False,
            "validate_io_params": True,
            "batching_dim": 2**32 - 1,
            "check_package_hash": True,
            "verify_weights": False,
            "auto_reset": False,
            "ring_buffer_size_multiplier": 2,
            "flush_on_waiting_outputs": False,
            "is_batch_size_timeout_enabled": False,
            "request_tracepoints_buffer_size": 1000,
            "timeout_ns": timedelta(milliseconds=10),
            "frozen_inputs": {},
            "flush_by_name": ({}, {}),
            "replica_id_to_device": {},
        }.items():
            self.assertEqual(getattr(config, name), value, name)

    def test_durations(self):
        config = ModelRunnerConfig()
        for name in self.DURATIONS:
            for value, result in (
                (timedelta(days=2, seconds=3, microseconds=4), None),
                (5_000_000, timedelta(milliseconds=5)),
                (0, timedelta(0)),
                (np.int64(1000), timedelta(microseconds=1)),
            ):
                setattr(config, name, value if not isinstance(value, np.int64) else int(value))
                self.assertEqual(getattr(config, name), value if result is None else result)
            setattr(config, name, timedelta.max)
            longest = getattr(config, name)
            self.assertGreater(longest, timedelta(days=292 * 365))
            setattr(config, name, longest)
            self.assertEqual(getattr(config, name), longest)
            with self.assertRaisesRegex(ValueError, f"{name} is -1, which is negative"):
                setattr(config, name, -1)
            with self.assertRaisesRegex(TypeError, f"{name} is float, allowed is .*timedelta"):
                setattr(config, name, 0.5)

    def test_fields_that_do_not_exist(self):
        with self.assertRaises(AttributeError):
            ModelRunnerConfig().replication_facter = 2

    def test_device_wait_config(self):
        wait = DeviceWaitConfig(
            DeviceWaitStrategy.WAIT_WITH_TIMEOUT,
            timeout=timedelta(minutes=10),
            sleepTime=timedelta(seconds=1),
        )
        self.assertEqual((wait.timeout, wait.sleepTime), (timedelta(0, 600), timedelta(0, 1)))
        self.assertEqual(
            repr(wait),
            "DeviceWaitConfig(strategy=DeviceWaitStrategy.WAIT_WITH_TIMEOUT, "
            "timeout=datetime.timedelta(seconds=600), sleepTime=datetime.timedelta(seconds=1))",
        )
        for wait in (DeviceWaitConfig(timedelta(seconds=5)), DeviceWaitConfig(timeout=5)):
            self.assertEqual(wait.timeout, timedelta(seconds=5))
        self.assertEqual(
            DeviceWaitConfig(timedelta(seconds=5)).strategy, DeviceWaitStrategy.WAIT_WITH_TIMEOUT
        )
        wait.sleepTime = timedelta(milliseconds=1)
        self.assertEqual(wait.sleepTime, timedelta(seconds=1))
        config = ModelRunnerConfig()
        config.device_wait_config = wait
        config.device_wait_config.strategy = DeviceWaitStrategy.WAIT_FOREVER
        self.assertEqual(config.device_wait_config.strategy, DeviceWaitStrategy.WAIT_FOREVER)

    def test_text(self):
        config = ModelRunnerConfig()
        config.frozen_inputs = {"weights": self.output}
        text = repr(config)
        for part in (
            "  replication_factor=1,\n",
            "  timeout_ns=datetime.timedelta(microseconds=10000),\n",
            "  frozen_inputs=InputMemoryView({'weights': float32[2, 3]}),\n",
        ):
            self.assertIn(part, text)
        self.assertEqual(str(config), text)

    def test_frozen_inputs(self):
        weights = self.inputs.pop("weights")
        alive = weakref.ref(weights)
        view = InputMemoryView()
        view["weights"] = weights
        for frozen in (view, {"weights": weights}):
            config = ModelRunnerConfig()
            config.frozen_inputs = frozen
            runner = ModelRunner(str(SIMPLE), config=config)
            names = [desc.name for desc in runner.getExecuteInputs()]
            self.assertEqual(sorted(names), ["tensor_A", "tensor_B"])
            self.assertEqual(len(runner.getModelInputs()), 3)
            self.check(runner.execute(self.inputs)["output"])
            self.check(runner.executeAsync(self.inputs)["output"])
        del weights, view, frozen, config
        gc.collect()
        self.check(runner.execute(self.inputs)["output"])
        self.assertIsNotNone(alive())
        del runner
        gc.collect()
        self.assertIsNone(alive())

    def test_frozen_inputs_are_checked(self):
        config = ModelRunnerConfig()
        config.frozen_inputs = {"weights": np.zeros((2, 3))}
        with self.assertRaisesRegex(TypeError, "^input 'weights' is float64, the model has float32"):
            ModelRunner(str(SIMPLE), config=config)


class OpenAxisTest(unittest.TestCase):
    def test_results_have_the_shape_they_turned_out_to_have(self):
        runner = ModelRunner(str(PLACES))
        self.assertEqual(runner.getExecuteOutputs()[0].open_axis, 1)
        x = np.array([[0, 1, 0], [2, 0, 3]], np.float32)
        places = [[0, 1, 1], [1, 0, 2]]
        view = InputMemoryView(X=x)
        memory = np.zeros((2, 6), runner.getExecuteOutputs()[0].numpy_data_type())
        for result in (
            runner.execute(view)["P"],
            runner.execute({"X": x})["P"],
            runner.execute({"X": x}, {"P": memory})["P"],
            runner.executeAsync(view)["P"],
            runner.executeAsync({"X": x})["P"],
            runner.executeAsync({"X": x})["P"].numpy(),
            runner.executeAsync({"X": x}, {"P": memory})["P"],
            runner.executeAsync({"X": x}, {"P": memory})["P"].numpy(),
        ):
            self.assertEqual(result.tolist(), places)
        self.assertTrue(np.shares_memory(result, memory))
        self.assertEqual(runner.execute({"X": 0 * x})["P"].shape, (2, 0))


class FusedTest(unittest.TestCase):
    def setUp(self):
        self.runner = ModelRunner(str(FUSED))
        self.x0 = np.array([1, -2], np.float32)
        self.x1 = np.array([[3, 4]], np.int32)

    def check(self, runner=None):
        for prefix in ("graph0", "neg"):
            result = (runner or self.runner).execute({f"{prefix}/x": self.x0})
            (values,) = result.values()
            self.assertEqual((values.dtype, values.tolist()), (np.float32, [-1, 2]))
        for prefix in ("graph1", "double"):
            future = (runner or self.runner).executeAsync(InputMemoryView({f"{prefix}/x": self.x1}))
            (values,) = future.values()
            self.assertEqual((values.dtype, values.tolist()), (np.int32, [[6, 8]]))

    def test_without_index(self):
        self.check()
        config = ModelRunnerConfig()
        config.validate_io_params = False
        self.check(ModelRunner(str(FUSED), config=config))

    def test_index(self):
        for index in (1, np.uint8(1), np.array([1], np.uint32), np.array([1]), np.array(1, "u1")):
            view = InputMemoryView({"double/x": self.x1})
            view["index"] = index
            for inputs in (view, {"double/x": self.x1, "index": index}):
                output = np.zeros((1, 2), np.int32)
                self.runner.execute(inputs, {"double/y": output})
                self.assertEqual(output.tolist(), [[6, 8]])

    def test_wrong_index(self):
        for index, error, message in (
            (2, RuntimeError, "input 'index' is 2, allowed are 0 to 1"),
            (-1, RuntimeError, "input 'index' is -1, allowed are 0 to 1"),
            (0.5, TypeError, "input 'index' is float64 of 1 elements, allowed is one integer"),
        ):
            with self.assertRaisesRegex(error, message):
                self.runner.execute({"index": index, "neg/x": self.x0})
        with self.assertRaisesRegex(RuntimeError, "belongs to graph 0 'neg'"):
            self.runner.execute({"index": 1, "neg/x": self.x0})

    def test_damaged_description_of_the_graphs(self):
        reader = popef.Reader()
        reader.parseFile(FUSED)
        for blob in (b"{", b"[1]", b'{"graphs": [{"index": 0, "name": "neg", "inputs": ["q"]}]}'):
            with popef.Writer(FOLDER / "damaged.popef") as writer:
                writer.writeMetadata(reader.metadata()[0])
                executable = reader.executables()[0]
                writer.createExecutable(executable.name).write(executable.executable())
                writer.createOpaqueBlob("poprt.fusion", executable.name).write(blob)
            with self.assertRaisesRegex(popef.Error, "^the opaque blob 'poprt.fusion' is damaged"):
                ModelRunner(FOLDER / "damaged.popef")

    def test_types_are_checked_under_both_names(self):
        for name in ("graph1/x", "double/x"):
            message = f"^input '{name}' is float32, the model has int32"
            with self.assertRaisesRegex(TypeError, message):
                self.runner.execute({name: self.x0})


class DevicesTest(SimpleTest):
    def test_waiting_for_a_device_lets_other_threads_run(self):
        manager = DeviceManager()
        devices = []
        with self.assertRaisesRegex(RuntimeError, "in use"):
            while True:
                devices.append(manager.getDevice(1))
        config = ModelRunnerConfig()
        with self.assertRaises(RuntimeError):
            ModelRunner(str(SIMPLE), config=config)
        config.device_wait_config = DeviceWaitConfig(DeviceWaitStrategy.WAIT_FOREVER)
        results = []
        thread = threading.Thread(
            target=lambda: results.append(
                ModelRunner(str(SIMPLE), config=config).execute(self.inputs)["output"]
            )
        )
        thread.start()
        devices.clear()  # would never be reached if the waiting thread kept the interpreter
        thread.join()
        self.check(results[0])

    def test_device_of_a_replica(self):
        self.runner = None
        gc.collect()
        manager = DeviceManager()
        reader = popef.Reader()
        reader.parseFile(str(SIMPLE))
        model = popef.ModelBuilder(reader).createModel()
        config = ModelRunnerConfig()
        config.replication_factor = 2
        config.replica_id_to_device[1] = manager.getDevice(model)
        runner = ModelRunner(model, config=config)
        for replica in range(2):
            self.check(runner.execute(self.inputs, replica_id=replica)["output"])
            self.check(runner.executeAsync(self.inputs, replica_id=replica)["output"])
        self.assertEqual(repr(config.replica_id_to_device[1])[:22], "<model_runtime.Device ")

    def test_model_devices(self):
        manager = DeviceManager()
        device = manager.createIpuModelDevice(1, 21, 1472)
        self.assertEqual(
            (device.id(), device.numIpus(), device.ipuVersion(), device.tilesPerIpu()),
            (-1, 1, 21, 1472),
        )
        self.assertEqual(manager.createSmallIpuModelDevice(2, 2).numIpus(), 2)


class BatchingTest(SimpleTest):
    """Requests of one row; batches have two, and wait for ever."""

    def setUp(self):
        super().setUp()
        config = ModelRunnerConfig()
        config.batching_dim = 0
        config.timeout_ns = timedelta(0)
        self.runner = ModelRunner(str(SIMPLE), config=config)

    def row(self, number):
        return {name: array[number : number + 1].copy() for name, array in self.inputs.items()}

    def test_waiting_lets_other_threads_run(self):
        results = []
        future = self.runner.executeAsync(self.row(0))
        waiting = threading.Thread(target=lambda: (future.wait(), results.append(future["output"])))
        waiting.start()
        second = self.runner.execute(self.row(1))["output"]
        waiting.join()
        self.check(np.concatenate([results[0], second]))

    def test_arrays_live_as_long_as_the_request(self):
        row = self.row(0)
        alive = [weakref.ref(array) for array in row.values()]
        output = np.zeros((1, 3), np.float32)
        alive.append(weakref.ref(output))
        future = self.runner.executeAsync(row, {"output": output})
        del row, output
        gc.collect()
        noise = [np.full((1, 3), 1e9, np.float32) for _ in range(100)]
        self.assertFalse(future.ready())
        self.assertIn("pending", repr(future))
        second = self.runner.executeAsync(self.row(1))
        self.check(np.concatenate([future["output"], second["output"]]))
        del future, second, noise
        gc.collect()
        self.assertEqual([array() for array in alive], [None] * 4)

    def test_arrays_of_a_request_nobody_waits_for(self):
        row = self.row(0)
        alive = weakref.ref(row["weights"])
        self.runner.executeAsync(row)  # does not wait
        del row
        gc.collect()
        self.assertIsNotNone(alive())
        self.runner.executeAsync(self.row(1)).wait()
        self.runner.executeAsync(tensors()).wait()  # lets go of what is done
        gc.collect()
        self.assertIsNone(alive())

    def test_runner_goes_before_its_requests(self):
        future = self.runner.executeAsync(self.row(0))
        self.runner.executeAsync(self.row(0))  # completes the batch
        self.runner.executeAsync(self.row(0))  # waits for ever
        waiting = self.runner.executeAsync(self.row(1), {"output": np.zeros((1, 3), np.float32)})
        future.wait()
        waiting.wait()
        last = self.runner.executeAsync(self.row(0))
        self.runner = None
        gc.collect()
        with self.assertRaisesRegex(model_runtime.Error, "destroyed"):
            last.wait()
        np.testing.assert_array_equal(future["output"], self.expected[:1])


    def test_flush_by_name(self):
        config = ModelRunnerConfig()
        config.batching_dim = 0
        config.timeout_ns = timedelta(milliseconds=1)
        fill, filled = tensors(2, 3, 4), np.zeros((2, 3), np.float32)
        config.flush_by_name = (fill, {"output": filled})
        runner = ModelRunner(str(SIMPLE), config=config)
        wanted = expected(fill)
        del config, fill
        gc.collect()
        result = runner.execute(self.row(0))["output"]
        np.testing.assert_array_equal(result, self.expected[:1])
        np.testing.assert_array_equal(filled, [[0, 0, 0], wanted[1]])


class WeightsTest(unittest.TestCase):
    """Weights as tensor data, in the container or in a file of their own."""

    @classmethod
    def setUpClass(cls):
        cls.weights = np.arange(6, dtype=np.float32).reshape(2, 3)
        cls.path = compile_model(
            "weights",
            [
                helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(cls.weights)),
                helper.make_node("Add", ["X", "w"], ["Y"]),
            ],
            [("X", FLOAT, [2, 3])],
            [("Y", FLOAT, [2, 3])],
            "--compiler_options",
            "constant_weights=false",
        )
        cls.x = np.full((2, 3), 10, np.float32)

    def check(self, runner, weights):
        np.testing.assert_array_equal(runner.execute({"X": self.x})["Y"], self.x + weights)

    def test_descriptions(self):
        runner = ModelRunner(str(self.path))
        self.assertEqual([desc.name for desc in runner.getExecuteInputs()], ["X"])
        inputs = {d.name: d.popef_contains_tensor_data for d in runner.getModelInputs()}
        self.assertEqual(inputs, {"X": False, "w": True})
        self.check(runner, self.weights)

    def test_frozen_weights(self):
        config = ModelRunnerConfig()
        config.frozen_inputs = {"w": 2 * self.weights}
        self.check(ModelRunner(str(self.path), config=config), 2 * self.weights)

    def test_two_files(self):
        reader = popef.Reader()
        reader.parseFile(self.path)
        (tensor,) = reader.tensors()
        np.testing.assert_array_equal(tensor.data(), self.weights)
        executable, weights = FOLDER / "only.popef", FOLDER / "weights.popef"
        with popef.Writer(executable) as writer:
            writer.writeMetadata(reader.metadata()[0])
            blob = reader.executables()[0]
            writer.createExecutable(blob.name, True).write(blob.executable())
        with popef.Writer(weights) as writer:
            writer.createTensorData(tensor.info).write(3 * self.weights)
        paths = PopefPaths([str(executable), str(weights)])
        self.check(ModelRunner(paths), 3 * self.weights)
        with self.assertRaises(RuntimeError):
            ModelRunner(PopefPaths(executable))


class FaultsTest(unittest.TestCase):
    """Devices that fault as the environment says, in a process of their own."""

    SCRIPT = """
import sys
import numpy as np
import model_runtime
config = model_runtime.ModelRunnerConfig()
config.auto_reset = sys.argv[2] == "reset"
runner = model_runtime.ModelRunner(sys.argv[1], config=config)
x = np.ones((2, 3), np.float32)
for i in range(3):
    try:
        result = runner.executeAsync({"tensor_A": x, "tensor_B": x, "weights": x})
        print(result["output"].tolist()[0])
    except model_runtime.Error as error:
        action = getattr(error, "recoveryAction", lambda: "")()
        print(type(error).__name__, action)
"""

    def lines(self, fault, reset):
        environment = {**os.environ, "POPRT_DEVICE_FAULTS": fault}
        command = [sys.executable, "-P", "-c", self.SCRIPT, SIMPLE, "reset" if reset else ""]
        return subprocess.check_output(command, env=environment, text=True).splitlines()

    def test_classes(self):
        good = "[2.0, 2.0, 2.0]"
        for fault, text in (
            ("2:application_runtime_error", "application_runtime_error "),
            (
                "2:recoverable_runtime_error/IPU_RESET",
                "recoverable_runtime_error RecoveryAction.IPU_RESET",
            ),
            (
                "2:recoverable_runtime_error/FULL_RESET",
                "recoverable_runtime_error RecoveryAction.FULL_RESET",
            ),
            ("2:unknown_runtime_error", "unknown_runtime_error "),
        ):
            with self.subTest(fault=fault):
                self.assertEqual(self.lines(fault, False), [good, text, text])
                heals = text.startswith("app") or "IPU_RESET" in text
                self.assertEqual(self.lines(fault, True), [good, text, good if heals else text])


if __name__ == "__main__":
    unittest.main()
