# Every package the project uses, all from Debian 12. What belongs to the runtime stands apart: the
# runtime links neither ONNX nor protobuf nor yaml-cpp nor Abseil.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(FLATBUFFERS_INCLUDE_DIR flatbuffers/flatbuffers.h REQUIRED)
find_program(FLATC flatc REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(HWY_INCLUDE_DIR hwy/highway.h REQUIRED)  # its headers alone

# Compiler and tools only.
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(absl REQUIRED)
find_package(fmt REQUIRED)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)

if(POPRT_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(POPRT_BUILD_PYTHON)
  # Debian's interpreter, whatever else is first on the PATH.
  set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Python to build the packages for")
  set(PYTHON_EXECUTABLE ${Python3_EXECUTABLE})
  find_package(pybind11 REQUIRED)
endif()
