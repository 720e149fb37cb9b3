#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "popef/Model.hpp"
#include "popef/Reader.hpp"
#include "popef/Writer.hpp"
#include "python/popef/bindings.hpp"

namespace py = pybind11;

namespace popef {
namespace {

std::string PathOf(const py::object& path) {
  return py::bytes(py::module_::import("os").attr("fsencode")(path));
}

/// A read-only array over the payload, which it keeps alive.
py::array ArrayOf(const PayloadView& view, const py::dtype& type, std::vector<py::ssize_t> shape) {
  auto owner = std::make_unique<PayloadView>(view);
  const py::capsule base(owner.get(), [](void* held) { delete static_cast<PayloadView*>(held); });
  (void)owner.release();
  py::array array(type, std::move(shape), view.data, base);
  array.attr("flags").attr("writeable") = false;
  return array;
}

py::memoryview BytesOf(const PayloadView& view) {
  return py::memoryview(ArrayOf(view, py::dtype("uint8"), {static_cast<py::ssize_t>(view.size)}));
}

/// The bytes of any object with a contiguous buffer, while this lives.
class Bytes {
 public:
  explicit Bytes(const py::handle& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&view_); }

  const void* data() const { return view_.buf; }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

void ParseStream(Reader& reader, const py::object& stream, std::uint64_t size) {
  const py::object content = py::hasattr(stream, "read")
                                 ? stream.attr("read")(size == 0 ? py::int_(-1) : py::int_(size))
                                 : stream;
  const Bytes bytes(content);
  const std::size_t length = size == 0 ? bytes.size() : std::min<std::size_t>(size, bytes.size());
  auto copy = std::make_shared<std::istringstream>(
      std::string(static_cast<const char*>(bytes.data()), length));
  const py::gil_scoped_release release;
  reader.parseStream(std::move(copy), size);
}

void Write(BlobWriter& writer, const py::object& data, std::optional<std::size_t> length) {
  const Bytes bytes(data);
  if (length && *length > bytes.size()) {
    throw py::value_error("length is " + std::to_string(*length) + ", but the data has " +
                          std::to_string(bytes.size()) + " bytes");
  }
  writer.write(bytes.data(), length.value_or(bytes.size()));
}

/// A writer that is finished when it goes, as the original's, unless the block of its `with` has
/// failed.
class PathWriter {
 public:
  explicit PathWriter(const py::object& path)
      : writer_(std::make_unique<FileWriter>(PathOf(path), FileWriter::Mode::CREATE)) {}
  PathWriter(const PathWriter&) = delete;
  PathWriter& operator=(const PathWriter&) = delete;
  ~PathWriter() {
    try {
      if (writer_) writer_->close();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      PyErr_WriteUnraisable(nullptr);
    }
  }

  FileWriter& Get() {
    if (!writer_) throw Error("the writer was discarded, because its file could not be completed");
    return *writer_;
  }

  void Close() {
    try {
      Get().close();
    } catch (...) {
      writer_.reset();
      throw;
    }
  }

  void Leave(const py::object& exception_type) {
    if (exception_type.is_none()) {
      Close();
    } else {
      writer_.reset();
    }
  }

 private:
  std::unique_ptr<FileWriter> writer_;
};

/// What all readers of payloads have.
template <typename T>
py::class_<T> BindReader(py::module_& module, const char* name) {
  return py::class_<T>(module, name)
      .def("getAvailableReadSize", &T::getAvailableReadSize)
      .def("verify", &T::verify, py::call_guard<py::gil_scoped_release>(),
           "Compares the hash of the payload; raises Error if it has been altered.");
}

std::vector<py::ssize_t> ShapeOf(const TensorInfo& info) {
  return {info.shape().begin(), info.shape().end()};
}

std::vector<py::ssize_t> ShapeOf(const FeedDataInfo& info) {
  std::vector<py::ssize_t> shape = ShapeOf(info.tensorInfo());
  shape.insert(shape.begin(), info.numTensors());
  return shape;
}

std::string PayloadText(const PayloadReader& reader) {
  return ", " + std::to_string(reader.getAvailableReadSize()) + " bytes>";
}

void BindReaders(py::module_& module) {
  BindReader<ExecutableReader>(module, "ExecutableReader")
      .def_readonly("name", &ExecutableReader::name)
      .def_property_readonly("compressed", &ExecutableReader::compressed)
      .def(
          "executable", [](const ExecutableReader& self) { return BytesOf(self.view()); },
          "The payload as a memoryview, decompressed if needed.")
      .def("__repr__", [](const ExecutableReader& self) {
        return "<popef.ExecutableReader '" + self.name + "'" + PayloadText(self);
      });
  BindReader<OpaqueReader>(module, "OpaqueReader")
      .def_readonly("name", &OpaqueReader::name)
      .def_readonly("executable", &OpaqueReader::executable)
      .def(
          "data",
          [](const OpaqueReader& self) {
            const PayloadView view = self.view();
            return py::bytes(reinterpret_cast<const char*>(view.data), view.size);
          },
          "The payload as bytes.")
      .def("__repr__", [](const OpaqueReader& self) {
        return "<popef.OpaqueReader '" + self.name + "' of executable '" + self.executable + "'" +
               PayloadText(self);
      });
  BindReader<TensorReader>(module, "TensorReader")
      .def_readonly("info", &TensorReader::info)
      .def(
          "data",
          [](const TensorReader& self) {
            const TensorInfo& info = self.info.tensorInfo();
            return ArrayOf(self.view(), NumpyType(info), ShapeOf(info));
          },
          "The tensor as a read-only ndarray over the file.")
      .def("__repr__", [](const TensorReader& self) {
        return "<popef.TensorReader " + TextOf(self.info) + ">";
      });
  BindReader<FeedReader>(module, "FeedReader")
      .def_readonly("info", &FeedReader::info)
      .def(
          "data",
          [](const FeedReader& self) {
            return ArrayOf(self.view(), NumpyType(self.info.tensorInfo()), ShapeOf(self.info));
          },
          "The tensors as a read-only ndarray over the file, numTensors() along the first axis.")
      .def("__repr__",
           [](const FeedReader& self) { return "<popef.FeedReader " + TextOf(self.info) + ">"; });
  py::class_<Reader, std::shared_ptr<Reader>>(module, "Reader")
      .def(py::init<>())
      .def(
          "parseFile",
          [](Reader& self, const py::object& path) {
            const std::string name = PathOf(path);
            const py::gil_scoped_release release;
            self.parseFile(name);
          },
          py::arg("path"), "Maps a container; blobs of several calls accumulate.")
      .def("parseStream", &ParseStream, py::arg("stream"), py::arg("size") = 0,
           "Reads a container from a binary file object or bytes: size bytes, or all if 0.")
      .def("metadata", [](const Reader& self) { return self.metadata(); })
      .def("executables", [](const Reader& self) { return self.executables(); })
      .def("tensors", [](const Reader& self) { return self.tensors(); })
      .def("feeds", [](const Reader& self) { return self.feeds(); })
      .def("opaqueBlobs", [](const Reader& self) { return self.opaqueBlobs(); })
      .def("verifyPayloads", &Reader::verifyPayloads, py::call_guard<py::gil_scoped_release>(),
           "Compares the hashes of all payloads; raises Error if any has been altered.")
      .def("__repr__", [](const Reader& self) {
        return "<popef.Reader: " + std::to_string(self.metadata().size()) + " metadata, " +
               std::to_string(self.executables().size()) + " executables, " +
               std::to_string(self.tensors().size()) + " tensors, " +
               std::to_string(self.feeds().size()) + " feeds, " +
               std::to_string(self.opaqueBlobs().size()) + " opaque blobs>";
      });
}

void BindModel(py::module_& module) {
  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def_readonly("metadata", &Model::metadata)
      .def_readonly("executable", &Model::executable)
      .def_readonly("tensors", &Model::tensors)
      .def_readonly("feeds", &Model::feeds)
      .def_readonly("opaques", &Model::opaques)
      .def("__repr__", [](const Model& self) {
        std::string text = "<popef.Model '" + self.executable.name + "'";
        for (const Anchor& anchor : self.metadata.anchors()) {
          text += "\n  " + TextOf(anchor.type()) + " " + anchor.name() + " " +
                  TextOf(anchor.tensorInfo());
        }
        return text + ">";
      });
  py::class_<ModelBuilder>(module, "ModelBuilder")
      .def(py::init<std::shared_ptr<Reader>>(), py::arg("reader").none(false))
      .def(
          "createModel",
          [](const ModelBuilder& self) { return std::shared_ptr<Model>(self.createModel()); },
          "The one model of everything the reader has read; raises Error with all problems.");
}

void BindWriters(py::module_& module) {
  py::class_<BlobWriter, std::shared_ptr<BlobWriter>>(module, "BlobWriter")
      .def("write", &Write, py::arg("data"), py::arg("length") = py::none(),
           "Appends the bytes of any contiguous buffer, or the first `length` of them.")
      .def("close", &BlobWriter::close)
      .def("__enter__", [](std::shared_ptr<BlobWriter> self) { return self; })
      .def("__exit__",
           [](BlobWriter& self, const py::object& type, const py::object&, const py::object&) {
             if (type.is_none()) self.close();
           });
  py::class_<PathWriter>(module, "Writer",
                         "Writes a container. The file appears when close() succeeds, the block of "
                         "a `with` ends or the writer goes.")
      .def(py::init<const py::object&>(), py::arg("path"))
      .def(
          "writeMetadata",
          [](PathWriter& self, const Metadata& metadata) { self.Get().write(metadata); },
          py::arg("metadata"))
      .def(
          "createExecutable",
          [](PathWriter& self, const std::string& name, bool compress) {
            return self.Get().createExecutable(name, compress);
          },
          py::arg("name"), py::arg("compress") = false)
      .def(
          "createTensorData",
          [](PathWriter& self, const TensorDataInfo& info) {
            return self.Get().createTensorData(info);
          },
          py::arg("info"))
      .def(
          "createFeedData",
          [](PathWriter& self, const FeedDataInfo& info) {
            return self.Get().createFeedData(info);
          },
          py::arg("info"))
      .def(
          "createOpaqueBlob",
          [](PathWriter& self, const std::string& name, const std::string& executable) {
            return self.Get().createOpaqueBlob(name, executable);
          },
          py::arg("name"), py::arg("executable"))
      .def("close", &PathWriter::Close)
      .def(
          "__enter__", [](PathWriter& self) -> PathWriter& { return self; },
          py::return_value_policy::reference)
      .def("__exit__", [](PathWriter& self, const py::object& type, const py::object&,
                          const py::object&) { self.Leave(type); });
}

}  // namespace

void BindFiles(py::module_& module) {
  BindReaders(module);
  BindModel(module);
  BindWriters(module);
}

}  // namespace popef
