"""What is wrong with the arrays of a request, and what else than arrays it may have."""

import collections.abc
import json
import numbers

import numpy as np

import popef

_FUSION = "poprt.fusion"  # the opaque blob of fused models
# For the others arrays hold the bits.
_NUMPY_TYPES = frozenset(getattr(popef.DataType, name) for name in (
    "BOOL", "F16", "F32", "F64", "S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64"))


def _type_name(dtype):
    return "bool_" if dtype == np.bool_ else dtype.name  # numpy.bool is not in every NumPy


class Arguments:
    """Makes arrays that can be used in place of the arguments of requests, or raises TypeError or
    ValueError with all that is wrong."""

    def __init__(self, model):
        self._inputs, self._outputs = {}, {}
        for anchor in model.metadata.anchors():
            tensors = self._inputs if anchor.type() == popef.TensorType.INPUT else self._outputs
            tensors[anchor.name()] = anchor.tensorInfo()
        try:
            self._fused = self._add_graphs(model)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise popef.Error(f"the opaque blob '{_FUSION}' is damaged: {error!r}") from error

    def _add_graphs(self, model):
        """Whether there are any. "graph0/x" is "resnet/x" too, unless something has that name."""
        graphs = [graph for blob in model.opaques if blob.name == _FUSION
                  for graph in json.loads(blob.data())["graphs"]]
        for graph in graphs:
            prefix = len(graph["name"])
            for names, tensors in (("inputs", self._inputs), ("outputs", self._outputs)):
                for name in graph[names]:
                    tensors.setdefault(f"graph{graph['index']}{name[prefix:]}", tensors[name])
        return bool(graphs)

    def input_types(self):
        """What arrays can be used as they are. Any integer will do for `index`: it goes through
        __call__."""
        return {name: np.dtype(object) if self._is_index(name) else info.numpyDType()
                for name, info in self._inputs.items()}

    def output_types(self):
        return {name: info.numpyDType() for name, info in self._outputs.items()}

    def __call__(self, inputs, outputs):
        problems = []
        for kind, tensors in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(tensors, collections.abc.Mapping):
                problems.append(f"{kind} is {type(tensors).__name__}, allowed is a dict from the "
                                "names of tensors to numpy.ndarray")
                continue
            problems += [f"{kind}: the name {name!r} is {type(name).__name__}, allowed is str"
                         for name in tensors if not isinstance(name, str)]
        if problems:
            raise TypeError("\n".join(problems))
        types, values = [], []  # problems
        inputs = {name: self._input(name, array, types, values) for name, array in inputs.items()}
        outputs = {name: self._output(name, array, types, values)
                   for name, array in outputs.items()}
        if types or values:
            raise (TypeError if types else ValueError)("\n".join(types + values))
        return inputs, outputs

    def _is_index(self, name):
        return self._fused and name == "index"

    def _input(self, name, array, types, values):
        info = self._inputs.get(name)
        if self._is_index(name):
            return self._index(array, types)
        if isinstance(array, numbers.Integral) and info is not None:
            array = np.asarray(array, info.numpyDType())
        elif not isinstance(array, np.ndarray) and hasattr(array, "__array__"):
            array = np.asarray(array)
        self._check("input", name, array, info, types, values)
        return array

    def _output(self, name, array, types, values):
        if self._check("output", name, array, self._outputs.get(name), types, values):
            if not array.flags.writeable:
                values.append(f"output '{name}' is read-only: give an array that can be written")
        return array

    @staticmethod
    def _index(array, types):
        """Any integer: 0, np.uint32(0), np.array([0])."""
        array = np.ascontiguousarray(array)
        if array.dtype.kind not in "iu" or array.size != 1:
            types.append(f"input 'index' is {array.dtype} of {array.size} elements, allowed is one "
                         "integer")
        return array if array.dtype == np.uint64 else array.astype(np.int64)

    @staticmethod
    def _check(kind, name, array, info, types, values):
        """Whether it is an array at all."""
        if not isinstance(array, np.ndarray):
            remedy = ""
            if info is not None:
                dtype = f"numpy.{_type_name(info.numpyDType())}"
                remedy = (f": use numpy.asarray(value, {dtype})" if kind == "input" else
                          f": use numpy.empty({info.shape()}, {dtype})")
            types.append(f"{kind} '{name}' is {type(array).__name__}, allowed is numpy.ndarray"
                         + remedy)
            return False
        if info is not None and array.dtype != info.numpyDType():
            wanted = info.numpyDType()
            problem = f"{kind} '{name}' is {array.dtype}, the model has "
            if info.dataType() in _NUMPY_TYPES:
                types.append(f"{problem}{wanted}: use .astype(numpy.{_type_name(wanted)})")
            else:
                types.append(f"{problem}{info.dataType().name}, of which numpy holds the bits: use "
                             f".view(numpy.{wanted.name}) of an array that has them")
        if not array.flags.c_contiguous:
            values.append(f"{kind} '{name}' is not C-contiguous, its memory cannot be used in "
                          "place: use numpy.ascontiguousarray")
        return True
