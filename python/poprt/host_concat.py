"""What HostConcatRunner merges: many inputs of one shape that reach the device as one tensor."""

import json

import numpy as np

from poprt._names import sHostConcatRunnerConfig
from poprt._runtime import DataDesc, RuntimeConfig


class HostConcatConfig:
    """One merged input: its name, the names of its parts in their order, the shape of a part."""

    def __init__(self, tensor_name="", input_tensor_names=(), shape=(), data_size_bytes=0):
        self.tensor_name = tensor_name
        self.input_tensor_names = list(input_tensor_names)
        self.shape = list(shape)
        self.data_size_bytes = data_size_bytes

    def __repr__(self):
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"HostConcatConfig({fields})"


class HostConcatRunnerConfig:
    """Configuration of a HostConcatRunner. host_concat_config: a dict from the name of a merged
    input to its HostConcatConfig; empty: what the container's opaque blob
    poprt._names.sHostConcatRunnerConfig says, JSON like
    {"merged": {"input_tensor_names": ["a", "b"], "shape": [512, 1]}}."""

    def __init__(self):
        self.check_package_hash = True
        self.ring_buffer_size_multiplier = 2
        self.timeout_ns = 10_000_000
        self.host_concat_config = {}

    def runtime_config(self):
        config = RuntimeConfig()
        config.check_package_hash = self.check_package_hash
        config.ring_buffer_size_multiplier = self.ring_buffer_size_multiplier
        config.timeout_ns = self.timeout_ns
        return config


def _configs(config, executable):
    if config.host_concat_config:
        return dict(config.host_concat_config)
    blob = executable.get_opaque_blobs().get(sHostConcatRunnerConfig)
    if blob is None:
        return {}
    try:
        return {
            name: HostConcatConfig(name, merged["input_tensor_names"], merged.get("shape", ()))
            for name, merged in json.loads(blob).items()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RuntimeError(f"the container's blob {sHostConcatRunnerConfig!r} does not say what is "
                           f"merged: {error!r}") from None


def merged_tensors(config, executable, inputs):
    """MergedTensor by name. inputs: DataDesc by name. RuntimeError names all that does not fit."""
    merged, problems = {}, []
    for name, parts in _configs(config, executable).items():
        desc = inputs.get(name)
        names = list(parts.input_tensor_names)
        if desc is None:
            problems.append(f"host_concat_config names {name!r}, which is no input of the model: "
                            + ", ".join(inputs))
        elif not names or len(set(names)) < len(names):
            problems.append(f"input_tensor_names of {name!r} are {names}, allowed are different "
                            "names of one part or more")
        elif int(np.prod(desc.shape)) % len(names) != 0:
            problems.append(f"{name!r} has shape {desc.shape}, which is not {len(names)} equal "
                            "parts")
        else:
            merged[name] = MergedTensor(desc, names, list(parts.shape))
    if problems:
        raise RuntimeError("\n".join(problems))
    return merged


class MergedTensor:
    def __init__(self, desc, names, shape):
        self._desc = desc
        self._names = names
        self._part_size = int(np.prod(desc.shape)) // len(names)
        if int(np.prod(shape)) != self._part_size or not shape:
            shape = [self._part_size]
            if desc.shape and desc.shape[0] % len(names) == 0:
                shape = [desc.shape[0] // len(names), *desc.shape[1:]]
        self._shape = shape

    def part_descs(self):
        size = self._desc.size_in_bytes // len(self._names)
        return [DataDesc(name, size, self._shape, self._desc) for name in self._names]

    def concatenated(self, inputs, problems):
        """Takes the parts out of inputs and returns the merged array; problems hears what is wrong
        with them."""
        merged = np.empty(self._desc.shape, self._desc.numpy_data_type())
        places = merged.reshape(len(self._names), self._part_size)
        for name, place in zip(self._names, places):
            part = inputs.pop(name, None)
            if not isinstance(part, np.ndarray):
                given = "missing" if part is None else type(part).__name__
                problems.append(f"input '{name}' is {given}, allowed is numpy.ndarray")
            elif part.size != self._part_size or part.dtype != merged.dtype:
                problems.append(f"input '{name}' is {part.dtype}{list(part.shape)}, allowed is "
                                f"{merged.dtype}{self._shape}")
            else:
                place[:] = part.reshape(-1)
        return merged
