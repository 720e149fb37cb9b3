"""Dicts of arrays: InputMemoryView, OutputMemoryView; results: TensorMemory."""

import numbers

import numpy as np


def _described(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return repr(value)


class _MemoryView(dict):
    """Names and arrays. Arrays are not copied, and kept alive."""

    def __init__(self, *tensors, **named):
        super().__init__()
        self.update(*tensors, **named)

    def __setitem__(self, name, array):
        if not isinstance(name, str):
            raise TypeError(f"the name {name!r} is {type(name).__name__}, allowed is str")
        super().__setitem__(name, self._array(name, array))

    def update(self, *tensors, **named):
        for name, array in dict(*tensors, **named).items():
            self[name] = array

    def setdefault(self, name, array=None):
        if name not in self:
            self[name] = array
        return self[name]

    def copy(self):
        return type(self)(self)

    def __repr__(self):
        tensors = ", ".join(f"{name!r}: {_described(array)}" for name, array in self.items())
        return f"{type(self).__name__}({{{tensors}}})"

    @staticmethod
    def _array(name, array):
        if isinstance(array, (np.ndarray, numbers.Integral)):  # integers: for `index`
            return array
        if hasattr(array, "__array__"):
            return np.asarray(array)
        try:
            return np.asarray(memoryview(array))
        except TypeError:
            raise TypeError(f"tensor {name!r} is {type(array).__name__}, allowed is numpy.ndarray "
                            "or what shares its memory with one: use numpy.asarray") from None


class InputMemoryView(_MemoryView):
    """Memory of the inputs of requests, by name: view[name] = array."""


class OutputMemoryView(_MemoryView):
    """Memory that requests write their outputs to, by name: view[name] = array."""


class TensorMemory(np.ndarray):
    """The result of a request: an array of the output's shape and type."""

    _given = None

    @classmethod
    def of(cls, array, given=False):
        """A view of `array`, which the user has given for the output or the library has made."""
        memory = array.view(cls)
        if given:
            memory._given = array
        return memory

    def numpy(self):
        """The array that was given for the output, or a copy of memory of the library."""
        return np.array(self) if self._given is None else self._given


class OutputMemory(dict):
    """Results by name, TensorMemory each."""
