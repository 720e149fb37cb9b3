"""Who may use whom: the folders by their #include lines, the runtime libraries by what they link.

    layering_test.py PROJECT_ROOT LIBRARY...
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path()
LIBRARIES = []

# Folder: project folders its sources may include. A longer folder goes before a shorter one.
# Public headers ("popef/...", "model_runtime/...", "poprt/...") belong to the folder that has them.
ALLOWED = {
    "runtime/tensor": ["runtime/tensor"],
    "runtime/popef": ["runtime/popef"],
    "runtime/kernels": ["runtime/kernels", "runtime/tensor"],
    "runtime/program": ["runtime/program", "runtime/popef", "runtime/tensor"],
    "runtime/device": ["runtime/device", "runtime/kernels", "runtime/program", "runtime/tensor"],
    "runtime": ["runtime"],
    "compiler/ir": ["compiler/ir", "runtime/tensor"],
    "compiler/ops": ["compiler/ops", "compiler/ir", "runtime/tensor", "runtime/kernels"],
    "passes": ["passes", "compiler/ir", "compiler/ops", "runtime/tensor", "runtime/kernels"],
    "compiler/driver": ["compiler", "passes", "runtime"],
    "compiler/tuner": ["compiler", "passes", "runtime"],
    "compiler": ["compiler", "runtime"],
    "tools": ["tools", "compiler", "passes", "runtime"],
    # Bindings of the public libraries.
    "python": ["python", "runtime/popef", "runtime/model_runtime", "runtime/poprt_runtime",
               "compiler/driver"],
}
PUBLIC_ROOTS = ["", "runtime", "runtime/poprt_runtime", "compiler/driver"]

# Libraries of the compiler, by the headers and the symbols they have.
COMPILER_HEADERS = re.compile(r'#include [<"](onnx/|google/|yaml-cpp/|absl/|CLI/)')
COMPILER_SYMBOLS = re.compile(r"\b(onnx|google::protobuf|YAML|absl|CLI)::")
COMPILER_FILES = re.compile(r"lib(onnx|proto|yaml|absl)")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".cpp", ".hpp"))


def folder_of(path):
    """The entry of ALLOWED for a source, the longest one."""
    fitting = [folder for folder in ALLOWED if path.is_relative_to(ROOT / folder)]
    return max(fitting, key=len)


def resolve(source, include):
    """Where the included file lies, relative to the root; None for files that are generated."""
    for root in [source.parent.relative_to(ROOT), *PUBLIC_ROOTS]:
        if (ROOT / root / include).is_file():
            return pathlib.PurePosixPath(root, include)
    return None


class LayeringTest(unittest.TestCase):
    def test_includes_follow_the_layers(self):
        wrong = []
        seen = 0
        for top in ("runtime", "compiler", "passes", "tools", "python"):
            for source in sources(top):
                allowed = ALLOWED[folder_of(source)]
                for include in INCLUDE.findall(source.read_text()):
                    found = resolve(source, include)
                    if found is None:
                        continue
                    seen += 1
                    if not any(found.is_relative_to(folder) for folder in allowed):
                        wrong.append(f"{source.relative_to(ROOT)} includes {include}")
        self.assertGreater(seen, 500)
        self.assertEqual(wrong, [])

    def test_runtime_and_python_include_no_library_of_the_compiler(self):
        wrong = []
        for source in sources("runtime") + sources("python"):
            if COMPILER_HEADERS.search(source.read_text()):
                wrong.append(str(source.relative_to(ROOT)))
        self.assertEqual(wrong, [])

    def test_runtime_libraries_link_no_library_of_the_compiler(self):
        for library in LIBRARIES:
            with self.subTest(library=library):
                dynamic = subprocess.check_output(["readelf", "-d", library], text=True)
                needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
                self.assertIn("libc.so.6", needed)
                self.assertEqual([n for n in needed if COMPILER_FILES.search(n)], [])
                symbols = subprocess.check_output(["nm", "-D", "-C", library], text=True)
                found = [line for line in symbols.splitlines() if COMPILER_SYMBOLS.search(line)]
                self.assertEqual(found, [])


def main():
    global ROOT, LIBRARIES
    ROOT = pathlib.Path(sys.argv[1]).resolve()
    LIBRARIES = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
