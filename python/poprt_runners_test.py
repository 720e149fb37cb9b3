"""The runners of poprt.runtime on models that poprt.compiler compiles: PackRunner, LightRunner,
HostConcatRunner, and ModelRunner with batching and replicas."""

import gc
import json
import os
import signal
import tempfile
import threading
import unittest
import warnings

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from poprt import runtime
from poprt._names import sHostConcatRunnerConfig
from poprt.compiler import Compiler, CompilerOptions
from poprt.runtime import PackAlgorithm, PackRunner, PackRunnerConfig, Runner, RuntimeConfig

F, I = TensorProto.FLOAT, TensorProto.INT32
NEVER = 10**9  # microseconds: longer than any test


def setUpModule():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    os.environ["POPRT_DEVICE_LOCK_DIR"] = folder.name  # other tests have devices too


def compiled(nodes, inputs, outputs, constants=(), options=None):
    values = [[helper.make_tensor_value_info(*value) for value in side]
              for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *values, list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    return Compiler.compile(model, None, options)


def row_sums():
    """y, float32 [2, 6]: for every token the sum of ids, int32, over its row; numbers, the mask."""
    nodes = [
        helper.make_node("ReduceSum", ["ids", "axes"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["ids", "zero"], ["zeros"]),
        helper.make_node("Add", ["zeros", "sum"], ["spread"]),
        helper.make_node("Cast", ["spread"], ["y"], to=F),
        helper.make_node("Identity", ["mask"], ["numbers"]),
    ]
    constants = [numpy_helper.from_array(np.array([1], np.int64), "axes"),
                 numpy_helper.from_array(np.array(0, np.int32), "zero")]
    return compiled(nodes, [("ids", I, [2, 6]), ("mask", I, [2, 6])],
                    [("y", F, [2, 6]), ("numbers", I, [2, 6])], constants)


def starts():
    """The model that tells what unpack_info, int32 [4], it gets; y = ids [2, 4]."""
    nodes = [helper.make_node("Identity", ["ids"], ["y"]),
             helper.make_node("Identity", ["unpack_info"], ["distance"])]
    return compiled(nodes, [("ids", I, [2, 4]), ("unpack_info", I, [4])],
                    [("y", I, [2, 4]), ("distance", I, [4])])


def entry(*ids, mask=None):
    mask = [1] * len(ids) if mask is None else mask
    return {"ids": np.array(ids, np.int32), "mask": np.array(mask, np.int32)}


class PackRunnerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.executable = row_sums()

    def pack(self, config, *entries):
        """Results of entries that make one pack."""
        config.max_valid_num = len(entries)
        runner = Runner(self.executable, config)
        self.assertIsInstance(runner, PackRunner)
        outputs = [{"y": np.zeros(6, np.float32), "numbers": np.zeros((1, 6), np.int32)}
                   for _ in entries]
        futures = [runner.execute_async(*request) for request in zip(entries, outputs)]
        for future in futures:
            future.wait()
        return [(y["y"][:len(e["ids"])].tolist(), y["numbers"][0, :len(e["ids"])].tolist())
                for e, y in zip(entries, outputs)]

    def test_end_to_end(self):
        results = self.pack(PackRunnerConfig(timeout_microseconds=NEVER, dynamic_input_name="ids"),
                            entry(1, 1, 1, 1), entry(2, 2, 2), entry(4))
        self.assertEqual(results, [([8] * 4, [1] * 4), ([8, 8, 6], [1] * 3), ([6], [1])])

    def test_single_row_mode_numbers_the_mask(self):
        entries = [entry(1, 1, 1), entry(2, 2, 2, 2), entry(4, mask=[0]), entry(8)]
        for algorithm, wanted in (
            (PackAlgorithm.first_fit,
             [([15] * 3, [1] * 3), ([8] * 4, [1] * 4), ([15], [0]), ([15], [3])]),
            (PackAlgorithm.next_fit,
             [([3] * 3, [1] * 3), ([20] * 4, [1] * 4), ([20], [0]), ([20], [3])]),
        ):
            config = PackRunnerConfig(timeout_microseconds=NEVER)
            config.algorithm = algorithm
            self.assertEqual(config.algorithm, algorithm)
            config.enable_input_single_row_mode("mask")
            self.assertEqual(self.pack(config, *entries), wanted)

    def test_padding_removal(self):
        config = PackRunnerConfig(timeout_microseconds=NEVER)
        config.enable_padding_remove_mode("mask", ["ids"])
        results = self.pack(config, entry(1, 1, 9, 9, mask=[1, 1, 0, 0]), entry(2, 2, 2, 2))
        self.assertEqual(results, [([10, 10, 0, 0], [1, 1, 0, 0]), ([10] * 4, [1] * 4)])

    def test_delimiters_and_unpack_info(self):
        config = PackRunnerConfig(timeout_microseconds=NEVER, dynamic_input_name="ids")
        config.disable_data_across_rows = True
        config.delimiter_num = 1
        runner = PackRunner(starts(), config)
        futures = []
        for ids in ([1], [2, 3], [4, 5, 6, 7]):  # unpack_info given in whatever type, or left out
            inputs = {"ids": np.array(ids, np.int32), "unpack_info": np.zeros(4)}
            if len(ids) == 1:
                del inputs["unpack_info"]
            outputs = {"y": np.zeros(len(ids), np.int32), "distance": np.zeros(1, np.int32)}
            futures.append(runner.executeAsync(inputs, outputs))
        self.assertEqual([f["distance"].tolist() for f in futures], [[2], [2], [4]])
        self.assertEqual([f["y"].tolist() for f in futures], [[1], [2, 3], [4, 5, 6, 7]])

    def test_new_arrays_have_the_size_of_the_entry(self):
        config = PackRunnerConfig(timeout_microseconds=1000)
        runner = Runner(self.executable, config)
        results = runner.execute(entry(1, 2, 3))
        self.assertEqual(results["y"].tolist(), [6, 6, 6])
        self.assertEqual(results["numbers"].dtype, np.int32)
        self.assertEqual([d.shape for d in runner.get_model_inputs()], [[2, 6], [2, 6]])

    def test_many_threads(self):
        config = PackRunnerConfig(timeout_microseconds=500, max_valid_num=4)
        config.enable_input_single_row_mode("mask", delimiter_num=1)
        runner = PackRunner(self.executable, config)
        wrong = []

        def work(seed):
            random = np.random.default_rng(seed)
            for _ in range(40):
                length = int(random.integers(1, 7))
                results = runner.execute(entry(*[0] * length))
                numbers = results["numbers"].tolist()
                if results["y"].tolist() != [0] * length or numbers != [numbers[0]] * length:
                    wrong.append(results)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_wrong_requests(self):
        config = PackRunnerConfig(timeout_microseconds=1000)
        config.enable_input_single_row_mode("mask")
        runner = Runner(self.executable, config)
        with self.assertRaises(RuntimeError) as caught:
            runner.execute(entry(1, 2, 3, 4, 5, 6, 7))
        self.assertEqual(str(caught.exception), "the request has 7 tokens, a row of the model has 6")
        with self.assertRaises(RuntimeError) as caught:
            runner.execute({"ids": np.zeros(3, np.int32)})
        self.assertEqual(str(caught.exception), "mask input 'mask' is missing")
        with self.assertRaises(RuntimeError) as caught:
            runner.execute(entry(1, 2, mask=[1]))
        self.assertEqual(str(caught.exception),
                         "input 'ids' has 2 tokens, but input 'mask' has 1")
        future = runner.execute_async(entry(1), {"y": np.zeros(0, np.float32)})
        with self.assertRaisesRegex(RuntimeError, "^output 'y' has 0 bytes, allowed are 4 or more$"):
            future.wait()
        with self.assertRaises(TypeError) as caught:
            runner.execute({"ids": np.zeros(3), "mask": np.ones(6, np.int32)[::2]})
        self.assertEqual(
            str(caught.exception),
            "input 'ids' is float64, the model has int32: use .astype(numpy.int32)\n"
            "input 'mask' is not C-contiguous: use numpy.ascontiguousarray")

    def test_configurations(self):
        config = PackRunnerConfig()
        self.assertEqual((config.timeout_microseconds, config.max_valid_num), (0, 0))
        self.assertEqual(config.algorithm, PackAlgorithm.next_fit)
        self.assertEqual(config.compile_batch_size, -1)
        self.assertIn("max_valid_num=0, dynamic_input_name='', ", repr(config))
        with self.assertRaisesRegex(RuntimeError, "^timeoutInMicroSeconds is 0, allowed is more"):
            Runner(self.executable, config)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            config.algorithom = PackAlgorithm.first_fit  # as an example of the original does
            config.timeout_microseconds = 5
        self.assertEqual(
            [str(warning.message) for warning in caught],
            ["PackRunnerConfig has no attribute 'algorithom', it changes nothing; the nearest is "
             "'algorithm'"])
        with self.assertRaises(TypeError) as caught:
            PackRunner(self.executable, RuntimeConfig())
        self.assertEqual(str(caught.exception),
                         "config is RuntimeConfig, a PackRunner takes PackRunnerConfig or None")
        with self.assertRaises(TypeError) as caught:
            Runner(self.executable, {})
        self.assertEqual(str(caught.exception),
                         "config is dict, allowed is RuntimeConfig, PackRunnerConfig, "
                         "LightRunnerConfig, HostConcatRunnerConfig or None")


def scaled():
    """y [2, 3] = x * w, where w [3] = (1, 2, 3) is a variable."""
    weight = numpy_helper.from_array(np.array([1, 2, 3], np.float32), "w")
    return compiled([helper.make_node("Mul", ["x", "w"], ["y"])], [("x", F, [2, 3])],
                    [("y", F, [2, 3])], [weight], CompilerOptions(constant_weights=False))


class LightRunnerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.executable = scaled()

    def run_ones(self, runner):
        outputs = {"y": np.zeros((2, 3), np.float32)}
        runner.execute_async({"x": np.ones((2, 3), np.float32)}, outputs).wait()
        return outputs["y"][0].tolist()

    def weights_of(self, runner):
        return [d.name for d in runner.get_model_inputs() if d.popef_contains_tensor_data]

    def test_weights_are_updated(self):
        runner = Runner(self.executable, runtime.LightRunnerConfig())
        self.assertIsInstance(runner, runtime.LightRunner)
        self.assertEqual([d.name for d in runner.get_execute_inputs()], ["x"])
        (name,) = self.weights_of(runner)
        self.assertEqual(self.run_ones(runner), [1, 2, 3])
        runner.set_input_anchor(name, np.array([4, 5, 6], np.float32))
        self.assertEqual(self.run_ones(runner), [1, 2, 3])  # until they are loaded
        runner.update_weights()
        gc.collect()
        self.assertEqual(self.run_ones(runner), [4, 5, 6])
        runner.stop()
        runner.reload()
        self.assertEqual(self.run_ones(runner), [4, 5, 6])

    def test_wrong_weights(self):
        runner = runtime.LightRunner(self.executable)
        (name,) = self.weights_of(runner)
        for wrong, problem in (
            (np.zeros(3), f"weight '{name}' is float64, the model has float32: "
                          "use .astype(numpy.float32)"),
            (np.zeros(4, np.float32), f"weight '{name}' has shape [4], the model has [3]"),
        ):
            with self.assertRaises(TypeError) as caught:
                runner.set_input_anchor(name, wrong)
            self.assertEqual(str(caught.exception), problem)
        with self.assertRaisesRegex(RuntimeError, "nothing"):
            runner.set_input_anchor("nothing", np.zeros(3, np.float32))
        self.assertEqual(self.run_ones(runner), [1, 2, 3])

    def test_stop_frees_the_device(self):
        manager = runtime.DeviceManager()
        runner = runtime.LightRunner(self.executable)
        others = [manager.get_device() for _ in range(manager.get_num_devices() - 1)]
        with self.assertRaises(RuntimeError):
            manager.get_device()
        runner.stop()
        with self.assertRaisesRegex(RuntimeError, r"^the runner is stopped: call reload\(\) first$"):
            self.run_ones(runner)
        self.assertEqual(len(self.weights_of(runner)), 1)
        another = runtime.LightRunner(self.executable)
        self.assertEqual(self.run_ones(another), [1, 2, 3])
        another.stop()
        runner.reload()
        self.assertEqual(self.run_ones(runner), [1, 2, 3])
        del others

    def test_pinned_device(self):
        replicas = runtime.ReplicaIdToDevice()
        replicas[0] = runtime.DeviceManager().get_device()
        config = runtime.LightRunnerConfig()
        config.check_package_hash = False
        config.replica_to_device = replicas
        runner = runtime.LightRunner(self.executable, config)
        runner.stop()
        another = runtime.LightRunner(self.executable, config)
        self.assertEqual(self.run_ones(another), [1, 2, 3])
        another.stop()
        runner.reload()
        self.assertEqual(self.run_ones(runner), [1, 2, 3])
        config.replica_to_device = {1: replicas[0]}
        with self.assertRaisesRegex(RuntimeError, "^replicaIdToDevice names replica 1, allowed are"):
            runtime.LightRunner(self.executable, config)


def concatenated(options=None):
    """y [2, 3]: the three rows of "all", float32 [3, 2], as columns, plus x [2, 1]."""
    nodes = [helper.make_node("Transpose", ["all"], ["columns"]),
             helper.make_node("Add", ["columns", "x"], ["y"])]
    return compiled(nodes, [("all", F, [3, 2]), ("x", F, [2, 1])], [("y", F, [2, 3])],
                    options=options)


class HostConcatRunnerTest(unittest.TestCase):
    INPUTS = {name: np.array([[value, value + 1]], np.float32)
              for name, value in (("a", 1), ("b", 3), ("c", 5))}
    INPUTS["x"] = np.array([[10], [20]], np.float32)

    def check(self, executable, config):
        runner = Runner(executable, config)
        self.assertIsInstance(runner, runtime.HostConcatRunner)
        self.assertEqual([(d.name, d.shape, d.numpy_data_type()) for d in
                          runner.get_execute_inputs()],
                         [(name, shape, np.dtype("float32")) for name, shape in
                          (("a", [1, 2]), ("b", [1, 2]), ("c", [1, 2]), ("x", [2, 1]))])
        outputs = {"y": np.zeros((2, 3), np.float32)}
        runner.execute_async(self.INPUTS, outputs).wait()
        self.assertEqual(outputs["y"].tolist(), [[11, 13, 15], [22, 24, 26]])
        self.assertEqual(runner.execute(self.INPUTS)["y"].tolist(), outputs["y"].tolist())
        return runner

    def config(self, names=("a", "b", "c"), tensor="all"):
        config = runtime.HostConcatRunnerConfig()
        config.ring_buffer_size_multiplier = 30
        config.timeout_ns = 5_000_000
        merged = runtime.HostConcatConfig()
        merged.tensor_name = tensor
        merged.input_tensor_names = list(names)
        merged.shape = [1, 2]
        merged.data_size_bytes = 8
        config.host_concat_config = {tensor: merged}
        return config

    def test_configured(self):
        runner = self.check(concatenated(), self.config())
        with self.assertRaises(TypeError) as caught:
            runner.execute({**self.INPUTS, "a": np.zeros(2), "b": None})
        self.assertEqual(str(caught.exception),
                         "input 'a' is float64[2], allowed is float32[1, 2]\n"
                         "input 'b' is missing, allowed is numpy.ndarray")

    def test_configured_by_the_container(self):
        blob = {"all": {"input_tensor_names": ["a", "b", "c"], "shape": [1, 2]}}
        options = CompilerOptions()
        options.opaque_blobs = {sHostConcatRunnerConfig: json.dumps(blob)}
        self.check(concatenated(options), runtime.HostConcatRunnerConfig())

    def test_wrong_configurations(self):
        executable = concatenated()
        for config, message in (
            (self.config(tensor="al"),
             "host_concat_config names 'al', which is no input of the model: all, x"),
            (self.config(("a", "b", "c", "d")), "'all' has shape [3, 2], which is not 4 equal parts"),
            (self.config(("a", "a")), "input_tensor_names of 'all' are ['a', 'a'], allowed are "
                                      "different names of one part or more"),
        ):
            with self.assertRaises(RuntimeError) as caught:
                Runner(executable, config)
            self.assertEqual(str(caught.exception), message)

    def test_nothing_merged(self):
        runner = Runner(concatenated(), runtime.HostConcatRunnerConfig())
        inputs = {"all": np.zeros((3, 2), np.float32), "x": self.INPUTS["x"]}
        self.assertEqual(runner.execute(inputs)["y"].tolist(), [[10] * 3, [20] * 3])


class ModelRunnerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.executable = compiled([helper.make_node("Neg", ["x"], ["y"])], [("x", F, [4, 2])],
                                  [("y", F, [4, 2])])

    def test_any_number_of_rows(self):
        config = RuntimeConfig()
        config.batching_dim = 0
        config.timeout_ns = 300_000
        runner = Runner(self.executable, config)
        for rows in (1, 4, 7):
            x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
            y = np.zeros((rows, 2), np.float32)
            runner.execute({"x": x}, {"y": y})
            np.testing.assert_array_equal(y, -x)
            np.testing.assert_array_equal(runner.execute({"x": x})["y"], -x)
        with self.assertRaises(TypeError) as caught:
            runner.execute({"x": np.zeros((3, 3), np.float32)})
        self.assertEqual(str(caught.exception),
                         "input 'x' has shape [3, 3], the model has [4, 2]: give that with any size "
                         "of dimension 0, the batching_dim")

    def incomplete(self):
        """A runner, and the future of a request that waits for others for ever."""
        config = RuntimeConfig()
        config.batching_dim = 0
        config.timeout_ns = 0
        runner = Runner(self.executable, config)
        return runner, runner.execute_async({"x": np.ones((1, 2), np.float32)})

    def test_requests_nobody_waits_for_keep_their_arrays(self):
        runner, future = self.incomplete()
        del future
        y = runner.execute({"x": np.full((3, 2), 2, np.float32)})["y"]
        self.assertEqual(y.tolist(), [[-2, -2]] * 3)
        future = runner.execute_async({"x": np.ones((1, 2), np.float32)})
        del runner
        with self.assertRaisesRegex(RuntimeError, "destroyed"):
            future.wait()

    def test_signals_end_waiting(self):
        runner, future = self.incomplete()
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            future.wait()
        timer.join()
        del runner
        with self.assertRaisesRegex(RuntimeError, "destroyed"):
            future["y"]

    def test_replicas(self):
        manager = runtime.DeviceManager()
        config = RuntimeConfig()
        config.replica_id_to_device = {0: manager.get_device(), 1: manager.get_device()}
        runner = Runner(self.executable, config)
        futures = []
        for i in range(20):
            x = np.full((4, 2), i, np.float32)
            futures.append(runner.execute_async({"x": x}))
        for i, future in enumerate(futures):
            self.assertEqual(future["y"].tolist(), [[-i, -i]] * 4)

    def test_views_are_dicts(self):
        inputs, outputs = runtime.InputMemoryView(), runtime.OutputMemoryView()
        inputs["x"] = np.ones((4, 2), np.float32)
        outputs["y"] = np.zeros((4, 2), np.float32)
        Runner(self.executable).execute(inputs, outputs)
        self.assertEqual(outputs["y"].tolist(), [[-1, -1]] * 4)


if __name__ == "__main__":
    unittest.main()
