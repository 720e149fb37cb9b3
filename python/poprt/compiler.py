"""Compiles ONNX models: Compiler, CompilerOptions."""

import io
import operator
import os

import numpy as np

from poprt import _compiler
from poprt._compiler import CompilerOptions
from poprt._runtime import Executable

__all__ = ["Compiler", "CompilerOptions", "Executable"]


def _by_name(argument, value, what, problems):
    """The items of a dict by names; problems hears when it is none."""
    value = {} if value is None else value
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return value.items()
    problems.append(f"{argument} is {value!r}, allowed is a dict of names to {what}, or None")
    return ()


def _frozen(value):
    """What _compiler takes for the value of a frozen input; TypeError if it is no such value."""
    if isinstance(value, (str, os.PathLike)):
        return _compiler.FrozenInput.from_file(os.fsdecode(value))
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.hasobject:
        kind = "an array of Python objects" if hasattr(value, "dtype") else type(value).__name__
        raise TypeError(f"is {kind}, allowed is the path of a .pb or .npy file or a numpy.ndarray")
    content = io.BytesIO()
    np.save(content, value, allow_pickle=False)
    return _compiler.FrozenInput.from_npy(content.getvalue())


def _shape(value):
    """A list of int; TypeError if it is no such list."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return [operator.index(extent) for extent in value]
    except TypeError:
        raise TypeError(f"is {value!r}, allowed is a sequence of int") from None


def _inputs(freeze_input, input_shape, problems):
    """The ModelInputs that _compiler takes; problems hears what is wrong."""
    inputs = _compiler.ModelInputs()
    frozen, shapes = {}, {}
    for argument, given, what, convert, converted in (
        ("freeze_input", freeze_input, "paths or arrays", _frozen, frozen),
        ("input_shape", input_shape, "shapes", _shape, shapes),
    ):
        for name, value in _by_name(argument, given, what, problems):
            try:
                converted[name] = convert(value)
            except TypeError as error:
                problems.append(f"{argument}[{name!r}] {error}")
    inputs.frozen, inputs.shapes = frozen, shapes
    return inputs


def _arguments(model, outputs, options, freeze_input, input_shape):
    """What _compiler takes; TypeError names every argument of another type."""
    problems = []
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    elif isinstance(model, (bytearray, memoryview)):
        model = bytes(model)
    elif isinstance(model, os.PathLike):
        model = os.fsdecode(model)
    elif not isinstance(model, (bytes, str)):
        problems.append(f"model is {type(model).__name__}, allowed is a path (str or os.PathLike), "
                        "the bytes of a ModelProto or an onnx.ModelProto")
    outputs = [] if outputs is None else outputs
    if not isinstance(outputs, (list, tuple)) or not all(isinstance(o, str) for o in outputs):
        problems.append(f"outputs is {outputs!r}, allowed is a list of names, or None for all")
    options = CompilerOptions() if options is None else options
    if not isinstance(options, CompilerOptions):
        problems.append(f"options is {type(options).__name__}, allowed is CompilerOptions or None: "
                        "make one with CompilerOptions(name=value) or CompilerOptions.from_dict")
    inputs = _inputs(freeze_input, input_shape, problems)
    if problems:
        raise TypeError("\n".join(problems))
    if isinstance(model, str) and not os.path.exists(model):
        raise RuntimeError(f"{model}: No such file or directory")
    return model, outputs, options, inputs


class Compiler:
    """Compiles models with static shapes. Errors are RuntimeError with all problems found.

    model: a path, the bytes of a ModelProto, or an onnx.ModelProto. outputs: names of the outputs to
    keep, None for all. options: CompilerOptions or None.

    freeze_input: a dict that gives inputs, by name, their values: the path of a .pb or .npy file as
    `poprt --freeze_input` takes it, or a numpy.ndarray of the type that the model declares (strings
    as an array of dtype str). These inputs become constants and disappear from the executable, and
    shapes may depend on them. input_shape: a dict that gives inputs, by name, their shapes, sequences
    of int, as `poprt --input_shape` does: open dimensions are fixed. A name that no input has, and a
    shape or type that contradicts what the model declares, is an error.
    """

    @staticmethod
    def compile(model, outputs=None, options=None, *, freeze_input=None, input_shape=None):
        """Returns an Executable."""
        return _compiler.compile(*_arguments(model, outputs, options, freeze_input, input_shape))

    @staticmethod
    def compile_and_export(model, outputs, filename, options=None, *, freeze_input=None,
                           input_shape=None):
        """Writes the container to a file, which appears only when it is complete."""
        model, outputs, options, inputs = _arguments(model, outputs, options, freeze_input,
                                                     input_shape)
        _compiler.compile_and_export(model, outputs, os.fsdecode(filename), options, inputs)

    @staticmethod
    def compile_and_get_summary_report(model, outputs=None, options=None, reset_profile=True, *,
                                       freeze_input=None, input_shape=None):
        """Returns a text: memory and predicted performance on the IPU, as Poplar summarises them."""
        model, outputs, options, inputs = _arguments(model, outputs, options, freeze_input,
                                                     input_shape)
        return _compiler.compile_and_get_summary_report(
            model, outputs, options, reset_profile, inputs)
