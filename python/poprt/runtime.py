"""Runs compiled containers: Runner and its configurations, LightRunner, PackRunner, DeviceManager."""

import difflib
import os
import warnings

import numpy as np

from poprt import _runtime
from poprt._runtime import (
    DataDesc,
    Device,
    DeviceManager,
    DeviceWaitConfig,
    Executable,
    LightRunnerConfig,
    PackAlgorithm,
    ReplicaIdToDevice,
    RunnerType,
    RuntimeConfig,
)

from poprt.host_concat import HostConcatConfig, HostConcatRunnerConfig, merged_tensors

__all__ = [
    "DataDesc",
    "Device",
    "DeviceManager",
    "DeviceWaitConfig",
    "Executable",
    "HostConcatConfig",
    "HostConcatRunner",
    "HostConcatRunnerConfig",
    "InputMemoryView",
    "LightRunner",
    "LightRunnerConfig",
    "ModelRunner",
    "OutputMemoryView",
    "PackAlgorithm",
    "PackRunner",
    "PackRunnerConfig",
    "ReplicaIdToDevice",
    "Runner",
    "RunnerType",
    "RuntimeConfig",
]


class InputMemoryView(dict):
    """The inputs of a request by name, like any dict of them."""


class OutputMemoryView(dict):
    """The outputs of a request by name, like any dict of them."""


class PackRunnerConfig(_runtime.PackRunnerConfig):
    """Configuration of a PackRunner; all arguments may be left out.

    timeout_microseconds: how long the first entry of a pack waits for others; must be set.
    max_valid_num: the most entries of a pack, 0 for as many as fit.
    dynamic_input_name: the input that says how long a request is and what rows the model has.
    unpack_info_input_name: the input that tells the model where entries begin.

    algorithm, a PackAlgorithm, chooses rows in single-row mode. enable_input_single_row_mode(mask,
    unpack_info_name="", delimiter_num=0) keeps every entry in one row and numbers the entries of
    each row in the packed mask; enable_padding_remove_mode(mask, [names]) leaves out tokens whose
    mask is 0. compile_batch_size says how many rows the model has, if that is not the first
    dimension of its inputs.
    """

    def __setattr__(self, name, value):
        if not hasattr(self, name):
            nearest = difflib.get_close_matches(name, dir(type(self)), 1)
            # Programs that misspell a name have always run.
            warnings.warn(f"PackRunnerConfig has no attribute {name!r}, it changes nothing"
                          + (f"; the nearest is {nearest[0]!r}" if nearest else ""), stacklevel=2)
        super().__setattr__(name, value)

    def __repr__(self):
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in (
            "timeout_microseconds", "max_valid_num", "dynamic_input_name", "unpack_info_input_name",
            "compile_batch_size", "mask_name", "dynamic_group", "algorithm",
            "disable_data_across_rows", "enable_padding_remove", "delimiter_num"))
        return f"PackRunnerConfig({fields})"


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
    """Runs a model, or the graphs of a fused one. The type of the configuration decides how:

    RuntimeConfig or None: ModelRunner; PackRunnerConfig: PackRunner; LightRunnerConfig: LightRunner;
    HostConcatRunnerConfig: HostConcatRunner.

    Safe to use from several threads. Arrays are used where they lie: they must
    be C-contiguous, of the model's element type and of its shape, or of N times its first dimension:
    then the request runs N batches. With RuntimeConfig.batching_dim, that dimension may be of any
    size. A request for a fused model gives the tensors of
    one graph ("graph0/x", or "name/x" for a named graph); "index" may be given or left out.

    Errors are RuntimeError (the request or container is wrong) and TypeError (an array is).
    """

    _config_type = None

    def __new__(cls, popef, config=None):
        if cls is not Runner:
            return object.__new__(cls)
        for runner in (ModelRunner, PackRunner, LightRunner, HostConcatRunner):
            if isinstance(config, runner._config_type) or config is None:
                return object.__new__(runner)
        raise TypeError(f"config is {type(config).__name__}, allowed is RuntimeConfig, "
                        "PackRunnerConfig, LightRunnerConfig, HostConcatRunnerConfig or None")

    def __init__(self, popef, config=None):
        """popef: path of a container, or an Executable. config: see the class, or None."""
        popef = _executable(popef)
        if config is None:
            config = self._config_type()
        if not isinstance(config, self._config_type):
            raise TypeError(f"config is {type(config).__name__}, a {type(self).__name__} takes "
                            f"{self._config_type.__name__} or None")
        self._fused = popef.is_fused()
        self._start(popef, config)

    def _start(self, popef, config):
        raise NotImplementedError

    def __repr__(self):
        tensors = [("input", desc) for desc in self.get_execute_inputs()]
        tensors += [("output", desc) for desc in self.get_execute_outputs()]
        described = ", ".join(f"{kind} {desc.name} {desc.numpy_data_type()}{desc.shape}"
                              for kind, desc in tensors)
        return (f"<poprt.runtime.{type(self).__name__}{' (fused)' if self._fused else ''}: "
                f"{described}>")

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
        desc = self._describe(name)
        problems = self._array_problems(kind, desc, name, array, written)
        if isinstance(array, np.ndarray):
            problems += self._shape_problems(kind, desc, name, array)
        return problems

    def _array_problems(self, kind, desc, name, array, written=False):
        """What is wrong with anything but the shape."""
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
        if not array.flags.c_contiguous:
            problems.append(f"{kind} '{name}' is not C-contiguous: use numpy.ascontiguousarray")
        if written and not array.flags.writeable:
            problems.append(f"output '{name}' is read-only")
        return problems

    def _describe(self, name):
        return self._runner.describe(name)

    def _shape_problems(self, kind, desc, name, array):
        if desc is None or _fits(array.shape, desc.shape):
            return []
        allowed = "that shape" if not desc.shape else "that, or N times the first dimension"
        return [f"{kind} '{name}' has shape {list(array.shape)}, the model has {desc.shape}: "
                f"give {allowed}"]


class ModelRunner(Runner):
    """Runs requests one by one, or in batches of several with RuntimeConfig.batching_dim. With
    several devices in RuntimeConfig.replica_id_to_device there are as many replicas of the model,
    which requests go to in turn."""

    _config_type = RuntimeConfig

    def _start(self, popef, config):
        self._batching_dim = config.batching_dim
        self._runner = _runtime.ModelRunner(popef, config)

    def _shape_problems(self, kind, desc, name, array):
        dim = self._batching_dim
        if desc is None or dim >= len(desc.shape):
            return super()._shape_problems(kind, desc, name, array)
        fits = array.ndim == len(desc.shape) and array.size > 0 and all(
            i == dim or given == wanted
            for i, (given, wanted) in enumerate(zip(array.shape, desc.shape)))
        return [] if fits else [
            f"{kind} '{name}' has shape {list(array.shape)}, the model has {desc.shape}: give that "
            f"with any size of dimension {dim}, the batching_dim"]


class PackRunner(Runner):
    """Packs requests of different lengths into runs of a model that was compiled for a fixed size.

    A request is one entry: arrays whose sizes are its number of tokens times what the model has for
    a token, in any shape. Results take the first elements of the arrays of `outputs`, which may be
    larger; arrays that execute makes have a first dimension of that many tokens. unpack_info is
    filled by the runner and may be left out.
    """

    _config_type = _runtime.PackRunnerConfig

    def _start(self, popef, config):
        self._runner = _runtime.PackRunner(popef, config)
        self._descs = {desc.name: desc for desc in
                       self.get_execute_inputs() + self.get_execute_outputs()}
        self._unpack_info = config.unpack_info_input_name or "unpack_info"

    def _describe(self, name):
        # What the runner fills may be given in any type.
        return None if name == self._unpack_info else self._descs.get(name)

    def _shape_problems(self, kind, desc, name, array):
        return []


class LightRunner(Runner):
    """Runs a model on one device and can load other weights between requests: the inputs of
    get_model_inputs() with popef_contains_tensor_data, which are the weights of models that were
    compiled with constant_weights = False."""

    _config_type = LightRunnerConfig

    def _start(self, popef, config):
        self._runner = _runtime.LightRunner(popef, config)
        self._weights = {}

    def set_input_anchor(self, name, array):
        """Gives a weight other data, which update_weights() loads. The array is used where it lies,
        also by reload()."""
        desc = {desc.name: desc for desc in self.get_model_inputs()}.get(name)
        problems = self._array_problems("weight", desc, name, array)
        if desc is not None and isinstance(array, np.ndarray) and list(array.shape) != desc.shape:
            problems.append(f"weight '{name}' has shape {list(array.shape)}, the model has "
                            f"{desc.shape}")
        if problems:
            raise TypeError("\n".join(problems))
        self._runner.set_input_anchor(name, array)
        self._weights[name] = array

    def update_weights(self):
        """Loads all weights: requests that begin after it returns use the new values."""
        self._runner.update_weights()

    def stop(self):
        """Unloads the model and frees the device, unless the configuration holds it. Requests are
        errors until reload()."""
        self._runner.stop()

    def reload(self):
        """Gets the device back and loads the model, with the weights that were set."""
        self._runner.reload()


class HostConcatRunner(ModelRunner):
    """Accepts the inputs that a model's merged inputs were made of and copies them together on the
    host, one after the other. Without HostConcatRunnerConfig.host_concat_config, the container says
    what is merged, if anything is."""

    _config_type = HostConcatRunnerConfig

    def _start(self, popef, config):
        super()._start(popef, config.runtime_config())
        inputs = {desc.name: desc for desc in super().get_execute_inputs()}
        self._merged = merged_tensors(config, popef, inputs)

    def get_execute_inputs(self):
        """The inputs of the model, of which merged ones are replaced by their parts."""
        result = []
        for desc in super().get_execute_inputs():
            merged = self._merged.get(desc.name)
            result += [desc] if merged is None else merged.part_descs()
        return result

    def _checked(self, inputs, outputs):
        if isinstance(inputs, dict):
            inputs = dict(inputs)
            problems = []
            for name, merged in self._merged.items():
                if name not in inputs:
                    inputs[name] = merged.concatenated(inputs, problems)
            if problems:
                raise TypeError("\n".join(problems))
        return super()._checked(inputs, outputs)


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
