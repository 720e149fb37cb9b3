# Headers that most sources include, compiled once for each set of options (of libraries, those that
# use ONNX, kernels and tests): reading them took two thirds of a source's time. A source still names
# what it uses; tools/lint.sh sees it alone.
#
#   poprt_precompiled_headers(NAME [HEADERS <a> ...] [DEPS lib ...] [OPTIONS -O1 ...])
#
# Whoever reuses them has the same options.
option(POPRT_PRECOMPILE_HEADERS "Precompile the headers that most sources include" ON)

function(poprt_precompiled_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPS;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE poprt_flags ${ARG_DEPS})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE
    <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <limits> <memory> <numeric>
    <optional> <span> <stdexcept> <string> <string_view> <utility> <vector> ${ARG_HEADERS})
endfunction()

if(POPRT_PRECOMPILE_HEADERS)
  set(poprt_shared_headers <map> <set> <absl/status/statusor.h> <absl/strings/str_cat.h>)
  poprt_precompiled_headers(poprt_library_headers HEADERS ${poprt_shared_headers})
  poprt_precompiled_headers(poprt_onnx_headers
    HEADERS ${poprt_shared_headers} <onnx/onnx_pb.h> DEPS onnx onnx_proto)
  if(POPRT_BUILD_TESTS)
    poprt_precompiled_headers(poprt_test_headers
      HEADERS ${poprt_shared_headers} <gmock/gmock.h> <gtest/gtest.h> DEPS GTest::gmock
      OPTIONS ${CMAKE_CXX_COMPILE_OPTIONS_PIE} ${poprt_test_options})
  endif()
endif()
