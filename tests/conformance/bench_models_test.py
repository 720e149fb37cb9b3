"""Models with random weights: against numpy in float64, fused, and in float16.

They are the benchmark models and the light models with their constant weights made random, because
constant weights give the same number in every place of the output, right or wrong.
POPRT_TEST_ALL=1 adds the large ones."""

import os
import pathlib
import tempfile
import unittest

import containers
import numpy as np
import onnx
import reference
import shared_models

LIGHT = ("densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet")
LARGE_LIGHT = ("bvlc_alexnet", "vgg19", "zfnet512")
LARGE = {"bert-base", "bert-base-enc", "bert-base-enc-op17", "resnet50"}
ALL = os.environ.get("POPRT_TEST_ALL") == "1"
# Of the largest output: what is left of float32 after rounding through a deep model.
TOLERANCE = 1e-4
FLOAT16 = {"rtol": 1e-2, "atol": 1e-2}


class BenchModelsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.generator = shared_models.load_module(shared_models.GENERATOR)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def make(self, name):
        """The model and the path it is saved at."""
        model = self.generator.build(name)
        path = self.folder / f"{name}.onnx"
        onnx.save(model, str(path))
        return model, path

    def make_light(self, name):
        """A light model with random weights, and its path."""
        path = self.folder / f"random_{name}.onnx"
        shared_models.make_weights_random(shared_models.LIGHT / f"light_{name}.onnx", path)
        model = onnx.load(str(path))
        shared_models.drop_final_softmax(model)
        onnx.save(model, str(path))
        return model, path

    def alone(self, path, inputs, *options):
        with tempfile.TemporaryDirectory() as folder:
            runner = containers.compile_models([path], pathlib.Path(folder), *options)
            return containers.run(runner, inputs)

    def check_against_reference(self, model, path):
        inputs = shared_models.random_inputs(model, seed=11)
        wanted = reference.evaluate(model, inputs)
        got = self.alone(path, inputs)
        path.unlink()
        self.assertEqual(set(got), set(wanted))
        worst = 0.0
        for output, array in wanted.items():
            self.assertEqual(got[output].shape, array.shape)
            self.assertEqual(got[output].dtype, np.float32)
            error = np.max(np.abs(got[output] - array)) / np.max(np.abs(array))
            # Not assertGreater(error, TOLERANCE): NaN must fail too.
            self.assertLessEqual(error, TOLERANCE, output)
            worst = max(worst, error)
        print(f"{path.stem}: passed, largest error {worst:.1e} of the largest output", flush=True)

    def test_float64_reference(self):
        for name in self.generator.MODELS:
            if ALL or name not in LARGE:
                with self.subTest(model=name):
                    self.check_against_reference(*self.make(name))

    def test_float64_reference_of_light_models(self):
        for name in LIGHT + LARGE_LIGHT * ALL:
            with self.subTest(model=name):
                self.check_against_reference(*self.make_light(name))

    def test_fused_graphs_give_the_bits_of_the_models_alone(self):
        paths = [self.make_light(name)[1] for name in ("resnet50", "squeezenet")]
        paths += [self.make(name)[1] for name in ("bert-base" if ALL else "bert-tiny", "mlp-b32")]
        runner = containers.compile_models(paths, self.folder / "fused")
        for index, path in enumerate(paths):
            with self.subTest(model=path.stem):
                inputs = shared_models.random_inputs(onnx.load(str(path)), seed=index)
                wanted = self.alone(path, inputs)
                got = containers.run(runner, inputs, f"graph{index}")
                self.assertEqual(set(got), set(wanted))
                for output, array in wanted.items():
                    self.assertTrue(np.all(np.isfinite(array)) and np.any(array), output)
                    self.assertEqual(got[output].shape, array.shape)
                    self.assertEqual(got[output].tobytes(), array.tobytes(), output)
                print(f"{path.stem}: fused gives the same bits", flush=True)

    def test_float16_is_close_to_float32(self):
        for name in ["bert-tiny", "bert-layer"] + ["bert-base"] * ALL:
            with self.subTest(model=name):
                model, path = self.make(name)
                inputs = shared_models.random_inputs(model, seed=13)
                single = self.alone(path, inputs)
                half = self.alone(path, inputs, "--precision", "fp16")
                for output, array in single.items():
                    self.assertEqual(half[output].dtype, np.float16)
                    got = half[output].astype(np.float32)
                    np.testing.assert_allclose(got, array, **FLOAT16)
                    worst = np.max(np.abs(got - array))
                    print(f"{name}: float16 passed, largest difference {worst:.1e}", flush=True)


if __name__ == "__main__":
    unittest.main()
