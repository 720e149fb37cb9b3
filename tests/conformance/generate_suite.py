"""Writes the backend suite of the python3-onnx on this machine to a folder: generate_suite.py FOLDER

The cases are those of ONNX 1.12 on Debian 12. Nothing happens when the folder is complete already."""

import pathlib
import shutil
import sys

import numpy

# Names the suite still uses and newer NumPy dropped.
for name, kind in {"bool": bool, "float": float, "int": int, "object": object}.items():
    if name not in vars(numpy):
        setattr(numpy, name, kind)

from onnx.backend.test import cmd_tools  # noqa: E402  (needs the names above)


def main():
    folder = pathlib.Path(sys.argv[1])
    complete = folder / "complete"
    if complete.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sys.argv = ["cmd_tools", "generate-data", "-o", str(folder)]
    cmd_tools.main()
    complete.touch()


if __name__ == "__main__":
    main()
