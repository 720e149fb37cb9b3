"""Compile ONNX models ahead of time and run the compiled containers.

poprt.compiler compiles, poprt.runtime runs; importing one does not load the other.
"""

import importlib

__all__ = ["compiler", "runtime"]


# Names of the original that programs may ask for.
_NOT_YET = ("Pass", "PassManager", "backend", "backends", "converter", "passes")


def __getattr__(name):
    if name in _NOT_YET:  # an AttributeError would lose its text in "from poprt import Pass"
        raise NotImplementedError(f"{__name__}.{name} is not there yet; there are "
                                  "poprt.compiler, poprt.runtime and the command poprt")
    if name == "__version__":
        return importlib.import_module(f"{__name__}._runtime").__version__
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "Executable":
        return importlib.import_module(f"{__name__}.runtime").Executable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
