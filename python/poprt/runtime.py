"""Runs compiled containers: Runner, RuntimeConfig, DeviceManager."""

import numpy as np

from poprt import _runtime
from poprt._runtime import (
    DataDesc,
    Device,
    DeviceManager,
    DeviceWaitConfig,
    Executable,
    RunnerType,
    RuntimeConfig,
)

__all__ = [
    "DataDesc",
    "Device",
    "DeviceManager",
    "DeviceWaitConfig",
    "Executable",
    "ModelRunner",
    "Runner",
    "RunnerType",
    "RuntimeConfig",
]


class Runner:
    """Runs a model, or the graphs of a fused one.

    Safe to use from several threads; requests take turns. Arrays are used where they lie: they must
    be C-contiguous and of the model's element type. A request for a fused model gives the tensors of
    one graph ("graph0/x", or "name/x" for a named graph); "index" may be given or left out.

    Errors are RuntimeError (the request or container is wrong) and TypeError (an array is).
    """

    def __init__(self, popef, config=None):
        """popef: path of a container, or an Executable. config: a RuntimeConfig, or None."""
        if not isinstance(popef, Executable):
            popef = Executable(str(popef))
        self._fused = popef.is_fused()
        self._runner = _runtime.ModelRunner(popef, config or RuntimeConfig())

    def execute(self, inputs, outputs):
        """Runs and fills the arrays of `outputs`, both dicts from name to ndarray."""
        self._runner.execute(*self._checked(inputs, outputs))

    def execute_async(self, inputs, outputs):
        """Queues the request. Call wait() on the result; it raises what went wrong."""
        return self._runner.execute_async(*self._checked(inputs, outputs))

    executeAsync = execute_async

    def get_execute_inputs(self):
        """DataDesc of every input of every graph, for one batch."""
        return self._runner.get_execute_inputs()

    def get_execute_outputs(self):
        return self._runner.get_execute_outputs()

    def get_model_inputs(self):
        return self._runner.get_model_inputs()

    def get_model_outputs(self):
        return self._runner.get_model_outputs()

    def _checked(self, inputs, outputs):
        """Arrays the device can use in place; TypeError names every one it cannot."""
        inputs, problems = dict(inputs), []
        for name, array in inputs.items():
            if self._fused and name == "index":
                # Any integer will do: 0, np.uint32(0), np.array([0]).
                inputs[name] = array = np.ascontiguousarray(array)
                if array.dtype.kind not in "iu" or array.size != 1:
                    problems.append(f"input 'index' is {array.dtype} of {array.size} elements, "
                                    "allowed is one integer")
            else:
                problems += self._problems(name, array, False)
        for name, array in outputs.items():
            problems += self._problems(name, array, True)
        if problems:
            raise TypeError("\n".join(problems))
        return inputs, outputs

    def _problems(self, name, array, written):
        kind = "output" if written else "input"
        if not isinstance(array, np.ndarray):
            return [f"{kind} '{name}' is {type(array).__name__}, allowed is numpy.ndarray"]
        problems = []
        desc = self._runner.describe(name)
        if desc is not None and array.dtype != desc.numpy_data_type():
            wanted = desc.numpy_data_type()
            problems.append(f"{kind} '{name}' is {array.dtype}, the model has {wanted}: "
                            f"use .astype(numpy.{wanted})")
        if not array.flags.c_contiguous:
            problems.append(f"{kind} '{name}' is not C-contiguous: use numpy.ascontiguousarray")
        if written and not array.flags.writeable:
            problems.append(f"output '{name}' is read-only")
        return problems


# The name of PopRT 1.0 and 1.1.
ModelRunner = Runner
