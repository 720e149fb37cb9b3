"""Requests of any number of rows for a model that takes four at a time.

    dynamic_batch.py affine.popef
"""

import datetime
import sys

import numpy as np

import model_runtime

config = model_runtime.ModelRunnerConfig()
config.batching_dim = 0
config.timeout_ns = datetime.timedelta(microseconds=300)
runner = model_runtime.ModelRunner(sys.argv[1], config=config)
for rows in (1, 4, 7):
    a = np.full((rows, 3), 3, np.float32)
    b = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    output = np.zeros((rows, 3), np.float32)
    runner.execute({"tensor_A": a, "tensor_B": b}, {"output": output})
    assert (output == 6 + b).all()
    print("Successfully run with input data in batch size", rows)
