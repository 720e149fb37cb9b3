"""Damaged containers: what popef_dump and the runtime say, with the exact text.

    container_errors_test.py PATH_TO_POPRT PATH_TO_POPEF_DUMP [unittest arguments]

The Python package must be on PYTHONPATH. Hashes in messages are replaced by HASH, since they change
with the version.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from onnx import TensorProto, helper, numpy_helper
import numpy as np

from poprt.runtime import Runner

POPRT = ""
POPEF_DUMP = ""
TRUNCATED_AT = 5000
EXECUTABLE_AT = 4096


def write_model(path):
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [4])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [4])
    w = numpy_helper.from_array(np.arange(4, dtype=np.float32), "W")
    node = helper.make_node("Add", ["X", "W"], ["Y"])
    graph = helper.make_graph([node], "g", [x], [y], [w])
    with open(path, "wb") as file:
        file.write(
            helper.make_model(
                graph, opset_imports=[helper.make_opsetid("", 13)]
            ).SerializeToString()
        )


class ContainerErrorsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        write_model(cls.path("m.onnx"))
        subprocess.run(
            [POPRT, "-i", "m.onnx", "--export_popef", "--disable_compilation_progress_bar"],
            cwd=cls.folder.name,
            check=True,
            capture_output=True,
        )
        with open(cls.path("executable.popef"), "rb") as file:
            cls.good = file.read()
        assert cls.good[EXECUTABLE_AT:].startswith(b"PRTPROG")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def altered(self, position):
        content = bytearray(self.good)
        content[position] ^= 1
        return bytes(content)

    def plain(self, text):
        text = text.replace(self.folder.name + os.sep, "")
        return re.sub(r"0x[0-9a-f]{16}", "HASH", re.sub(r"(['\"])[0-9a-f]{16}\1", "EXE", text))

    def check(self, content, dump_error, runtime_error, *options):
        """`content` becomes bad.popef; what popef_dump prints and what the runtime raises."""
        with open(self.path("bad.popef"), "wb") as file:
            file.write(content)
        result = subprocess.run(
            [POPEF_DUMP, *options, "bad.popef"],
            cwd=self.folder.name,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(self.plain(result.stderr), f"error: bad.popef: {dump_error}\n")
        self.assertEqual(result.returncode, 1)
        if runtime_error is None:
            Runner(self.path("bad.popef"))
            return
        with self.assertRaises(RuntimeError) as caught:
            Runner(self.path("bad.popef"))
        self.assertEqual(self.plain(str(caught.exception)), runtime_error)

    def check_same(self, content, error):
        self.check(content, error, f"bad.popef: {error}")

    def test_files_that_are_no_containers(self):
        for name, error in (
            ("m.onnx", "This is an ONNX model: poprt compiles it, and shows it with -i FILE --show"),
            (".", "a folder, allowed is a PopEF file; give one in it, e.g. executable.popef"),
        ):
            result = subprocess.run(
                [POPEF_DUMP, name],
                cwd=self.folder.name,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertTrue(result.stderr.endswith(error + "\n"), result.stderr)
            self.assertEqual(result.returncode, 1)

    def test_truncated(self):
        blob = int.from_bytes(self.good[24:32], "little")
        size = int.from_bytes(self.good[blob + 24 : blob + 32], "little")
        self.check_same(
            self.good[:TRUNCATED_AT],
            f"byte {blob + 24}: blob size is {size}, allowed is at most the "
            f"{TRUNCATED_AT - blob} bytes left; the file is truncated",
        )

    def test_altered_header(self):
        self.check_same(
            self.altered(40),
            "byte 88: header hash is HASH, allowed is HASH; the header has been altered",
        )

    def test_altered_metadata(self):
        self.check_same(
            self.altered(200),
            "byte 128: info hash is HASH, allowed is HASH; the info has been altered",
        )

    def test_altered_program(self):
        problem = (
            "the program at byte 64 of the executable payload does not match its hash: "
            "the file was altered"
        )
        self.check(
            self.altered(EXECUTABLE_AT + 100),
            f"executable EXE: {problem}",
            f"executable EXE: {problem}",
        )

    def test_altered_weights_are_found_on_demand(self):
        self.check(
            self.altered(2 * EXECUTABLE_AT),
            "byte 4096: payload hash of POPLAR_EXECUTABLE EXE is HASH, allowed is HASH; "
            "the payload has been altered",
            None,
            "--verify",
        )

    def test_what_is_no_container(self):
        self.check_same(
            b"hello\n",
            "byte 0: what is left for a blob is 6 bytes, allowed is at least 128; "
            "the file is truncated or not PopEF",
        )
        self.check_same(b"", "byte 0: the file is empty, allowed is at least one blob")


if __name__ == "__main__":
    POPRT, POPEF_DUMP = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
