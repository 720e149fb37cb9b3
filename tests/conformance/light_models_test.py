"""Real topologies (the light models of the ONNX suite) give the outputs stored beside them.

Their weights are constant and so is every output, so this shows little more than that they compile
and run; bench_models_test.py runs the same topologies with random weights."""

import pathlib
import tempfile
import unittest

import containers
import numpy as np
import onnx
import shared_models

# The tolerance of the suite.
RTOL, ATOL = 1e-3, 1e-7


class LightModelsTest(unittest.TestCase):
    def check(self, path):
        inputs = shared_models.ramp_inputs(onnx.load(str(path)))
        wanted = shared_models.stored_output(path.with_name(f"{path.stem}_output_0.pb"))
        # A folder of its own for each: the largest container takes half a gigabyte.
        with tempfile.TemporaryDirectory() as folder:
            runner = containers.compile_models([path], pathlib.Path(folder))
            outputs = containers.run(runner, inputs)
        (got,) = outputs.values()
        self.assertEqual(got.shape, wanted.shape)
        self.assertEqual(got.dtype, wanted.dtype)
        np.testing.assert_allclose(got, wanted, rtol=RTOL, atol=ATOL)
        relative = np.max(np.abs(got - wanted) / np.maximum(np.abs(wanted), ATOL))
        print(f"{path.stem}: passed, largest relative error {relative:.1e}", flush=True)

    def test_stored_outputs(self):
        shared_models.require(shared_models.LIGHT)
        paths = sorted(shared_models.LIGHT.glob("light_*.onnx"))
        self.assertTrue(paths, f"no models in {shared_models.LIGHT}")
        for path in paths:
            with self.subTest(model=path.stem):
                self.check(path)


if __name__ == "__main__":
    unittest.main()
