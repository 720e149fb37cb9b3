"""The package popef: value classes, and containers written and read with it."""

import copy
import gc
import io
import json
import os
import pathlib
import tempfile
import unittest

import numpy as np

import popef
from popef import (
    Anchor,
    BlobType,
    DataType,
    FeedDataInfo,
    Metadata,
    ModelBuilder,
    Option,
    ProgramFlow,
    Reader,
    TensorDataInfo,
    TensorInfo,
    TensorType,
    Writer,
    popefTypeToNumpyDType,
)

WEIGHTS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def anchor(name, type_=TensorType.INPUT, info=TensorInfo(DataType.F32, [2, 3]), programs=(1,)):
    result = Anchor()
    result.setName(name)
    result.setType(type_)
    result.setTensorInfo(info)
    result.setPrograms(programs)
    return result


def metadata():
    flow = ProgramFlow()
    flow.setLoad([0])
    flow.setMain([1])
    result = Metadata()
    result.setExecutable("exe")
    result.setProgramFlow(flow)
    result.setProgramsMap({0: "load_program", 1: "main_program"})
    result.setAnchors([anchor("x"), anchor("y", TensorType.OUTPUT), anchor("weights", programs=[0])])
    result.setEngineOptions([Option("opt.level", "3")])
    return result


def tensor_info():
    result = TensorDataInfo()
    result.setName("weights")
    result.setTensorInfo(TensorInfo(DataType.F32, [2, 3]))
    return result


def feed_info():
    result = FeedDataInfo()
    result.setName("images")
    result.setTensorInfo(TensorInfo(DataType.U8, [3, 4]))
    result.setNumTensors(2)
    return result


def write(path, compress=False):
    writer = Writer(path)
    writer.writeMetadata(metadata())
    writer.createExecutable("exe", compress).write(b"program" * 100)
    content = json.dumps({"framework": "none"}).encode()
    writer.createOpaqueBlob("notes", "exe").write(content, len(content))
    writer.createTensorData(tensor_info()).write(WEIGHTS)
    blob = writer.createFeedData(feed_info())
    for image in IMAGES:
        blob.write(image.tobytes(), image.nbytes)
    blob.close()
    writer.close()


class ValuesTest(unittest.TestCase):
    def round_trip(self, value, name, default, other):
        setter = f"set{name[0].upper()}{name[1:]}"
        self.assertEqual(getattr(value, name)(), default, name)
        getattr(value, setter)(other)
        self.assertEqual(getattr(value, name)(), other, name)
        self.assertEqual(getattr(copy.deepcopy(value), name)(), other, name)
        self.assertNotEqual(value, type(value)())
        getattr(value, setter)(default)
        self.assertEqual(value, type(value)())

    def test_getters_and_setters(self):
        info = TensorInfo(DataType.S16, [4])
        flow = ProgramFlow()
        flow.setSave([2])
        for value, fields in (
            (Option(), {"name": ("", "a"), "value": ("", "b")}),
            (
                Anchor(),
                {
                    "name": ("", "x"),
                    "handle": ("", "h2d_x"),
                    "tensorInfo": (TensorInfo(), info),
                    "programs": ([], [5, 6]),
                    "type": (TensorType.UNKNOWN, TensorType.OUTPUT),
                    "isPerReplica": (False, True),
                    "useRemoteBuffers": (False, True),
                    "repeats": (0, 7),
                },
            ),
            (ProgramFlow(), {"load": ([], [0, 1]), "main": ([], [5]), "save": ([], [7])}),
            (
                Metadata(),
                {
                    "replicationFactor": (1, 2),
                    "numIpus": (1, 4),
                    "ipuVersion": (0, 21),
                    "executable": ("", "exe"),
                    "numProcesses": (1, 3),
                    "isPOD": (False, True),
                    "isInference": (False, True),
                    "seedHandle": ("", "seed"),
                    "engineOptions": ([], [Option("a", "b"), Option("c", "d")]),
                    "deviceOptions": ([], [Option("e", "f")]),
                    "anchors": ([], [anchor("x"), anchor("y")]),
                    "programFlow": (ProgramFlow(), flow),
                    "programsMap": ({}, {5: "main", 0: "load"}),
                    "deviceIterations": (1, 8),
                },
            ),
            (TensorDataInfo(), {"name": ("", "w"), "tensorInfo": (TensorInfo(), info)}),
            (
                FeedDataInfo(),
                {"name": ("", "w"), "tensorInfo": (TensorInfo(), info), "numTensors": (0, 9)},
            ),
        ):
            for name, (default, other) in fields.items():
                with self.subTest(type=type(value).__name__, field=name):
                    self.round_trip(value, name, default, other)

    def test_tensor_info(self):
        info = TensorInfo()
        self.assertFalse(info.hasDataType())
        self.assertEqual((info.shape(), info.sizeInBytes()), ([], 0))
        with self.assertRaisesRegex(popef.Error, "^the TensorInfo has no element type"):
            info.numpyDType()
        info.setDataType(DataType.F16)
        self.assertEqual((info.dataType(), info.sizeInBytes()), (DataType.F16, 2))
        info.setShape([2, 3])
        self.assertEqual((info.shape(), info.sizeInBytes()), ([2, 3], 12))
        self.assertEqual(info.numpyDType(), np.float16)
        self.assertEqual(info, TensorInfo(DataType.F16, (2, 3)))
        self.assertEqual(feed_info().sizeInBytes(), 24)

    def test_sub_objects_change_in_place(self):
        x = Anchor()
        info = x.tensorInfo()
        info.setDataType(DataType.U32)
        info.setShape([5])
        self.assertEqual(x.tensorInfo().sizeInBytes(), 20)
        data = Metadata()
        data.programFlow().setMain([3])
        flow = data.programFlow()
        del data, x
        gc.collect()
        self.assertEqual((flow.main(), info.shape()), ([3], [5]))

    def test_enumerations(self):
        self.assertEqual(
            list(BlobType.__members__),
            ["POPLAR_EXECUTABLE", "METADATA", "DATA_TENSOR", "DATA_FEED", "OPAQUE"],
        )
        self.assertEqual(list(TensorType.__members__), ["UNKNOWN", "INPUT", "OUTPUT"])
        types = {
            "BOOL": np.bool_, "F8": np.uint8, "F16": np.float16, "F32": np.float32,
            "F64": np.float64, "S8": np.int8, "U8": np.uint8, "S16": np.int16, "U16": np.uint16,
            "S32": np.int32, "U32": np.uint32, "S64": np.int64, "U64": np.uint64,
            "F8143": np.uint8, "F8152": np.uint8, "BF16": np.uint16, "F8E4M3FN": np.uint8,
            "F8E5M2": np.uint8, "F8E8M0": np.uint8, "F4E2M1": np.uint8, "S4": np.int8,
            "U4": np.uint8, "S2": np.int8, "U2": np.uint8,
        }  # fmt: skip
        self.assertEqual(list(DataType.__members__), list(types))
        for name, dtype in types.items():
            self.assertEqual(popefTypeToNumpyDType(getattr(DataType, name)), dtype)
            self.assertEqual(popef.sizeInBytes(getattr(DataType, name)), np.dtype(dtype).itemsize)

    def test_text(self):
        info = TensorInfo(DataType.F32, [2, 3])
        self.assertEqual(str(info), "{ dtype: F32, sizeInBytes: 24, shape: [2, 3] }")
        self.assertEqual(repr(info), "TensorInfo" + str(info))
        self.assertEqual(repr(Option("a", "b")), "Option(a=b)")
        self.assertIn('{ name: "x", type: INPUT,', repr(metadata()))
        self.assertEqual(repr(DataType.F32), "<DataType.F32: 3>")
        self.assertEqual(TensorInfo.__module__, "popef")


class ContainerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "model.popef"
        write(self.path)

    def read(self, path=None):
        reader = Reader()
        reader.parseFile(path or self.path)
        return reader

    def check(self, reader, compressed=False):
        self.assertEqual(reader.metadata(), [metadata()])
        (executable,) = reader.executables()
        content = executable.executable()
        self.assertEqual((executable.name, executable.compressed), ("exe", compressed))
        self.assertEqual((len(content), content.tobytes()), (700, b"program" * 100))
        (opaque,) = reader.opaqueBlobs()
        self.assertEqual((opaque.name, opaque.executable, len(opaque.data())), ("notes", "exe", 21))
        self.assertEqual(json.loads(opaque.data()), {"framework": "none"})
        (tensor,) = reader.tensors()
        self.assertEqual(tensor.info, tensor_info())
        self.assertEqual(tensor.data().dtype, np.float32)
        np.testing.assert_array_equal(tensor.data(), WEIGHTS)
        self.assertEqual(tensor.data().tobytes(), WEIGHTS.tobytes())
        (feed,) = reader.feeds()
        self.assertEqual(feed.info, feed_info())
        np.testing.assert_array_equal(feed.data(), IMAGES)
        self.assertEqual(feed.getAvailableReadSize(), 24)
        reader.verifyPayloads()

    def test_what_was_written_is_read(self):
        for path in (str(self.path), os.fsencode(self.path), self.path, np.bytes_(self.path)):
            self.check(self.read(path))

    def test_compressed_executable(self):
        write(self.path, compress=True)
        self.check(self.read(), compressed=True)

    def test_streams(self):
        content = self.path.read_bytes()
        for stream in (io.BytesIO(content), content, np.frombuffer(content, np.uint8)):
            reader = Reader()
            reader.parseStream(stream)
            self.check(reader)
        reader = Reader()
        reader.parseStream(io.BytesIO(content + b"more"), len(content))
        self.check(reader)
        with open(self.path, "rb") as file:
            reader = Reader()
            reader.parseStream(file)
        self.check(reader)

    def test_copied_blob_by_blob(self):
        reader = self.read()
        copied = self.folder / "copy.popef"
        writer = Writer(str(copied))
        for data in reader.metadata():
            writer.writeMetadata(data)
        for executable in reader.executables():
            content = executable.executable()
            writer.createExecutable(executable.name, False).write(content, len(content))
        for opaque in reader.opaqueBlobs():
            blob = writer.createOpaqueBlob(opaque.name, opaque.executable)
            blob.write(opaque.data(), len(opaque.data()))
        for tensor in reader.tensors():
            blob = writer.createTensorData(tensor.info)
            blob.write(tensor.data().tobytes(), tensor.info.tensorInfo().sizeInBytes())
        for feed in reader.feeds():
            writer.createFeedData(feed.info).write(feed.data())
        writer.close()
        self.assertEqual(copied.read_bytes(), self.path.read_bytes())

    def test_data_is_not_copied_and_outlives_the_reader(self):
        tensor = self.read().tensors()[0]
        weights, again = tensor.data(), tensor.data()
        self.assertTrue(np.shares_memory(weights, again))
        with self.assertRaisesRegex(ValueError, "read-only"):
            weights[0, 0] = 5
        executable = self.read().executables()[0].executable()
        self.assertTrue(executable.readonly)
        del tensor, again
        gc.collect()
        self.path.unlink()
        np.testing.assert_array_equal(weights, WEIGHTS)
        self.assertEqual(executable[:7].tobytes(), b"program")

    def test_model(self):
        reader = self.read()
        builder = ModelBuilder(reader)
        del reader
        model = builder.createModel()
        del builder
        gc.collect()
        self.assertEqual([a.name() for a in model.metadata.anchors()], ["x", "y", "weights"])
        self.assertEqual(model.metadata.anchors()[2].programs(), [0])
        self.assertEqual(model.metadata.programsMap()[1], "main_program")
        self.assertEqual(model.executable.name, "exe")
        np.testing.assert_array_equal(model.tensors[0].data(), WEIGHTS)
        np.testing.assert_array_equal(model.feeds[0].data(), IMAGES)
        self.assertEqual(model.opaques[0].name, "notes")
        self.assertIn("INPUT x { dtype: F32", repr(model))

    def test_several_files(self):
        reader = self.read()
        more = self.folder / "more.popef"
        info = tensor_info()
        info.setName("bias")
        with Writer(more) as writer:
            writer.createTensorData(info).write(2 * WEIGHTS)
        reader.parseFile(more)
        self.assertEqual([t.info.name() for t in reader.tensors()], ["weights", "bias"])
        np.testing.assert_array_equal(reader.tensors()[1].data(), 2 * WEIGHTS)
        self.assertEqual(
            repr(reader),
            "<popef.Reader: 1 metadata, 1 executables, 2 tensors, 1 feeds, 1 opaque blobs>",
        )

    def test_errors_of_reading(self):
        self.assertTrue(issubclass(popef.Error, RuntimeError))
        with self.assertRaisesRegex(RuntimeError, "missing.popef"):
            Reader().parseFile(self.folder / "missing.popef")
        with self.assertRaisesRegex(popef.Error, "stream"):
            Reader().parseStream(b"this is no container")
        with self.assertRaises(TypeError):
            Reader().parseFile(5)
        with self.assertRaises(popef.Error):
            ModelBuilder(Reader()).createModel()
        content = bytearray(self.path.read_bytes())
        content[content.index(b"program" * 100)] ^= 1
        reader = Reader()
        reader.parseStream(content)
        with self.assertRaisesRegex(popef.Error, "exe"):
            reader.verifyPayloads()
        with self.assertRaises(popef.Error):
            reader.executables()[0].verify()
        reader.tensors()[0].verify()


class WriterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "tensor.popef"

    def test_finished_when_it_goes(self):
        writer = Writer(self.path)
        blob = writer.createTensorData(tensor_info())
        blob.write(WEIGHTS)
        self.assertFalse(self.path.exists())
        del writer, blob
        reader = Reader()
        reader.parseFile(self.path)
        np.testing.assert_array_equal(reader.tensors()[0].data(), WEIGHTS)

    def test_failed_block_leaves_nothing(self):
        with self.assertRaises(ZeroDivisionError):
            with Writer(self.path) as writer:
                writer.createTensorData(tensor_info()).write(WEIGHTS)
                1 / 0
        with self.assertRaisesRegex(popef.Error, "discarded"):
            writer.close()
        del writer
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_wrong_size(self):
        writer = Writer(self.path)
        writer.createTensorData(tensor_info()).write(WEIGHTS[0])
        with self.assertRaisesRegex(popef.Error, "weights"):
            writer.close()
        del writer
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_deactivated_blob_writer(self):
        writer = Writer(self.path)
        first = writer.createOpaqueBlob("first", "exe")
        first.write(b"1")
        writer.createOpaqueBlob("second", "exe")
        with self.assertRaises(popef.Error):
            first.write(b"2")
        first.close()
        with writer.createOpaqueBlob("third", "exe") as third:
            third.write(b"3")
        with self.assertRaises(popef.Error):
            third.write(b"4")
        writer.close()
        writer.close()
        reader = Reader()
        reader.parseFile(self.path)
        self.assertEqual([b.data() for b in reader.opaqueBlobs()], [b"1", b"", b"3"])

    def test_buffers(self):
        writer = Writer(self.path)
        blob = writer.createOpaqueBlob("notes", "exe")
        for data in (b"ab", bytearray(b"cd"), memoryview(b"ef"), np.frombuffer(b"gh", np.uint16)):
            blob.write(data)
        blob.write(b"ijkl", 2)
        blob.write(data=b"xyz", length=0)
        with self.assertRaisesRegex(ValueError, "^length is 5, but the data has 4 bytes$"):
            blob.write(b"mnop", 5)
        with self.assertRaises((ValueError, BufferError)):
            blob.write(WEIGHTS[:, ::2])
        with self.assertRaises(TypeError):
            blob.write("text")
        writer.close()
        reader = Reader()
        reader.parseFile(self.path)
        self.assertEqual(reader.opaqueBlobs()[0].data(), b"abcdefghij")

    def test_path_that_cannot_be_written(self):
        with self.assertRaisesRegex(popef.Error, "missing"):
            Writer(self.folder / "missing" / "x.popef")


if __name__ == "__main__":
    unittest.main()
