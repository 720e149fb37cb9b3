"""The same models give the same bytes: in any folder, at any number of threads, each time. Uses the
tool in $POPRT and the models of tests/fused."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import models

POPRT = os.environ["POPRT"]
CONFIG = """\
output_model: 'model_fusion.onnx'
export_popef: True
ipu_version: 'ipu21'
model_fusion:
  - input_model: 'conv_net.onnx'
  - input_model: 'mlp.onnx'
    precision: 'fp16'
  - input_model: 'add_reshape.onnx'
    name: 'sum'
"""
FILES = ("model_fusion.onnx", "executable.popef")


class GoldenTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def make_folder(self, name):
        folder = self.folder / name
        folder.mkdir(parents=True)
        models.save_all(folder)
        (folder / "config.yaml").write_text(CONFIG)
        return folder

    def compile(self, folder, threads, *options, output="."):
        """Name of file -> bytes."""
        subprocess.run(
            [POPRT, "--config_yaml", "config.yaml", "--output_dir", output, *options],
            cwd=folder,
            env={**os.environ, "POPRT_NUM_THREADS": str(threads)},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return {name: (folder / output / name).read_bytes() for name in FILES}

    def assert_same(self, got, wanted):
        for name in FILES:
            self.assertGreater(len(wanted[name]), 1000, name)
            # Not assertEqual: it would print both files.
            self.assertTrue(got[name] == wanted[name], f"{name} differs")

    def test_folders_and_threads(self):
        first = self.compile(self.make_folder("a"), threads=1)
        second = self.compile(self.make_folder("another/much/longer/path"), threads=4)
        self.assert_same(second, first)

    def test_what_is_printed_and_where_it_goes(self):
        folder = self.make_folder("a")
        first = self.compile(folder, threads=2)
        self.assert_same(self.compile(folder, 2, "--json", output="elsewhere"), first)
        quiet = self.compile(folder, 2, "--disable_compilation_progress_bar", output="quiet")
        self.assert_same(quiet, first)

    def test_how_the_path_of_a_model_is_written(self):
        folder = self.make_folder("a")
        results = []
        for path in ("mlp.onnx", "../a/mlp.onnx", str(folder / "mlp.onnx")):
            subprocess.run(
                [POPRT, "-i", path, "--export_popef", "--output_model", "model_fusion.onnx"],
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            results.append({name: (folder / name).read_bytes() for name in FILES})
        self.assert_same(results[1], results[0])
        self.assert_same(results[2], results[0])

    def test_an_older_result_is_replaced(self):
        folder = self.make_folder("a")
        first = self.compile(folder, threads=1)
        for name in FILES:
            shutil.copy(folder / "config.yaml", folder / name)
        self.assert_same(self.compile(folder, threads=1), first)


if __name__ == "__main__":
    unittest.main()
