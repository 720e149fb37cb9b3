"""Compiles models with the tool in $POPRT and runs the containers."""

import os
import subprocess

import numpy as np
from poprt.runtime import Runner

POPRT = os.environ["POPRT"]


def compile_models(paths, folder, *options):
    """Writes the container of one model, or of several fused; returns a Runner of it.

    RuntimeError with the tool's message when it refuses."""
    arguments = [word for path in paths for word in ("-i", str(path))]
    result = subprocess.run(
        [POPRT, *arguments, "--export_popef", "--output_dir", str(folder), *options]
        + ["--disable_compilation_progress_bar"],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if result.returncode != 0:
        raise RuntimeError(f"poprt ends with {result.returncode}: {result.stderr}")
    return Runner(folder / "executable.popef")


def run(runner, inputs, graph=None):
    """Name -> array of the outputs of `graph`, or of the only one. Inputs are given by the model's
    names and are converted to the types of the container (int64 becomes int32 there, for one)."""
    prefix = f"{graph}/" if graph else ""
    types = {desc.name: desc.numpy_data_type() for desc in runner.get_execute_inputs()}
    request = {
        prefix + name: np.ascontiguousarray(array, types[prefix + name])
        for name, array in inputs.items()
    }
    outputs = {
        desc.name: np.zeros(desc.shape, desc.numpy_data_type())
        for desc in runner.get_execute_outputs()
        if desc.name.startswith(prefix)
    }
    runner.execute(request, outputs)
    return {name[len(prefix) :]: array for name, array in outputs.items()}
