"""Compiles ONNX models: Compiler, CompilerOptions."""

from poprt import _compiler
from poprt._compiler import CompilerOptions
from poprt._runtime import Executable

__all__ = ["Compiler", "CompilerOptions", "Executable"]


def _model(model):
    """A path as str, or the bytes of a ModelProto."""
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    if isinstance(model, (bytes, str)):
        return model
    return str(model)


class Compiler:
    """Compiles models with static shapes. Errors are RuntimeError with all problems found.

    model: a path, the bytes of a ModelProto, or an onnx.ModelProto. outputs: names of the outputs to
    keep, None for all. options: CompilerOptions or None.
    """

    @staticmethod
    def compile(model, outputs=None, options=None):
        """Returns an Executable."""
        return _compiler.compile(_model(model), outputs or [], options or CompilerOptions())

    @staticmethod
    def compile_and_export(model, outputs, filename, options=None):
        """Writes the container to a file, which appears only when it is complete."""
        _compiler.compile_and_export(
            _model(model), outputs or [], str(filename), options or CompilerOptions())

    @staticmethod
    def compile_and_get_summary_report(model, outputs=None, options=None, reset_profile=True):
        """Returns a text: steps, bytes of weights and activations."""
        return _compiler.compile_and_get_summary_report(
            _model(model), outputs or [], options or CompilerOptions(), reset_profile)
