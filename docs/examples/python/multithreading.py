"""Threads that share a runner; Python's lock is released while requests run.

    multithreading.py affine.popef
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import model_runtime

config = model_runtime.ModelRunnerConfig()
config.thread_safe = True
runner = model_runtime.ModelRunner(model_runtime.PopefPaths([sys.argv[1]]), config=config)


def run(value):
    inputs = {d.name: np.full(d.shape, value, np.float32) for d in runner.getExecuteInputs()}
    return all((runner.execute(inputs)["output"] == 3 * value).all() for _ in range(100))


with ThreadPoolExecutor(4) as threads:
    assert all(threads.map(run, range(4)))
print("400 requests were right")
