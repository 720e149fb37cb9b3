"""Compiles ONNX models: Compiler, CompilerOptions."""

import os

from poprt import _compiler
from poprt._compiler import CompilerOptions
from poprt._runtime import Executable

__all__ = ["Compiler", "CompilerOptions", "Executable"]


def _arguments(model, outputs, options):
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
    if problems:
        raise TypeError("\n".join(problems))
    return model, outputs, options


class Compiler:
    """Compiles models with static shapes. Errors are RuntimeError with all problems found.

    model: a path, the bytes of a ModelProto, or an onnx.ModelProto. outputs: names of the outputs to
    keep, None for all. options: CompilerOptions or None.
    """

    @staticmethod
    def compile(model, outputs=None, options=None):
        """Returns an Executable."""
        return _compiler.compile(*_arguments(model, outputs, options))

    @staticmethod
    def compile_and_export(model, outputs, filename, options=None):
        """Writes the container to a file, which appears only when it is complete."""
        model, outputs, options = _arguments(model, outputs, options)
        _compiler.compile_and_export(model, outputs, os.fsdecode(filename), options)

    @staticmethod
    def compile_and_get_summary_report(model, outputs=None, options=None, reset_profile=True):
        """Returns a text: steps, bytes of weights and activations."""
        return _compiler.compile_and_get_summary_report(
            *_arguments(model, outputs, options), reset_profile)
