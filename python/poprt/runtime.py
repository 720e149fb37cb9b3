"""Runs compiled containers: Runner, RuntimeConfig, DeviceManager."""

import os

import numpy as np

from poprt import _runtime
from poprt._runtime import (
    DataDesc,
    Device,
    DeviceManager,
    DeviceWaitConfig,
    Executable,
    ReplicaIdToDevice,
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
    "ReplicaIdToDevice",
    "Runner",
    "RunnerType",
    "RuntimeConfig",
]


# Runners of the original and what belongs to them.
_NOT_YET = (
    "HostConcatConfig",
    "HostConcatRunner",
    "HostConcatRunnerConfig",
    "LightRunner",
    "LightRunnerConfig",
    "PackAlgorithm",
    "PackRunner",
    "PackRunnerConfig",
)


def __getattr__(name):
    if name in _NOT_YET:  # an AttributeError would lose its text in "from ... import PackRunner"
        raise NotImplementedError(f"{__name__}.{name} is not there yet; there is Runner")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _executable(popef):
    if isinstance(popef, Executable):
        return popef
    if isinstance(popef, (str, os.PathLike)):
        return Executable(os.fsdecode(popef))
    raise TypeError(f"popef is {type(popef).__name__}, allowed is the path of a container "
                    "(str or os.PathLike) or an Executable")


def _fits(shape, wanted):
    """Whether an array of `shape` holds one or more batches of a tensor of shape `wanted`."""
    if list(shape) == wanted:
        return True
    if not wanted or len(shape) != len(wanted) or list(shape[1:]) != wanted[1:]:
        return False
    return wanted[0] > 0 and shape[0] > 0 and shape[0] % wanted[0] == 0


class Runner:
    """Runs a model, or the graphs of a fused one.

    Safe to use from several threads; requests take turns. Arrays are used where they lie: they must
    be C-contiguous, of the model's element type and of its shape, or of N times its first dimension:
    then the request runs N batches. A request for a fused model gives the tensors of
    one graph ("graph0/x", or "name/x" for a named graph); "index" may be given or left out.

    Errors are RuntimeError (the request or container is wrong) and TypeError (an array is).
    """

    def __init__(self, popef, config=None):
        """popef: path of a container, or an Executable. config: a RuntimeConfig, or None."""
        popef = _executable(popef)
        if config is None:
            config = RuntimeConfig()
        if not isinstance(config, RuntimeConfig):
            raise TypeError(f"config is {type(config).__name__}, allowed is RuntimeConfig or None")
        self._fused = popef.is_fused()
        self._runner = _runtime.ModelRunner(popef, config)

    def __repr__(self):
        tensors = [("input", desc) for desc in self.get_execute_inputs()]
        tensors += [("output", desc) for desc in self.get_execute_outputs()]
        described = ", ".join(f"{kind} {desc.name} {desc.numpy_data_type()}{desc.shape}"
                              for kind, desc in tensors)
        return f"<poprt.runtime.Runner{' (fused)' if self._fused else ''}: {described}>"

    def execute(self, inputs, outputs=None):
        """Runs and fills the arrays of `outputs`, both dicts from name to ndarray.

        Returns a dict with the results. Without `outputs`, it has a new array for every output of
        the graph; otherwise the arrays of `outputs`. An output whose DataDesc has an open_axis needs
        an array of the largest shape, the described one; its result is a view of the array's first
        bytes in the shape it turned out to have.
        """
        return self._runner.execute(*self._checked(inputs, outputs))

    def execute_async(self, inputs, outputs=None):
        """Queues the request. Call wait() on the result; it raises what went wrong. The result of
        an output is future[name], as execute returns it."""
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
        allocate = outputs is None
        outputs = {} if allocate else outputs
        problems = []
        for kind, tensors in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(tensors, dict):
                problems.append(f"{kind} is {type(tensors).__name__}, allowed is a dict from "
                                "the names of tensors to numpy.ndarray")
            else:
                problems += [f"{kind}: the name {name!r} is {type(name).__name__}, allowed is str"
                             for name in tensors if not isinstance(name, str)]
        if problems:
            raise TypeError("\n".join(problems))
        inputs = dict(inputs)
        for name, array in inputs.items():
            if self._fused and name == "index":
                # Any integer will do: 0, np.uint32(0), np.array([0]).
                array = np.ascontiguousarray(array)
                if array.dtype.kind not in "iu" or array.size != 1:
                    problems.append(f"input 'index' is {array.dtype} of {array.size} elements, "
                                    "allowed is one integer")
                elif array.dtype != np.uint64:
                    array = array.astype(np.int64)
                inputs[name] = array
            else:
                problems += self._problems(name, array, False)
        for name, array in outputs.items():
            problems += self._problems(name, array, True)
        if problems:
            raise TypeError("\n".join(problems))
        if allocate:
            outputs = {desc.name: np.empty(desc.shape, desc.numpy_data_type())
                       for desc in self._runner.outputs_for(inputs)}
        return inputs, outputs

    def _problems(self, name, array, written):
        kind = "output" if written else "input"
        desc = self._runner.describe(name)
        if not isinstance(array, np.ndarray):
            return [f"{kind} '{name}' is {type(array).__name__}, allowed is numpy.ndarray"
                    + _remedy(desc, written)]
        problems = []
        if desc is not None and array.dtype != desc.numpy_data_type():
            wanted = desc.numpy_data_type()
            if desc.element_type != wanted.name:
                problems.append(f"{kind} '{name}' is {array.dtype}, the model has "
                                f"{desc.element_type}, of which numpy holds the bits: "
                                f"use .view(numpy.{wanted.name}) of an array that has them")
            else:
                problems.append(f"{kind} '{name}' is {array.dtype}, the model has {wanted}: "
                                f"use .astype(numpy.{_type_name(wanted)})")
        if desc is not None and not _fits(array.shape, desc.shape):
            allowed = "that shape" if not desc.shape else "that, or N times the first dimension"
            problems.append(f"{kind} '{name}' has shape {list(array.shape)}, the model has "
                            f"{desc.shape}: give {allowed}")
        if not array.flags.c_contiguous:
            problems.append(f"{kind} '{name}' is not C-contiguous: use numpy.ascontiguousarray")
        if written and not array.flags.writeable:
            problems.append(f"output '{name}' is read-only")
        return problems


def _type_name(dtype):
    return "bool_" if dtype == np.bool_ else dtype.name  # numpy.bool is not in every NumPy


def _remedy(desc, written):
    """How to make an array for the tensor."""
    if desc is None:
        return ""
    dtype = f"numpy.{_type_name(desc.numpy_data_type())}"
    if written:
        return f": use numpy.empty({desc.shape}, {dtype})"
    return f": use numpy.asarray(value, {dtype})"


# The name of PopRT 1.0 and 1.1.
ModelRunner = Runner
