"""Two copies of a model on two devices; their weights are in memory once.

    replication.py affine.popef
"""

import datetime
import sys

import numpy as np

import model_runtime

config = model_runtime.ModelRunnerConfig()
config.replication_factor = 2
config.device_wait_config = model_runtime.DeviceWaitConfig(
    model_runtime.DeviceWaitStrategy.WAIT_WITH_TIMEOUT,
    timeout=datetime.timedelta(seconds=60), sleepTime=datetime.timedelta(seconds=1))
runner = model_runtime.ModelRunner(model_runtime.PopefPaths([sys.argv[1]]), config=config)
inputs = {d.name: np.full(d.shape, 3, d.numpy_data_type()) for d in runner.getExecuteInputs()}
for replica in range(config.replication_factor):
    assert (runner.execute(inputs, replica_id=replica)["output"] == 9).all()
    print("replica", replica, "gives 9")
