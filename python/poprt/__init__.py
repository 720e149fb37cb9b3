"""Compile ONNX models ahead of time and run the compiled containers.

poprt.compiler compiles, poprt.runtime runs; importing one does not load the other.
"""

import importlib

__all__ = ["compiler", "runtime"]


def __getattr__(name):
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "Executable":
        return importlib.import_module(f"{__name__}.runtime").Executable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
